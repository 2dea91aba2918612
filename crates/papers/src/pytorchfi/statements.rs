//! The statements of the chapter that numbers can decide, each with its rule and its verdict.

use stats::{Confidence, IntervalKind, Proportion, ProportionComparison};
use study::spaced;

use super::clock::TimedBlock;
use super::detector::FAULTS;
use super::judging::{decided, statement};
use super::measured::Measured;
use super::survey::{Ends, interval, said};
use super::tables::single;
use super::trained;
use crate::mean::SeedMean;
use crate::statements::{Judged, Part, Statement, Verdict};
use crate::words::listed;

/// All statements.
pub(super) fn statements(found: &Measured) -> Vec<Part> {
    vec![
        Part { name: "statements-resilience", statements: resilience(found) },
        Part { name: "statements-overhead", statements: overhead(found) },
        Part { name: "statements-uses", statements: uses(found) },
    ]
}

/// A statement about numbers that are not measured here.
fn unmeasured(words: [&str; 2], why: &str) -> Statement {
    statement(words, "not measured".to_owned(), Judged::by(why, Verdict::Open))
}

fn resilience(found: &Measured) -> Vec<Statement> {
    let flips = single(found).map(|runs| Ends::of(&runs.all)).unwrap_or_default();
    let benign = flips.class().filter(|of| of.trials() > 0).map(interval);
    let benign = benign.map_or(Verdict::Open, |bounds| decided(bounds.high < 0.5, bounds.low > 0.5));
    let masked = flips.masked().filter(|of| of.successes() > 0).map(interval);
    let masked = masked.map_or(Verdict::Open, |bounds| decided(bounds.low > 0.0, false));
    let [all, convolutions] = found.macs;
    let share = convolutions as f64 / all.max(1) as f64;
    vec![
        statement(
            [
                "most of the time an error has a negligible impact: it does not change the class (Section 5.1)",
                "no number",
            ],
            format!("another class: {}", said(flips.class())),
            Judged::by("the 95 % interval of the share of neuron flips with another class is all below 50 %", benign),
        ),
        statement(
            ["some errors are masked out entirely, for example by Relu (Section 5.1)", "no number"],
            format!("equal logits: {}", said(flips.masked())),
            Judged::by("the 95 % interval of the share of neuron flips with equal logits is all above 0", masked),
        ),
        statement(
            ["tiny perturbations such as soft errors can make the output wrong (Section 5.1)", "no number"],
            format!("{} of {} flips of one bit", spaced(flips.class), spaced(flips.runs)),
            Judged::by("a flip of one bit of a neuron changed the class", decided(flips.class > 0, false)),
        ),
        statement(
            ["convolutions are more than 90 % of all computations (Section 5.2.1)", "90 %"],
            format!("{:.2} % of the MACs", share * 100.0),
            Judged::plain("the share of the MACs of convolutions, depthwise ones included, is above 90 %", share > 0.9),
        ),
        phantoms(found),
    ]
}

/// Section 5.4.1.
fn phantoms(found: &Measured) -> Statement {
    let ends = FAULTS
        .iter()
        .zip(&found.detector.ends)
        .find(|((scope, model, _), _)| (*scope, *model) == ("layers:each", "random"));
    let phantom = ends.and_then(|(_, ends)| Proportion::new(ends.with[1], ends.runs)).filter(|of| of.trials() > 0);
    let verdict = phantom.map_or(Verdict::Open, |of| decided(of.successes() > 0, false));
    statement(
        ["one neuron in each layer can make a detector find phantom objects (YOLOv3, Figure 5.3)", "one image"],
        format!("runs with a phantom object: {}", said(phantom)),
        Judged::by(
            "a run in which one neuron of each layer becomes another number finds an object where none is",
            verdict,
        ),
    )
}

/// The bound of an overhead that we call negligible.
const NEGLIGIBLE: f64 = 1.05;

/// The bound of the chapter's Figure 5.2, in seconds.
const BOUND: f64 = 0.01;

