//! Which static instructions are protected: those that words select, or those that a knapsack finds worth it.
//!
//! In the knapsack, an instruction costs its dynamic instructions, each of which is executed once more, and is worth the silent
//! data corruptions that faults in it come to. What cannot be executed twice is never chosen, whatever it is worth.

use crate::hardening::code::{CodePlace, ExecutedCode};
use crate::hardening::reading::HardenError;
use crate::kit::most_within;
use fault::{Ranges, Selection};
use serde::Serialize;
use stats::{Knapsack, KnapsackItem};
use std::collections::{BTreeMap, BTreeSet};

/// The instructions of a capsule that are protected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtectionChoice(pub BTreeSet<CodePlace>);

/// The words that select instructions.
const KEYS: &str = "kernel=NAME, lines=FILE:a-b, group=GROUP or pc=a-b";

/// How much is to be protected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProtectionDemand {
    /// The most valuable instructions whose duplicates are at most this share of all dynamic instructions.
    Overhead(f64),
    /// The cheapest instructions that have at least this share of the silent data corruptions.
    Coverage(f64),
}

/// The expected cost and use of protected instructions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProtectionForecast {
    /// How many static instructions are protected that are executed.
    pub instructions: u64,
    /// How many static instructions protection can execute twice.
    pub of: u64,
    /// The dynamic instructions of the protected ones, as a share of all.
    pub overhead: f64,
    /// The silent data corruptions in them, as a share of all; none where no values are known, or there are no corruptions.
    pub coverage: Option<f64>,
}

impl ExecutedCode {
    /// The instructions that words select, each `KEY=VALUE` as campaigns have them: those of one key widen the choice, those of
    /// several narrow it.
    ///
    /// # Errors
    /// If a word is not understood or selects nothing, or if all together select nothing that can be executed twice.
    pub fn selected(&self, words: &[String], sets: &[facts::NamedSet]) -> Result<ProtectionChoice, HardenError> {
        for word in words {
            if self.held(std::slice::from_ref(word), sets)?.0.is_empty() {
                return Err(HardenError::Choice(format!("protect {word}: it selects no instruction of this capsule")));
            }
        }
        let choice = self.held(words, sets)?;
        if choice.0.iter().any(|place| self.instructions[place].twice) {
            return Ok(choice);
        }
        let of = words.join(" ");
        Err(HardenError::Choice(format!(
            "protect {of}: none of the instructions that it selects can be executed twice"
        )))
    }

