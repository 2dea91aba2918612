//! Which sites a campaign hits, in words that the target interprets.

use super::MethodChoice;
use super::keys::keys;
use outcome::words;
use std::collections::BTreeMap;

keys! {
    /// Which sites a campaign hits, in words that the target interprets; an empty list is everything.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct SelectionWords {
        /// The fault model.
        model: Option<String> = "model" one,
        /// The operand that is hit.
        target: Option<String> = "target" one,
        /// Instruction groups.
        group: Vec<String> = "group" list,
        /// How many threads are hit at once.
        scope: Option<String> = "scope" one,
        /// Kernels, as `NAME` or `NAME#n` for its n-th launch.
        kernel: Vec<String> = "kernel" list,
        /// Source lines, as `FILE:a-b`.
        lines: Vec<String> = "lines" list,
        /// Ranges of threads.
        threads: Vec<String> = "threads" list,
        /// Ranges of blocks.
        blocks: Vec<String> = "blocks" list,
        /// Ranges of the times that a thread executes an instruction, counted from 0.
        iterations: Vec<String> = "iterations" list,
        /// By what the population is divided into strata, each of which gets as many runs as any other.
        stratify: Option<Stratify> = "stratify" one,
        /// The published method that chooses sites instead, with its settings.
        method: Option<MethodChoice> = "method" one,
        /// The texts of files that the settings of the method and the addresses name, by these names: kept with a campaign, whatever
        /// becomes of the files.
        files: BTreeMap<String, String> = "files" apart,
    }
}

words! {
    /// By what a population is divided into strata.
    pub enum Stratify ("stratification") {
        /// The kernel.
        Kernel = "kernel",
        /// The instruction group.
        Group = "group",
        /// Threads that behave alike.
        Threads = "threads",
    }
}

impl SelectionWords {
    /// The same with every default said: one bit of a destination register of one thread, and where a method chooses
    /// what is hit, all but that.
    pub(super) fn settled(self) -> Self {
        let said = |word: Option<String>, default: &str| Some(word.unwrap_or_else(|| default.to_owned()));
        Self {
            model: said(self.model, "flip"),
            target: if self.method.is_some() { self.target } else { said(self.target, "dst") },
            scope: said(self.scope, "thread"),
            group: divided(self.group),
            kernel: divided(self.kernel),
            lines: divided(self.lines),
            threads: divided(self.threads),
            blocks: divided(self.blocks),
            iterations: divided(self.iterations),
            ..self
        }
    }
}

/// The values of a list: a comma divides them in a file as on the command line.
fn divided(list: Vec<String>) -> Vec<String> {
    list.iter().flat_map(|value| value.split(',')).map(str::to_owned).collect()
}
