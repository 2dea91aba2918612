//! Rates over random inputs (Figure 1).

use serde_json::{Value, json};
use stats::homogeneity;
use study::{Cell, Mark, Plot, Point, Series, Table, Vertical};

use super::super::bench::{Bench, seed_of};
use super::super::ends::{Ends, Rate};
use super::super::show::{rate_cell, rate_document};
use super::studied::{Part, Studied};
use crate::kit::StudyError;

/// The stage of the measurements.
const STAGE: u64 = 2000;

/// Rates of all inputs.
pub(super) fn make(bench: &mut Bench<'_, '_>, studied: &Studied<'_>) -> Result<Part, StudyError> {
    let mut rates: Vec<(String, u64, Ends)> = Vec::new();
    let reference = bench.inputs.space().reference();
    for point in std::iter::once(&reference).chain(&studied.subjects.points) {
        let Ok(capsule) = bench.run(point)? else { continue };
        let ends = bench.sample(&capsule, studied.runs, seed_of(studied.seed, point, STAGE))?.all;
        rates.push((point.to_string(), capsule.golden_run().thread_instructions(), ends));
    }
    let (reference, random) = rates.split_at(rates.len().min(1));
    let mut order: Vec<&(String, u64, Ends)> = random.iter().collect();
    order.sort_by(|one, other| one.2.sdc().rate().total_cmp(&other.2.sdc().rate()));
    let extremes = (order.first().map(|it| it.2.sdc()), order.last().map(|it| it.2.sdc()));
    Ok(Part {
        tables: vec![table(reference, &order)],
        plots: vec![plot(studied, &order)],
        json: document(&order, extremes),
    })
}

/// The chance of rates this far apart if all inputs had the same one.
fn alike(order: &[&(String, u64, Ends)]) -> Option<f64> {
    let rows: Vec<[u64; 2]> = order.iter().map(|(_, _, ends)| [ends.sdc, ends.landed - ends.sdc]).collect();
    let rows: Vec<&[u64]> = rows.iter().map(|row| &row[..]).collect();
    homogeneity(&rows).map(|found| found.test.p)
}

fn table(reference: &[(String, u64, Ends)], order: &[&(String, u64, Ends)]) -> Table {
    let mut table = Table::new("SDC rates over random inputs", &["", "input", "thread instructions", "SDC", "DUE"]);
    let row = |name: &str, it: &(String, u64, Ends)| {
        let (input, instructions, ends) = it;
        let (sdc, due) = (rate_cell(ends.sdc()), rate_cell(ends.due()));
        vec![Cell::text(name), Cell::text(input.as_str()), Cell::Count(*instructions), sdc, due]
    };
    table.rows.extend(reference.iter().map(|it| row("reference", it)));
    let named = [("lowest", 0), ("median", order.len() / 2), ("highest", order.len().saturating_sub(1))];
    table.rows.extend(named.iter().filter_map(|(name, at)| Some(row(name, order.get(*at)?))));
    if let (Some(first), Some(last)) = (order.first(), order.last()) {
        let rate = |it: &(String, u64, Ends)| it.2.sdc().rate() * 100.0;
        table.notes.push(format!(
            "{} random inputs, from {:.2} to {:.2} %: {:.2} points. The lowest and the highest of many estimates lie further apart \
             than the true ones.",
            order.len(),
            rate(first),
            rate(last),
            rate(last) - rate(first)
        ));
    }
    if let Some(p) = alike(order) {
        table
            .notes
            .push(format!("If all inputs had one rate, rates this far apart had the chance {p:.2e} (chi-square)."));
    }
    table
}

fn plot(studied: &Studied<'_>, order: &[&(String, u64, Ends)]) -> Plot {
    let point = |(at, it): (u32, &&(String, u64, Ends))| {
        let (rate, bounds) = (it.2.sdc(), it.2.sdc().bounds());
        Point { x: f64::from(at), y: rate.rate(), bounds: Some((bounds.low, bounds.high)) }
    };
    Plot {
        name: "range".to_owned(),
        title: format!("{}: SDC rates over random inputs", studied.name),
        x: "input, by its rate".to_owned(),
        logarithmic: false,
        names: Vec::new(),
        y: "SDC rate, %".to_owned(),
        vertical: Vertical::Shares,
        series: vec![Series {
            name: studied.name.clone(),
            mark: Mark::Dots,
            points: (1..).zip(order).map(point).collect(),
        }],
    }
}

fn document(order: &[&(String, u64, Ends)], extremes: (Option<Rate>, Option<Rate>)) -> Value {
    let one = |(input, instructions, ends): &&(String, u64, Ends)| {
        json!({
            "input": input,
            "thread_instructions": instructions,
            "sdc": rate_document(ends.sdc()),
            "due": rate_document(ends.due()),
        })
    };
    json!({
        "lowest": extremes.0.map(rate_document),
        "highest": extremes.1.map(rate_document),
        "p_alike": alike(order),
        "inputs": order.iter().map(one).collect::<Vec<_>>(),
    })
}
