//! The statements of the chapter, each with its rule and its verdict.

use nn::filr::certainty::{Criterion, Reading};
use nn::filr::convergence::{Convergence, ExhaustiveComparison};
use nn::filr::deploy::DeployedPoint;
use nn::filr::error_models::ModelVulnerability;
use nn::filr::heuristics::Heuristic;
use nn::filr::{Filr, Order};

use super::seeds::{
    Measured, combined, concentration, correlation, curve, deployed, fewest, overhead_at, reruns_at, truth,
};
use super::tables::injections;
use super::{times, topologies};
use crate::mean::SeedMean;
use crate::statements::{Judged, Part, Statement, Verdict};
use crate::words::of;
use study::spaced;

/// All statements.
pub(super) fn statements(measured: &Measured) -> Vec<Part> {
    vec![
        Part { name: "statements-flr", statements: flr(measured) },
        Part { name: "statements-ilr", statements: ilr(measured) },
        Part { name: "statements-filr", statements: filr(measured) },
    ]
}

/// The rule of statements about networks that are not ours.
const OTHER_NETWORKS: &str = "it is about networks for ImageNet, and ours are small ones";

fn statement([claim, paper]: [&str; 2], ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// A statement about networks that are not ours, with the same number of ours.
fn networks(words: [&str; 2], measured: &Measured, number: impl Fn(&Filr) -> Option<f64>) -> Statement {
    let of_network = |all: &[Filr]| Some((all.first()?.network.clone(), SeedMean::of(all, &number)?.value));
    let found: Vec<(String, f64)> = measured.networks().filter_map(of_network).collect();
    let mut ours: Vec<String> = found.iter().map(|(name, value)| format!("{name} {:.2} %", value * 100.0)).collect();
    if ours.len() > 1 {
        let mean = found.iter().map(|(_, value)| value * 100.0).sum::<f64>() / found.len() as f64;
        ours.push(format!("mean {mean:.2} %"));
    }
    let ours = if ours.is_empty() { "not measured".to_owned() } else { ours.join(", ") };
    statement(words, ours, Judged::by(OTHER_NETWORKS, Verdict::Open))
}

/// A statement whose words have no number of the chapter behind them.
fn vague(words: [&str; 2], ours: Option<String>) -> Statement {
    let ours = ours.unwrap_or_else(|| "not measured".to_owned());
    statement(words, ours, Judged::by("the chapter names no threshold", Verdict::Open))
}

/// A mean over seeds that decides by where its interval lies.
fn mean(
    words: [&str; 2],
    rule: &str,
    found: Option<SeedMean>,
    text: fn(SeedMean) -> String,
    decide: impl Fn(SeedMean) -> Verdict,
) -> Statement {
    let ours = found.map_or_else(|| "not measured".to_owned(), text);
    statement(words, ours, Judged::by(rule, found.map_or(Verdict::Open, decide)))
}

/// Something that holds if it does for each seed of each network; undecided where a seed does not tell.
fn each(words: [&str; 2], rule: &str, measured: &Measured, holds: impl Fn(&Filr) -> Option<bool>) -> Statement {
    let (mut ours, mut seeds, mut told, mut held) = (Vec::new(), 0, 0, 0);
    for all in measured.networks() {
        let found: Vec<bool> = all.iter().filter_map(&holds).collect();
        let count = found.iter().filter(|holds| **holds).count();
        let name = all.first().map_or("", |it| it.network.as_str());
        ours.push(format!("{name} {} seeds", of(count, found.len())));
        (seeds, told, held) = (seeds + all.len(), told + found.len(), held + count);
    }
    let is_open = told == 0 || (held == told && told < seeds);
    let verdict = if is_open { Verdict::Open } else { Verdict::plain(held == told) };
    let ours = if ours.is_empty() { "not measured".to_owned() } else { ours.join(", ") };
    statement(words, ours, Judged::by(rule, verdict))
}

fn flr(measured: &Measured) -> Vec<Statement> {
    let all = &measured.network[..];
    let mut found = vec![sooner(truth(all)), few_injections(truth(all))];
    found.push(sublinear(measured));
    let at = |coverage| move |it: &Filr| overhead_at(curve(it, Order::Mismatch), coverage);
    found.extend([
        networks(["90 % of SqueezeNet costs less than 30 % of the MACs (Figure 6.5)", "30 %"], measured, at(0.9)),
        networks(["98 % of MobileNet costs 64 % (Figure 6.5)", "64 %"], measured, at(0.98)),
        vague(
            ["the coverage that ΔLoss predicts is that of the deployment set (Figure 6.6)", "no number"],
            SeedMean::of(all, |it| prediction_error(it.deployment.as_ref()?.flr.iter()))
                .map(|it| format!("off by {}", it.points())),
        ),
        networks(
            ["less than 33 % of the feature maps hold more than 76 % of the vulnerability (Figure 6.13)", "33 %"],
            measured,
            |it| concentration(it, 0.76),
        ),
        vague(["the vulnerable feature maps are distributed across layers (Figure 6.13)", "no number"], layers(all)),
        alike(&measured.models),
    ]);
    found.extend(heuristics(truth(all)));
    found.push(topologies::statement());
    found.push(compared(measured));
    found
}

/// The vulnerability of networks that are compared with each other, whose origins are not divided by those of the network (Section 6.3.2).
fn compared(measured: &Measured) -> Statement {
    let loss = |it: &Filr| it.maps.iter().map(|map| map.macs as f64 * map.p_loss).sum::<f64>();
    let of_network = |all: &[Filr]| {
        let found = SeedMean::of(all, |it| Some(loss(it)))?;
        Some(format!("{} {:.0} ({:.0} to {:.0})", all.first()?.network, found.value, found.low, found.high))
    };
    let ours: Vec<String> = measured.networks().filter_map(of_network).collect();
    let ours = if ours.is_empty() { "not measured".to_owned() } else { format!("ΔLoss × MACs: {}", ours.join(", ")) };
    let words =
        ["V_CNN compares networks: ResNet50 meets a target where GoogleNet needs 35 % (Figure 6.14)", "six networks"];
    statement(words, ours, Judged::by(OTHER_NETWORKS, Verdict::Open))
}

/// F5: the shares of feature maps under other models of errors, held against those under flips.
fn alike(models: &[[ModelVulnerability; 4]]) -> Statement {
    let rule = "the greatest difference of cumulative V_rel to that by flips, less the difference between flips of two seeds, has a 95 % interval over \
                seeds that is all at most 0.0001 %, for random bytes (FxP-Rand) and for random numbers (FP-Rand); it does not if one is all above";
    let excess = |other: usize| SeedMean::of(models, |it| Some(it[0].distance(&it[other]) - it[0].distance(&it[1])));
    let [bytes, numbers] = [excess(2), excess(3)];
    let words = ["V_rel is practically the same for three error models (Figure 6.15)", "less than 0.0001 % difference"];
    let (Some(bytes), Some(numbers)) = (bytes, numbers) else {
        return statement(words, "not measured".to_owned(), Judged::by(rule, Verdict::Open));
    };
    let verdict = match [bytes, numbers].map(|it| it.is_at_most(1e-6)) {
        [Verdict::Holds, Verdict::Holds] => Verdict::Holds,
        [Verdict::Fails, _] | [_, Verdict::Fails] => Verdict::Fails,
        _ => Verdict::Open,
    };
    let ours = format!("random bytes {}; random numbers {}", bytes.points(), numbers.points());
    statement(words, ours, Judged::by(rule, verdict))
}

/// F2: the most that a point of the curves by mismatch and by ΔLoss lies above the diagonal, as a share of the MACs.
fn above_diagonal(it: &Filr) -> Option<f64> {
    let points = [Order::Mismatch, Order::Loss].into_iter().flat_map(|by| curve(it, by));
    points.map(|point| point.overhead - point.coverage).reduce(f64::max)
}

fn sublinear(measured: &Measured) -> Statement {
    let words = ["overhead is always sublinear to coverage (Figure 6.5)", "all seven networks"];
    let rule = "no point of the curves by mismatch and by ΔLoss has more overhead than coverage, for every seed of every network";
    let mut made = each(words, rule, measured, |it| above_diagonal(it).map(|most| most <= 0.0));
    if let Some(it) = SeedMean::of(&measured.network, above_diagonal) {
        let [value, low, high] = [it.value, it.low, it.high].map(|by| by * 100.0);
        made.ours +=
            &format!("; at most {value:.2} ({low:.2} to {high:.2}) points more overhead than coverage for the first");
    }
    made
}

/// F3 and I4: by how much the deployment set's coverage differs from the predicted one, on average over predictions.
fn prediction_error<'p>(found: impl Iterator<Item = &'p DeployedPoint>) -> Option<f64> {
    let errors = found.map(|it| Some(it.covered.share? - it.predicted)).collect::<Option<Vec<f64>>>()?;
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

fn by_fault_free(points: &[DeployedPoint]) -> impl Iterator<Item = &DeployedPoint> {
    points.iter().filter(|point| point.reading == Reading::FaultFree)
}

/// I3: the coverage of the threshold for 90 % that the fewest injections choose.
fn few_for_threshold(all: &[Filr]) -> Option<String> {
    let injections = fewest(all.first()?)?.injections;
    let covered = SeedMean::of(all, |it| Some(fewest(it)?.coverage))?;
    Some(format!("{} choose for 90 % a threshold that covers {}", spaced(injections), covered.percent()))
}

/// F1: the ratio at 99 %.
fn sooner(truth: Option<&ExhaustiveComparison>) -> Statement {
    let words = [
        "ΔLoss needs fewer injections than mismatch to agree to 99 % with the oracle (Table 6.2)",
        "3.2×; 1.3× to 9.4×; VGG19 to 97.5 %",
    ];
    let rule = "the 95 % interval over seeds of the ratio, held against every fault, is all above 1; it does not if it is all below; at 97.5 %, as of the \
                chapter's VGG19, where a measure never agrees to 99 %";
    let at = |agreement: f64| truth.and_then(|it| it.needed.iter().find(|it| it.agreement == agreement));
    let Some(needed) = at(0.99).filter(|it| it.ratio.is_some()).or(at(0.975)) else {
        return statement(words, "not measured".to_owned(), Judged::by(rule, Verdict::Open));
    };
    let sides = format!("mismatch {}, ΔLoss {}", injections(&needed.mismatch), injections(&needed.loss));
    let (ours, verdict) = match needed.ratio {
        Some([ratio, low, high]) => {
            let verdict = if low > 1.0 {
                Verdict::Holds
            } else if high < 1.0 {
                Verdict::Fails
            } else {
                Verdict::Open
            };
            let agreement = needed.agreement * 100.0;
            (format!("at {agreement} %: {ratio:.1}× ({low:.1} to {high:.1}); {sides}"), verdict)
        }
        None => (sides, Verdict::Open),
    };
    statement(words, ours, Judged::by(rule, verdict))
}

/// An estimate of the comparison with every fault.
fn estimate(truth: &ExhaustiveComparison, by: Order, per_map: u64) -> Option<&Convergence> {
    truth.estimates.iter().find(|it| it.by == by && it.per_map == per_map)
}

/// F1: at 64 injections.
fn few_injections(truth: Option<&ExhaustiveComparison>) -> Statement {
    let found = truth.and_then(|it| estimate(it, Order::Loss, 64)).map(|it| SeedMean {
        value: it.mean,
        low: it.bounds[0],
        high: it.bounds[1],
        seeds: it.distances.len() as u64,
    });
    mean(
        ["at 64 injections into each feature map ΔLoss differs from the oracle by less than 7 % (Figure 6.4)", "7 %"],
        "the 95 % interval over seeds of the distance from the order of every fault is all at most 7 %",
        found,
        SeedMean::percent,
        |it| it.is_at_most(0.07),
    )
}

/// In how many layers the first third of the feature maps by ΔLoss lie, for the first seed.
fn layers(all: &[Filr]) -> Option<String> {
    let it = all.first()?;
    let layers = |maps: &mut dyn Iterator<Item = usize>| {
        maps.map(|map| it.maps[map].layer.as_str()).collect::<std::collections::BTreeSet<&str>>().len()
    };
    let order = &it.flr.iter().find(|curve| curve.by == Order::Loss)?.order;
    let third = order.len().div_ceil(3);
    let found = layers(&mut order.iter().take(third).copied());
    Some(format!("the first third lies in {} layers", of(found, layers(&mut (0..it.maps.len())))))
}

/// F6: heuristics held against every fault.
fn heuristics(truth: Option<&ExhaustiveComparison>) -> [Statement; 2] {
    let of_thesis = |it: &&nn::filr::convergence::HeuristicAgreement| it.heuristic != Heuristic::GainWithoutStep;
    let all: Vec<(&str, f64)> = truth.map_or_else(Vec::new, |it| {
        let named = it.heuristics.iter().filter(of_thesis);
        named.filter_map(|it| Some((it.heuristic.word(), it.agreement?.distance))).collect()
    });
    let best = all.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let few = truth.and_then(|it| estimate(it, Order::Loss, 64));
    let nearest =
        || best.map_or_else(|| "not measured".to_owned(), |(name, it)| format!("the nearest is {name}: {it:.3}"));
    let farther = |bound: Option<f64>| match (bound, best) {
        (Some(bound), Some((_, least))) => Verdict::plain(*least > bound),
        _ => Verdict::Open,
    };
    [
        vague(
            ["no heuristic orders feature maps accurately enough (Section 6.8.1)", "no number"],
            best.is_some().then(nearest),
        ),
        statement(
            ["injections order feature maps better than heuristics (Section 6.8.1)", "no number"],
            few.map_or_else(nearest, |few| format!("{}; ΔLoss at 64 injections: {:.3}", nearest(), few.mean)),
            Judged::by(
                "each of the six is farther from the order of every fault than the upper bound of ΔLoss at 64 injections",
                farther(few.map(|it| it.bounds[1])),
            ),
        ),
    ]
}

fn ilr(measured: &Measured) -> Vec<Statement> {
    let all = &measured.network[..];
    let down = |words, criterion| {
        let found = SeedMean::of(all, |it| correlation(it, criterion));
        let rule = "the 95 % interval of our mean over seeds is all below 0; its size is of AlexNet for ImageNet";
        mean(words, rule, found, SeedMean::number, |it| it.is_at_most(-f64::MIN_POSITIVE))
    };
    let cost = |criterion| move |it: &Filr| reruns_at(it, criterion, 0.9);
    let difference = SeedMean::of(all, |it| {
        Some(reruns_at(it, Criterion::Top1Conf, 0.9)? - reruns_at(it, Criterion::Top2Diff, 0.9)?)
    });
    vec![
        down(["SDCs of an image go down with Top2Diff (Figure 6.7)", "Spearman -0.93 of AlexNet"], Criterion::Top2Diff),
        down(["and with Top1Conf (Figure 6.7)", "Spearman -0.87 of AlexNet"], Criterion::Top1Conf),
        networks(
            ["90 % coverage costs 17 % by Top2Diff (mean, Figure 6.9)", "17 %"],
            measured,
            cost(Criterion::Top2Diff),
        ),
        networks(["and 31 % by Top1Conf (mean, Figure 6.9)", "31 %"], measured, cost(Criterion::Top1Conf)),
        mean(
            ["Top2Diff is strictly better than Top1Conf (Figure 6.8)", "at 90 %: 17 % instead of 31 %"],
            "the 95 % interval over seeds of the overhead that Top2Diff saves at 90 % is all above 0",
            difference,
            |it| format!("saves {}", it.points()),
            |it| it.is_at_least(f64::MIN_POSITIVE),
        ),
        vague(
            ["ILR has similar trends on the deployment set (Figure 6.10)", "no number"],
            SeedMean::of(all, |it| prediction_error(by_fault_free(&it.deployment.as_ref()?.ilr)))
                .map(|it| format!("coverage off by {}", it.points())),
        ),
        vague(
            ["few injections suffice for the threshold (Figure 6.17)", "40,000 of 40 million"],
            few_for_threshold(all),
        ),
    ]
}

fn filr(measured: &Measured) -> Vec<Statement> {
    let all = &measured.network[..];
    let last = |it: &Filr| it.costs.iter().find(|cost| cost.target == 1.0).copied();
    let covered = SeedMean::of(all, |it| deployed(it, Reading::FaultFree).map(|found| found[0]));
    vec![
        each(
            [
                "below a threshold of 1 there is a combination with less than 100 % overhead (Figure 6.11)",
                "all networks",
            ],
            "the cheapest combination has a threshold below 1 and costs less than 100 %, for every seed of every network",
            measured,
            |it| {
                let sweep = it.filr.iter().find(|sweep| sweep.reading == Reading::FaultFree)?;
                let chosen = sweep.combination.as_ref()?;
                Some(chosen.threshold < 1.0 && chosen.overhead < 1.0)
            },
        ),
        each(
            ["FILR is better than the sum of its parts at 100 % (Section 6.7.3)", "each alone needs near 100 %"],
            "FILR costs less than FLR by ΔLoss and less than ILR by Top2Diff, for every seed of every network",
            measured,
            |it| {
                let cost = last(it)?;
                let filr = cost.filr?;
                Some(cost.flr_loss.is_none_or(|flr| filr < flr) && cost.ilr_top2diff.is_none_or(|ilr| filr < ilr))
            },
        ),
        networks(
            ["100 % of the analysis set costs 48.07 % (mean, Figure 6.11)", "48.07 %; ResNet50 20.78 %"],
            measured,
            |it| combined(it, Reading::FaultFree),
        ),
        mean(
            ["what is chosen so covers 99.78 % of the SDCs of the deployment set (mean, Figure 6.12)", "99.78 %"],
            "the 95 % interval of our mean over seeds is all at least 99.78 %",
            covered,
            SeedMean::percent,
            |it| it.is_at_least(0.9978),
        ),
        networks(["there it costs 47.66 % (mean, Figure 6.12)", "47.66 %; ResNet50 20.47 %"], measured, |it| {
            deployed(it, Reading::FaultFree).map(|found| found[1])
        }),
        statement(
            ["duplicates take 7.7 % more time on a CPU and 1.6 % on a GPU (Figure 6.18)", "7.7 %; 1.6 %"],
            times::summary(),
            Judged::by(OTHER_NETWORKS, Verdict::Open),
        ),
    ]
}
