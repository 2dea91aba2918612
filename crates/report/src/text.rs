//! A summary as text for a terminal.

use campaign::names::short;
use campaign::summary::{Account, Factor, Rate, RateBounds};
use campaign::{Config, Summary};
use std::collections::BTreeMap;

use crate::findings::file_name;
use crate::limits::{bad_name, counted, of_host, of_unjudged};
use crate::measure::{ClassMasses, Mass, Measure};
use crate::number::{bounds, interval, percent, plain, rate};
use crate::races::{MEANING, said, unsearched};
use crate::stopping;
pub use crate::table::plain as table;

/// Lines that are listed.
const LINES: usize = 10;

/// When a campaign stops, and how many runs that takes at most; none of one that does not
/// stop by margin.
#[must_use]
pub fn stopping_plan(config: &Config) -> Option<String> {
    stopping::plan(config)
}

/// A summary as text: the account, the outcomes, the kernels, groups and worst lines, each rate with its interval.
/// `short_name` gives the name that people use for a kernel.
#[must_use]
pub fn summary(summary: &Summary, short_name: fn(&str) -> &str) -> String {
    head(summary)
        + "\n"
        + &outcomes(summary)
        + &register_file(summary, short_name)
        + &parts(summary, short_name)
        + &races(summary, short_name)
        + &tail(summary)
}

fn head(summary: &Summary) -> String {
    let golden = &summary.golden;
    let (runs, what) = (&summary.runs, counted(summary));
    let mut text = format!(
        "{}: {} launches, {} threads, {} thread-instructions, golden run {:.3} s\n",
        short(&summary.capsule.name),
        plain(golden.launches),
        plain(golden.threads),
        plain(golden.thread_instructions),
        golden.seconds
    );
    text += &format!(
        "{} {what} planned: {} landed, {} not landed, {} failed{}\n",
        plain(runs.planned),
        plain(runs.landed),
        plain(runs.not_landed),
        plain(runs.failed),
        summary.remaining.map_or_else(String::new, |left| format!(", {} to go", plain(left)))
    );
    if let Some(reached) = stopping::reached(summary) {
        text += &format!("{reached}\n");
    }
    if let Some(raised) = summary.stopping.as_ref().and_then(stopping::raised) {
        text += &format!("{raised}\n");
    }
    if let Some(exhaustive) = &summary.exhaustive {
        text += &format!(
            "every bit of {} operands in {} executed instructions, in {} units; rates are exact\n",
            plain(exhaustive.operands),
            plain(exhaustive.members),
            plain(exhaustive.units)
        );
    }
    text
}

fn tail(summary: &Summary) -> String {
    let (speed, what) = (&summary.speed, counted(summary));
    let tiers = speed.tiers.iter().filter(|(_, n)| **n > 0).map(|(tier, n)| format!("{tier} {}", plain(*n)));
    let tiers: Vec<String> = tiers.collect();
    let mut text = format!(
        "\n{} {what} per second with {} workers; engine: {}{}\n",
        plain(speed.runs_per_second.round() as u64),
        speed.jobs,
        if tiers.is_empty() { "none".to_owned() } else { tiers.join(", ") },
        if summary.exhaustive.is_some() { String::new() } else { format!("; seed {}", summary.seed) }
    );
    if let Some(stopped) = &speed.stopped_early {
        text += &format!(
            "{} {what} ({} %, {} {}) stopped early: nothing differed any more before the output\n",
            plain(stopped.count),
            percent(stopped.rate.unwrap_or_default()),
            level(summary).map(interval).unwrap_or_default(),
            bounds(stopped.low, stopped.high)
        );
    }
    text += &of_unjudged(summary).map_or_else(String::new, |said| said + "\n");
    text += &of_host(summary).map_or_else(String::new, |said| said + "\n");
    text
}

/// The data races of the fault-free run.
fn races(summary: &Summary, short_name: fn(&str) -> &str) -> String {
    let all = &summary.races;
    let mut text = if all.is_empty() { String::new() } else { format!("\n{MEANING}\n") };
    all.iter().take(LINES).for_each(|race| text += &format!("  {}\n", said(race, short_name)));
    if all.len() > LINES {
        text += &format!("  {} more are left out here\n", plain((all.len() - LINES) as u64));
    }
    text + &summary.races_unsearched.as_ref().map_or_else(String::new, |part| format!("\n{}\n", unsearched(part)))
}

/// A rate and, where it is an estimate, its bounds.
fn cells(value: &Rate, exact: bool) -> Vec<String> {
    let mut cells = vec![rate(value.rate)];
    if !exact {
        cells.push(value.rate.map_or_else(String::new, |_| bounds(value.low, value.high)));
    }
    cells
}

/// The level of the intervals; none where rates are exact.
fn level(summary: &Summary) -> Option<f64> {
    match Measure::of(summary) {
        Measure::Exact => None,
        Measure::Sampled(_, level) => Some(level.level()),
    }
}

