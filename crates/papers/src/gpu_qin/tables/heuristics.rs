//! What the method and each of its heuristics cost, in percentage points.

use crate::gpu_qin::errors::{Bounds, Error, Rate, bias, capped, chance, coverage, variant, window};
use crate::gpu_qin::questions::{Question, Questions};
use crate::gpu_qin::survey::{CAPS, MeasuredKernel, Variant};
use crate::words::{of, points};
use study::{Cell, Table};

/// Kernel by kernel: how far the method is off, and how its realisations spread.
#[must_use]
pub fn errors(kernels: &[MeasuredKernel], questions: &Questions) -> Table {
    let columns =
        ["kernel", "SDC: error, 95 %", "SDC: spread", "by chance", "crash: error, 95 %", "crash: spread", "by chance"];
    let mut table = Table::new("Errors of the method, in percentage points", &columns);
    for it in kernels {
        let mut row = vec![Cell::text(it.paper.name)];
        for rate in [Rate::Sdc, Rate::Crash] {
            let error = bias(it, rate);
            row.push(
                error.map_or(Cell::None, |error| said(&error, questions.is_sure(&Question::Bias(it.paper.name, rate)))),
            );
            let wide = questions.is_sure(&Question::Spread(it.paper.name, rate));
            let spread = error.map(|error| format!("{:.2}{}", error.found.deviation * 100.0, mark(wide)));
            row.push(spread.map_or(Cell::None, Cell::text));
            row.push(Cell::text(format!("{:.2}", chance(it, rate) * 100.0)));
        }
        table.rows.push(row);
    }
    table
}

/// What stands behind a number that is beyond chance.
fn mark(sure: bool) -> &'static str {
    if sure { " †" } else { "" }
}

fn said(error: &Error, sure: bool) -> Cell {
    Cell::text(format!("{} ± {:.2}{}", points(error.mean()), error.half_width() * 100.0, mark(sure)))
}

/// A heuristic by its name, and where it can change something.
const HEURISTICS: [(&str, Variant); 3] = [
    ("the cap of iterations", Variant::Uncapped),
    ("the window of steps", Variant::AnySteps),
    ("small groups left out (against 99 % of the threads)", Variant::Covered),
];

/// Over all kernels: the mean size of each error, the largest, and how many are beyond chance.
#[must_use]
pub fn summary(kernels: &[MeasuredKernel], questions: &Questions) -> Table {
    let columns = ["heuristic", "changes sites of", "rate", "mean size", "mean", "largest", "of", "beyond chance"];
    let mut table = Table::new("Errors over all kernels, in percentage points", &columns);
    for rate in Rate::ALL {
        let found = |it: &MeasuredKernel| Some(bias(it, rate)?.mean());
        let sure = |it: &MeasuredKernel| questions.is_sure(&Question::Bias(it.paper.name, rate));
        table.rows.push(row("the method as a whole", kernels, rate, &found, &sure));
    }
    for (number, (name, heuristic)) in HEURISTICS.into_iter().enumerate() {
        for rate in [Rate::Sdc, Rate::Crash] {
            let found = |it: &MeasuredKernel| Some(variant(it, heuristic, rate)?.mean());
            let sure = |it: &MeasuredKernel| questions.is_sure(&Question::Heuristic(it.paper.name, number, rate));
            table.rows.push(row(name, kernels, rate, &found, &sure));
        }
    }
    for rate in [Rate::Sdc, Rate::Crash] {
        let found = |it: &MeasuredKernel| window(it, rate).filter(|_| it.unbiased.late > 0);
        let mut row = row("the window of activation", kernels, rate, &found, &|_| false);
        row.pop();
        row.push(Cell::None);
        table.rows.push(row);
    }
    table
}

/// A row of the summary; kernels in which nothing can change count with no error.
fn row(
    name: &str,
    kernels: &[MeasuredKernel],
    rate: Rate,
    found: &dyn Fn(&MeasuredKernel) -> Option<f64>,
    sure: &dyn Fn(&MeasuredKernel) -> bool,
) -> Vec<Cell> {
    let all: Vec<(&str, f64)> = kernels.iter().filter_map(|it| Some((it.paper.name, found(it)?))).collect();
    // The sum of nothing is -0.
    let mean = |errors: &mut dyn Iterator<Item = f64>| {
        errors.fold(0.0, |sum, error| sum + error) / kernels.len().max(1) as f64
    };
    let largest = all.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    vec![
        Cell::text(name),
        Cell::text(of(all.len(), kernels.len())),
        Cell::text(rate.word()),
        Cell::text(format!("{:.2}", mean(&mut all.iter().map(|it| it.1.abs())) * 100.0)),
        Cell::Difference(mean(&mut all.iter().map(|it| it.1))),
        largest.map_or(Cell::None, |it| Cell::Difference(it.1)),
        largest.map_or(Cell::None, |it| Cell::text(it.0)),
        Cell::text(of(kernels.iter().filter(|it| sure(it)).count(), all.len())),
    ]
}

/// How often intervals of the method hold the rate of the unbiased choice.
#[must_use]
pub fn coverages(kernels: &[MeasuredKernel]) -> Table {
    let mut table =
        Table::new("Realisations whose interval holds the unbiased rate", &["interval", "SDC", "crash", "hang"]);
    let name = |bounds: Bounds| match bounds {
        Bounds::Published => "Eq. 3",
        Bounds::WithGroupsLeftOut => "Eq. 4 and 5, with the groups left out",
        Bounds::Score => "score interval of the same strata",
    };
    for bounds in Bounds::ALL {
        let mut row = vec![Cell::text(name(bounds))];
        row.extend(Rate::ALL.map(|rate| {
            let (held, all) = coverage(kernels, bounds, rate);
            Cell::Share(held as f64 / all.max(1) as f64)
        }));
        table.rows.push(row);
    }
    table
}

/// Fig. 6: what each cap changes, in percentage points.
#[must_use]
pub fn caps(kernels: &[MeasuredKernel], questions: &Questions) -> Table {
    let mut table = Table::new("Rates with a cap less those without", &["kernel", "cap", "SDC", "crash"]);
    for it in kernels.iter().filter(|it| !it.caps.is_empty()) {
        let name = it.paper.name;
        let own = methods::gpu_qin::ITERATIONS;
        let mut all: Vec<u32> = CAPS.into_iter().chain([own]).collect();
        all.sort_unstable();
        for cap in all {
            let mut row = vec![Cell::text(name), Cell::Count(cap.into())];
            row.extend([Rate::Sdc, Rate::Crash].map(|rate| {
                let (error, question) = if cap == own {
                    (variant(it, Variant::Uncapped, rate), Question::Heuristic(name, 0, rate))
                } else {
                    (capped(it, cap, rate), Question::Cap(name, cap, rate))
                };
                error.map_or(Cell::None, |error| said(&error, questions.is_sure(&question)))
            }));
            table.rows.push(row);
        }
    }
    table
}
