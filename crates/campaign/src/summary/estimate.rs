//! From counts to rates: exact, of a plain sample, or of a sample by strata.
//!
//! Runs of a plain sample may stand for several sites each, where a method chose them to; then rates are of sites.
//!
//! A rate is always a share of what landed, in the whole campaign or in a part of it: the runs of a kernel, a group, a
//! line. In a campaign with strata, what landed in a part is a part of each stratum, whose weight is estimated too: the
//! stratum's weight times the share of its runs that landed there. The uncertainty of that share is not in the interval;
//! where the part is a stratum, or the whole and everything lands, there is none.

use stats::{Confidence, Interval, IntervalKind, Proportion, Stratified, Weighted};

use super::account::{Outcomes, Rate, RateBounds};
use crate::config::Config;
use crate::store::Count;
use crate::sweep::SweepSize;
use crate::target::Stratum;
use outcome::Class;

/// How counts become rates.
#[derive(Clone, Debug)]
pub(crate) enum Estimator {
    /// Every fault was run: by weight, and exact.
    Exact,
    /// A sample of the whole population.
    Plain(IntervalKind, Confidence),
    /// A sample of each of these strata.
    Strata(IntervalKind, Confidence, Vec<StratumShare>),
}

/// A stratum as an estimate needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StratumShare {
    /// Its share of the population, in members.
    members: f64,
    /// Runs that were made in it, landed or not.
    runs: u64,
}

/// The classes of what landed.
const LANDED: [Class; 4] = [Class::Masked, Class::Sdc, Class::Due, Class::Undecided];

impl Estimator {
    /// For a campaign of which these are the counts of all rows.
    pub(crate) fn of(config: &Config, size: Option<SweepSize>, strata: &[Stratum], counts: &[Count]) -> Self {
        let (method, confidence) = (config.interval.method(), config.level());
        match size {
            Some(_) => Self::Exact,
            None if strata.is_empty() => Self::Plain(method, confidence),
            None => Self::strata(method, confidence, strata, counts),
        }
    }

    /// For strata, of whose runs these are the counts.
    fn strata(method: IntervalKind, confidence: Confidence, strata: &[Stratum], counts: &[Count]) -> Self {
        let share = |(number, stratum): (u32, &Stratum)| {
            let made = |count: &&Count| count.stratum == number && count.class != Class::Failed;
            let runs = counts.iter().filter(made).map(|count| count.count).sum();
            StratumShare { members: stratum.members as f64, runs }
        };
        Self::Strata(method, confidence, (0..).zip(strata).map(share).collect())
    }

    /// The rates of the classes in what `counts` are of.
    pub(crate) fn rates(&self, counts: &[Count]) -> Outcomes<Rate> {
        let [masked, sdc, due, undecided] = LANDED.map(|class| self.rate(counts, &|count| count.class == class));
        Outcomes { masked, sdc, due, undecided }
    }

    /// The share of what `hits` in what landed, of all that `counts` are of. Where it does not hit what is undecided, the upper
    /// bound is that of the share if all of this counted.
    pub(crate) fn rate(&self, counts: &[Count], hits: &dyn Fn(&Count) -> bool) -> Rate {
        let undecided = |count: &Count| count.class == Class::Undecided;
        let rate = self.known(counts, hits);
        if !counts.iter().any(|count| undecided(count) && count.count > 0 && !hits(count)) {
            return rate;
        }
        Rate { high: self.at_most(counts, hits).high, ..rate }
    }

    /// The same if all that is undecided counted.
    pub(crate) fn at_most(&self, counts: &[Count], hits: &dyn Fn(&Count) -> bool) -> Rate {
        self.known(counts, &|count| count.class == Class::Undecided || hits(count))
    }

    /// The same of what is known.
    pub(crate) fn known(&self, counts: &[Count], hits: &dyn Fn(&Count) -> bool) -> Rate {
        let hit = || counts.iter().filter(|count| count.class.has_landed() && hits(count));
        let count = hit().map(|count| count.count).sum();
        match self {
            Self::Exact => {
                // Between the bounds of what is exact there is nothing, once anything has landed.
                let rate = exact(counts, hit());
                Rate { count, rate, low: rate.unwrap_or(0.0), high: rate.unwrap_or(1.0) }
            }
            Self::Plain(method, confidence) => {
                if counts.iter().any(|count| count.weight != 1) {
                    return weighted(counts, hits, count, *method, *confidence);
                }
                let landed: u64 = counts.iter().filter(|count| count.class.has_landed()).map(|count| count.count).sum();
                let proportion = Proportion::from_counts(count, landed - count);
                let Interval { low, high } = proportion.interval(*method, *confidence);
                Rate { count, rate: proportion.rate(), low, high }
            }
            Self::Strata(method, confidence, shares) => {
                let stratified = stratified(shares, counts, hits);
                let Interval { low, high } = stratified.interval(*method, *confidence);
                Rate { count, rate: stratified.rate(), low, high }
            }
        }
    }

