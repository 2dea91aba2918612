//! Inputs that were run a moment ago, kept open for what is asked of them next.

use std::collections::VecDeque;

use crate::kit::OpenedCapsule;

/// Inputs that are kept open, at most.
const MOST: usize = 64;
/// Thread instructions of all of them, at most: a golden run and its index take memory with its instructions.
pub(super) const MOST_INSTRUCTIONS: u64 = 1_000_000_000;

/// The inputs that were used last, each with the seconds that it took.
#[derive(Default)]
pub(super) struct OpenInputs(VecDeque<(String, (OpenedCapsule, f64))>);

impl OpenInputs {
    /// An input that is open; it counts as the one that was used last.
    pub(super) fn get(&mut self, input: &str) -> Option<(OpenedCapsule, f64)> {
        let at = self.0.iter().position(|(name, _)| name == input)?;
        let found = self.0.remove(at)?;
        self.0.push_back(found);
        self.0.back().map(|(_, opened)| opened.clone())
    }

    /// Keeps an input, and closes those that were not used for the longest time.
    pub(super) fn put(&mut self, input: String, opened: (OpenedCapsule, f64)) {
        self.0.push_back((input, opened));
        let instructions = |it: &(String, (OpenedCapsule, f64))| it.1.0.golden_run().thread_instructions();
        let mut all: u64 = self.0.iter().map(instructions).sum();
        while self.0.len() > 1 && (self.0.len() > MOST || all > MOST_INSTRUCTIONS) {
            all -= self.0.pop_front().as_ref().map_or(0, instructions);
        }
    }
}
