//! What is stored of a unit: its counts, and the outcome of each of its faults, compressed.

use std::io;

use crate::failure::RunFailure;
use crate::sweep::{SweptCount, SweptTiers, SweptUnit};
use outcome::FAILED_CODE;

/// The level of zstd: the outcomes of neighbouring bits are alike, so that more effort gains little.
const LEVEL: i32 = 1;

/// A unit that was run, or could not be.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) unit: u64,
    /// How many faults it has.
    pub(crate) faults: u64,
    pub(crate) finding: Result<Packed, RunFailure>,
}

/// What a unit came to, with its outcomes compressed.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) counts: Vec<SweptCount>,
    pub(crate) tiers: SweptTiers,
    pub(crate) host_visible: u64,
    pub(crate) outcomes: Vec<u8>,
}

impl Unit {
    /// How many of its faults have no outcome: all of them, if the unit could not be run.
    pub(crate) fn failed(&self) -> u64 {
        self.faults.saturating_sub(self.counts().iter().map(|count| count.count).sum())
    }

    pub(crate) fn counts(&self) -> &[SweptCount] {
        self.finding.as_ref().map_or(&[], |packed| &packed.counts)
    }
}

impl Packed {
    pub(crate) fn new(swept: SweptUnit) -> Result<Self, RunFailure> {
        let SweptUnit { counts, outcomes, tiers, host_visible } = swept;
        let fail = |error: io::Error| RunFailure::from_error(&error);
        Ok(Self { counts, tiers, host_visible, outcomes: zstd::bulk::compress(&outcomes, LEVEL).map_err(fail)? })
    }
}

/// The code of each of a unit's `faults`; a unit without outcomes failed as a whole.
pub(super) fn unpack(outcomes: Option<&[u8]>, faults: u64) -> Result<Vec<u8>, String> {
    let faults = usize::try_from(faults).map_err(|error| error.to_string())?;
    let Some(outcomes) = outcomes else {
        return Ok(vec![FAILED_CODE; faults]);
    };
    let codes = zstd::bulk::decompress(outcomes, faults).map_err(|error| format!("its outcomes: {error}"))?;
    if codes.len() == faults { Ok(codes) } else { Err(format!("it has {} outcomes for {faults} faults", codes.len())) }
}
