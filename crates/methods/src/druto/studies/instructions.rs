//! Whether static instructions keep their ranks from input to input (Table II), beside the noise of measuring them.

use serde_json::json;
use stats::{Confidence, bootstrap_of_pairs, spearman};
use study::{Cell, Table};

use super::super::bench::{Bench, seed_of};
use super::super::ends::Rate;
use super::super::executed::Probabilities;
use super::correlation::{self, Coefficient};
use super::studied::{Part, Studied};
use crate::kit::StudyError;

/// The stages of two independent campaigns.
const STAGES: [u64; 2] = [2300, 2301];

/// The correlation of the probabilities of the instructions that two campaigns hit.
fn common(one: &Probabilities, other: &Probabilities) -> Option<f64> {
    let both = one.0.iter().zip(&other.0).filter(|(one, other)| one.landed > 0 && other.landed > 0);
    let pairs: Vec<(f64, f64)> = both.map(|(one, other)| (one.rate(), other.rate())).collect();
    spearman(&pairs).map(|found| found.coefficient)
}

/// The mean correlations over pairs of inputs, and over pairs of campaigns on one input.
pub(super) fn make(bench: &mut Bench<'_, '_>, studied: &Studied<'_>) -> Result<Part, StudyError> {
    let mut campaigns: Vec<[Probabilities; 2]> = Vec::new();
    for point in &studied.subjects.points {
        let Ok(capsule) = bench.run(point)? else { continue };
        let seeds = STAGES.map(|stage| seed_of(studied.seed, point, stage));
        campaigns.push(bench.probabilities(&capsule, studied.faults, seeds)?);
    }
    let pair = |one: usize, other: usize| common(&campaigns[one][0], &campaigns[other][0]);
    let values: Vec<f64> =
        (0..campaigns.len()).flat_map(|one| (0..one).filter_map(move |other| pair(one, other))).collect();
    let bounds = bootstrap_of_pairs(campaigns.len(), pair, Confidence::PERCENT_95, studied.seed);
    let across = bounds.filter(|_| !values.is_empty()).map(|bounds| Coefficient {
        value: values.iter().sum::<f64>() / values.len() as f64,
        bounds,
        count: values.len(),
    });
    let same: Vec<f64> = campaigns.iter().filter_map(|[one, other]| common(one, other)).collect();
    let ceiling = Coefficient::mean(&same, studied.seed);
    let hit = |it: &[Probabilities; 2]| it[0].0.iter().filter(|rate: &&Rate| rate.landed > 0).count();
    let instructions = campaigns.iter().map(hit).max().unwrap_or(0);
    let title = "Ranks of static instructions: mean rank correlations (Spearman)";
    let mut table = Table::new(title, &["between", "coefficient"]);
    table.rows = vec![
        vec![Cell::text("rates in two inputs"), correlation::cell(across)],
        vec![Cell::text("two campaigns on one input"), correlation::cell(ceiling)],
    ];
    table.notes.push(format!(
        "{} inputs, up to {instructions} instructions that faults hit, {} faults in each; instructions that both inputs execute. \
         Bounds at 95 % by drawing inputs anew. Where both lines agree, the ranks are unstable by measuring, not by the inputs.",
        campaigns.len(),
        studied.faults
    ));
    let json = json!({
        "across_inputs": correlation::document(across),
        "ceiling": correlation::document(ceiling),
        "instructions": instructions,
        "faults": studied.faults,
    });
    Ok(Part { tables: vec![table], plots: Vec::new(), json })
}
