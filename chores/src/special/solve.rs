//! From answers to the table of a function.

use super::functions::Function;
use super::segment::{Bound, Fit, fits};
use super::sweep::Answers;
use anyhow::{Context, Result, ensure};
use isa::semantics::approx::interpolator::BITS;

/// The coefficients of a function.
pub(super) struct Solved {
    /// What is added to every sum.
    pub(super) bias: i32,
    /// Of 1, x and x², for each segment.
    pub(super) segments: Vec<[i32; 3]>,
    /// The least and the most bias that would do as well.
    pub(super) room: (i64, i64),
}

/// Solves a function for what is answered.
pub(super) fn solve(function: &Function, answers: &dyn Answers) -> Result<Solved> {
    let bounds = bounds(function, answers)?;
    let fits = all_fits(function, &bounds)?;
    let (bias, room) =
        bias(&fits, function.shape.constant).with_context(|| format!("{}: no bias suits", function.name))?;
    let segments = fits.iter().map(|fit| coefficients(fit, bias, function.shape.constant)).collect();
    Ok(Solved { bias: bias as i32, segments, room })
}

/// What is known of each sum: those of the first segment, then those of the second …
fn bounds(function: &Function, answers: &dyn Answers) -> Result<Vec<(i64, i64)>> {
    let mut bounds = vec![(i64::MIN, i64::MAX); (function.segments as usize) << BITS];
    for sweep in function.sweeps {
        for (x, y) in sweep.arguments().zip(answers.of(sweep)?) {
            let Some(seen) = (function.observe)(x, y) else { continue };
            let bound = &mut bounds[((seen.segment << BITS) + seen.bound.x) as usize];
            *bound = (bound.0.max(seen.bound.low), bound.1.min(seen.bound.high));
            ensure!(bound.0 < bound.1, "{}: {x:#010x} gives {y:#010x}, which another argument denies", function.name);
        }
    }
    Ok(bounds)
}

/// The one fit of each segment, by as many threads as there are cores.
fn all_fits(function: &Function, bounds: &[(i64, i64)]) -> Result<Vec<Fit>> {
    let mut found: Vec<Vec<Fit>> = vec![Vec::new(); function.segments as usize];
    let share = found.len().div_ceil(std::thread::available_parallelism()?.get());
    std::thread::scope(|scope| {
        for (found, bounds) in found.chunks_mut(share).zip(bounds.chunks(share << BITS)) {
            scope.spawn(move || {
                for (found, bounds) in found.iter_mut().zip(bounds.chunks(1 << BITS)) {
                    *found = fits(&known(bounds), function.shape.square);
                }
            });
        }
    });
    let one = |(segment, fits): (usize, Vec<Fit>)| {
        ensure!(fits.len() == 1, "{} segment {segment}: one fit expected, {} found", function.name, fits.len());
        Ok(fits[0])
    };
    found.into_iter().enumerate().map(one).collect()
}

fn known(bounds: &[(i64, i64)]) -> Vec<Bound> {
    let bounds = bounds.iter().zip(0..).filter(|((low, _), _)| *low != i64::MIN);
    bounds.map(|(&(low, high), x)| Bound { x, low, high }).collect()
}

/// A bias for which every constant is a whole number: zero if it can be, else the middle of the widest choice.
fn bias(fits: &[Fit], constant: u32) -> Option<(i64, (i64, i64))> {
    let suits = |bias: i64| fits.iter().all(|fit| (fit.high - 1 - bias) >> constant << constant >= fit.low - bias);
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for bias in (0..1 << constant).filter(|&bias| suits(bias)) {
        match runs.last_mut() {
            Some(run) if run.1 == bias - 1 => run.1 = bias,
            _ => runs.push((bias, bias)),
        }
    }
    let widest = *runs.iter().max_by_key(|run| run.1 - run.0)?;
    let zero = runs.first().filter(|run| run.0 == 0);
    Some(zero.map_or_else(|| (i64::midpoint(widest.0, widest.1), widest), |run| (0, *run)))
}

fn coefficients(fit: &Fit, bias: i64, constant: u32) -> [i32; 3] {
    [((fit.high - 1 - bias) >> constant) as i32, fit.c1, fit.c2]
}
