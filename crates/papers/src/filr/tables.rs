//! The tables of the page, and its sentences about the sets.

use nn::filr::certainty::{Criterion, READINGS, Reading};
use nn::filr::convergence::Convergence;
use nn::filr::deploy::DeployedPoint;
use nn::filr::document::FewInjections;
use nn::filr::error_models::ModelVulnerability;
use nn::filr::flr::CurvePoint;
use nn::filr::heuristics::HEURISTICS;
use nn::filr::order::ORDERS;
use nn::filr::sampling::SamplingCost;
use nn::filr::{Filr, Order};
use std::collections::BTreeSet;
use study::{Cell, Table, spaced};

use super::seeds::{Measured, combined, curve, deployed, heuristic, overhead_at, reruns_at, truth};
use crate::mean::SeedMean;
use crate::words::many;

/// The coverages whose costs are shown.
const COVERAGES: [f64; 4] = [0.9, 0.99, 0.999, 1.0];

/// Estimates that are shown: every second of them, the powers of two.
const STEP: usize = 2;

/// The sets and the campaigns.
pub(super) fn sets(all: &[Filr]) -> String {
    let Some(it) = all.first() else { return String::new() };
    let sdcs = all.iter().map(|it| it.injections.sdcs);
    let maps = all.iter().map(|it| it.injections.maps_with_sdcs as u64);
    let layers: BTreeSet<&str> = it.maps.iter().map(|map| map.layer.as_str()).collect();
    format!(
        "The network has {} feature maps in {}; a seed divides its {} images into {} that are analysed and {} that stand for \
         deployment. By seed, {} of {} injections changed the class, in {} feature maps.",
        it.maps.len(),
        many(layers.len(), "convolution"),
        it.sets.analysis + it.sets.deployment,
        it.sets.analysis,
        it.sets.deployment,
        least_to_most(sdcs),
        spaced(it.injections.all),
        least_to_most(maps),
    )
}

/// The range of numbers; one number if all are equal, nothing if there are none.
fn least_to_most(all: impl Iterator<Item = u64> + Clone) -> String {
    match (all.clone().min(), all.max()) {
        (Some(least), Some(most)) if least < most => format!("{} to {}", spaced(least), spaced(most)),
        (least, _) => least.map(spaced).unwrap_or_default(),
    }
}

/// The size and the result of the exhaustive campaign.
pub(super) fn truth_sentence(all: &[Filr]) -> String {
    truth(all).map_or_else(String::new, |it| {
        format!(
            "All {} faults of {} images were run: V_CNN of these is {:.4} %.",
            spaced(it.faults),
            it.images,
            it.v_cnn * 100.0
        )
    })
}

/// Every order, held against the oracle of its seed and against every fault.
pub(super) fn orders(all: &[Filr]) -> Table {
    let columns = [
        "order by",
        "from the oracle",
        "by its own shares",
        "Spearman",
        "from every fault",
        "Spearman with every fault",
        "overhead at 90 %",
    ];
    let mut table = Table::new("Orders of feature maps", &columns);
    let truth = truth(all);
    let row = |name: &str,
               agreement: &dyn Fn(&Filr) -> Option<nn::filr::agreement::OracleAgreement>,
               exact: Option<nn::filr::agreement::OracleAgreement>,
               points: &dyn Fn(&Filr) -> Vec<CurvePoint>| {
        vec![
            Cell::text(name),
            SeedMean::quantity(SeedMean::of(all, |it| Some(agreement(it)?.distance))),
            SeedMean::quantity(SeedMean::of(all, |it| Some(agreement(it)?.own_distance))),
            SeedMean::quantity(SeedMean::of(all, |it| agreement(it)?.spearman)),
            exact.map_or(Cell::None, |it| Cell::Number(it.distance)),
            exact.and_then(|it| it.spearman).map_or(Cell::None, Cell::Number),
            SeedMean::rate(SeedMean::of(all, |it| overhead_at(&points(it), 0.9))),
        ]
    };
    for by in ORDERS {
        let agreement = |it: &Filr| it.flr.iter().find(|curve| curve.by == by)?.agreement;
        let exact = truth.and_then(|it| it.orders.iter().find(|it| it.by == by)?.agreement);
        table.rows.push(row(by.word(), &agreement, exact, &|it| curve(it, by).to_vec()));
    }
    for which in HEURISTICS {
        let agreement = |it: &Filr| it.heuristics.iter().find(|curve| curve.heuristic == which)?.agreement;
        let exact = truth.and_then(|it| it.heuristics.iter().find(|it| it.heuristic == which)?.agreement);
        table.rows.push(row(which.word(), &agreement, exact, &|it| heuristic(it, which).to_vec()));
    }
    table.notes = vec![
        "The oracle of a seed is its mismatches, so that the distance of mismatch is 0 by definition. ModGain is our \
         reconstruction: its formula is missing from the text of the thesis. The order without MACs and Gain without Δ² are ours."
            .to_owned(),
    ];
    table
}

