//! What the paper says that numbers can decide, each with our numbers, the rule that decides, and what it decides.
//!
//! A rule is stated with its threshold beside its verdict, and both come from the same number (`rules`). What a rule asks of rates it
//! asks of intervals that hold for all kernels and rates at once, and of tests it asks p-values that are corrected for all tests of the page.

mod crashes;
mod groups;
mod method;
mod rates;
mod rules;
mod statement;

use study::{Cell, Table};

use super::questions::Questions;
use super::survey::MeasuredKernel;

pub use rules::{INTERVALS, Judged, Verdict};
pub use statement::Statement;

/// The statements of a part of the paper.
pub struct Part {
    /// The name of its table on the page.
    pub name: &'static str,
    /// The statements.
    pub statements: Vec<Statement>,
}

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

impl Part {
    /// As a table.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new(self.name, &["the paper says", "its numbers", "ours", "it holds if", "holds"]);
        table.rows.extend(self.statements.iter().map(|it| {
            [&it.claim, &it.paper, &it.ours, &it.judged.rule, it.judged.verdict.word()].map(Cell::text).to_vec()
        }));
        table
    }
}

/// How many statements come out how, in a sentence.
#[must_use]
pub fn tally(parts: &[Part]) -> String {
    let all: Vec<&Statement> = parts.iter().flat_map(|part| &part.statements).collect();
    let count = |verdict: Verdict| all.iter().filter(|it| it.judged.verdict == verdict).count();
    format!(
        "Of {} statements of the paper that numbers can decide, {} hold for our kernels, {} do not, and {} cannot be decided by these \
         campaigns.",
        all.len(),
        count(Verdict::Holds),
        count(Verdict::Fails),
        count(Verdict::Open)
    )
}
