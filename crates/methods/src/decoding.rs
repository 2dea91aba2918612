//! No method, but what the rows of a campaign on a language model say beyond outcomes: how soon after the fault the first other token
//! comes, and for how long tokens are others.

use std::collections::BTreeMap;

use campaign::{Results, StoreError};
use nn::language::{DELAY, SPAN, TOKENS};
use outcome::OutputDiff;
use serde::Serialize;
use stats::Proportion;
use study::{Cell, Study, Table};

use crate::method::Estimates;

/// The generations of a part of the rows.
#[derive(Clone, Debug, Default)]
struct Generations {
    runs: u64,
    /// The delays, the spans, and the numbers of other tokens, of generations with another token.
    changes: Vec<[u64; 3]>,
}

/// The quartiles of a number of steps, the nearest ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Quartiles {
    lower: u64,
    median: u64,
    upper: u64,
}

/// A part as a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct GenerationPart {
    layer: String,
    operand: String,
    runs: u64,
    changed: u64,
    rate: Option<f64>,
    low: f64,
    high: f64,
    /// Steps from the fault's own, which is 0, to the first other token.
    delay: Option<Quartiles>,
    /// Steps from the first other token to the last, both counted.
    span: Option<Quartiles>,
    /// Other tokens.
    tokens: Option<Quartiles>,
}

impl Quartiles {
    fn of(mut all: Vec<u64>) -> Option<Self> {
        all.sort_unstable();
        let rank = |quarter: usize| all.get((all.len() * quarter).div_ceil(4).saturating_sub(1)).copied();
        Some(Self { lower: rank(1)?, median: rank(2)?, upper: rank(3)? })
    }

    fn cell(of: Option<Self>) -> Cell {
        of.map_or(Cell::None, |it| Cell::Text(format!("{} ({} to {})", it.median, it.lower, it.upper)))
    }
}

/// The tokens that the faults of a campaign on a language model changed, by layer and operand, as tables and as a document.
///
/// # Errors
/// When the rows cannot be read.
pub fn estimates(results: &Results) -> Result<Estimates, StoreError> {
    let config = results.config();
    let (level, method) = (config.level(), config.interval.method());
    let mut by_spot: BTreeMap<usize, Generations> = BTreeMap::new();
    let (_, spots) = results.scan(&mut |row| {
        let differing = |name: &str| {
            let output = row.outputs.iter().find(|output: &&OutputDiff| output.name == name);
            output.map_or(0, |output| output.differing)
        };
        if !row.outputs.is_empty() {
            let of = by_spot.entry(row.spot).or_default();
            of.runs += 1;
            if differing(TOKENS) > 0 {
                of.changes.push([differing(DELAY).saturating_sub(1), differing(SPAN), differing(TOKENS)]);
            }
        }
        Ok(())
    })?;
    let mut parts: BTreeMap<(u32, &str), (&str, &Generations)> = BTreeMap::new();
    let mut operands: BTreeMap<&str, Generations> = BTreeMap::new();
    for (spot, of) in &by_spot {
        let Some(spot) = spots.get(*spot) else { continue };
        parts.insert((spot.pc, &spot.target), (&spot.kernel, of));
        let all = operands.entry(&spot.target).or_default();
        all.runs += of.runs;
        all.changes.extend(&of.changes);
    }
    let part = |layer: &str, operand: &str, of: &Generations| {
        let changed = of.changes.len() as u64;
        let proportion = Proportion::new(changed, of.runs);
        let bounds = proportion.map(|it| it.interval(method, level));
        let quartiles = |which: usize| Quartiles::of(of.changes.iter().map(|change| change[which]).collect());
        GenerationPart {
            layer: layer.to_owned(),
            operand: operand.to_owned(),
            runs: of.runs,
            changed,
            rate: proportion.and_then(Proportion::rate),
            low: bounds.map_or(0.0, |it| it.low),
            high: bounds.map_or(1.0, |it| it.high),
            delay: quartiles(0),
            span: quartiles(1),
            tokens: quartiles(2),
        }
    };
    let rows: Vec<GenerationPart> = parts.iter().map(|((_, operand), (layer, of))| part(layer, operand, of)).collect();
    let all: Vec<GenerationPart> = operands.iter().map(|(operand, of)| part("all", operand, of)).collect();
    let columns = [
        "layer",
        "operand",
        "runs",
        "another token",
        "first one, steps later",
        "steps to the last one",
        "other tokens",
    ];
    let mut table = Table::new("Tokens that faults change", &columns);
    let row = |it: &GenerationPart| {
        let rate = it.rate.map_or(Cell::None, |rate| Cell::Rate { rate, low: it.low, high: it.high });
        let quartiles = [it.delay, it.span, it.tokens].map(Quartiles::cell);
        let texts = [Cell::text(&it.layer), Cell::text(&it.operand), Cell::Count(it.runs), rate];
        texts.into_iter().chain(quartiles).collect()
    };
    table.rows = rows.iter().chain(&all).map(row).collect();
    table.notes.push(
        "Of generations with another token: the median, and in brackets the quartiles. The first other token is 0 steps later if the \
         step of the fault itself chooses it. The steps to the last one count from the first one on, both included."
            .to_owned(),
    );
    let mut study = Study::new("generation", "", "");
    study.tables = vec![table];
    let json = serde_json::json!({ "format": "beamline.generation/1", "layers": rows, "operands": all });
    Ok(Estimates { json, study })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_the_nearest_ranks() {
        assert_eq!(Quartiles::of(Vec::new()), None);
        assert_eq!(Quartiles::of(vec![4]), Some(Quartiles { lower: 4, median: 4, upper: 4 }));
        assert_eq!(Quartiles::of((1..=8).rev().collect()), Some(Quartiles { lower: 2, median: 4, upper: 6 }));
    }
}