/// The distances of estimates from the order of every fault.
pub(super) fn convergence(all: &[Filr]) -> Table {
    let columns = [
        "injections per map",
        "distance (mismatch)",
        "distance (ΔLoss)",
        "V_rel error (mismatch)",
        "V_rel error (ΔLoss)",
        "margin at 99 %",
    ];
    let mut table = Table::new("Orders by some injections held against every fault", &columns);
    let of = |by: Order| truth(all).into_iter().flat_map(move |it| it.estimates.iter().filter(move |it| it.by == by));
    let mean = |it: &Convergence| Cell::Quantity { value: it.mean, low: it.bounds[0], high: it.bounds[1] };
    let row = |(mismatch, loss): (&Convergence, &Convergence)| {
        let [first, second] = [mismatch, loss].map(|it| Cell::Share(it.v_rel_error));
        vec![Cell::Count(mismatch.per_map), mean(mismatch), mean(loss), first, second, Cell::Share(mismatch.margin)]
    };
    table.rows = of(Order::Mismatch).zip(of(Order::Loss)).step_by(STEP).map(row).collect();
    table.notes = vec![
        "A V_rel error is the part of the vulnerability that is given to wrong feature maps. The margin is that of a statistical \
         campaign of this size into each feature map: the widest interval of a share, half of it."
            .to_owned(),
    ];
    table
}

/// Numbers of injections, one for each seed, in words.
pub(super) fn injections(all: &[Option<u64>]) -> String {
    let found = all.iter().flatten().copied();
    let never = all.len() - found.clone().count();
    if never == all.len() {
        return "never".to_owned();
    }
    let range = least_to_most(found);
    if never == 0 { range } else { format!("{range}, never for {}", many(never, "seed")) }
}

/// Table 6.2.
pub(super) fn needed(all: &[Filr]) -> Table {
    let columns = ["agreement", "injections per map (mismatch)", "injections per map (ΔLoss)", "ratio"];
    let mut table = Table::new("Injections that an agreement with every fault needs", &columns);
    let row = |it: &nn::filr::convergence::InjectionsNeeded| {
        let ratio = it.ratio.map_or(Cell::None, |[value, low, high]| Cell::Quantity { value, low, high });
        vec![Cell::Share(it.agreement), Cell::Text(injections(&it.mismatch)), Cell::Text(injections(&it.loss)), ratio]
    };
    table.rows = truth(all).into_iter().flat_map(|it| &it.needed).map(row).collect();
    table
}

/// Faults in each feature map for a margin of error.
pub(super) fn sampling(all: &[Filr]) -> Table {
    let columns = [
        "margin",
        "faults per map (fixed)",
        "within it (fixed)",
        "faults per map (iterative)",
        "fewer by",
        "estimates within it ",
    ];
    let mut table = Table::new("Faults that a margin of error needs", &columns);
    let row = |it: &SamplingCost| {
        vec![
            Cell::Share(it.margin),
            Cell::Count(it.fixed),
            Cell::Share(it.fixed_within),
            Cell::Number(it.iterative),
            Cell::Share(1.0 - it.iterative / it.fixed as f64),
            Cell::Share(it.iterative_within),
        ]
    };
    table.rows = truth(all).into_iter().flat_map(|it| &it.sampling).map(row).collect();
    table.notes =
        vec!["Over all feature maps and ten seeds; an estimate is held against the rate of every fault.".to_owned()];
    table
}

