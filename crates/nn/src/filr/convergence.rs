//! How many injections an estimate needs, held against every fault there is.

use serde::Serialize;
use stats::{Confidence, Draws, Margin, Repeated, half_width, sample_size};

use crate::delta::Delta;
use crate::filr::agreement::{Oracle, OracleAgreement};
use crate::filr::exhaustive::FaultJudgements;
use crate::filr::heuristics::Heuristic;
use crate::filr::inject::Work;
use crate::filr::maps::{all_macs, by_macs};
use crate::filr::order::{ORDERS, Order};
use crate::filr::sampling::{SamplingCost, costs, sampled};
use crate::filr::settings::FilrError;
use crate::network::Network;

/// The seeds of estimates.
pub const SEEDS: usize = 10;

/// The agreements whose numbers of injections are said.
pub const AGREEMENTS: [f64; 3] = [0.95, 0.975, 0.99];

/// The run of the draws that give the seeds of estimates. Injections have smaller numbers.
const ESTIMATES: u64 = u64::MAX - 3;

/// The fewest injections of an estimate; others are the powers of two above, and the numbers half-way between.
const FEWEST: u64 = 16;

/// The margin of error of the largest estimate, as of a statistical campaign into each feature map at 99 %.
const MARGIN: f64 = 0.01;

/// Estimates held against every fault of some images.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExhaustiveComparison {
    /// The images.
    pub images: usize,
    /// Every fault of them.
    pub faults: u64,
    /// The vulnerability of the network by them.
    pub v_cnn: f64,
    /// The share of mismatches of each feature map.
    pub p_mismatch: Vec<f64>,
    /// The mean change of the cross entropy of each feature map.
    pub p_loss: Vec<f64>,
    /// The orders by all faults held against that by mismatches.
    pub orders: Vec<OrderAgreement>,
    /// The heuristics held against that, too.
    pub heuristics: Vec<HeuristicAgreement>,
    /// Estimates by some injections.
    pub estimates: Vec<Convergence>,
    /// How many injections agreements need.
    pub needed: Vec<InjectionsNeeded>,
    /// How many faults a margin of error needs.
    pub sampling: Vec<SamplingCost>,
}

/// An order by all faults.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OrderAgreement {
    /// The order.
    pub by: Order,
    /// How far it is from that by mismatches.
    pub agreement: Option<OracleAgreement>,
}

/// A heuristic held against all faults.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HeuristicAgreement {
    /// The heuristic.
    pub heuristic: Heuristic,
    /// How far its order is from that by mismatches.
    pub agreement: Option<OracleAgreement>,
}

/// An estimate by a number of injections for each feature map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Convergence {
    /// The measure.
    pub by: Order,
    /// Injections for each feature map.
    pub per_map: u64,
    /// Half of the widest interval of a share of these, at 99 %: the margin of a statistical campaign of this size.
    pub margin: f64,
    /// The distance of the order from that of all faults, for each seed.
    pub distances: Vec<f64>,
    /// The mean of these.
    pub mean: f64,
    /// The bounds of the mean at 95 %, by Student's t.
    pub bounds: [f64; 2],
    /// The mean over seeds of the part of the vulnerability that is given to wrong feature maps: half of Σ |V_rel - truth|.
    pub v_rel_error: f64,
}

/// How many injections for each feature map an agreement needs: from this number on all orders agree as closely.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InjectionsNeeded {
    /// One less the distance from the order of all faults.
    pub agreement: f64,
    /// By mismatches, for each seed; none if the largest number does not suffice.
    pub mismatch: Vec<Option<u64>>,
    /// By the change of the cross entropy.
    pub loss: Vec<Option<u64>>,
    /// The geometric mean over seeds of the ratio of the first to the second, and its bounds at 95 % by Student's t on logarithms;
    /// none if a seed lacks one of them.
    pub ratio: Option<[f64; 3]>,
}

