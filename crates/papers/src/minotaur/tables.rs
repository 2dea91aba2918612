//! The tables of the page, each beside a table or figure of the chapter.

use serde_json::Value;
use study::{Cell, Table};

use super::survey::Measured;
use crate::documents::at;
use crate::words::percent;

/// Orders that a table lists for an application, at most, beside the random one and the oracles.
const SHOWN: usize = 3;

fn share(share: Option<f64>) -> Cell {
    Cell::text(share.map_or_else(|| "–".to_owned(), percent))
}

fn factor(factor: Option<f64>) -> Cell {
    Cell::text(factor.map_or_else(|| "–".to_owned(), |factor| format!("{factor:.2}")))
}

/// A share with its bounds: `96.3 % (94.0–97.7)`.
fn bounded(it: &Measured, path: &str) -> Cell {
    let of = |key: &str| it.number(&format!("{path}.{key}"));
    let text = of("rate").zip(of("low")).zip(of("high")).map(|((rate, low), high)| {
        let plain = |share: f64| percent(share).trim_end_matches(" %").to_owned();
        format!("{} ({}–{})", percent(rate), plain(low), plain(high))
    });
    Cell::text(text.unwrap_or_else(|| "–".to_owned()))
}

fn rows(mut table: Table, all: &[Measured], row: impl Fn(&Measured) -> Vec<Cell>) -> Table {
    table.rows = all.iter().map(|it| [vec![Cell::text(it.name)], row(it)].concat()).collect();
    table
}

/// Table 3.1: the inputs and their coverage.
pub(super) fn inputs(all: &[Measured]) -> Table {
    let columns = [
        "application",
        "reference",
        "minimised",
        "inputs run",
        "of them refused",
        "instructions, reference",
        "minimised",
        "PC coverage",
        "branch coverage",
        "def-use coverage",
    ];
    rows(Table::new("Inputs and the coverage of the small ones", &columns), all, |it| {
        let refused = at(&it.document, "refused").and_then(Value::as_array).map_or(0, Vec::len) as u64;
        let quality = |criterion: &str| share(it.number(&format!("minimised.quality.{criterion}.rate")));
        vec![
            Cell::text(it.text("reference.input")),
            Cell::text(it.text("minimised.input")),
            Cell::Count(it.count("evaluations")),
            Cell::Count(refused),
            Cell::Count(it.count("reference.thread_instructions")),
            Cell::Count(it.count("minimised.thread_instructions")),
            quality("pc"),
            quality("branch"),
            quality("def-use"),
        ]
    })
}

/// Figure 3.3: pilots by the share of error sites.
pub(super) fn pilots(all: &[Measured]) -> Table {
    let columns = ["application", "Ref, 100 %", "Ref, 99 %", "Min, 100 %", "Min, 99 %", "run of Ref", "run of Min"];
    rows(Table::new("Pilots by the share of error sites", &columns), all, |it| {
        let of_all = |input: &str| {
            Cell::Count(at(&it.of_all_sites, &format!("{input}.pilots")).and_then(Value::as_u64).unwrap_or_default())
        };
        let of_most = |key: &str| Cell::Count(it.count(key));
        vec![
            of_all("reference"),
            of_most("reference.pilots"),
            of_all("minimised"),
            of_most("minimised.pilots"),
            of_most("reference.pilots_run"),
            of_most("minimised.pilots_run"),
        ]
    })
}

/// Figure 3.6: SDC-PCs by who finds them.
pub(super) fn accuracy(all: &[Measured]) -> Table {
    let columns = [
        "application",
        "SDC-PCs",
        "Common",
        "MinSDC",
        "MinSDC+",
        "RefSDC",
        "RefSDC+",
        "of Ref's, Min finds",
        "of all, Min finds",
        "of all, Ref finds",
    ];
    rows(Table::new("Accuracy: SDC-PCs by the input that finds them", &columns), all, |it| {
        let parts = ["common", "min_sdc", "min_sdc_plus", "ref_sdc", "ref_sdc_plus"];
        let all = it.number("accuracy.minimised.of").unwrap_or_default();
        let part = |key: &str| share(it.number(&format!("sdc_pcs.{key}")).map(|some| some / all.max(1.0)));
        let mut row = vec![Cell::Count(all as u64)];
        row.extend(parts.map(part));
        row.extend(["found", "accuracy.minimised", "accuracy.reference"].map(|path| bounded(it, path)));
        row
    })
}