/// The overheads of some coverages.
pub(super) fn costs(all: &[Filr]) -> Table {
    let columns =
        ["coverage", "FLR (mismatch)", "FLR (ΔLoss)", "ILR (Top1Conf)", "ILR (Top2Diff)", "FILR", "FILR (faulty)"];
    let mut table = Table::new("Least overhead for a coverage of the analysis set", &columns);
    let cost = |it: &Filr, target: f64| it.costs.iter().find(|cost| cost.target == target).copied();
    let row = |&target: &f64| {
        let flr = |by| SeedMean::of(all, |it| overhead_at(curve(it, by), target));
        let ilr = |criterion| SeedMean::of(all, |it| reruns_at(it, criterion, target));
        let found = [
            flr(Order::Mismatch),
            flr(Order::Loss),
            ilr(Criterion::Top1Conf),
            ilr(Criterion::Top2Diff),
            SeedMean::of(all, |it| cost(it, target)?.filr),
            SeedMean::of(all, |it| cost(it, target)?.filr_faulty),
        ];
        std::iter::once(Cell::Share(target)).chain(found.into_iter().map(SeedMean::rate)).collect()
    };
    table.rows = COVERAGES.iter().map(row).collect();
    table.notes = vec![
        "Means over seeds with their bounds at 95 %. (faulty): Top2Diff is read from the faulty run, as a deployed check reads it."
            .to_owned(),
    ];
    table
}

/// The networks beside each other.
pub(super) fn networks(measured: &Measured) -> Table {
    let columns = [
        "network",
        "accuracy",
        "feature maps",
        "injections per map",
        "FLR at 90 %",
        "ILR at 90 % (Top1Conf)",
        "ILR at 90 % (Top2Diff)",
        "FILR at 100 %",
        "deployed: coverage",
        "deployed: overhead",
    ];
    let mut table = Table::new("Overheads of several networks", &columns);
    let row = |all: &[Filr]| {
        let of = |number: &dyn Fn(&Filr) -> Option<f64>| SeedMean::rate(SeedMean::of(all, number));
        let first = all.first();
        vec![
            Cell::text(first.map_or("", |it| it.network.as_str())),
            of(&|it| it.sets.accuracy.share),
            Cell::Count(first.map_or(0, |it| it.maps.len() as u64)),
            Cell::Count(first.map_or(0, |it| it.injections.per_map)),
            of(&|it| overhead_at(curve(it, Order::Mismatch), 0.9)),
            of(&|it| reruns_at(it, Criterion::Top1Conf, 0.9)),
            of(&|it| reruns_at(it, Criterion::Top2Diff, 0.9)),
            of(&|it| combined(it, Reading::FaultFree)),
            of(&|it| deployed(it, Reading::FaultFree).map(|found| found[0])),
            of(&|it| deployed(it, Reading::FaultFree).map(|found| found[1])),
        ]
    };
    table.rows = measured.networks().map(row).collect();
    table.notes = vec!["Means over seeds with their bounds at 95 %; feature maps are ordered by mismatch.".to_owned()];
    table
}

/// Figure 6.15: feature maps under several models of errors.
pub(super) fn models(models: &[[ModelVulnerability; 4]]) -> Table {
    const WORDS: [&str; 4] =
        ["one bit (FxP-Flip)", "one bit, another seed", "a random byte (FxP-Rand)", "a random number (FP-Rand)"];
    let columns = ["error of a neuron", "V_CNN", "greatest difference of cumulative V_rel to one bit"];
    let mut table = Table::new("V_rel by model of errors", &columns);
    let row = |(at, word): (usize, &str)| {
        let v_cnn = SeedMean::of(models, |it| Some(it[at].v_cnn));
        let distance = SeedMean::of(models, |it| Some(it[0].distance(&it[at])));
        vec![Cell::text(word), SeedMean::rate(v_cnn), if at == 0 { Cell::None } else { SeedMean::rate(distance) }]
    };
    table.rows = WORDS.into_iter().enumerate().map(row).collect();
    table.notes = vec![
        "Random numbers hit the same network in floating point (fp32), between the least and the greatest number of the layer in fault-free runs. V_CNN \
         takes the same rate of errors for all: without the thesis' factor for the width of multipliers."
            .to_owned(),
    ];
    table
}

