//! The steps of the thread that was hit: two logs side by side.

use super::lines::Lines;
use super::log::{Entry, Log};
use campaign::story::{Change, Deed, Path, Step};
use fault::{Fault, Target};
use isa::{Function, FunctionId, Instruction, Module, Op, Reg};
use simt::Program;
use std::collections::BTreeSet;

/// Steps that are listed, at most.
const LISTED: usize = 200;

/// What came of a comparison.
pub(super) struct Told {
    pub(super) steps: Vec<Step>,
    pub(super) left_out: u64,
    pub(super) path: Path,
}

/// What is known on the way through the logs.
struct Walk<'a> {
    module: &'a Module,
    program: &'a Program,
    lines: &'a Lines<'a>,
    /// Registers that hold something else than in the golden run.
    corrupted: BTreeSet<(FunctionId, Reg)>,
    told: Told,
}

/// Compares the logs of a fault that landed, in a run that `ended` before its time or did not.
pub(super) fn compare(
    module: &Module,
    program: &Program,
    lines: &Lines<'_>,
    fault: &Fault,
    (golden, found): (&Log, &Log),
    ended: bool,
) -> Told {
    let told = Told { steps: Vec::new(), left_out: 0, path: Path::default() };
    let mut walk = Walk { module, program, lines, corrupted: BTreeSet::new(), told };
    let mut after = 0;
    for (at, (expected, entry)) in golden.entries.iter().zip(&found.entries).enumerate() {
        if (expected.site, expected.executed) != (entry.site, entry.executed) {
            walk.diverge(after, &golden.entries, at, expected);
            return walk.told;
        }
        // In a run that did not come to its end, the last that the thread did may be what ended it.
        let last = ended && at + 1 == found.entries.len() && found.entries.len() < golden.entries.len();
        if at == 0 {
            walk.hit(fault, expected, entry);
        } else if last && !walk.reads(entry).is_empty() {
            let reads = walk.reads(entry);
            walk.list(after + u64::from(entry.executed), entry.site, Deed::Dies, reads, Vec::new());
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

impl<'a> Walk<'a> {
    fn at(&self, site: u32) -> Option<(FunctionId, &'a Function, &'a Instruction)> {
        let site = &self.program.sites[site as usize];
        let function = self.module.function(site.function);
        Some((site.function, function, function.at(site.pc)?))
    }

    fn list(&mut self, after: u64, site: u32, what: Deed, reads: Vec<String>, writes: Vec<Change>) {
        if self.told.steps.len() < LISTED {
            let at = self.lines.of(self.module, self.program, site);
            self.told.steps.push(Step { after, at, what, reads, writes });
        } else {
            self.told.left_out += 1;
        }
    }

    /// The registers that an entry wrote otherwise; brings up to date which are corrupted.
    fn writes(&mut self, expected: &Entry, found: &Entry) -> Vec<Change> {
        let Some((id, function, instruction)) = self.at(found.site).filter(|_| found.executed) else {
            return Vec::new();
        };
        let mut changes = Vec::new();
        for (((_, register), &golden), &found) in instruction.writes().zip(&expected.values).zip(&found.values) {
            if golden == found {
                self.corrupted.remove(&(id, register));
            } else {
                self.corrupted.insert((id, register));
                let ty = written_type(function, instruction, register);
                let register = function.register(register).name.clone();
                changes.push(Change { register, ty, golden, found });
            }
        }
        changes
    }

    /// The corrupted registers that an entry read.
    fn reads(&self, entry: &Entry) -> Vec<String> {
        let Some((id, function, instruction)) = self.at(entry.site) else { return Vec::new() };
        let guard = instruction.guard.map(|guard| guard.pred);
        let all = instruction.reads().filter(|register| entry.executed || guard == Some(*register));
        let mut read: Vec<Reg> = all.filter(|register| self.corrupted.contains(&(id, *register))).collect();
        read.dedup();
        read.iter().map(|register| function.register(*register).name.clone()).collect()
    }

    fn hit(&mut self, fault: &Fault, expected: &Entry, entry: &Entry) {
        let place = self.at(entry.site);
        if let (Target::Register(number), Some((id, function, _))) = (fault.target, place)
            && function.registers.get(number as usize).is_some()
        {
            self.corrupted.insert((id, Reg(number)));
        }
        let reads = self.reads(entry);
        let writes = self.writes(expected, entry);
        self.list(0, entry.site, Deed::Hit, reads, writes);
    }

    fn step(&mut self, after: u64, expected: &Entry, entry: &Entry) {
        let Some((_, _, instruction)) = self.at(entry.site) else { return };
        let before = self.corrupted.len();
        let reads = self.reads(entry);
        let writes = self.writes(expected, entry);
        let what = match (&instruction.op, reads.is_empty(), writes.is_empty()) {
            (_, true, false) => Deed::Receives,
            (_, false, false) => Deed::Spreads,
            (_, true, true) if before > 0 && self.corrupted.is_empty() => Deed::Replaces,
            (_, true, true) => return,
            (Op::St(_) | Op::Red(_) | Op::Atom(_) | Op::CopyAsync(_) | Op::Surface(_) | Op::Matrix(_), ..) => {
                Deed::Stores
            }
            (Op::Bra { .. } | Op::BrxIdx { .. } | Op::Ret { .. } | Op::Exit | Op::Call(_), ..) => Deed::Decides,
            (_, false, true) if !entry.executed => Deed::Decides,
            (_, false, true) => Deed::Absorbs,
        };
        self.list(after, entry.site, what, reads, writes);
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
        if self.told.steps.last().is_some_and(|step| step.what == Deed::Decides && step.after == after) {
            self.told.steps.pop();
        }
        self.list(after, entry.site, Deed::Diverges, reads, Vec::new());
    }
}

/// The type in which an instruction writes a register: what it says, or what the register was declared with.
fn written_type(function: &Function, instruction: &Instruction, register: Reg) -> String {
    let declared = function.register(register).ty;
    let written = match &instruction.op {
        Op::Alu(form) => form.destination(),
        Op::Ld(access) => access.ty,
        Op::Atom(atom) => atom.ty,
        _ => declared,
    };
    // A copy of bits says less than the declaration.
    let ty = if declared.is_float() && written.bits() == declared.bits() { declared } else { written };
    ty.to_string()
}
