//! What the paper says in its Sections 3.4 to 5, each with our numbers and a verdict.

mod elements;
mod errors;
mod found;
mod registers;

use super::survey::Measured;
use crate::statements::Part;
pub(super) use found::{Found, each, median, median_error, share, spread};

/// All of them.
pub(super) fn statements(all: &[Measured]) -> Vec<Part> {
    let found = Found(all);
    vec![
        Part { name: "statements-elements", statements: elements::statements(&found) },
        Part { name: "statements-errors", statements: errors::statements(&found) },
        Part { name: "statements-registers", statements: registers::statements(&found) },
    ]
}

/// Errors of a variable when they were first seen, and corrupted elements of another in the end, by fault.
pub(super) fn pairs(all: &[Measured], program: &str, region: &str, cause: &str, effect: &str) -> Vec<(f64, f64)> {
    Found(all).pairs(program, region, cause, effect)
}