/// Figure 3.7: explored instructions, and what all error sites change of the accuracy.
pub(super) fn explored(all: &[Measured]) -> Table {
    let columns = [
        "application",
        "explored by Min, 99 %",
        "by Ref, 99 %",
        "of all SDC-PCs, Min finds, 99 %",
        "Ref, 99 %",
        "Min, 100 %",
        "Ref, 100 %",
    ];
    rows(Table::new("Instructions that are explored, and accuracy at all error sites", &columns), all, |it| {
        let explored = it.explored();
        let of_all =
            |input: &str| share(at(&it.of_all_sites, &format!("accuracy.{input}.rate")).and_then(Value::as_f64));
        vec![
            share(explored.map(|it| it[0])),
            share(explored.map(|it| it[1])),
            share(it.number("accuracy.minimised.rate")),
            share(it.number("accuracy.reference.rate")),
            of_all("minimised"),
            of_all("reference"),
        ]
    })
}

/// Figure 3.8: the gain of orders.
pub(super) fn orders(all: &[Measured]) -> Table {
    let columns = ["application", "input", "oracle best", "random", "oracle worst", "the best orders"];
    let mut table = Table::new("Pilots by those that early termination runs, by order", &columns);
    for it in all {
        for (key, name) in [("minimised", "Min"), ("reference", "Ref")] {
            let gain = |order: &str| factor(it.gain(key, order));
            let mut orders: Vec<(&str, f64)> = it.gains(key);
            orders.retain(|(name, _)| !name.starts_with("Oracle") && !name.starts_with("without") && *name != "Random");
            orders.sort_by(|one, two| two.1.total_cmp(&one.1));
            let best = orders.iter().take(SHOWN).map(|(name, gain)| format!("{name} {gain:.2}"));
            table.rows.push(vec![
                Cell::text(it.name),
                Cell::text(name),
                gain("Oracle best"),
                gain("Random"),
                gain("Oracle worst"),
                Cell::text(best.collect::<Vec<_>>().join(", ")),
            ]);
        }
    }
    table
}

/// Early termination as it was run.
pub(super) fn termination(all: &[Measured]) -> Table {
    let columns = [
        "application",
        "analysis",
        "pilots",
        "oracle best",
        "by the replay",
        "run",
        "rounds",
        "seconds",
        "of all pilots",
        "SDC-PCs",
        "as all pilots find",
    ];
    let mut table = Table::new("Early termination as it was run, random order", &columns);
    for it in all {
        let lines = at(&it.document, "termination.analyses").and_then(Value::as_array);
        for line in lines.into_iter().flatten() {
            let count = |key: &str| Cell::Count(line[key].as_u64().unwrap_or_default());
            let seconds = |key: &str| factor(line[key].as_f64());
            let name = match line["analysis"].as_str() {
                Some("minimised") => "Min",
                Some("reference") => "Ref",
                _ => "Ref, what Min left",
            };
            let mut row = vec![Cell::text(it.name), Cell::text(name)];
            row.extend(["pilots", "oracle_best", "replay", "run", "rounds"].map(count));
            row.extend(["seconds", "seconds_of_all"].map(seconds));
            let same = if line["same"] == true { "yes" } else { "no" };
            row.extend([count("found"), Cell::text(same)]);
            table.rows.push(row);
        }
    }
    table
}

