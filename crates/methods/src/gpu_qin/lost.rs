//! What becomes of runs that no rate is made of: those that are given up, and those whose fault nobody reads.

use campaign::{Finding, Results, Row, StoreError};
use outcome::FirstUse;
use std::collections::BTreeMap;

use super::location::Discard;

/// Why a fault that was injected is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// Its thread ends without coming to an instruction that reads or writes the register.
    Never,
    /// The register is written first.
    Overwritten,
}

/// Runs that no rate is made of, by the instruction that they were to hit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lost {
    /// Given up, by the reason and the instruction's group.
    pub given_up: BTreeMap<(Discard, String), u64>,
    /// Injected and not read, by why and the instruction's group.
    pub unread: BTreeMap<(Unread, String), u64>,
}

impl Lost {
    /// Those of the rows of a campaign.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub fn of(results: &Results) -> Result<Self, StoreError> {
        let mut lost = Self::default();
        results.visit(&mut |row| lost.add(&row))?;
        Ok(lost)
    }

    fn add(&mut self, row: &Row) {
        let group = || row.site.spot.group.clone();
        match &row.finding {
            Finding::GivenUp => {
                if let Some(why) = row.site.given_up().and_then(Discard::of_word) {
                    *self.given_up.entry((why, group())).or_default() += 1;
                }
            }
            Finding::Seen { observation, .. } if observation.landed.is_some() => {
                let why = match observation.first_use {
                    FirstUse::Read { .. } => return,
                    FirstUse::Overwritten { .. } => Unread::Overwritten,
                    FirstUse::Never => Unread::Never,
                };
                *self.unread.entry((why, group())).or_default() += 1;
            }
            Finding::Seen { .. } | Finding::Failed(_) => {}
        }
    }

    /// These and others together.
    pub fn join(&mut self, other: Self) {
        other.given_up.into_iter().for_each(|(key, count)| *self.given_up.entry(key).or_default() += count);
        other.unread.into_iter().for_each(|(key, count)| *self.unread.entry(key).or_default() += count);
    }

    /// How many were given up for a reason.
    #[must_use]
    pub fn given_up_for(&self, why: Discard) -> u64 {
        self.given_up.iter().filter(|((reason, _), _)| *reason == why).map(|(_, count)| count).sum()
    }

    /// How many were not read, for a reason.
    #[must_use]
    pub fn unread_for(&self, why: Unread) -> u64 {
        self.unread.iter().filter(|((reason, _), _)| *reason == why).map(|(_, count)| count).sum()
    }
}
