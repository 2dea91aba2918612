//! The faults of a campaign by the static instruction that they hit.

use campaign::{Finding, Results, StoreError};
use outcome::Class;
use serde::Serialize;
use std::collections::BTreeMap;

/// The ends of faults in a static instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstructionTally {
    /// The kernel, by its base name.
    pub kernel: String,
    /// The number of the instruction.
    pub pc: u32,
    /// Its mnemonic.
    pub instruction: String,
    /// The source file, where it is known.
    pub file: Option<String>,
    /// The source line, where it is known.
    pub line: Option<u32>,
    /// The faults that landed.
    pub landed: u64,
    /// Of these, silent data corruptions.
    pub sdc: u64,
}

/// Those of all instructions that were hit, in order.
///
/// # Errors
/// If the rows cannot be read.
pub fn tally_by_instruction(results: &Results) -> Result<Vec<InstructionTally>, StoreError> {
    let mut by_instruction = BTreeMap::new();
    results.visit(&mut |row| {
        let Finding::Seen { outcome, .. } = &row.finding else { return };
        if !outcome.class().has_landed() {
            return;
        }
        let spot = &row.site.spot;
        let kernel = fault::base_name(&spot.kernel).to_owned();
        let of = by_instruction.entry((kernel.clone(), spot.pc)).or_insert_with(|| InstructionTally {
            kernel,
            pc: spot.pc,
            instruction: spot.opcode.clone(),
            file: spot.file.clone(),
            line: spot.line,
            landed: 0,
            sdc: 0,
        });
        of.landed += 1;
        of.sdc += u64::from(outcome.class() == Class::Sdc);
    })?;
    Ok(by_instruction.into_values().collect())
}
