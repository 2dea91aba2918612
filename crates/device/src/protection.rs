//! The sets of instructions that protection makes of a program: by where an instruction comes from.

use capsule::{HardenedFunction, InstructionOrigin as Origin};
use facts::{NamedSet, Sets};
use simt::Program;
use std::collections::BTreeSet;

/// How the names of all sets of protection begin.
pub const PROTECTION_PREFIX: &str = "protection:";

/// The sets.
pub const PROTECTION_SETS: &[NamedSet] = &[
    NamedSet { name: "protection:original", meaning: "the instruction was there before protection was written" },
    NamedSet { name: "protection:covered", meaning: "it was there before, and has a duplicate" },
    NamedSet { name: "protection:uncovered", meaning: "it was there before, and has no duplicate" },
    NamedSet { name: "protection:duplicate", meaning: "it does the same as an original once more" },
    NamedSet { name: "protection:copy", meaning: "it copies a result into a shadow register" },
    NamedSet { name: "protection:check", meaning: "it compares an original with its duplicate" },
    NamedSet { name: "protection:notify", meaning: "it says that a comparison failed" },
    NamedSet { name: "protection:entry", meaning: "it stands at the entry of a function, for the others" },
];

/// The numbers of the sets in the table, a bit each.
const ORIGINAL: u64 = 1;
const COVERED: u64 = 1 << 1;
const UNCOVERED: u64 = 1 << 2;
const DUPLICATE: u64 = 1 << 3;
const COPY: u64 = 1 << 4;
const CHECK: u64 = 1 << 5;
const NOTIFY: u64 = 1 << 6;
const ENTRY: u64 = 1 << 7;

/// Puts the instructions of a program into the sets. All instructions of functions that are not protected are uncovered originals.
pub(crate) fn mark(program: &mut Program, functions: &[HardenedFunction]) {
    let duplicated = |function: &HardenedFunction| -> BTreeSet<u32> {
        let duplicate = |origin: &Origin| if let Origin::Duplicate(pc) = origin { Some(*pc) } else { None };
        function.origins.iter().filter_map(duplicate).collect()
    };
    let functions: Vec<_> = functions.iter().map(|function| (function, duplicated(function))).collect();
    for instruction in &mut program.instructions {
        let Some(facts) = &mut instruction.facts else { continue };
        let function = functions.iter().find(|(function, _)| function.function == instruction.function.0);
        let origin = function
            .and_then(|(function, duplicated)| Some((function.origins.get(instruction.pc.0 as usize)?, duplicated)));
        let members = match origin {
            Some((Origin::Original(pc), duplicated)) if duplicated.contains(pc) => ORIGINAL | COVERED,
            Some((Origin::Original(_), _)) | None => ORIGINAL | UNCOVERED,
            Some((Origin::Duplicate(_), _)) => DUPLICATE,
            Some((Origin::Copy(_), _)) => COPY,
            Some((Origin::Check(_), _)) => CHECK,
            Some((Origin::Notify, _)) => NOTIFY,
            Some((Origin::Entry, _)) => ENTRY,
        };
        facts.protection = Sets::new(PROTECTION_SETS, members);
    }
}