/// Figure 6.17: thresholds of Top2Diff for 90 % that some injections choose.
pub(super) fn few(all: &[Filr]) -> Table {
    let columns = ["injections", "SDCs", "threshold", "threshold of all", "coverage of all", "inferences run again"];
    let mut table = Table::new("Thresholds for 90 % that some injections choose", &columns);
    let count = all.iter().map(|it| it.few.len()).min().unwrap_or(0);
    let readings = all.first().map_or(&[][..], |it| &it.few);
    for at in (0..count).filter(|&at| readings[at].reading == Reading::FaultFree) {
        let of = |number: &dyn Fn(&FewInjections) -> f64| SeedMean::of(all, |it| Some(number(&it.few[at])));
        table.rows.push(vec![
            Cell::Count(readings[at].injections),
            SeedMean::quantity(of(&|it| it.sdcs as f64)),
            SeedMean::quantity(of(&|it| it.threshold)),
            SeedMean::quantity(of(&|it| it.threshold_of_all)),
            SeedMean::rate(of(&|it| it.coverage)),
            SeedMean::rate(of(&|it| it.overhead)),
        ]);
    }
    table
}

/// The combinations on the deployment set.
pub(super) fn deployment(all: &[Filr]) -> Table {
    let columns = ["Top2Diff of", "overhead on the analysis set", "coverage", "overhead"];
    let mut table = Table::new("The cheapest combination with 100 % of the analysis set, deployed", &columns);
    let row = |reading: Reading| {
        let of = |which: usize| SeedMean::of(all, |it| deployed(it, reading).map(|found| found[which]));
        let chosen = SeedMean::of(all, |it| combined(it, reading));
        vec![Cell::text(reading.word()), SeedMean::rate(chosen), SeedMean::rate(of(0)), SeedMean::rate(of(1))]
    };
    table.rows = READINGS.map(row).into();
    table
}

/// Figure 6.6: the coverage that FLR by ΔLoss predicts, and that of the deployment set.
pub(super) fn predictions(all: &[Filr]) -> Table {
    let columns = ["maps", "overhead", "predicted", "on the deployment set"];
    let mut table = Table::new("FLR by ΔLoss on the deployment set", &columns);
    let count = all.first().and_then(|it| it.deployment.as_ref()).map_or(0, |it| it.flr.len());
    for number in 0..count {
        let at = |it: &Filr| it.deployment.as_ref()?.flr.get(number).copied();
        table.rows.push(vec![
            SeedMean::quantity(SeedMean::of(all, |it| Some(at(it)?.maps as f64))),
            SeedMean::rate(SeedMean::of(all, |it| Some(at(it)?.overhead))),
            SeedMean::rate(SeedMean::of(all, |it| Some(at(it)?.predicted))),
            SeedMean::rate(SeedMean::of(all, |it| at(it)?.covered.share)),
        ]);
    }
    table
}

/// Figure 6.10: the coverage and the overhead that thresholds of Top2Diff have by the analysis set, and on the deployment set.
pub(super) fn reruns(all: &[Filr]) -> Table {
    let columns = ["Top2Diff of", "threshold", "predicted", "overhead", "on the deployment set", "overhead there"];
    let mut table = Table::new("ILR by Top2Diff on the deployment set", &columns);
    let points = all.first().and_then(|it| it.deployment.as_ref()).map_or(&[][..], |it| &it.ilr);
    for (number, point) in points.iter().enumerate() {
        let at = |it: &Filr| it.deployment.as_ref()?.ilr.get(number).copied();
        let mean = |of: &dyn Fn(DeployedPoint) -> Option<f64>| SeedMean::rate(SeedMean::of(all, |it| of(at(it)?)));
        table.rows.push(vec![
            Cell::text(point.reading.word()),
            SeedMean::quantity(SeedMean::of(all, |it| Some(at(it)?.threshold))),
            mean(&|point| Some(point.predicted)),
            mean(&|point| Some(point.predicted_overhead)),
            mean(&|point| point.covered.share),
            mean(&|point| Some(point.overhead)),
        ]);
    }
    table
}