/// The numbers of injections for each feature map, ascending.
#[must_use]
pub fn sizes() -> Vec<u64> {
    let most = match (Margin::new(MARGIN), Confidence::new(0.99)) {
        (Ok(margin), Ok(confidence)) => sample_size(margin, confidence),
        _ => FEWEST,
    };
    let powers = (0..u64::BITS).map(|power| FEWEST << power).take_while(|&size| size < most);
    powers.flat_map(|size| [size, size + size / 2]).take_while(|&size| size < most).chain([most]).collect()
}

/// Holds estimates by some injections, and heuristics, against every fault.
///
/// # Errors
/// When the work is stopped.
pub fn compare(
    truth: &FaultJudgements,
    heuristics: &[(Heuristic, &[f64])],
    seed: u64,
    network: &Network,
    work: Work<'_>,
) -> Result<Option<ExhaustiveComparison>, FilrError> {
    let maps = truth.maps();
    let Some(oracle) = Oracle::new(maps, truth.vulnerabilities(Order::Mismatch)) else { return Ok(None) };
    let sizes = sizes();
    let p_mismatch = truth.propagation(Order::Mismatch);
    let repeat = |_: &mut Delta<'_>, repeat: usize| {
        let seed = Draws::new(Draws::new(seed, ESTIMATES).draw(repeat as u64), 0).next();
        (!work.is_stopped()).then(|| (estimates(truth, &sizes, seed), sampled(truth, &p_mismatch, seed)))
    };
    let repeats = work.parts(network, SEEDS, repeat, &mut |_| {})?;
    let (repeats, samples): (Vec<_>, Vec<_>) = repeats.into_iter().unzip();
    let mut found = Vec::new();
    for (which, by) in MEASURES.into_iter().enumerate() {
        for (size, &per_map) in sizes.iter().enumerate() {
            let estimates: Vec<&[f64]> = repeats.iter().map(|sizes| &sizes[size][which][..]).collect();
            found.push(convergence(&oracle, by, per_map, &estimates));
        }
    }
    let order = |by| OrderAgreement { by, agreement: oracle.agreement(&truth.vulnerabilities(by)) };
    let heuristic = |&(heuristic, values): &(Heuristic, &[f64])| HeuristicAgreement {
        heuristic,
        agreement: oracle.agreement(&by_macs(maps, values)),
    };
    Ok(Some(ExhaustiveComparison {
        images: truth.images(),
        faults: truth.faults(),
        v_cnn: by_macs(maps, &p_mismatch).iter().sum::<f64>() / all_macs(maps) as f64,
        p_mismatch,
        p_loss: truth.propagation(Order::Loss),
        orders: ORDERS.map(order).into(),
        heuristics: heuristics.iter().map(heuristic).collect(),
        sampling: costs(&samples),
        needed: AGREEMENTS.map(|agreement| needed(&found, agreement)).into(),
        estimates: found,
    }))
}

/// The measures that are estimated.
const MEASURES: [Order; 2] = [Order::Mismatch, Order::Loss];

/// By number of injections, measure and feature map the vulnerability that the first injections of a seed come to.
fn estimates(truth: &FaultJudgements, sizes: &[u64], seed: u64) -> Vec<[Vec<f64>; 2]> {
    let maps = truth.maps();
    let most = sizes.last().copied().unwrap_or(0);
    let mut found = vec![[vec![0.0; maps.len()], vec![0.0; maps.len()]]; sizes.len()];
    for (number, map) in maps.iter().enumerate() {
        let (mut sums, mut size) = ([0.0; 2], 0);
        let mut draws = Draws::new(seed, number as u64);
        for injection in 1..=most {
            let Some(judgement) = truth.draw(number, &mut draws) else { break };
            for (sum, by) in sums.iter_mut().zip(MEASURES) {
                *sum += judgement.by(by);
            }
            if injection == sizes[size] {
                for (which, sum) in sums.iter().enumerate() {
                    found[size][which][number] = sum / injection as f64 * map.macs as f64;
                }
                size += 1;
            }
        }
    }
    found
}

