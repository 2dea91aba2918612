//! What the paper says that numbers can decide, each with our numbers, the rule that decides, and what it decides.
//!
//! A rule is stated with its threshold beside its verdict, and both come from the same number (`rules`). What a rule asks of rates it
//! asks of intervals that hold for all kernels and rates at once, and of tests it asks p-values that are corrected for all tests of the page.

mod crashes;
mod groups;
mod method;
mod rates;
mod rules;

use super::questions::Questions;
use super::survey::MeasuredKernel;
use crate::statements::Part;

pub use rules::INTERVALS;

/// All that is asked, part by part.
#[must_use]
pub fn statements(kernels: &[MeasuredKernel], questions: &Questions) -> Vec<Part> {
    vec![
        Part { name: "statements-groups", statements: groups::statements(kernels, questions) },
        Part { name: "statements-method", statements: method::statements(kernels, questions) },
        Part { name: "statements-rates", statements: rates::statements(kernels, questions) },
        Part { name: "statements-crashes", statements: crashes::statements(kernels, questions) },
    ]
}
