//! The statements of the paper about searches.

use serde_json::Value;
use std::cmp::Ordering;

use super::rules::{Estimate, KERNELS, differ, difference, most, ratio, statement, up_to, within};
use super::survey::{Goal, Measured};
use crate::documents::list;
use crate::statements::{Judged, Statement, Verdict};
use crate::words::{listed, of};

/// The baselines of the paper.
const BASELINES: [&str; 2] = ["random", "peppa-x"];
/// How often the paper's rate is that of a baseline, at most.
const TIMES: f64 = 74.0;
/// Inputs of the paper's shortest searches: ten generations of our population of twenty.
pub(super) const LEAST_INPUTS: u64 = 200;
/// The paper's mean difference of searches by one launch and by all.
const PRUNED: f64 = 0.0128;

/// The answers of a searcher: its row of the comparison, and the values by seed.
fn answers(it: &Measured, goal: Goal, searcher: &str) -> Option<(Estimate, Vec<f64>)> {
    let row = list(it.search(goal)?, "comparison").iter().find(|row| row["searcher"] == searcher)?;
    let values: Vec<f64> = list(row, "values").iter().filter_map(Value::as_f64).collect();
    Some((Estimate::read(row, "median")?, values))
}

/// The inputs that DRUTO evaluated in its shortest search.
fn inputs(it: &Measured, goal: Goal) -> u64 {
    let searches = it.search(goal).map_or(&[][..], |document| list(document, "searches"));
    let of = searches.iter().filter(|search| search["searcher"] == "druto");
    of.filter_map(|search| search["evaluations"].as_u64()).min().unwrap_or(0)
}

/// The kernels in which the answers of DRUTO are above those of a searcher, below them, and all that have both.
struct Against {
    above: Vec<&'static str>,
    below: Vec<&'static str>,
    all: usize,
    /// Whether every search of DRUTO has as many inputs as the shortest ones of the paper.
    is_long: bool,
}

impl Against {
    fn of(all: &[Measured], goal: Goal, searcher: &str) -> Self {
        Self::with(all, (goal, "druto"), (goal, searcher))
    }

    /// Of DRUTO for one goal against a searcher for another.
    fn with(all: &[Measured], (goal, druto): (Goal, &str), (other, searcher): (Goal, &str)) -> Self {
        let both = |it: &Measured| Some((answers(it, goal, druto)?.1, answers(it, other, searcher)?.1));
        let pairs: Vec<_> = all.iter().filter_map(|it| both(it).map(|both| (it.name, both))).collect();
        let order = |wanted: Ordering| {
            let is = |(_, (druto, other)): &&(&'static str, (Vec<f64>, Vec<f64>))| {
                differ(druto, other, pairs.len()) == Some(wanted)
            };
            pairs.iter().filter(is).map(|(name, _)| *name).collect()
        };
        let is_long = all.iter().filter(|it| both(it).is_some()).all(|it| inputs(it, goal) >= LEAST_INPUTS);
        Self { above: order(Ordering::Greater), below: order(Ordering::Less), all: pairs.len(), is_long }
    }

    fn words(&self) -> String {
        let (above, below) = (of(self.above.len(), self.all), of(self.below.len(), self.all));
        format!("more in {above}: {}; less in {below}: {}", listed(&self.above), listed(&self.below))
    }

    /// The verdict on a statement about the paper's searches.
    fn verdict_of_long(&self) -> Verdict {
        if self.is_long { self.verdict() } else { Verdict::Open }
    }

    fn verdict(&self) -> Verdict {
        most(self.above.len(), self.below.len(), self.all)
    }
}

/// The rule of statements about two searchers.
const RULE: &str = "its answers differ (rank-sum test of ten seeds, p corrected for the kernels) and are higher in more than half of the \
                    kernels, three at least; not, if they are lower in at least half";

/// A statement about the paper's searches, which are as long as ten generations or longer.
fn of_long(words: &str, numbers: &str, against: &Against) -> Statement {
    let rule = format!(
        "{RULE}; undecided while a search has fewer inputs than ten generations, the paper's fewest, have ({LEAST_INPUTS})"
    );
    statement(words, numbers, against.words(), Judged::by(rule, against.verdict_of_long()))
}

pub(super) fn statements(all: &[Measured]) -> Vec<Statement> {
    let against = |goal, searcher| Against::of(all, goal, searcher);
    let [random, peppa] = BASELINES.map(|searcher| against(Goal::Proxy, searcher));
    let trident = against(Goal::Proxy, "trident");
    let measured = against(Goal::Rate, "random");
    let estimator = against(Goal::Rate, "tpe");
    vec![
        of_long(
            "DRUTO finds more vulnerable inputs than random search (Figure 6)",
            "39.0 % against 24.4 % in the mean",
            &random,
        ),
        of_long(
            "DRUTO finds more vulnerable inputs than PEPPA-X (Figure 6)",
            "39.0 % against 26.4 % in the mean",
            &peppa,
        ),
        times(all),
        five_times("random search", &against(Goal::Five, "random")),
        five_times("PEPPA-X", &Against::with(all, (Goal::Five, "druto"), (Goal::FivePeppa, "peppa-x"))),
        of_long(
            "GPU-Trident does not bound the rate as high as DRUTO (Figure 9), here earlier models of `beamline predict`",
            "in most cases; slightly better results for kernels such as BlackScholes",
            &trident,
        ),
        statement(
            "a genetic search finds more than random search (Section II-E), here by the measured rate",
            "–",
            measured.words(),
            Judged::by(RULE, measured.verdict()),
        ),
        any_search(&estimator),
        pruning(all),
        equal_times("random search", &against(Goal::Seconds, "random")),
        equal_times("PEPPA-X", &against(Goal::Seconds, "peppa-x")),
    ]
}