    /// The rates and intervals of a part, apart; no rates while nothing of it has landed.
    pub(super) fn parts(&self, counts: &[Count]) -> (Option<Outcomes<f64>>, Outcomes<RateBounds>) {
        let Outcomes { masked, sdc, due, undecided } = self.rates(counts);
        let rates =
            || Some(Outcomes { masked: masked.rate?, sdc: sdc.rate?, due: due.rate?, undecided: undecided.rate? });
        let bounds = |rate: Rate| RateBounds { low: rate.low, high: rate.high };
        let intervals =
            Outcomes { masked: bounds(masked), sdc: bounds(sdc), due: bounds(due), undecided: bounds(undecided) };
        (rates(), intervals)
    }
}

/// The share of `hit` in the weight of what landed. The number of dynamic instructions, which divides every weight,
/// cancels out. Sums are taken class by class in the order of `counts`, so that equal counts give equal bits.
fn exact<'c>(counts: &'c [Count], hit: impl Iterator<Item = &'c Count>) -> Option<f64> {
    let weight = |count: &Count| count.count as f64 * count.weight as f64 / count.inverse_weight as f64;
    let sum =
        |class| counts.iter().filter(|count| count.class == class).map(weight).fold(0.0, |sum, weight| sum + weight);
    let landed: f64 = LANDED.map(sum).iter().sum();
    (landed > 0.0).then(|| hit.map(weight).fold(0.0, |sum, weight| sum + weight) / landed)
}

/// The share of what `hits` in the sites that what landed stands for; `count` runs are of it.
fn weighted(
    counts: &[Count],
    hits: &dyn Fn(&Count) -> bool,
    count: u64,
    method: IntervalKind,
    confidence: Confidence,
) -> Rate {
    let mut weighted = Weighted::default();
    for it in counts.iter().filter(|it| it.class.has_landed()) {
        let (runs, weight) = (it.count as f64, it.weight as f64);
        weighted.all += runs * weight;
        weighted.squares += runs * weight * weight;
        weighted.hit += if hits(it) { runs * weight } else { 0.0 };
    }
    let Interval { low, high } = weighted.interval(method, confidence);
    Rate { count, rate: weighted.rate(), low, high }
}

/// The strata of what landed in the part that `counts` are of.
fn stratified(shares: &[StratumShare], counts: &[Count], hits: &dyn Fn(&Count) -> bool) -> Stratified {
    let mut landed = vec![(0_u64, 0_u64); shares.len()];
    for count in counts.iter().filter(|count| count.class.has_landed()) {
        if let Some((all, hit)) = landed.get_mut(count.stratum as usize) {
            *all += count.count;
            *hit += if hits(count) { count.count } else { 0 };
        }
    }
    let stratum = |(share, (all, hit)): (&StratumShare, (u64, u64))| {
        // Of a stratum without runs nothing is known, not even whether it has to do with the part.
        let part = if share.runs == 0 { 1.0 } else { all as f64 / share.runs as f64 };
        stats::StratumSample { weight: share.members * part, sample: Proportion::from_counts(hit, all - hit) }
    };
    Stratified::new(&shares.iter().zip(landed).map(stratum).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(class: Class, count: u64) -> Count {
        Count { label: None, line: None, class, kind: None, count, weight: 1, inverse_weight: 1, stratum: 0 }
    }

    #[test]
    fn what_is_undecided_is_between_the_bounds_of_every_rate_and_a_rate_of_its_own() {
        let counts = [count(Class::Masked, 60), count(Class::Sdc, 20), count(Class::Undecided, 20)];
        let (wilson, level) = (IntervalKind::Wilson, Confidence::PERCENT_95);
        let all = |of: u64| Proportion::from_counts(of, 100 - of).interval(wilson, level);
        for estimator in [Estimator::Plain(wilson, level), Estimator::Exact] {
            let rates = estimator.rates(&counts);
            assert_eq!((rates.sdc.count, rates.sdc.rate), (20, Some(0.2)));
            let is_exact = matches!(estimator, Estimator::Exact);
            let expected = if is_exact { (0.2, 0.4) } else { (all(20).low, all(40).high) };
            assert!((rates.sdc.low - expected.0).abs() < 1e-12 && (rates.sdc.high - expected.1).abs() < 1e-12);
            // Nothing is known to be detected, and a fifth may be.
            assert_eq!((rates.due.count, rates.due.rate), (0, Some(0.0)));
            assert!(rates.due.high >= 0.2);
            let expected = if is_exact { (0.2, 0.2) } else { (all(20).low, all(20).high) };
            let undecided = rates.undecided;
            assert!((undecided.low - expected.0).abs() < 1e-12 && (undecided.high - expected.1).abs() < 1e-12);
        }
    }
}