fn outcomes(summary: &Summary) -> String {
    let (level, none) = (level(summary), BTreeMap::new());
    let classes = [
        ("masked", summary.outcomes.masked, &summary.masked),
        ("sdc", summary.outcomes.sdc, &summary.sdc),
        ("due", summary.outcomes.due, &summary.due),
        ("undecided", summary.outcomes.undecided, &none),
    ];
    let shown = classes.iter().filter(|(name, rate, _)| *name != "undecided" || rate.count > 0);
    let rows = shown.flat_map(|(name, rate, kinds)| {
        let kinds = kinds.iter().filter(|(_, n)| **n > 0).map(|(kind, n)| format!("{kind} {}", plain(*n)));
        let mut row = vec![(*name).to_owned(), plain(rate.count)];
        row.extend(cells(rate, level.is_none()));
        row.push(kinds.collect::<Vec<_>>().join(", "));
        let bad = bad_name(summary).filter(|_| *name == "sdc").zip(summary.bad).map(|(bad, rate)| {
            let mut row = vec![format!("  {bad}"), plain(rate.count)];
            row.extend(cells(&rate, level.is_none()));
            row
        });
        [Some(row), bad].into_iter().flatten()
    });
    let (rows, interval) = (rows.collect::<Vec<_>>(), level.map(interval).unwrap_or_default());
    match level {
        None => table(&["outcome", "faults", "rate", "of these"], "<>><", &rows),
        Some(_) => table(&["outcome", "runs", "rate", &interval, "of these"], "<>>><", &rows),
    }
}

/// How vulnerable the register file is, where registers were hit.
fn register_file(summary: &Summary, short_name: fn(&str) -> &str) -> String {
    let Some(file) = &summary.register_file else { return String::new() };
    let factor = |factor: Option<Factor>| {
        let bounds = factor.map(|it| bounds(it.bounds.low, it.bounds.high));
        [rate(factor.map(|it| it.factor)), bounds.unwrap_or_default()]
    };
    let mut rows = Vec::new();
    for kernel in &file.kernels {
        let (given, avf) = (&kernel.given, kernel.avf);
        let head =
            [short_name(&given.kernel).to_owned(), plain(given.registers_per_thread.into()), rate(Some(given.share))];
        let factors = [factor(avf.map(|avf| avf.sdc)), factor(avf.map(|avf| avf.due))];
        rows.push(head.into_iter().chain(factors.into_iter().flatten()).collect());
    }
    if let Some(avf) = file.avf {
        let head = ["the program".to_owned(), String::new(), String::new()];
        rows.push(
            head.into_iter().chain([avf.sdc, avf.due].map(|it| factor(Some(it))).into_iter().flatten()).collect(),
        );
    }
    let level = level(summary).map(interval).unwrap_or_default();
    let short = level.trim_end_matches(" interval");
    let heads = ["register file", "registers of a thread", "allocated", "AVF, SDC", short, "AVF, DUE", short];
    format!("\n{}", table(&heads, "<>", &rows))
}

/// The kernels, the groups and the source lines with most silent corruptions.
fn parts(summary: &Summary, short_name: fn(&str) -> &str) -> String {
    let (measure, exact) = (Measure::of(summary), summary.exhaustive.is_some());
    let bad = bad_name(summary).filter(|_| summary.bad.is_some());
    let is_undecided = summary.outcomes.undecided.count > 0;
    let row = |name: String, account: &Account| {
        let mut row = vec![name, plain(account.runs)];
        let [masked, sdc, due, undecided] = rates(account, measure);
        let undecided = Some(undecided).filter(|_| is_undecided);
        let rates = [Some(masked), Some(sdc), account.bad.filter(|_| bad.is_some()), Some(due), undecided];
        row.extend(rates.iter().flatten().flat_map(|rate| cells(rate, exact)));
        row
    };
    let mut text = String::new();
    let level = level(summary).map(interval).unwrap_or_default();
    let mut section = |title: &str, rows: &[Vec<String>]| {
        if rows.is_empty() {
            return;
        }
        let short = level.trim_end_matches(" interval");
        let names = [Some("masked"), Some("sdc"), bad, Some("due"), Some("undecided").filter(|_| is_undecided)];
        let heads = names.into_iter().flatten().flat_map(|name| [Some(name), Some(short).filter(|_| !exact)]).flatten();
        let heads: Vec<&str> = [title, counted(summary)].into_iter().chain(heads).collect();
        text += &format!("\n{}", table(&heads, "<>", rows));
    };
    let strata = summary
        .strata
        .iter()
        .map(|part| row(format!("{}, {:.1} % of all", short_name(&part.name), part.weight * 100.0), &part.account));
    section("stratum", &strata.collect::<Vec<_>>());
    let kernels = summary.by_kernel.iter().map(|part| row(short_name(&part.name).to_owned(), &part.account));
    section("kernel", &kernels.collect::<Vec<_>>());
    let groups = summary.by_group.iter().map(|part| row(part.name.clone(), &part.account));
    section("group", &groups.collect::<Vec<_>>());
    let mut lines: Vec<_> = summary.by_line.iter().filter(|part| part.line.is_some()).collect();
    let worst = |account: &Account| (account.bad.map(|bad| bad.count), account.outcomes.sdc);
    lines.sort_by_key(|part| (std::cmp::Reverse(worst(&part.account)), part.file.clone(), part.line));
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    let place = |file: &Option<String>, line: Option<u32>| {
        format!("{}:{}", file_name(file.as_deref().unwrap_or("?")), line.unwrap_or(0))
    };
    let lines = lines.iter().map(|part| row(place(&part.file, part.line), &part.account));
    section("line", &lines.collect::<Vec<_>>());
    if more > 0 {
        text += &format!("{} more lines are left out here\n", plain(more as u64));
    }
    text
}

