//! A sample of what a GPU answers, as instruction vectors, for machines without one.

use super::functions::FUNCTIONS;
use super::sweep::{Answers, Sweep};
use anyhow::Result;
use std::fmt::Write as _;

/// Rows of each sweep.
const ROWS: usize = 400;

/// The rows: of every sweep that tables are made of, evenly spaced arguments, the first and the last.
pub(super) fn sample(answers: &dyn Answers) -> Result<String> {
    let mut text =
        "# Written by `cargo xtask special --sample`: what an H200 answers. Change that, not this.\n".to_owned();
    for sweep in FUNCTIONS.iter().flat_map(|function| function.sweeps) {
        rows(&mut text, sweep, &answers.of(sweep)?);
    }
    Ok(text)
}

fn rows(text: &mut String, sweep: &Sweep, results: &[u32]) {
    // Not a whole fraction, so that the low bits vary.
    let spacing = (results.len() - 1) as f64 / (ROWS - 1) as f64;
    for row in 0..ROWS {
        let index = (row as f64 * spacing) as usize;
        let argument = sweep.from + index as u32 * sweep.step;
        let _ = writeln!(text, "{} {argument:#010x} = {:#010x}", sweep.spelling, results[index]);
    }
}
