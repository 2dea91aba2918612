//! What each heuristic of the method costs, as a number: the rate with it minus the rate without it.
//!
//! Campaigns that are compared have the same seed and draw in the same order, so that most of their runs are the same
//! faults: a difference is known better than either rate. Its noise is given as the half width of a 95 % interval as if
//! they were independent, which is too wide.

use crate::gpu_qin::estimate::{Bounded, KernelEstimate, Rates};
use crate::gpu_qin::survey::MeasuredKernel;
use study::{Cell, Table};

/// A heuristic, what it is compared with, and both estimates.
type Heuristic = (&'static str, fn(&MeasuredKernel) -> [&KernelEstimate; 2]);

const HEURISTICS: [Heuristic; 6] = [
    ("the method as a whole", |it| [&it.method, &it.unbiased]),
    ("iteration cap 64", |it| [&it.method, &it.uncapped]),
    ("300 steps from a breakpoint", |it| [&it.method, &it.stepped]),
    ("small groups left out", |it| [&it.method, &it.covered]),
    ("activation window 1,600", |it| [&it.unbiased, &it.endless]),
    ("about 2,000 runs", |it| [&it.published, &it.method]),
];

const RATES: [fn(&Rates) -> Bounded; 3] = [|rates| rates.sdc, |rates| rates.crash, |rates| rates.hang];

/// The difference of a rate, and how large it may be by chance.
fn difference(it: &MeasuredKernel, heuristic: &Heuristic, pick: fn(&Rates) -> Bounded) -> Option<(f64, f64)> {
    let [with, without] = (heuristic.1)(it);
    let (with, without) = (with.rates.as_ref().map(pick)?, without.rates.as_ref().map(pick)?);
    let half = |it: Bounded| (it.high - it.low) / 2.0;
    Some((with.rate - without.rate, half(with).hypot(half(without))))
}

/// Kernel by kernel: SDC and crash, in percentage points.
#[must_use]
pub fn errors(kernels: &[MeasuredKernel]) -> Table {
    let mut columns = vec!["kernel".to_owned()];
    for (name, _) in &HEURISTICS {
        columns.extend([format!("{name}: SDC"), "crash".to_owned()]);
    }
    let mut table = Table {
        title: "Errors of the heuristics, in percentage points".to_owned(),
        columns,
        rows: Vec::new(),
        notes: Vec::new(),
    };
    for it in kernels {
        let mut row = vec![Cell::text(it.paper.name)];
        for heuristic in &HEURISTICS {
            for pick in &RATES[..2] {
                row.push(difference(it, heuristic, *pick).map_or(Cell::None, |(value, _)| Cell::Difference(value)));
            }
        }
        table.rows.push(row);
    }
    table
}

/// Over all kernels: the mean size of each error, the largest, and how many are larger than chance allows.
#[must_use]
pub fn summary(kernels: &[MeasuredKernel]) -> Table {
    let columns = [
        "heuristic",
        "rate",
        "mean |error|",
        "mean error",
        "largest",
        "of",
        "beyond chance",
        "chance, mean half width",
    ];
    let mut table = Table::new("Errors of the heuristics over all kernels, in percentage points", &columns);
    for heuristic in &HEURISTICS {
        for (what, pick) in ["SDC", "crash", "hang"].into_iter().zip(RATES) {
            let all: Vec<(&str, f64, f64)> = kernels
                .iter()
                .filter_map(|it| difference(it, heuristic, pick).map(|(value, half)| (it.paper.name, value, half)))
                .collect();
            let n = all.len().max(1) as f64;
            let largest = all.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
            let mean = |value: fn(&(&str, f64, f64)) -> f64| all.iter().map(value).sum::<f64>() / n;
            table.rows.push(vec![
                Cell::text(heuristic.0),
                Cell::text(what),
                Cell::Number(mean(|it| it.1.abs()) * 100.0),
                Cell::Difference(mean(|it| it.1)),
                largest.map_or(Cell::None, |it| Cell::Difference(it.1)),
                Cell::text(largest.map_or("", |it| it.0)),
                Cell::text(format!("{} of {}", all.iter().filter(|it| it.1.abs() > it.2).count(), all.len())),
                Cell::Number(mean(|it| it.2) * 100.0),
            ]);
        }
    }
    table
}