/// The rates of an account: masked, SDC, DUE, undecided.
fn rates(account: &Account, measure: Measure) -> [Rate; 4] {
    let counts = account.outcomes;
    if let (Some(rates), Some(within)) = (account.rates, account.intervals) {
        let of = |count, rate, bounds: RateBounds| Rate { count, rate: Some(rate), low: bounds.low, high: bounds.high };
        return [
            of(counts.masked, rates.masked, within.masked),
            of(counts.sdc, rates.sdc, within.sdc),
            of(counts.due, rates.due, within.due),
            of(counts.undecided, rates.undecided, within.undecided),
        ];
    }
    if let (Measure::Exact, Some(weighed)) = (measure, account.rates) {
        let exact = |count, rate| Rate { count, rate: Some(rate), low: rate, high: rate };
        return [
            exact(counts.masked, weighed.masked),
            exact(counts.sdc, weighed.sdc),
            exact(counts.due, weighed.due),
            exact(counts.undecided, weighed.undecided),
        ];
    }
    let [masked, sdc, due, undecided] = [counts.masked, counts.sdc, counts.due, counts.undecided].map(Mass::of);
    let rates = ClassMasses { masked, sdc, due, undecided, ..ClassMasses::default() }.rates(measure);
    [rates.masked, rates.sdc, rates.due, rates.undecided]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn document(config: &Value, exhaustive: bool) -> Summary {
        let rate = |count: u64, rate: f64| json!({"count": count, "rate": rate, "low": rate, "high": rate});
        let counts = json!({"masked": 1, "sdc": 1, "due": 0});
        let mut part = json!({"name": "k", "runs": 2, "not_landed": 0, "failed": 0, "outcomes": counts});
        if exhaustive {
            part["rates"] = json!({"masked": 0.2, "sdc": 0.8, "due": 0.0});
        }
        let mut summary = json!({
            "format": "beamline.summary/1",
            "capsule": {"name": "gemm", "digest": "0"},
            "config": config,
            "seed": 0,
            "golden": {"launches": 1, "threads": 1, "thread_instructions": 2, "seconds": 0.0},
            "runs": {"planned": 2, "landed": 2, "not_landed": 0, "failed": 0},
            "outcomes": {"masked": rate(1, 0.2), "sdc": rate(1, 0.8), "due": rate(0, 0.0)},
            "masked": {"logical": 1}, "sdc": {"bad": 1}, "due": {},
            "host_visible": 1,
            "by_kernel": [part], "by_group": [], "by_line": [],
            "speed": {"seconds": 1.0, "runs_per_second": 2.0, "jobs": 1, "tiers": {"decided": 1, "full": 1}},
        });
        if exhaustive {
            summary["exhaustive"] = json!({"units": 1, "operands": 2, "members": 2});
        }
        serde_json::from_value(summary).expect("it is a summary")
    }

    /// Two faults, one of them masked, the other of four times its weight.
    #[test]
    fn an_exhaustive_campaign_is_shown_by_weight_and_without_intervals() {
        let text = summary(&document(&json!({"exhaustive": true}), true), |name| name);
        let words = [
            "2 faults planned: 2 landed",
            "every bit of 2 operands in 2 executed instructions, in 1 units; rates are exact",
            "20.00 %",
            "80.00 %",
            "2 faults per second with 1 workers; engine: decided 1, full 1\n",
            "in 1 faults the host",
        ];
        for word in words {
            assert!(text.contains(word), "no `{word}` in\n{text}");
        }
        for word in ["interval", "seed", "runs", "50.00 %"] {
            assert!(!text.contains(word), "`{word}` in\n{text}");
        }
    }

    #[test]
    fn every_rate_of_a_part_has_its_interval() {
        let text = summary(&document(&json!({"confidence": 0.9}), false), |_| "short");
        assert!(text.contains("90 % interval"), "{text}");
        // Wilson's interval of 1 of 2, and of 0 of 2, at 90 %.
        assert!(
            text.contains("short      2  50.00 %  12.09–87.91  50.00 %  12.09–87.91  0.00 %  0.00–57.50"),
            "{text}"
        );
    }
}
