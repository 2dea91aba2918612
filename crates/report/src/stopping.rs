//! What is said of a campaign that stops by margin: before it starts, and of what it came to.

use campaign::summary::{Stopping, Summary};
use campaign::{Config, MarginBy, Size};

use crate::number::{level, percent, plain};

/// When a campaign stops and how many runs that takes at most; none of one that does not stop by margin.
pub(crate) fn plan(config: &Config) -> Option<String> {
    let (Size::Margin(margin), Some(rule)) = (config.size, config.sequential()) else { return None };
    let kernels = margin.by == MarginBy::Kernel;
    let most = plain(rule.worst_case());
    let why =
        if margin.at_most.is_some_and(|most| most <= rule.worst_case()) { "" } else { ", where a rate is one half" };
    let fewer = if kernels { "" } else { "; fewer where outcomes are rare" };
    Some(format!(
        "stops as soon as {} within ±{} %, after at most {most} runs{why}{fewer}",
        rates(if kernels { "kernel" } else { "overall" }),
        shown(margin.margin.get())
    ))
}

/// What came of the margin, in a sentence without its capital and its full stop; none without one, or while runs are to
/// be made.
pub(crate) fn reached(summary: &Summary) -> Option<String> {
    let stopping = summary.stopping.as_ref().filter(|_| summary.remaining.is_none())?;
    Some(came_to(stopping, summary.runs.planned, summary.outcomes.undecided.count))
}

fn came_to(stopping: &Stopping, runs: u64, undecided: u64) -> String {
    let (runs, widest, margin) = (plain(runs), percent(stopping.widest), shown(stopping.margin));
    let rates = rates(&stopping.by);
    // More runs help against the error of sampling alone.
    let (of, undecided) = match stopping.widest_with_undecided {
        None => ("", String::new()),
        Some(all) => {
            (" of sampling", format!("; {} undecided runs widen the bounds to ±{} %", plain(undecided), percent(all)))
        }
    };
    match stopping.reached {
        true => format!(
            "stopped at {runs} runs; margin reached: yes, ±{widest} %{of}: {rates} within ±{margin} %{undecided}"
        ),
        false => format!(
            "stopped at {runs} runs, the most there may be; margin reached: no, ±{widest} %{of} against ±{margin} %{undecided}"
        ),
    }
}

/// Why intervals are at another level than the stated confidence, in a sentence; none where they are not.
pub(crate) fn raised(stopping: &Stopping) -> Option<String> {
    let is_raised = stopping.looks > 1;
    is_raised.then(|| {
        format!(
            "Intervals are at {} % and not at {} %, because the campaign could stop at any of {} looks at its rates: so the \
             stated confidence holds whichever it stopped at.",
            level(stopping.level),
            level(stopping.confidence),
            stopping.looks
        )
    })
}

/// The rates that a margin is for.
fn rates(by: &str) -> &'static str {
    match by {
        "kernel" => "masked, SDC and DUE, over all runs and in each kernel, are",
        _ => "masked, SDC and DUE, each over all runs, are",
    }
}

/// A margin in percent, without zeros at its end.
fn shown(margin: f64) -> String {
    let text = percent(margin);
    if text.contains('e') { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<String> {
        plan(&Config::from_toml(&format!("capsule = 'gemm'\n{text}"), "it").unwrap())
    }

    #[test]
    fn before_the_start_it_says_which_rates_and_how_many_runs_at_most() {
        assert_eq!(said("runs = 5"), None);
        let overall = "masked, SDC and DUE, each over all runs, are within ±5 %, after at most";
        assert_eq!(
            said("margin = 0.05").unwrap(),
            format!("stops as soon as {overall} 806 runs, where a rate is one half; fewer where outcomes are rare")
        );
        assert_eq!(
            said("margin = 0.05\nruns = 300").unwrap(),
            format!("stops as soon as {overall} 300 runs; fewer where outcomes are rare")
        );
        let kernels = said("margin = 0.05\nmargin-by = 'kernel'\nruns = 3000").unwrap();
        assert!(kernels.contains("over all runs and in each kernel, are within ±5 %, after at most 3 000 runs"));
    }

    fn of_margin(widest_with_undecided: Option<f64>) -> Stopping {
        Stopping {
            looks: 11,
            level: 0.995_454_5,
            confidence: 0.95,
            margin: 0.05,
            by: "overall".to_owned(),
            at_most: 806,
            widest: 0.04,
            widest_with_undecided,
            reached: true,
        }
    }

    #[test]
    fn a_level_that_is_raised_is_explained() {
        let said = raised(&of_margin(None)).unwrap();
        assert!(said.starts_with("Intervals are at 99.5455 % and not at 95 %, because"), "{said}");
        assert_eq!(raised(&Stopping { looks: 1, ..of_margin(None) }), None);
    }

    #[test]
    fn a_margin_is_one_of_sampling_where_runs_are_undecided() {
        let rates = "masked, SDC and DUE, each over all runs, are within ±5 %";
        let said = came_to(&of_margin(None), 757, 0);
        assert_eq!(said, format!("stopped at 757 runs; margin reached: yes, ±4.00 %: {rates}"));
        let said = came_to(&of_margin(Some(0.273)), 757, 1_200);
        let wide = "; 1 200 undecided runs widen the bounds to ±27.30 %";
        assert_eq!(said, format!("stopped at 757 runs; margin reached: yes, ±4.00 % of sampling: {rates}{wide}"));
        let said = came_to(&Stopping { reached: false, ..of_margin(Some(0.273)) }, 806, 1_200);
        assert!(said.ends_with(&format!("no, ±4.00 % of sampling against ±5 %{wide}")), "{said}");
    }
}
