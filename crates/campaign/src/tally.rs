//! How many rows came out how.

use serde::{Deserialize, Serialize};
use stats::Proportion;

use outcome::Class;

/// The rows of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Masked.
    pub masked: u64,
    /// Silently corrupted.
    pub sdc: u64,
    /// Crashed, hung or detected.
    pub due: u64,
    /// Of which it is not known what the application would have done.
    #[serde(default)]
    pub undecided: u64,
    /// Not hit.
    pub not_landed: u64,
    /// Not run, for a reason of ours.
    pub failed: u64,
}

impl Tally {
    /// Adds `count` rows of `class`.
    pub fn add(&mut self, class: Class, count: u64) {
        let counter = match class {
            Class::Masked => &mut self.masked,
            Class::Sdc => &mut self.sdc,
            Class::Due => &mut self.due,
            Class::Undecided => &mut self.undecided,
            Class::NotLanded => &mut self.not_landed,
            Class::Failed => &mut self.failed,
        };
        *counter += count;
    }

    /// Rows whose fault landed: the base of all rates.
    #[must_use]
    pub fn landed(&self) -> u64 {
        self.masked + self.sdc + self.due + self.undecided
    }

    /// All rows.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.landed() + self.not_landed + self.failed
    }

    /// The reported proportions, over landed rows: masked, SDC, DUE.
    #[must_use]
    pub fn proportions(&self) -> [Proportion; 3] {
        [self.masked, self.sdc, self.due].map(|count| Proportion::from_counts(count, self.landed() - count))
    }
}
