//! The steps of the thread that was hit: two logs side by side.

use super::lines::Lines;
use super::log::{Entry, Log};
use crate::golden::{Golden, GoldenLaunch};
use campaign::story::{Change, Propagation, StoryStep, ThreadPath};
use facts::{Control, Facts, FunctionId, Reg, Role, Type};
use fault::{Fault, Target};
use simt::program::FunctionCode;
use std::collections::BTreeSet;

/// Steps that are listed, at most.
const LISTED: usize = 200;

/// The result of a comparison: the steps of the corruption.
pub(super) struct ComparedSteps {
    pub(super) steps: Vec<StoryStep>,
    pub(super) left_out: u64,
    pub(super) path: ThreadPath,
}

/// A comparison of two logs on its way.
struct LogComparison<'a> {
    golden: &'a Golden,
    launch: &'a GoldenLaunch,
    lines: &'a Lines<'a>,
    /// Registers that hold something else than in the golden run.
    corrupted: BTreeSet<(FunctionId, Reg)>,
    told: ComparedSteps,
}

/// Compares the logs of a fault that landed, in a run that `ended` before its time or did not.
pub(super) fn compare(
    golden: &Golden,
    launch: &GoldenLaunch,
    lines: &Lines<'_>,
    fault: &Fault,
    (expected, found): (&Log, &Log),
    ended: bool,
) -> ComparedSteps {
    let told = ComparedSteps { steps: Vec::new(), left_out: 0, path: ThreadPath::default() };
    let mut walk = LogComparison { golden, launch, lines, corrupted: BTreeSet::new(), told };
    let (golden, mut after) = (&expected.entries, 0);
    for (at, (expected, entry)) in golden.iter().zip(&found.entries).enumerate() {
        if (expected.instruction, expected.executed) != (entry.instruction, entry.executed) {
            walk.diverge(after, golden, at, expected);
            return walk.told;
        }
        // In a run that did not come to its end, the last that the thread did may be what ended it.
        let last = ended && at + 1 == found.entries.len() && found.entries.len() < golden.len();
        if at == 0 {
            walk.hit(fault, expected, entry);
        } else if last && !walk.reads(entry).is_empty() {
            let reads = walk.reads(entry);
            walk.list(after + u64::from(entry.executed), entry.instruction, Propagation::Dies, reads, Vec::new());
        } else {
            after += u64::from(entry.executed);
            walk.step(after, expected, entry);
        }
        let count = walk.corrupted.len() as u64;
        walk.told.path.most_registers = walk.told.path.most_registers.max(count);
        walk.told.path.clean_after = match walk.told.path.clean_after {
            known @ Some(_) if count == 0 => known,
            _ => (count == 0).then_some(after),
        };
    }
    walk.told
}

impl<'a> LogComparison<'a> {
    fn at(&self, instruction: u32) -> Option<(FunctionId, &'a FunctionCode, &'a Facts)> {
        let code = self.launch.program.function_of(instruction)?;
        Some((code.id, code, self.launch.program.facts(instruction)?))
    }

    fn list(&mut self, after: u64, instruction: u32, what: Propagation, reads: Vec<String>, writes: Vec<Change>) {
        if self.told.steps.len() < LISTED {
            let at = self.lines.of(self.golden, self.launch, instruction);
            self.told.steps.push(StoryStep { after, at, what, reads, writes });
        } else {
            self.told.left_out += 1;
        }
    }

    /// The registers that an entry wrote otherwise; brings up to date which are corrupted.
    fn writes(&mut self, expected: &Entry, found: &Entry) -> Vec<Change> {
        let Some((id, code, facts)) = self.at(found.instruction).filter(|_| found.executed) else {
            return Vec::new();
        };
        let mut changes = Vec::new();
        let written = facts.of_role(Role::Destination);
        for ((destination, &golden), &found) in written.zip(&expected.values).zip(&found.values) {
            let register = destination.register;
            if golden == found {
                self.corrupted.remove(&(id, register));
            } else {
                self.corrupted.insert((id, register));
                let declared = &code.declared[register.index()];
                let ty = written_type(declared.ty, destination.ty).to_string();
                changes.push(Change { register: declared.name.clone(), ty, golden, found });
            }
        }
        changes
    }

    /// The corrupted registers that an entry read.
    fn reads(&self, entry: &Entry) -> Vec<String> {
        let Some((id, code, facts)) = self.at(entry.instruction) else { return Vec::new() };
        let guard = facts.guard.map(|guard| guard.pred);
        let all = facts.reads().filter(|register| entry.executed || guard == Some(*register));
        let mut read: Vec<Reg> = all.filter(|register| self.corrupted.contains(&(id, *register))).collect();
        read.dedup();
        read.iter().map(|register| code.declared[register.index()].name.clone()).collect()
    }

    fn hit(&mut self, fault: &Fault, expected: &Entry, entry: &Entry) {
        let place = self.at(entry.instruction);
        if let (Target::Register(number), Some((id, code, _))) = (fault.target, place)
            && code.declared.get(number as usize).is_some()
        {
            self.corrupted.insert((id, Reg(number)));
        }
        let reads = self.reads(entry);
        let writes = self.writes(expected, entry);
        self.list(0, entry.instruction, Propagation::Hit, reads, writes);
    }

    fn step(&mut self, after: u64, expected: &Entry, entry: &Entry) {
        let Some((_, _, facts)) = self.at(entry.instruction) else { return };
        let before = self.corrupted.len();
        let reads = self.reads(entry);
        let writes = self.writes(expected, entry);
        let goes_on = matches!(facts.control, Control::Next | Control::Trap);
        let what = match (reads.is_empty(), writes.is_empty()) {
            (true, false) => Propagation::Receives,
            (false, false) => Propagation::Spreads,
            (true, true) if before > 0 && self.corrupted.is_empty() => Propagation::Replaces,
            (true, true) => return,
            (false, true) if facts.stores => Propagation::Stores,
            (false, true) if !goes_on || !entry.executed => Propagation::Decides,
            (false, true) => Propagation::Absorbs,
        };
        self.list(after, entry.instruction, what, reads, writes);
    }

    /// The thread went another way: the entry before decided it, or the guard of this one.
    fn diverge(&mut self, after: u64, golden: &[Entry], at: usize, expected: &Entry) {
        self.told.path.left_after = Some(after);
        self.told.path.clean_after = None;
        let by_guard = golden.get(at).is_some_and(|entry| !self.reads(entry).is_empty());
        let decided = if by_guard { Some(expected) } else { at.checked_sub(1).and_then(|before| golden.get(before)) };
        let Some(entry) = decided else { return };
        let reads = self.reads(&Entry { executed: true, ..entry.clone() });
        // A branch that is listed as a decision is the one that went wrong.
        if self.told.steps.last().is_some_and(|step| step.what == Propagation::Decides && step.after == after) {
            self.told.steps.pop();
        }
        self.list(after, entry.instruction, Propagation::Diverges, reads, Vec::new());
    }
}

/// The type of a value in a register that was declared with one type and written as another: what the instruction says,
/// unless it says less than the declaration.
fn written_type(declared: Type, written: Option<Type>) -> Type {
    match written {
        Some(written) if written.bits() != declared.bits() => written,
        Some(written) if !declared.is_float() && !written.is_bits() => written,
        _ => declared,
    }
}