fn times(all: &[Measured]) -> Statement {
    let pair = |it: &Measured, goal: Goal, baseline: &str| {
        let (druto, other) = (answers(it, goal, "druto")?.0, answers(it, goal, baseline)?.0);
        Some((format!("{} against {baseline} ({})", it.name, goal.words()), ratio(druto, other)))
    };
    let compared = |it| {
        let goals = [Goal::Proxy, Goal::Seconds].into_iter();
        goals.flat_map(move |goal| BASELINES.iter().filter_map(move |baseline| pair(it, goal, baseline)))
    };
    let pairs: Vec<_> = all.iter().flat_map(compared).collect();
    let largest = pairs.iter().max_by(|one, other| one.1.value.total_cmp(&other.1.value));
    let ours = largest.map_or_else(
        || "not measured".to_owned(),
        |(what, it)| format!("{:.1} ({:.1} to {:.1}), {what}", it.value, it.low, it.high),
    );
    let ratios: Vec<Estimate> = pairs.iter().map(|(.., ratio)| *ratio).collect();
    statement(
        "its rates are up to 74 times those of other techniques (abstract)",
        "74",
        ours,
        Judged::by(
            "the ratio of medians of one kernel and baseline, at equal inputs or equal times, lies at 74 or above, with all that their intervals allow; \
             not, if all lie below",
            up_to(&ratios, TIMES),
        ),
    )
}

fn five_times(technique: &str, against: &Against) -> Statement {
    let words = format!("{technique} does not find its inputs with five times the search (Figure 7)");
    of_long(&words, "for most kernels", against)
}

fn equal_times(technique: &str, against: &Against) -> Statement {
    let words = format!("in equal times DRUTO finds more vulnerable inputs than {technique} (Figure 6)");
    of_long(&words, "at 10, 50 and 100 generations", against)
}

fn any_search(estimator: &Against) -> Statement {
    let differs = estimator.above.len() + estimator.below.len();
    statement(
        "any other search algorithm would do (Section II-E), here the estimator by the measured rate",
        "–",
        format!("the genetic search finds {}", estimator.words()),
        Judged::by(
            "not, if the answers of the genetic search and of the estimator differ in at least half of the kernels, three at least; undecided else, since \
             a difference that is not shown may still be there",
            if estimator.all >= KERNELS && differs * 2 >= estimator.all { Verdict::Fails } else { Verdict::Open },
        ),
    )
}

/// By variant, the rates that searches found.
pub(super) fn pruned(it: &Measured) -> Option<[Vec<f64>; 2]> {
    let variants = list(&it.studies, "studies.pruning.variants");
    let rates = |at: usize| -> Option<Vec<f64>> {
        Some(list(variants.get(at)?, "rates").iter().filter_map(Value::as_f64).collect())
    };
    Some([rates(0)?, rates(1)?])
}

/// The launches of the kernel in the input that has the most.
pub(super) fn launches(it: &Measured) -> u64 {
    let inputs = list(&it.studies, "studies.launches.inputs");
    inputs.iter().filter_map(|input| input["launches"].as_u64()).max().unwrap_or(0)
}

fn pruning(all: &[Measured]) -> Statement {
    let several = all.iter().filter(|it| launches(it) > 1);
    let found = |it: &Measured| {
        let [with, without] = pruned(it)?;
        Some((it.name, difference(&with, &without)?))
    };
    let differences: Vec<(&str, Estimate)> = several.filter_map(found).collect();
    let words = differences.iter().map(|(name, it)| {
        format!("{name} {:+.1} ({:+.1} to {:+.1})", it.value * 100.0, it.low * 100.0, it.high * 100.0)
    });
    let words: Vec<String> = words.collect();
    let estimates: Vec<Estimate> = differences.iter().map(|(_, it)| *it).collect();
    statement(
        "searches by one launch find what searches by all launches find (Table VII)",
        "1.28 points apart in the mean, 0.1 to 3.5",
        if words.is_empty() { "not measured".to_owned() } else { format!("{} points", words.join("; ")) },
        Judged::by(
            "in the kernels with several launches the mean size of the difference is at most 1.28 points by all that the intervals allow; \
             not, if it is more by all that they allow",
            within(&estimates, PRUNED),
        ),
    )
}
