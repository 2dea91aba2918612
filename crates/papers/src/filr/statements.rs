//! The statements of the chapter, each with its rule and its verdict.

use nn::filr::certainty::{Criterion, Reading};
use nn::filr::convergence::{Convergence, ExhaustiveComparison};
use nn::filr::heuristics::Heuristic;
use nn::filr::{Filr, Order};

use super::seeds::{combined, concentration, correlation, curve, deployed, overhead_at, reruns_at, truth};
use super::tables::injections;
use crate::mean::SeedMean;
use crate::statements::{Judged, Part, Statement, Verdict};
use crate::words::of;

/// All statements.
pub(super) fn statements(all: &[Filr]) -> Vec<Part> {
    vec![
        Part { name: "statements-flr", statements: flr(all) },
        Part { name: "statements-ilr", statements: ilr(all) },
        Part { name: "statements-filr", statements: filr(all) },
    ]
}

fn statement([claim, paper]: [&str; 2], ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// A statement that one network cannot decide.
fn networks(words: [&str; 2], ours: Option<String>) -> Statement {
    let ours = ours.unwrap_or_else(|| "not measured".to_owned());
    statement(words, ours, Judged::by("it is about other networks or about several, and ours is one", Verdict::Open))
}

/// A statement whose words have no number of the chapter behind them.
fn vague(words: [&str; 2], ours: Option<String>) -> Statement {
    let ours = ours.unwrap_or_else(|| "not measured".to_owned());
    statement(words, ours, Judged::by("the chapter names no threshold", Verdict::Open))
}

/// A statement about numbers that are not measured here.
fn unmeasured(words: [&str; 2]) -> Statement {
    statement(words, "not measured".to_owned(), Judged::by("these campaigns do not measure it", Verdict::Open))
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

/// Something that holds if it does for each seed; undecided where a seed does not tell.
fn each(words: [&str; 2], rule: &str, all: &[Filr], holds: impl Fn(&Filr) -> Option<bool>) -> Statement {
    let found: Vec<bool> = all.iter().filter_map(holds).collect();
    let count = found.iter().filter(|holds| **holds).count();
    let is_open = found.is_empty() || (count == found.len() && found.len() < all.len());
    let verdict = if is_open { Verdict::Open } else { Verdict::plain(count == found.len()) };
    statement(words, format!("{} seeds", of(count, found.len())), Judged::by(rule, verdict))
}

fn flr(all: &[Filr]) -> Vec<Statement> {
    let mut found = vec![sooner(truth(all)), few_injections(truth(all))];
    found.push(sublinear(all));
    let at = |by, coverage| {
        let found = SeedMean::of(all, |it| overhead_at(curve(it, by), coverage));
        found.map(|it| it.percent())
    };
    found.extend([
        networks(["90 % of SqueezeNet costs less than 30 % of the MACs (Figure 6.5)", "30 %"], at(Order::Mismatch, 0.9)),
        networks(["98 % of MobileNet costs 64 % (Figure 6.5)", "64 %"], at(Order::Mismatch, 0.98)),
        mean(
            ["the coverage that ΔLoss predicts is that of the deployment set (Figure 6.6)", "no number"],
            "the 95 % interval over seeds of the deployment set's coverage less the predicted one, averaged over six \
             predictions from 25 to 99 %, contains 0; it does not if all of it lies more than 5 points away",
            SeedMean::of(all, prediction_error),
            |it| format!("off by {}", it.points()),
            validated,
        ),
        mean(
            ["less than 33 % of the feature maps hold more than 76 % of the vulnerability (Figure 6.13)", "33 %"],
            "the 95 % interval over seeds of the smallest share of feature maps with 76 % of ΔLoss × MACs is all at most 33 %",
            SeedMean::of(all, |it| concentration(it, 0.76)),
            SeedMean::percent,
            |it| it.is_at_most(0.33),
        ),
        vague(["the vulnerable feature maps are distributed across layers (Figure 6.13)", "no number"], layers(all)),
        unmeasured([
            "V_rel is practically the same for three error models (Figure 6.15)",
            "less than 0.0001 % difference",
        ]),
    ]);
    found.extend(heuristics(truth(all)));
    found.push(networks(
        ["V_CNN compares networks: ResNet50 meets a target where GoogleNet needs 35 % (Figure 6.14)", "six networks"],
        SeedMean::of(all, |it| Some(it.injections.v_cnn)).map(|it| format!("V_CNN {}", it.percent())),
    ));
    found
}

/// F2: the most that a point of the curves by mismatch and by ΔLoss lies above the diagonal, as a share of the MACs.
fn above_diagonal(it: &Filr) -> Option<f64> {
    let points = [Order::Mismatch, Order::Loss].into_iter().flat_map(|by| curve(it, by));
    points.map(|point| point.overhead - point.coverage).reduce(f64::max)
}

fn sublinear(all: &[Filr]) -> Statement {
    let words = ["overhead is always sublinear to coverage (Figure 6.5)", "all seven networks"];
    let rule = "no point of the curves by mismatch and by ΔLoss has more overhead than coverage, for every seed";
    let mut made = each(words, rule, all, |it| above_diagonal(it).map(|most| most <= 0.0));
    if let Some(it) = SeedMean::of(all, above_diagonal) {
        let [value, low, high] = [it.value, it.low, it.high].map(|by| by * 100.0);
        made.ours += &format!("; at most {value:.2} ({low:.2} to {high:.2}) points more overhead than coverage");
    }
    made
}

/// F3: by how much the deployment set's coverage differs from the predicted one, on average over predictions.
fn prediction_error(it: &Filr) -> Option<f64> {
    let found = &it.deployment.as_ref()?.flr;
    let errors = found.iter().map(|it| Some(it.covered.share? - it.predicted)).collect::<Option<Vec<f64>>>()?;
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

/// F3: an interval around 0 holds, one that is far from it does not.
fn validated(it: SeedMean) -> Verdict {
    if it.low <= 0.0 && it.high >= 0.0 {
        Verdict::Holds
    } else if it.low > FAR || it.high < -FAR {
        Verdict::Fails
    } else {
        Verdict::Open
    }
}

/// A difference of coverages that is more than noise of a figure.
const FAR: f64 = 0.05;

/// F1: the ratio at 99 %.
fn sooner(truth: Option<&ExhaustiveComparison>) -> Statement {
    let words = [
        "ΔLoss needs fewer injections than mismatch to agree to 99 % with the oracle (Table 6.2)",
        "3.2×; 1.3× to 9.4×",
    ];
    let rule = "the 95 % interval over seeds of the ratio, held against every fault, is all above 1; it does not if it is all \
                below, or if ΔLoss never agrees for any seed and mismatch does for every one";
    let needed = truth.and_then(|it| it.needed.iter().find(|it| it.agreement == 0.99));
    let Some(needed) = needed else {
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
            (format!("{ratio:.1}× ({low:.1} to {high:.1}); {sides}"), verdict)
        }
        None => {
            let never = needed.loss.iter().all(Option::is_none) && needed.mismatch.iter().all(Option::is_some);
            (sides, if never { Verdict::Fails } else { Verdict::Open })
        }
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
        statement(
            ["no heuristic orders feature maps accurately enough (Section 6.8.1)", "no number"],
            nearest(),
            Judged::by("each of the six is farther than 1 % from the order of every fault", farther(Some(0.01))),
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

fn ilr(all: &[Filr]) -> Vec<Statement> {
    let spearman = |criterion| SeedMean::of(all, |it| correlation(it, criterion));
    let strong = |words, criterion, bound: f64| {
        let rule = format!("the 95 % interval of our mean over seeds is all at most {bound}");
        mean(words, &rule, spearman(criterion), SeedMean::number, |it| it.is_at_most(bound))
    };
    let cost = |criterion| SeedMean::of(all, |it| reruns_at(it, criterion, 0.9)).map(SeedMean::percent);
    let difference = SeedMean::of(all, |it| {
        Some(reruns_at(it, Criterion::Top1Conf, 0.9)? - reruns_at(it, Criterion::Top2Diff, 0.9)?)
    });
    vec![
        strong(
            ["SDCs of an image go down with Top2Diff (Spearman, AlexNet, Figure 6.7)", "-0.93"],
            Criterion::Top2Diff,
            -0.93,
        ),
        strong(["and with Top1Conf (Figure 6.7)", "-0.87"], Criterion::Top1Conf, -0.87),
        networks(["90 % coverage costs 17 % by Top2Diff (mean, Figure 6.9)", "17 %"], cost(Criterion::Top2Diff)),
        networks(["and 31 % by Top1Conf (mean, Figure 6.9)", "31 %"], cost(Criterion::Top1Conf)),
        mean(
            ["Top2Diff is strictly better than Top1Conf (Figure 6.8)", "at 90 %: 17 % instead of 31 %"],
            "the 95 % interval over seeds of the overhead that Top2Diff saves at 90 % is all above 0",
            difference,
            |it| format!("saves {}", it.points()),
            |it| it.is_at_least(f64::MIN_POSITIVE),
        ),
        unmeasured(["few injections suffice for the threshold (Figure 6.17)", "40,000 of 40 million"]),
    ]
}

fn filr(all: &[Filr]) -> Vec<Statement> {
    let last = |it: &Filr| it.costs.iter().find(|cost| cost.target == 1.0).copied();
    let covered = SeedMean::of(all, |it| deployed(it, Reading::FaultFree).map(|found| found[0]));
    let overhead = SeedMean::of(all, |it| deployed(it, Reading::FaultFree).map(|found| found[1]));
    vec![
        each(
            [
                "below a threshold of 1 there is a combination with less than 100 % overhead (Figure 6.11)",
                "all networks",
            ],
            "the cheapest combination has a threshold below 1 and costs less than 100 %, for every seed",
            all,
            |it| {
                let sweep = it.filr.iter().find(|sweep| sweep.reading == Reading::FaultFree)?;
                let chosen = sweep.combination.as_ref()?;
                Some(chosen.threshold < 1.0 && chosen.overhead < 1.0)
            },
        ),
        each(
            ["FILR is better than the sum of its parts at 100 % (Section 6.7.3)", "each alone needs near 100 %"],
            "FILR costs less than FLR by ΔLoss and less than ILR by Top2Diff, for every seed",
            all,
            |it| {
                let cost = last(it)?;
                let filr = cost.filr?;
                Some(cost.flr_loss.is_none_or(|flr| filr < flr) && cost.ilr_top2diff.is_none_or(|ilr| filr < ilr))
            },
        ),
        networks(
            ["100 % of the analysis set costs 48.07 % (mean, Figure 6.11)", "48.07 %; ResNet50 20.78 %"],
            SeedMean::of(all, |it| combined(it, Reading::FaultFree)).map(SeedMean::percent),
        ),
        mean(
            ["what is chosen so covers 99.78 % of the SDCs of the deployment set (mean, Figure 6.12)", "99.78 %"],
            "the 95 % interval of our mean over seeds is all at least 99.78 %",
            covered,
            SeedMean::percent,
            |it| it.is_at_least(0.9978),
        ),
        networks(
            ["there it costs 47.66 % (mean, Figure 6.12)", "47.66 %; ResNet50 20.47 %"],
            overhead.map(SeedMean::percent),
        ),
        unmeasured(["duplicates take 7.7 % more time on a CPU and 1.6 % on a GPU (Figure 6.18)", "7.7 %; 1.6 %"]),
    ]
}