    fn held(&self, words: &[String], sets: &[facts::NamedSet]) -> Result<ProtectionChoice, HardenError> {
        let mut by_key: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            if !["kernel", "lines", "group", "pc"].contains(&key)
                || value.is_empty()
                || key == "kernel" && value.contains('#')
            {
                return Err(HardenError::Choice(format!("protect `{word}`: expected {KEYS}")));
            }
            by_key.entry(key).or_default().push(value.to_owned());
        }
        let mut of = |key| by_key.remove(key).unwrap_or_default();
        let wrong = |error: fault::SelectionError| HardenError::Choice(format!("choose what to protect: {error}"));
        let pcs = Ranges::parse("pc", &of("pc")).map_err(wrong)?;
        let selection = Selection::of_words(None, None, None, &of("group"), sets)
            .and_then(|selection| selection.in_kernels(&of("kernel"))?.in_lines(&of("lines")))
            .map_err(wrong)?;
        let held = self.instructions.iter().filter(|(place, instruction)| {
            instruction.kernels.iter().any(|kernel| selection.holds_launch(kernel, 0))
                && pcs.holds(u64::from(place.pc.0))
                && selection.holds(&instruction.facts)
        });
        Ok(ProtectionChoice(held.map(|(place, _)| *place).collect()))
    }

    /// The instructions that are worth it, by the value of each.
    ///
    /// # Errors
    /// If the demand is not a share, or cannot be met.
    pub fn worth(
        &self,
        values: &BTreeMap<CodePlace, u64>,
        demand: ProtectionDemand,
    ) -> Result<ProtectionChoice, HardenError> {
        let (ProtectionDemand::Overhead(share) | ProtectionDemand::Coverage(share)) = demand;
        if !(0.0..=1.0).contains(&share) {
            return Err(HardenError::Choice(format!(
                "protect by a knapsack: expected a share between 0 and 1, not {share}"
            )));
        }
        let value = |place: &CodePlace| values.get(place).copied().unwrap_or(0);
        let can: Vec<CodePlace> =
            self.instructions.iter().filter(|(_, it)| it.twice).map(|(place, _)| *place).collect();
        let item = |place: &CodePlace| KnapsackItem { cost: self.instructions[place].executed, value: value(place) };
        let knapsack = Knapsack::new(can.iter().map(item));
        let cover = match demand {
            ProtectionDemand::Overhead(share) => most_within(&knapsack, (self.executed() as f64 * share) as u64),
            ProtectionDemand::Coverage(share) => {
                let all: u64 = values.values().sum();
                let demand = (all as f64 * share).ceil() as u64;
                let most = knapsack.value() as f64 / all.max(1) as f64;
                let beyond = format!(
                    "protect {share} of the corruptions: at most {most:.3} of them are in instructions that can be executed twice"
                );
                knapsack.cover(demand).ok_or(HardenError::Choice(beyond))?
            }
        };
        if cover.items.is_empty() {
            return Err(HardenError::Choice(
                "protect by a knapsack: it chooses no instruction; ask for more".to_owned(),
            ));
        }
        Ok(ProtectionChoice(cover.items.into_iter().map(|at| can[at]).collect()))
    }

    /// The expected cost and use of a choice.
    #[must_use]
    pub fn forecast(&self, choice: &ProtectionChoice, values: Option<&BTreeMap<CodePlace, u64>>) -> ProtectionForecast {
        let twice = || self.instructions.iter().filter(|(_, it)| it.twice);
        let chosen = || twice().filter(|(place, _)| choice.0.contains(place));
        let covered = |values: &BTreeMap<CodePlace, u64>| -> Option<f64> {
            let all: u64 = values.values().sum();
            let covered: u64 = chosen().filter_map(|(place, _)| values.get(place)).sum();
            (all > 0).then(|| covered as f64 / all as f64)
        };
        ProtectionForecast {
            instructions: chosen().filter(|(_, it)| it.executed > 0).count() as u64,
            of: twice().filter(|(_, it)| it.executed > 0).count() as u64,
            overhead: chosen().map(|(_, it)| it.executed).sum::<u64>() as f64 / self.executed().max(1) as f64,
            coverage: values.and_then(covered),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardening::code::ExecutedInstruction;
    use facts::{Facts, Group, Operand, Pc, Reg, Role};
    use isa::FunctionId;

    fn place(pc: u32) -> CodePlace {
        CodePlace { module: 0, function: FunctionId(0), pc: Pc(pc) }
    }

    /// Four instructions of a kernel, the last of which cannot be executed twice.
    fn code() -> ExecutedCode {
        let written = Operand { role: Role::Destination, position: 0, register: Reg(0), bits: 32, offset: 0, ty: None };
        let instruction = |executed, twice| ExecutedInstruction {
            kernels: ["_Z1kv".to_owned()].into(),
            body_of: Some("_Z1kv".to_owned()),
            facts: Facts { operands: vec![written], ..Facts::new("add.s32", Group::IntAdd) },
            executed,
            twice,
        };
        let all =
            [(10, true), (20, true), (30, true), (40, false)].map(|(executed, twice)| instruction(executed, twice));
        ExecutedCode { instructions: (0..).map(place).zip(all).collect() }
    }

    fn chosen(choice: Result<ProtectionChoice, HardenError>) -> Vec<u32> {
        choice.unwrap().0.iter().map(|place| place.pc.0).collect()
    }

    #[test]
    fn each_word_selects_something() {
        let said = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            code().selected(&words, &[]).map(|_| ()).map_err(|error| error.to_string())
        };
        let nothing = "protect pc=9: it selects no instruction of this capsule";
        assert!(said(&["pc=0-1", "pc=9"]).unwrap_err().contains(nothing));
        assert!(said(&["pc=9"]).unwrap_err().contains(nothing));
        assert!(said(&["pc=0", "pc=2"]).is_ok());
    }

    #[test]
    fn words_select_and_narrow() {
        let select =
            |words: &[&str]| code().selected(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(), &[]);
        assert_eq!(chosen(select(&["kernel=k"])), [0, 1, 2, 3]);
        assert_eq!(chosen(select(&["kernel=k", "pc=1-2", "pc=3"])), [1, 2, 3]);
        assert_eq!(chosen(select(&["group=int_add", "pc=1"])), [1]);
        let said = |words: &[&str]| select(words).unwrap_err().to_string();
        assert!(
            said(&["pc=3"]).contains("none of the instructions") && said(&["kernel=other"]).contains("no instruction")
        );
        assert!(said(&["kernel=k#1"]).contains("expected kernel=NAME") && said(&["threads=1"]).contains("expected"));
        assert!(said(&["pc=x"]).contains("pc"), "{}", said(&["pc=x"]));
    }

    #[test]
    fn the_knapsack_keeps_to_the_budget_and_reaches_the_coverage() {
        let values: BTreeMap<CodePlace, u64> = (0..).map(place).zip([5, 20, 24, 51]).collect();
        let worth = |demand| code().worth(&values, demand);
        assert_eq!(chosen(worth(ProtectionDemand::Overhead(0.3))), [0, 1]);
        assert_eq!(chosen(worth(ProtectionDemand::Coverage(0.25))), [0, 1]);
        assert_eq!(chosen(worth(ProtectionDemand::Coverage(0.49))), [0, 1, 2]);
        let found = code().forecast(&worth(ProtectionDemand::Coverage(0.25)).unwrap(), Some(&values));
        let expected = ProtectionForecast { instructions: 2, of: 3, overhead: 0.3, coverage: Some(0.25) };
        assert_eq!(found, expected);
        let said = |demand| worth(demand).unwrap_err().to_string();
        assert!(said(ProtectionDemand::Coverage(0.9)).contains("at most 0.490"));
        assert!(said(ProtectionDemand::Coverage(2.0)).contains("expected a share between 0 and 1"));
        assert!(said(ProtectionDemand::Overhead(0.01)).contains("no instruction"));
    }
}