fn convergence(oracle: &Oracle<'_>, by: Order, per_map: u64, estimates: &[&[f64]]) -> Convergence {
    // An estimate without any mismatch knows nothing: its order is that of the ties.
    let distance = |estimate: &&[f64]| oracle.agreement(estimate).map_or(1.0, |it| it.distance);
    let distances: Vec<f64> = estimates.iter().map(distance).collect();
    let errors: f64 = estimates.iter().map(|estimate| oracle.misplaced(estimate)).sum();
    let repeated = Repeated::of(&distances);
    let (mean, half) = repeated.map_or((1.0, 1.0), |it| (it.mean, it.half_width(0.0, Confidence::PERCENT_95)));
    let margin = Confidence::new(0.99).map_or(0.5, |confidence| half_width(per_map, confidence));
    let v_rel_error = errors / estimates.len().max(1) as f64;
    Convergence { by, per_map, margin, distances, mean, bounds: [(mean - half).max(0.0), mean + half], v_rel_error }
}

/// How many injections an agreement needs.
fn needed(estimates: &[Convergence], agreement: f64) -> InjectionsNeeded {
    let of = |by: Order| {
        let rows: Vec<&Convergence> = estimates.iter().filter(|it| it.by == by).collect();
        let of_seed = |seed: usize| {
            let near = |it: &&&Convergence| it.distances[seed] <= 1.0 - agreement;
            rows.iter().rev().take_while(near).last().map(|it| it.per_map)
        };
        (0..rows.first().map_or(0, |it| it.distances.len())).map(of_seed).collect::<Vec<_>>()
    };
    let (mismatch, loss) = (of(Order::Mismatch), of(Order::Loss));
    let logarithm = |(a, b): (&Option<u64>, &Option<u64>)| Some((((*a)? as f64) / ((*b)? as f64)).ln());
    let logarithms: Option<Vec<f64>> = mismatch.iter().zip(&loss).map(logarithm).collect();
    let repeated = logarithms.and_then(|all| Repeated::of(&all));
    let ratio = repeated.map(|it| {
        let half = it.half_width(0.0, Confidence::PERCENT_95);
        [it.mean, it.mean - half, it.mean + half].map(f64::exp)
    });
    InjectionsNeeded { agreement, mismatch, loss, ratio }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(by: Order, per_map: u64, distances: [f64; 2]) -> Convergence {
        let (distances, bounds) = (distances.to_vec(), [0.0; 2]);
        Convergence { by, per_map, margin: 0.1, distances, mean: 0.0, bounds, v_rel_error: 0.0 }
    }

    #[test]
    fn an_agreement_needs_the_number_from_which_on_it_stays() {
        let rows = [
            row(Order::Mismatch, 16, [0.005, 0.5]),
            row(Order::Mismatch, 64, [0.02, 0.02]),
            row(Order::Mismatch, 256, [0.01, 0.005]),
            row(Order::Loss, 16, [0.02, 0.5]),
            row(Order::Loss, 64, [0.01, 0.009]),
            row(Order::Loss, 256, [0.0, 0.0]),
        ];
        let found = needed(&rows, 0.99);
        assert_eq!((found.mismatch, found.loss), (vec![Some(256); 2], vec![Some(64); 2]));
        assert!(found.ratio.unwrap().iter().all(|ratio| (ratio - 4.0).abs() < 1e-9));
        let never = needed(&rows[..5], 0.999);
        assert_eq!((never.mismatch, never.loss, never.ratio), (vec![None; 2], vec![None; 2], None));
    }

    #[test]
    fn sizes_rise_to_that_of_a_statistical_campaign() {
        let sizes = sizes();
        assert!(sizes.is_sorted() && sizes[..4] == [16, 24, 32, 48] && sizes.contains(&12_288));
        assert_eq!(sizes.last(), Some(&16_588));
    }
}
