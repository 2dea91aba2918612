//! What was followed, as tables and as documents.

use inject::Array;
use outcome::Outcome;
use serde_json::{Value, json};
use stats::{Confidence, Proportion};
use study::{Cell, Study, Table};

use super::arrays::FollowedArrays;
use super::graph::{Carrier, Graph, OTHER, Origin};
use super::spread::{Spread, VariableSpread};
use super::timeline::FaultTimeline;
use crate::regional::tally::quartiles;

/// The answers about many runs.
pub(super) fn spread(
    name: &str,
    regions: &[String],
    FollowedArrays { arrays, doubts }: &FollowedArrays,
    spread: &Spread,
    graph: &Graph,
) -> (Value, Study) {
    let mut study = Study::new("propagation", "", "");
    let rows: Vec<(&str, u64, &Array, &VariableSpread)> = regions
        .iter()
        .filter_map(|region| Some((region, *spread.runs.get(region)?)))
        .flat_map(|(region, runs)| {
            arrays.iter().enumerate().filter_map(move |(place, array)| {
                Some((region.as_str(), runs, array, spread.variables.get(&(region.clone(), place))?))
            })
        })
        .collect();
    study.tables = vec![by_region(name, &rows, spread), far(&rows), edges(arrays, graph)];
    study.tables[1].notes.extend(doubts.iter().cloned());
    let json = json!({
        "format": "beamline.propagation/1",
        "capsule": name,
        "variables": arrays.iter().map(described).collect::<Vec<_>>(),
        "doubts": doubts,
        "undecided": spread.undecided,
        "regions": rows.iter().map(document).collect::<Vec<_>>(),
        "edges": graph.edges.iter().filter(|(edge, counts)| edge.from != Origin::Other || counts.0 > 0).map(|(edge, (count, of))| json!({
            "from": match edge.from {
                Origin::Fault => None,
                Origin::Variable(from) => Some(arrays[from].name.as_str()),
                Origin::Other => Some(OTHER),
            },
            "kernel": match &edge.through {
                Carrier::Kernel(name) => Some(name),
                Carrier::Transfer => None,
            },
            "to": edge.to.map(|to| &arrays[to].name),
            "count": count,
            "of": of,
        })).collect::<Vec<_>>(),
    });
    (json, study)
}

fn described(array: &Array) -> Value {
    json!({ "name": array.name, "type": array.element.map(|element| element.to_string()), "shape": array.shape, "bytes": array.bytes() })
}

/// A share of counts with its interval.
fn rate(count: u64, of: u64) -> Cell {
    let proportion = Proportion::from_counts(count, of - count);
    let interval = proportion.wilson(Confidence::PERCENT_95);
    proportion.rate().map_or(Cell::None, |rate| Cell::Rate { rate, low: interval.low, high: interval.high })
}

type Row<'r> = (&'r str, u64, &'r Array, &'r VariableSpread);

