//! What an application executes: the fractions of Equation 1, by kernel.

use facts::{Facts, NamedSet};
use fault::{InstructionClass, Selection};
use inject::{Golden, profile};
use std::collections::BTreeMap;

use super::ipa::IpaTable;
use super::settings::Grouping;
use super::units::Fraction;

/// Dynamic thread-instructions by type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// All of them.
    pub all: u64,
    /// By type of the table, those that its rates are taken for.
    pub types: Vec<u64>,
    /// By type of the table, those that were measured.
    pub measured: Vec<u64>,
    /// By instruction group, what is in no type.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// Executed instructions by kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// By kernel.
    pub kernels: BTreeMap<String, Executed>,
}

/// The instructions of a type.
struct Kind {
    measured: Vec<InstructionClass>,
    taken: Vec<InstructionClass>,
}

fn holds(classes: &[InstructionClass], facts: &Facts) -> bool {
    classes.iter().any(|class| class.holds(facts))
}

fn kinds(table: &IpaTable, grouping: Grouping, sets: &[NamedSet]) -> Result<Vec<Kind>, String> {
    let classes = |of: &str, words: &[String]| -> Result<Vec<InstructionClass>, String> {
        let class = |word: &String| {
            InstructionClass::parse(word, sets).map_err(|error| {
                format!("count the instructions of {of}, a row of the IPA table `{}`: {error}", table.name)
            })
        };
        words.iter().map(class).collect()
    };
    let kind = |it: &super::ipa::InstructionType| {
        let taken = if grouping == Grouping::Alike { it.alike() } else { &it.measured };
        Ok(Kind { measured: classes(&it.name, &it.measured)?, taken: classes(&it.name, taken)? })
    };
    table.instructions.iter().map(kind).collect()
}

impl Shares {
    /// Counts what selected launches of a golden run execute.
    ///
    /// # Errors
    /// If the table's words name no instructions, or one instruction is of two types.
    pub fn of(golden: &Golden, table: &IpaTable, grouping: Grouping, selection: &Selection) -> Result<Self, String> {
        let kinds = kinds(table, grouping, &golden.guests().sets())?;
        let mut shares = Self::default();
        for launch in profile(golden) {
            let program = &launch.launch.program;
            if !selection.holds_launch(&program.name, launch.launch.number) {
                continue;
            }
            let kernel = shares.kernels.entry(program.name.clone()).or_default();
            kernel.types.resize(kinds.len(), 0);
            kernel.measured.resize(kinds.len(), 0);
            for (facts, count) in launch.instructions() {
                kernel.all += count.executed;
                let types: Vec<usize> = (0..kinds.len()).filter(|&at| holds(&kinds[at].taken, facts)).collect();
                match *types {
                    [] => *kernel.left_out.entry(facts.group.word()).or_default() += count.executed,
                    [only] => kernel.types[only] += count.executed,
                    [first, second, ..] => {
                        let [first, second] = [first, second].map(|at| &table.instructions[at].name);
                        let text = &facts.mnemonic;
                        return Err(format!(
                            "count {text}: the IPA table `{}` has it as {first} and as {second}",
                            table.name
                        ));
                    }
                }
                for (at, kind) in kinds.iter().enumerate().filter(|(_, kind)| holds(&kind.measured, facts)) {
                    if !holds(&kind.taken, facts) {
                        return Err(format!(
                            "count {}: `measured` of {} in the IPA table `{}` has it, and `alike` does not",
                            facts.mnemonic, table.instructions[at].name, table.name
                        ));
                    }
                    kernel.measured[at] += count.executed;
                }
            }
            kernel.left_out.retain(|_, count| *count > 0);
        }
        Ok(shares)
    }

    /// The shares without a group that no type stands for, as on a machine that has no such instructions.
    #[must_use]
    pub fn without(&self, group: &str) -> Self {
        let mut shares = self.clone();
        for kernel in shares.kernels.values_mut() {
            kernel.all -= kernel.left_out.remove(group).unwrap_or_default();
        }
        shares
    }

    /// By instruction group, what is in no type.
    #[must_use]
    pub fn left_out(&self) -> BTreeMap<&'static str, u64> {
        let mut groups = BTreeMap::new();
        for (&group, &count) in self.kernels.values().flat_map(|kernel| &kernel.left_out) {
            *groups.entry(group).or_default() += count;
        }
        groups
    }

    /// All dynamic instructions.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.kernels.values().map(|kernel| kernel.all).sum()
    }

    /// The share of them that so many are.
    #[must_use]
    pub fn fraction(&self, count: u64) -> Fraction {
        Fraction(count as f64 / self.all().max(1) as f64)
    }

    /// The share of a type, f.
    #[must_use]
    pub fn of_type(&self, at: usize) -> Fraction {
        self.fraction(self.kernels.values().map(|kernel| kernel.types[at]).sum())
    }

    /// The share of what was measured of a type.
    #[must_use]
    pub fn measured(&self, at: usize) -> Fraction {
        self.fraction(self.kernels.values().map(|kernel| kernel.measured[at]).sum())
    }

    /// The share of a kernel.
    #[must_use]
    pub fn of_kernel(&self, name: &str) -> Fraction {
        self.fraction(self.kernels.get(name).map_or(0, |kernel| kernel.all))
    }

    /// The share that the types of the table stand for together.
    #[must_use]
    pub fn covered(&self) -> Fraction {
        self.fraction(self.all() - self.left_out().values().sum::<u64>())
    }
}
