//! What the paper says in its Sections 3.4 to 5, each with our numbers and a verdict.

mod elements;
mod errors;
mod found;
mod registers;

use super::survey::Measured;
use crate::statements::Part;
use found::Found;

/// All of them.
pub(super) fn statements(all: &[Measured]) -> Vec<Part> {
    let found = Found(all);
    vec![
        Part { name: "statements-elements", statements: elements::statements(&found) },
        Part { name: "statements-errors", statements: errors::statements(&found) },
        Part { name: "statements-registers", statements: registers::statements(&found) },
    ]
}