/// Figure 3.5: speedups by Equation 3.1 and by the clock.
pub(super) fn speedups(all: &[Measured]) -> Table {
    let columns = [
        "application",
        "a run",
        "Min",
        "MinEIP",
        "RefEIP",
        "Min, by the clock",
        "MinEIP, by the clock",
        "RefEIP, by the clock",
    ];
    let mut table = rows(Table::new("Speedup over the reference", &columns), all, |it| {
        let clock = |analysis: &str| {
            let seconds = |analysis: &str| it.way("", analysis, "seconds_measured");
            factor(
                seconds("reference")
                    .filter(|_| it.is_whole())
                    .zip(seconds(analysis))
                    .map(|(long, short)| long / short.max(1e-9)),
            )
        };
        let ways = ["minimised", "minimised_eip", "reference_eip"];
        let mut row = vec![factor(per_run(it))];
        row.extend(ways.map(|analysis| factor(it.times("", "reference", analysis))));
        row.extend(ways.map(clock));
        row
    });
    table.notes = vec![
        "The first columns are by Equation 3.1; the first of them is the time of a run of the reference by that of the small input. \
         The clock has campaigns by all workers, without the classes."
            .to_owned(),
    ];
    table
}

/// How many times longer a pilot of the reference takes, in the mean by Equation 3.1 without the classes.
pub(super) fn per_run(it: &Measured) -> Option<f64> {
    let run = |input: &str| it.number(&format!("{input}.seconds_of_a_run")).filter(|seconds| *seconds > 0.0);
    Some(run("reference")? / run("minimised")?)
}

/// Figure 3.10: the time of both inputs.
pub(super) fn priority(all: &[Measured]) -> Table {
    let columns = ["application", "MinEIP + RefEIP", "with input priority", "faster", "runs", "with input priority"];
    let mut table = rows(Table::new("Both inputs, as a multiple of MinEIP", &columns), all, |it| {
        let runs = |analysis: &str| Cell::Count(it.way("", analysis, "runs").unwrap_or_default() as u64);
        vec![
            factor(it.times("", "both_eip", "minimised_eip")),
            factor(it.times("", "input_priority", "minimised_eip")),
            factor(it.times("", "both_eip", "input_priority")),
            runs("both_eip"),
            runs("input_priority"),
        ]
    });
    table.notes = vec!["Times are by Equation 3.1.".to_owned()];
    table
}

/// Section 3.6.1: approximable instructions.
pub(super) fn approximable(all: &[Measured]) -> Table {
    let columns = [
        "application",
        "threshold",
        "approximable",
        "Min finds",
        "Ref finds",
        "Min with priority",
        "Ref with priority",
        "both",
    ];
    let mut table = rows(Table::new("Instructions that may be approximated", &columns), all, |it| {
        let threshold = it.number("approximable.most").map(|most| format!("{} {most}", it.text("approximable.metric")));
        vec![
            Cell::text(threshold.unwrap_or_default()),
            Cell::Count(it.count("approximable.accuracy.minimised.of")),
            bounded(it, "approximable.accuracy.minimised"),
            bounded(it, "approximable.accuracy.reference"),
            factor(it.times("approximable", "minimised", "minimised_eip")),
            factor(it.times("approximable", "reference", "reference_eip")),
            factor(it.times("approximable", "reference", "minimised_eip")),
        ]
    });
    table.notes = vec![
        "The last columns are speedups by Equation 3.1: of Min over itself, of Ref over itself, of MinEIP over Ref."
            .to_owned(),
    ];
    table
}

/// Section 3.6.2: the hottest instructions alone.
pub(super) fn hot(all: &[Measured]) -> Table {
    let columns = ["application", "the top", "instructions", "speedup", "SDC-PCs of Ref", "of Min", "of both"];
    let mut table = Table::new("The hottest instructions alone", &columns);
    for it in all {
        let lines = at(&it.document, "hot.shares").and_then(Value::as_array);
        for line in lines.into_iter().flatten() {
            let count = |path: &str| Cell::Count(at(line, path).and_then(Value::as_u64).unwrap_or_default());
            table.rows.push(vec![
                Cell::text(it.name),
                share(line["share"].as_f64()),
                count("instructions"),
                factor(line["speedup"].as_f64()),
                count("reference.sdc_pcs"),
                count("minimised_eip.sdc_pcs"),
                count("common"),
            ]);
        }
    }
    table.notes = vec!["The speedup is of MinEIP over Ref for the same instructions, by Equation 3.1.".to_owned()];
    table
}
