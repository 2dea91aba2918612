//! The statements of the paper, each with its rule and its verdict.

use serde_json::Value;
use stats::{Confidence, Repeated};

use super::survey::Measured;
use super::tables::{of_kernels, pruned};
use crate::documents::{at, list, number};
use crate::statements::{Judged, Part, Statement, Verdict};
use crate::words::{listed, percent};

/// All statements.
pub(super) fn statements(all: &[Measured]) -> Vec<Part> {
    vec![
        Part { name: "statements-ranks", statements: ranks(all) },
        Part { name: "statements-searches", statements: searches(all) },
    ]
}

fn statement(claim: &str, paper: &str, ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// A mean over kernels held against the paper's: it holds if the interval of ours lies at or above its number, does not if it lies
/// below, and is undecided if the number is within.
fn mean(claim: &str, theirs: f64, all: &[Measured], of: impl Fn(&Measured) -> Option<f64>) -> Statement {
    let values: Vec<f64> = all.iter().filter_map(of).collect();
    let rule = format!("the 95 % interval of our mean over kernels is all {theirs} or more");
    let Some(found) = Repeated::of(&values) else {
        return statement(claim, &theirs.to_string(), "not measured".to_owned(), Judged::by(rule, Verdict::Open));
    };
    let half = found.half_width(0.0, Confidence::PERCENT_95);
    let verdict = if found.mean - half >= theirs {
        Verdict::Holds
    } else if found.mean + half < theirs {
        Verdict::Fails
    } else {
        Verdict::Open
    };
    let [low, high] = [(found.mean - half).max(-1.0), (found.mean + half).min(1.0)];
    let ours = format!("{:.2} ({low:.2} to {high:.2}), {} kernels", found.mean, found.count);
    statement(claim, &theirs.to_string(), ours, Judged::by(rule, verdict))
}

fn value(it: &Value) -> Option<f64> {
    it["value"].as_f64()
}

fn of_study(it: &Measured, path: &str) -> Option<f64> {
    at(&it.studies, &format!("studies.{path}")).and_then(value)
}

fn ranks(all: &[Measured]) -> Vec<Statement> {
    let vary: Vec<&str> = all
        .iter()
        .filter(|it| number(&it.studies, "studies.range.p_alike").is_some_and(|p| p * all.len() as f64 > 0.05))
        .map(|it| it.name)
        .collect();
    vec![
        statement(
            "SDC rates vary with the input (Figure 1)",
            "every kernel",
            format!("{} of {}", all.len() - vary.len(), all.len()),
            Judged::plain(
                "in each of our kernels equal rates are refuted (p corrected for the kernels at most 0.05)",
                vary.is_empty(),
            ),
        ),
        mean("the ranks of instructions by SDC are not stable across inputs: 0.59 (Table II)", 0.59, all, |it| {
            of_study(it, "instructions.across_inputs")
        }),
        mean("dominant threads rank inputs as the kernel does (O1, Table III)", 0.81, all, |it| {
            value(of_kernels(it, "dominant"))
        }),
        mean("instruction counts rank threads as SDC rates do (O2, Table IV)", 0.73, all, |it| {
            of_study(it, "threads.counts")
        }),
    ]
}

/// The median rate of a searcher by an objective.
fn median(it: &Measured, objective: usize, searcher: &str) -> Option<(f64, bool, f64)> {
    let rows = list(&it.searches[objective], "comparison");
    let row = rows.iter().find(|row| row["searcher"] == searcher)?;
    Some((row["median"].as_f64()?, row["differs"] == true, row["better_than_random"].as_f64().unwrap_or(0.5)))
}

fn searches(all: &[Measured]) -> Vec<Statement> {
    let better = |objective: usize, searcher: &str| -> Vec<&str> {
        let is = |it: &&Measured| median(it, objective, searcher).is_some_and(|it| it.1 && it.2 > 0.5);
        all.iter().filter(is).map(|it| it.name).collect()
    };
    let found = better(0, "druto");
    let factors: Vec<f64> =
        all.iter().filter_map(|it| Some(median(it, 0, "druto")?.0 / median(it, 0, "random")?.0)).collect();
    let most = factors.iter().copied().fold(0.0, f64::max);
    let measured = better(1, "druto");
    let differences: Vec<f64> = all
        .iter()
        .filter_map(|it| {
            let [with, without] = pruned(it);
            Some((with? - without?).abs())
        })
        .collect();
    let difference = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
    vec![
        statement(
            "DRUTO finds more vulnerable inputs than random search (Section V-B)",
            "nearly every kernel",
            format!("{} of {}: {}", found.len(), all.len(), listed(&found)),
            Judged::plain("in more than half of our kernels, by the corrected test", found.len() * 2 > all.len()),
        ),
        statement(
            "by up to 74 times (abstract)",
            "74×",
            format!("{most:.2}× at most"),
            Judged::plain("the largest ratio of medians in our kernels is 74 or more", most >= 74.0),
        ),
        statement(
            "the same search by the measured rate finds more than random search (ours)",
            "–",
            format!("{} of {}: {}", measured.len(), all.len(), listed(&measured)),
            Judged::by("the paper does not say", Verdict::Open),
        ),
        statement(
            "searches by one launch find what searches by all find (Table VII)",
            "1.28 points apart in the mean",
            format!("{} apart in the mean", percent(difference)),
            Judged::by(
                "the mean difference is at most 1.28 points",
                if differences.is_empty() { Verdict::Open } else { Verdict::plain(difference <= 0.0128) },
            ),
        ),
    ]
}
