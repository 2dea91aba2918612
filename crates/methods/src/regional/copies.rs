//! Copies of source lines in a program, as a loop has that the compiler has unrolled.
//!
//! A line has as many copies as it has instructions of the mnemonic that is there least often, but more than once (of several the
//! one that comes last): an unrolled product-sum has four `fma` and eight or nine `ld`. A copy ends with its instruction of this
//! mnemonic. Where a copy is then left without another mnemonic, as where loads are moved before all of them, the
//! instructions of that other one are dealt out evenly, in the order of the program.

use facts::{Facts, Source};
use fault::{LaunchInstructions, Ranges};
use inject::CapsuleTarget;
use simt::Program;
use std::collections::{BTreeMap, BTreeSet};

/// The lines whose instructions are numbered.
pub(super) struct Copies<'r> {
    /// Their file: a path, or the end of one.
    pub(super) file: &'r str,
    /// The first and the last.
    pub(super) lines: [u32; 2],
}

impl Copies<'_> {
    /// The instructions of a program on the lines that are executed, each with its copy and how many copies its line has.
    pub(super) fn numbered(&self, program: &Program, is_executed: impl Fn(u32) -> bool) -> Vec<(u32, u64, u64)> {
        type Line<'p> = (Option<&'p str>, u32);
        let mut lines: BTreeMap<Line<'_>, BTreeMap<&str, Vec<u32>>> = BTreeMap::new();
        for (at, instruction) in (0..).zip(&program.instructions).filter(|(at, _)| is_executed(*at)) {
            let Some(facts) = &instruction.facts else { continue };
            if let Some(line) = self.place(facts) {
                lines.entry(line).or_default().entry(facts.mnemonic.as_ref()).or_default().push(at);
            }
        }
        let mut numbered = Vec::new();
        for of_line in lines.values() {
            let several = of_line.values().filter(|all| all.len() > 1);
            let ends = several.min_by_key(|all| (all.len(), std::cmp::Reverse(all.last().copied())));
            let ends: &[u32] = ends.map_or(&[], Vec::as_slice);
            let copies = ends.len().max(1);
            for all in of_line.values() {
                let by_ends: Vec<usize> =
                    all.iter().map(|at| ends.partition_point(|end| end < at).min(copies - 1)).collect();
                let covered = (0..copies).all(|copy| by_ends.contains(&copy));
                let dealt = |(nth, by_ends): (usize, usize)| if covered { by_ends } else { nth * copies / all.len() };
                let copy = by_ends.into_iter().enumerate().map(dealt);
                numbered.extend(all.iter().zip(copy).map(|(&at, copy)| (at, copy as u64, copies as u64)));
            }
        }
        numbered.sort_unstable();
        numbered
    }

    /// The innermost place of an instruction that is on the lines.
    fn place<'f>(&self, facts: &'f Facts) -> Option<(Option<&'f str>, u32)> {
        let [first, last] = self.lines;
        let mut places = facts.source.as_ref().into_iter().flat_map(Source::places);
        places.find(|(path, line)| path.is_some_and(|path| is_file(path, self.file)) && (first..=last).contains(line))
    }

    /// The instructions of all launches with the numbers that are wanted.
    pub(super) fn narrow(&self, capsule: &CapsuleTarget, wanted: &Ranges) -> LaunchInstructions {
        let mut known: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        let launches = capsule.golden_run().launches().iter().map(|launch| {
            let chosen = known.entry(&launch.program.name).or_insert_with(|| {
                let all = self.numbered(&launch.program, |_| true).into_iter();
                all.filter(|(_, copy, _)| wanted.holds(*copy)).map(|(at, ..)| at).collect()
            });
            ((launch.program.name.clone(), launch.number), chosen.clone())
        });
        launches.collect()
    }
}

/// Whether a path is, or ends in, the one wanted.
pub(super) fn is_file(path: &str, wanted: &str) -> bool {
    path.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
