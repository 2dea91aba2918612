//! Vectors as launches that anything can execute which takes PTX: a real GPU, for one.

use super::check::{BLOCK, Run, compare, groups};
use super::kernel::{KernelVariant, module_text};
use super::read::TestVector;

/// A kernel `plain(in, out, limit)`, its memory before the launch, and what must be in it afterwards.
#[derive(Clone, Debug)]
pub struct Experiment {
    rows: Vec<TestVector>,
}

impl Experiment {
    /// One for each form, and for `lop3` one for each table.
    #[must_use]
    pub fn all(rows: &[TestVector]) -> Vec<Self> {
        groups(rows).into_iter().map(|rows| Self { rows }).collect()
    }

    /// One of rows that share the form and its immediate operands.
    #[must_use]
    pub(super) fn of(rows: Vec<TestVector>) -> Self {
        Self { rows }
    }

    fn run(&self) -> Run<'_> {
        Run::new(&self.rows[0].form, KernelVariant::Plain, &self.rows)
    }

    /// The form.
    #[must_use]
    pub fn spelling(&self) -> &str {
        &self.rows[0].form.spelling
    }

    /// How many rows it has; more threads than that use them again.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The module.
    #[must_use]
    pub fn text(&self) -> String {
        module_text(&self.rows[0].form, &self.rows, &[KernelVariant::Plain])
    }

    /// Blocks, threads of a block, and threads that have a row.
    #[must_use]
    pub fn shape(&self) -> (usize, usize, usize) {
        let run = self.run();
        (run.blocks, BLOCK, run.threads)
    }

    /// The bytes behind `in` and those behind `out`.
    #[must_use]
    pub fn memory(&self) -> (Vec<u8>, Vec<u8>) {
        let run = self.run();
        (run.input(), run.output())
    }

    /// What is wrong with the bytes behind `out` after the launch, one line for each result.
    #[must_use]
    pub fn disagreements(&self, on: &str, out: &[u8]) -> Vec<String> {
        compare(&self.rows, KernelVariant::Plain, on, &self.run().found(out))
    }
}