fn overhead(found: &Measured) -> Vec<Statement> {
    let ratio = |of: fn(&TimedBlock) -> f64| SeedMean::of(&found.blocks, |it| Some(of(it) / it.plain));
    let rule = |with: &str| {
        format!(
            "the 95 % interval over blocks of the CPU time {with}, over that without, is all at most {NEGLIGIBLE}; the chapter \
             names no bound, this one is ours"
        )
    };
    let negligible = |words, with: &str, of| {
        let found = ratio(of);
        let verdict = found.map_or(Verdict::Open, |it| it.is_at_most(NEGLIGIBLE));
        let ours = |it: SeedMean| format!("{:.3}× ({:.3} to {:.3}), {} blocks", it.value, it.low, it.high, it.seeds);
        statement(words, found.map_or_else(|| "not measured".to_owned(), ours), Judged::by(rule(with), verdict))
    };
    vec![
        less_than_bound(found),
        negligible(
            ["with a fault in a neuron, a network runs at its native speed (Section 5.3.3)", "negligible overhead"],
            "with a flip in a neuron",
            |it| it.neuron,
        ),
        negligible(
            ["faults in weights have no overhead at run time (Section 5.3.2)", "none"],
            "with a flip in a weight",
            |it| it.weight,
        ),
        negligible(
            ["without a perturbation, the tool costs nothing (Section 5.3.3)", "none"],
            "with a fault of no place",
            |it| it.idle,
        ),
        unmeasured(
            ["it is the same for batches from 1 to 512 (Section 5.3.3)", "no number"],
            "a run here is one inference: there are no batches",
        ),
        unmeasured(
            [
                "high-level models are 4 to 6 orders of magnitude faster than low-level ones (Section 5.3.4)",
                "10⁴ to 10⁶",
            ],
            "no low-level model of the same network is here",
        ),
    ]
}

/// Figure 5.2.
fn less_than_bound(found: &Measured) -> Statement {
    let difference = SeedMean::of(&found.blocks, |it| Some(it.neuron - it.plain));
    let plain = SeedMean::of(&found.blocks, |it| Some(it.plain));
    let (ours, verdict) = difference.zip(plain).map_or_else(
        || ("not measured".to_owned(), Verdict::Open),
        |(it, plain)| {
            let [value, low, high] = [it.value, it.low, it.high].map(|seconds| seconds * 1e3);
            let is_long = plain.low >= BOUND;
            let verdict = decided(is_long && it.low > -BOUND && it.high < BOUND, it.low > BOUND || it.high < -BOUND);
            (format!("{value:.4} ms ({low:.4} to {high:.4}) of {:.3} ms", plain.value * 1e3), verdict)
        },
    );
    let rule = "the 95 % interval over blocks of the CPU time with a flip in a neuron less that without lies between -10 and 10 ms, \
                of an inference that takes at least 10 ms, as otherwise the bound says nothing";
    let words =
        ["the time with a perturbation differs by less than 10 ms (19 networks, Figure 5.2)", "10 ms of up to 0.2 s"];
    statement(words, ours, Judged::by(rule, verdict))
}

fn uses(found: &Measured) -> Vec<Statement> {
    let mut all = trained::statements(&found.trained);
    all.push(large_values(found));
    all.push(heat_maps(found));
    all
}

/// Section 5.4.4.
fn large_values(found: &Measured) -> Statement {
    let shares = found.maps.shares();
    let compared = shares
        .and_then(|[least, most]| ProportionComparison::of(most, least, IntervalKind::Wilson, Confidence::PERCENT_95));
    let (ours, verdict) = shares.zip(compared).map_or_else(
        || ("not measured".to_owned(), Verdict::Open),
        |([least, most], difference)| {
            let verdict = decided(difference.interval.low > 0.0, difference.interval.high < 0.0);
            let words = format!(
                "least sensitive {}, most sensitive {}, {} images",
                said(Some(least)),
                said(Some(most)),
                least.trials()
            );
            (words, verdict)
        },
    );
    statement(
        [
            "a large value (10,000) in the feature map with the least gradient does not change the class, other than in that \
             with the largest (DenseNet, Figure 5.5)",
            "one image",
        ],
        ours,
        Judged::by(
            "the 95 % interval (Newcombe) of the share of images with another class by the map with the largest gradient, less \
             that by the map with the least, is all above 0",
            verdict,
        ),
    )
}

/// The same section about heat maps.
fn heat_maps(found: &Measured) -> Statement {
    let shares: Vec<_> = found.networks.iter().map(|it| (it.name, it.skewed)).collect();
    let bounds = || shares.iter().map(|(_, share)| share.wilson(Confidence::PERCENT_95));
    let holds = !shares.is_empty() && bounds().all(|it| it.low > 0.5);
    let fails = bounds().any(|it| it.high < 0.5);
    let words = shares.iter().map(|(name, share)| format!("{name} {}", said(Some(*share))));
    statement(
        [
            "a large value in the most sensitive feature map skews the heat map of the class (Grad-CAM), other than in the least \
             sensitive one (DenseNet, Figure 5.5)",
            "one image",
        ],
        format!("images whose heat map changes more by the most sensitive one: {}", listed(words.collect::<Vec<_>>())),
        Judged::by(
            "the 95 % interval (Wilson) of the share of images whose heat map changes more by the most sensitive feature map is above one \
             half in each network; it fails if it is below in one",
            decided(holds, fails),
        ),
    )
}
