//! The values that a branch decides about: those that are made between it and its targets and used behind them.

use facts::Control;
use simt::Program;
use std::collections::BTreeMap;

use super::flow::{UseKind, ValueFlow};

/// The values that a branch decides about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Region {
    /// The instructions between the branch and its targets, by number.
    pub(super) inside: Vec<u32>,
    /// The first of them that is executed.
    pub(super) entry: u32,
    /// Whether the branch goes back: the region is a loop.
    pub(super) is_back: bool,
    /// In which share of its executions the branch leaves a loop that then goes on without an end: it asks whether a count
    /// is reached exactly.
    pub(super) runs_away: f64,
    /// The values, and in how many of the executions of the region they are made.
    pub(super) values: Vec<(usize, f64)>,
}

/// By branch, a kernel and an instruction, what it decides.
pub(super) type Regions = BTreeMap<(u32, u32), Region>;

/// The regions of the branches of a kernel; of one that ends the thread or returns, up to the end of the function.
pub(super) fn regions(program: &Program, kernel: u32) -> Regions {
    let of = |at: usize| {
        let (it, facts) = (&program.instructions[at], program.facts(at as u32)?);
        facts.guard?;
        let is_back = matches!(&facts.control, Control::Jump(targets) if targets.iter().any(|to| *to <= it.pc));
        let between = match &facts.control {
            Control::Jump(targets) => {
                let (low, high) = (targets.iter().min()?.0, targets.iter().max()?.0);
                if low <= it.pc.0 { low..high.max(it.pc.0) } else { it.pc.0 + 1..high }
            }
            Control::End | Control::Return => it.pc.0 + 1..u32::MAX,
            _ => return None,
        };
        let all = (0..).zip(&program.instructions);
        let inside = all.filter(|(_, other)| other.function == it.function && between.contains(&other.pc.0));
        let inside: Vec<u32> = inside.map(|(number, _)| number).collect();
        Some(((kernel, at as u32), Region { entry: *inside.first()?, inside, is_back, ..Region::default() }))
    };
    (0..program.instructions.len()).filter_map(of).collect()
}

/// Finds the values of regions, when all uses are known: those in memory, and those in registers that are used outside.
///
/// `is_exact` says of an instruction, by kernel and number, whether it compares for equality.
pub(super) fn settle(regions: &mut Regions, flow: &ValueFlow, is_exact: impl Fn(u32, u32) -> bool) {
    let mut by_instruction: BTreeMap<(u32, u32), Vec<(usize, bool)>> = BTreeMap::new();
    for (key, &value) in &flow.keys {
        by_instruction.entry((key.kernel, key.instruction)).or_default().push((value, key.is_memory));
    }
    let executed = |kernel, instruction| flow.executed.get(&(kernel, instruction)).copied().unwrap_or_default();
    for (key, &value) in &flow.keys {
        for (&(kernel, at, kind), it) in &flow.uses[value] {
            if let Some(region) = regions.get_mut(&(kernel, at))
                && kind == UseKind::Branch
                && region.is_back
                && is_exact(key.kernel, key.instruction)
            {
                region.runs_away = (1.0 - executed(kernel, at) / it.count).max(0.0);
            }
        }
    }
    for (&(kernel, _), region) in regions {
        let entered = executed(kernel, region.entry);
        let mut values = Vec::new();
        for &at in &region.inside {
            let share = (executed(kernel, at) / entered.max(1.0)).min(1.0);
            for &(value, is_memory) in by_instruction.get(&(kernel, at)).into_iter().flatten() {
                let mut users = flow.uses[value].keys();
                let is_outside =
                    |(of, user, _): &(u32, u32, _)| *of != kernel || region.inside.binary_search(user).is_err();
                if share > 0.0 && (is_memory || users.any(is_outside)) {
                    values.push((value, share));
                }
            }
        }
        region.values = values;
    }
}