fn by_region(name: &str, rows: &[Row<'_>], spread: &Spread) -> Table {
    let columns = ["region", "variable", "runs", "corrupts it", "leaves it corrupted", "launches until then, median"];
    let mut table = Table::new(format!("{name}: variables that faults corrupt"), &columns);
    for (region, runs, array, it) in rows {
        table.rows.push(vec![
            Cell::text(*region),
            Cell::text(&array.name),
            Cell::Count(*runs),
            rate(it.corrupted, *runs),
            rate(it.left, *runs),
            number(quartiles(it.delay.clone()).map(|five| five[2])),
        ]);
    }
    let clean: Vec<&str> =
        spread.runs.keys().map(String::as_str).filter(|region| !rows.iter().any(|(name, ..)| name == region)).collect();
    table.notes.extend((!clean.is_empty()).then(|| format!("No fault corrupts a variable in {}.", clean.join(", "))));
    table.notes.extend(on_undecided(spread));
    table.notes.push("Variables are looked at after each launch; of a run that ends in one, until then.".to_owned());
    table
}

/// What an undecided run is followed as.
const AS_RECORDED: &str =
    "what it shows is so if the host goes on as it did without a fault, and may be otherwise if it does not";

/// How many runs are undecided, and what rates then mean.
fn on_undecided(spread: &Spread) -> Option<String> {
    let all: u64 = spread.undecided.values().sum();
    let each: Vec<String> = spread.undecided.iter().map(|(region, count)| format!("{count} of {region}")).collect();
    (all > 0).then(|| {
        format!(
            "{all} runs are undecided ({}): their hosts saw a difference before the end and were not asked. Each counts in every table as \
             if it were decided: {AS_RECORDED}.",
            each.join(", ")
        )
    })
}

pub(super) fn number(value: Option<f64>) -> Cell {
    value.filter(|value| value.is_finite()).map_or(Cell::None, Cell::Number)
}

fn far(rows: &[Row<'_>]) -> Table {
    let columns = [
        "region",
        "variable",
        "type",
        "of elements",
        "at first, median",
        "at the end: least",
        "quartile",
        "median",
        "quartile",
        "most",
        "rows, median",
        "columns, median",
        "mean error, median",
    ];
    let mut table = Table::new("How many elements, and how far", &columns);
    for (region, _, array, it) in rows {
        let middle = |of: &[f64]| number(quartiles(of.to_vec()).map(|five| five[2]));
        let five = quartiles(it.elements.clone());
        let mut row = vec![
            Cell::text(*region),
            Cell::text(&array.name),
            Cell::Text(type_of(array)),
            Cell::Count(array.elements()),
            middle(&it.first),
        ];
        row.extend((0..5).map(|at| number(five.map(|five| five[at]))));
        row.extend([&it.rows, &it.columns, &it.errors].map(|of| middle(of)));
        table.rows.push(row);
    }
    table.notes.push(
        "Rows are places along all dimensions but the last, columns along the last. Errors are absolute, means over the corrupted elements; – where the median is not finite."
            .to_owned(),
    );
    table
}

/// The type of an array's elements, as a word.
fn type_of(array: &Array) -> String {
    array.element.map_or_else(|| "bytes".to_owned(), |element| element.to_string())
}

fn edges(arrays: &[Array], graph: &Graph) -> Table {
    let mut table = Table::new("Where errors go", &["from", "through", "to", "launches", "share of them"]);
    for (edge, count, of) in graph.taken() {
        table.rows.push(vec![
            Cell::text(match edge.from {
                Origin::Fault => "fault",
                Origin::Variable(from) => &arrays[from].name,
                Origin::Other => OTHER,
            }),
            Cell::Text(edge.through.to_string()),
            Cell::text(edge.to.map_or("gone", |to| &arrays[to].name)),
            Cell::Count(of),
            rate(count, of),
        ]);
    }
    table.notes.push(
        "Launches are those through which an error could have gone: with the fault in them, or reading the first variable, which is corrupted before them and the second not. Copies and fills between launches are counted as launches are. What launches read is known of the golden run; an error that none of the variables could have carried comes from other memory. Runs that did not come to their end are left out."
            .to_owned(),
    );
    let seldom: Vec<&str> = arrays.iter().filter(|it| it.launches.is_some()).map(|it| it.name.as_str()).collect();
    table.notes.extend(
        (!seldom.is_empty())
            .then(|| format!("Nothing is said of {}, looked at after some launches only.", seldom.join(", "))),
    );
    table
}

fn document((region, runs, array, it): &Row<'_>) -> Value {
    let finite = |of: &[f64]| {
        quartiles(of.to_vec())
            .map(|five| five.map(|value| if value.is_finite() { json!(value) } else { json!(value.to_string()) }))
    };
    json!({
        "region": region,
        "variable": array.name,
        "runs": runs,
        "corrupted": it.corrupted,
        "left": it.left,
        "launches_until": finite(&it.delay),
        "elements_at_first": finite(&it.first),
        "elements": finite(&it.elements),
        "rows": finite(&it.rows),
        "columns": finite(&it.columns),
        "mean_error": finite(&it.errors),
    })
}

/// A number in a document: as text where it is infinite, and none for NaN.
pub(super) fn finite(value: f64) -> Value {
    match value {
        value if value.is_nan() => Value::Null,
        value if value.is_finite() => json!(value),
        value => json!(value.to_string()),
    }
}

/// The answers about one fault; `kernels` are those of the launches.
pub(super) fn course(name: &str, it: &FaultTimeline<'_>, kernels: &[&str], doubts: &[String]) -> (Value, Study) {
    let columns = ["launch", "kernel", "variable", "elements", "of", "rows", "columns", "largest error", "mean error"];
    let mut table = Table::new(format!("{name}, {}: {}", it.fault, it.outcome.class().word()), &columns);
    for step in &it.steps {
        let (array, bad) = (&it.arrays()[step.change.array], &step.corruption);
        table.rows.push(vec![
            Cell::Count(u64::from(step.change.launch)),
            Cell::text(kernels[step.change.launch as usize]),
            Cell::text(&array.name),
            Cell::Count(bad.elements),
            Cell::Count(array.elements()),
            Cell::Count(bad.extent.rows),
            Cell::Count(bad.extent.columns),
            number(Some(bad.max_abs)),
            number(Some(bad.sum_abs / bad.elements as f64)),
        ]);
    }
    if it.steps.is_empty() {
        table.notes.push("No variable differs after any launch that the run came past.".to_owned());
    }
    if it.outcome == Outcome::Undecided {
        let note =
            format!("The run is undecided: its host saw a difference before the end and was not asked; {AS_RECORDED}.");
        table.notes.push(note);
    }
    table.notes.extend(doubts.iter().cloned());
    let mut study = Study::new("propagation", "", "");
    study.tables = vec![table];
    let json = json!({
        "format": "beamline.propagation/1",
        "capsule": name,
        "variables": it.arrays().iter().map(described).collect::<Vec<_>>(),
        "doubts": doubts,
        "fault": it.fault.to_string(),
        "class": it.outcome.class().word(),
        "steps": it.steps.iter().map(|step| json!({
            "launch": step.change.launch,
            "kernel": kernels[step.change.launch as usize],
            "variable": it.arrays()[step.change.array].name,
            "elements": step.corruption.elements,
            "first": step.corruption.extent.ends.0,
            "last": step.corruption.extent.ends.1,
            "rows": step.corruption.extent.rows,
            "columns": step.corruption.extent.columns,
            "max_abs": finite(step.corruption.max_abs),
            "sum_abs": finite(step.corruption.sum_abs),
        })).collect::<Vec<_>>(),
    });
    (json, study)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regional::propagation::TrackedRun;
    use outcome::Class;
    use std::collections::BTreeMap;

    #[test]
    fn undecided_runs_are_counted_and_it_is_said_what_rates_mean() {
        let run = |outcome: Outcome| {
            let (after, ends) = (BTreeMap::new(), BTreeMap::new());
            TrackedRun { run: 0, launch: 0, outcome, completed: true, after, ends }
        };
        let masked = Outcome::from_words(Class::Masked, Some("logical")).unwrap();
        let nothing = FollowedArrays { arrays: Vec::new(), doubts: Vec::new() };
        let mut all = Spread::default();
        for outcome in [masked, Outcome::Undecided, Outcome::Undecided] {
            all.add("heap", &run(outcome), 0);
        }
        let (json, study) = spread("gemm", &["heap".to_owned()], &nothing, &all, &Graph::default());
        assert_eq!(json["undecided"], json!({ "heap": 2 }));
        let notes = study.tables[0].notes.join("\n");
        assert!(notes.contains("2 runs are undecided (2 of heap)") && notes.contains(AS_RECORDED), "{notes}");
        let mut none = Spread::default();
        none.add("heap", &run(masked), 0);
        let (json, study) = spread("gemm", &["heap".to_owned()], &nothing, &none, &Graph::default());
        assert_eq!(json["undecided"], json!({}));
        assert!(!study.tables[0].notes.iter().any(|note| note.contains("undecided")));
    }
}
