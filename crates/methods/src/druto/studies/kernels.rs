//! Whether dominant threads, and instruction counts, rank inputs as the rates of the kernel do (O1, Table III).

use inject::Golden;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use study::{Cell, Table};

use super::super::bench::{Bench, seed_of};
use super::super::cells::Cells;
use super::super::fitness::ProfiledLaunch;
use super::correlation::{self, Coefficient};
use super::studied::{Part, Studied};
use crate::kit::StudyError;

/// The stages of the measurements: two independent ones of the kernel, two of the dominant threads.
pub(super) const STAGES: [u64; 4] = [2100, 2101, 2102, 2103];

/// The numbers of one input.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Two independent rates of the kernel.
    kernel: [f64; 2],
    /// Two independent rates of the dominant threads of the profiled launch.
    dominant: [f64; 2],
    fitness: f64,
    instructions: f64,
}

/// The threads of the profiled launches that execute as many instructions as any there, as one cell.
fn dominant(golden: &Golden, kernel: &str, launch: ProfiledLaunch) -> Cells {
    let mut threads = BTreeMap::new();
    for profiled in launch.of(golden, kernel) {
        let number = golden.launches().iter().position(|it| std::ptr::eq(it, profiled)).unwrap_or_default() as u32;
        let most = profiled.counts().most();
        let all = (0..).zip(profiled.counts().iter());
        threads.extend(all.filter(|(_, count)| Some(*count) == most).map(|(thread, _)| ((number, thread), 0)));
    }
    Cells::Threads(threads)
}

/// The correlations over inputs.
pub(super) fn make(bench: &mut Bench<'_, '_>, studied: &Studied<'_>) -> Result<Part, StudyError> {
    let mut rows = Vec::new();
    for point in &studied.subjects.points {
        let Ok(capsule) = bench.run(point)? else { continue };
        let Ok(facts) = bench.facts(point)? else { continue };
        let seeds = STAGES.map(|stage| seed_of(studied.seed, point, stage));
        let cells = dominant(capsule.golden_run(), &bench.kernel, bench.fitness.launch);
        let mut row = Row {
            kernel: [0.0; 2],
            dominant: [0.0; 2],
            fitness: facts.fitness(bench.fitness),
            instructions: facts.instructions as f64,
        };
        let dominant = bench.sample_cells(&capsule, &cells, studied.runs, [seeds[2], seeds[3]])?;
        for (half, ends) in dominant.iter().enumerate() {
            row.kernel[half] = bench.sample(&capsule, studied.runs, seeds[half])?.all.sdc().rate();
            row.dominant[half] = ends.values().next().map_or(0.0, |ends| ends.sdc().rate());
        }
        rows.push(row);
    }
    let of = |pair: &dyn Fn(&Row) -> (f64, f64)| Coefficient::of(&rows.iter().map(pair).collect::<Vec<_>>());
    let mut by_fitness: Vec<f64> = rows.iter().map(|row| row.fitness).collect();
    by_fitness.sort_by(f64::total_cmp);
    let median = by_fitness.get(by_fitness.len() / 2).copied().unwrap_or_default();
    let fitter: Vec<(f64, f64)> =
        rows.iter().filter(|row| row.fitness >= median).map(|row| (row.fitness, row.kernel[0])).collect();
    let lines: [(&'static str, &'static str, Option<Coefficient>); 6] = [
        ("dominant", "rate of dominant threads and of the kernel (O1)", of(&|row| (row.dominant[0], row.kernel[0]))),
        ("fitness", "fitness and rate of the kernel", of(&|row| (row.fitness, row.kernel[0]))),
        ("fitter", "the same among the fitter half of the inputs", Coefficient::of(&fitter)),
        ("size", "thread instructions and rate of the kernel", of(&|row| (row.instructions, row.kernel[0]))),
        ("ceiling", "two campaigns of the kernel on the same input", of(&|row| (row.kernel[0], row.kernel[1]))),
        ("ceiling_dominant", "two campaigns of its dominant threads", of(&|row| (row.dominant[0], row.dominant[1]))),
    ];
    Ok(Part { tables: vec![table(&lines, rows.len())], plots: Vec::new(), json: document(&lines) })
}

fn table(lines: &[(&str, &str, Option<Coefficient>)], inputs: usize) -> Table {
    let title = "Ranks of inputs: rank correlations (Spearman) over inputs";
    let mut table = Table::new(title, &["between", "coefficient"]);
    table.rows = lines.iter().map(|(_, name, it)| vec![Cell::text(*name), correlation::cell(*it)]).collect();
    table.notes.push(format!(
        "{inputs} inputs; bounds at 95 %. No measured rate can be ranked better than two campaigns of the same inputs rank each \
         other: that is the ceiling."
    ));
    table
}

fn document(lines: &[(&str, &str, Option<Coefficient>)]) -> Value {
    lines.iter().map(|(key, _, it)| json!({ "between": key, "coefficient": correlation::document(*it) })).collect()
}
