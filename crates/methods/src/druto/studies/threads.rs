//! Whether threads that execute more instructions are more vulnerable (O2, Table IV).

use inject::GoldenLaunch;
use serde_json::json;
use std::collections::BTreeMap;
use study::{Cell, Table};

use super::super::bench::{Bench, seed_of};
use super::super::cells::Cells;
use super::correlation::{self, Coefficient};
use super::studied::{Part, Studied};
use crate::kit::StudyError;

/// The stages of two independent measurements.
const STAGES: [u64; 2] = [2200, 2201];
/// Threads with the most, the fewest and medium instructions, of each this number.
const EACH: usize = 10;

/// Ten threads with the most instructions, ten with the fewest and ten in the middle; of a small launch all.
fn chosen(launch: &GoldenLaunch) -> Vec<(u64, u32)> {
    let mut threads: Vec<(u64, u32)> = (0..).zip(launch.counts().iter()).filter(|(_, count)| *count > 0).collect();
    threads.sort_by_key(|&(thread, count)| (count, thread));
    if threads.len() <= 3 * EACH {
        return threads;
    }
    let middle = threads.len() / 2 - EACH / 2;
    let last = threads.len() - EACH;
    [&threads[..EACH], &threads[middle..middle + EACH], &threads[last..]].concat()
}

/// The mean correlations over inputs.
pub(super) fn make(bench: &mut Bench<'_, '_>, studied: &Studied<'_>) -> Result<Part, StudyError> {
    let (mut counted, mut ceiling, mut all_alike, mut inputs) = (Vec::new(), Vec::new(), 0u64, 0u64);
    for point in &studied.subjects.points {
        let Ok(capsule) = bench.run(point)? else { continue };
        let golden = capsule.golden_run();
        let launches = bench.fitness.launch.of(golden, &bench.kernel);
        let Some(launch) = launches.first() else { continue };
        let number = golden.launches().iter().position(|it| std::ptr::eq(it, *launch)).unwrap_or_default() as u32;
        let threads = chosen(launch);
        inputs += 1;
        if threads.windows(2).all(|pair| pair[0].1 == pair[1].1) {
            all_alike += 1;
            continue;
        }
        let cells: BTreeMap<(u32, u64), u32> =
            (0..).zip(&threads).map(|(cell, (thread, _))| ((number, *thread), cell)).collect();
        let cells = Cells::Threads(cells);
        let seeds = STAGES.map(|stage| seed_of(studied.seed, point, stage));
        let rates = bench.sample_cells(&capsule, &cells, studied.faults, seeds)?;
        let of = |half: usize, cell: u32| Some(rates[half].get(&cell)?.sdc().rate());
        let with_count = (0..).zip(&threads).filter_map(|(cell, (_, count))| Some((f64::from(*count), of(0, cell)?)));
        counted.extend(Coefficient::of(&with_count.collect::<Vec<_>>()).map(|it| it.value));
        let halves = (0..threads.len() as u32).filter_map(|cell| Some((of(0, cell)?, of(1, cell)?)));
        ceiling.extend(Coefficient::of(&halves.collect::<Vec<_>>()).map(|it| it.value));
    }
    let [counts, ceiling] = [&counted, &ceiling].map(|values| Coefficient::mean(values, studied.seed));
    let mut table =
        Table::new("Ranks of threads: mean rank correlations (Spearman) within inputs", &["between", "coefficient"]);
    table.rows = vec![
        vec![Cell::text("instructions and rate of threads (O2)"), correlation::cell(counts)],
        vec![Cell::text("two campaigns of the same threads"), correlation::cell(ceiling)],
    ];
    table.notes.push(format!(
        "{inputs} inputs, 30 threads of the profiled launch of each, {} faults in a thread and campaign; bounds at 95 % by drawing \
         inputs anew.",
        studied.faults
    ));
    if all_alike > 0 {
        table
            .notes
            .push(format!("In {all_alike} inputs all threads execute alike, so that counts rank nothing there."));
    }
    let json = json!({
        "counts": correlation::document(counts),
        "ceiling": correlation::document(ceiling),
        "inputs": inputs,
        "inputs_with_threads_alike": all_alike,
    });
    Ok(Part { tables: vec![table], plots: Vec::new(), json })
}
