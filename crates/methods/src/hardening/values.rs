//! Corruptions by static instruction, read from the documents of other commands.
//!
//! ```text
//! beamline.approxilyzer/1   the corrupting error sites of each instruction
//! beamline.hardened/1       the corruptions that faults in each instruction were, before hardening
//! beamline.summary/1        those of each source line, shared among its instructions as often as they are executed
//! ```

use crate::hardening::code::{CodePlace, ExecutedCode};
use crate::hardening::reading::HardenError;
use serde_json::Value;
use std::collections::BTreeMap;

/// One corruption of a source line: the instructions of the line share it.
const SHARED: u64 = 1_000_000;

/// The outcomes of an instruction's error sites that are corruptions.
const CORRUPTIONS: [&str; 4] = ["bad", "maybe", "good", "detectable"];

impl ExecutedCode {
    /// The value of each instruction by a document.
    ///
    /// # Errors
    /// If the document is of another form or of another program, or has no corruption.
    pub fn values(&self, document: &Value) -> Result<BTreeMap<CodePlace, u64>, HardenError> {
        let format = document["format"].as_str().unwrap_or("no format");
        let values = match format {
            "beamline.approxilyzer/1" => {
                let corruptions = |it: &Value| CORRUPTIONS.iter().filter_map(|key| it["outcomes"][key].as_u64()).sum();
                self.by_instruction(list(&document["quality"]["by_instruction"]), corruptions)?
            }
            "beamline.hardened/1" => {
                let corruptions = |it: &Value| it["sdc"].as_u64().unwrap_or(0);
                self.by_instruction(list(&document["before"]["by_instruction"]), corruptions)?
            }
            "beamline.summary/1" => self.by_line(list(&document["by_line"])),
            other => {
                return Err(refused(&format!(
                    "it has the format {other}; expected the document of `approxilyzer --json`, `harden --json`, or of a campaign"
                )));
            }
        };
        if values.values().sum::<u64>() == 0 {
            return Err(refused("it has no corruption in an instruction of this program"));
        }
        Ok(values)
    }

    fn by_instruction(
        &self,
        lines: &[Value],
        corruptions: impl Fn(&Value) -> u64,
    ) -> Result<BTreeMap<CodePlace, u64>, HardenError> {
        if self.instructions.values().any(|it| it.body_of.is_none()) {
            return Err(refused(
                "its instructions have no function, and kernels call functions here; take a campaign's document, which has lines",
            ));
        }
        let mut places = BTreeMap::new();
        for (place, instruction) in &self.instructions {
            for kernel in &instruction.kernels {
                places.insert((kernel.as_str(), u64::from(place.pc.0)), *place);
                places.insert((fault::base_name(kernel), u64::from(place.pc.0)), *place);
            }
        }
        let mut values = BTreeMap::new();
        for line in lines {
            let (kernel, pc) = (line["kernel"].as_str().unwrap_or_default(), line["pc"].as_u64().unwrap_or(u64::MAX));
            let place = places.get(&(kernel, pc));
            let place = place.ok_or_else(|| refused(&format!("this program has no instruction {pc} of {kernel}")))?;
            *values.entry(*place).or_insert(0) += corruptions(line);
        }
        Ok(values)
    }

    fn by_line(&self, lines: &[Value]) -> BTreeMap<CodePlace, u64> {
        let mut values = BTreeMap::new();
        for line in lines {
            let corruptions = line["outcomes"]["sdc"].as_u64().unwrap_or(0);
            let wanted = (line["file"].as_str(), line["line"].as_u64());
            let of_line = || {
                self.instructions.iter().filter(|(_, it)| {
                    let source = it.facts.source.as_ref();
                    let found = (source.and_then(facts::Source::file), source.map(|source| u64::from(source.line())));
                    found == wanted && !fault::Selection::default().operands(&it.facts).is_empty()
                })
            };
            let all: u64 = of_line().map(|(_, it)| it.executed).sum();
            for (place, it) in of_line() {
                let share =
                    u128::from(corruptions) * u128::from(SHARED) * u128::from(it.executed) / u128::from(all.max(1));
                *values.entry(*place).or_insert(0) += u64::try_from(share).unwrap_or(u64::MAX);
            }
        }
        values
    }
}

fn refused(why: &str) -> HardenError {
    HardenError::Choice(format!("take corruptions from the document: {why}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
