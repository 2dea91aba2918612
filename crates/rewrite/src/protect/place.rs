//! A body that is written anew: instructions with what is put before and behind them, in one pass.

use facts::{Pc, Reg};
use isa::{Base, Dst, Function, Instruction, Op, Src};

/// A body in the making, each instruction with a tag.
pub(super) struct NewBody<T> {
    /// Where what belongs to each old instruction begins.
    starts: Vec<usize>,
    body: Vec<Instruction>,
    tags: Vec<T>,
}

impl<T: Copy> NewBody<T> {
    pub(super) fn new() -> Self {
        Self { starts: Vec::new(), body: Vec::new(), tags: Vec::new() }
    }

    /// What is put next belongs to the next old instruction: who goes there comes here.
    pub(super) fn begin(&mut self) {
        self.starts.push(self.body.len());
    }

    /// Adds instructions.
    pub(super) fn put(&mut self, tag: T, instructions: impl IntoIterator<Item = Instruction>) {
        self.body.extend(instructions);
        self.tags.resize(self.body.len(), tag);
    }

    /// Gives the function this body, behind what is executed once at its entry. Labels and branches go to the first
    /// instruction that belongs to where they went.
    pub(super) fn finish(self, function: &mut Function, entry: Vec<Instruction>, tag: T) -> Vec<T> {
        let (begun, end) = (entry.len(), self.body.len());
        let moved = |pc: Pc| Pc((begun + self.starts.get(pc.index()).copied().unwrap_or(end)) as u32);
        function.labels.values_mut().for_each(|pc| *pc = moved(*pc));
        let mut tags = vec![tag; begun];
        tags.extend(&self.tags);
        let mut body = self.body;
        for instruction in &mut body {
            match &mut instruction.op {
                Op::Bra { target, .. } => *target = moved(*target),
                Op::BrxIdx { targets, .. } => targets.iter_mut().for_each(|target| *target = moved(*target)),
                _ => {}
            }
        }
        function.body = entry;
        function.body.append(&mut body);
        tags
    }
}

/// The instructions that control may come to otherwise than from the one before them.
pub(super) fn leaders(function: &Function) -> Vec<bool> {
    let mut leaders = vec![false; function.body.len() + 1];
    let mut lead = |pc: &Pc| leaders.get_mut(pc.index()).into_iter().for_each(|leader| *leader = true);
    for instruction in &function.body {
        match &instruction.op {
            Op::Bra { target, .. } => lead(target),
            Op::BrxIdx { targets, .. } => targets.iter().for_each(&mut lead),
            _ => {}
        }
    }
    function.labels.values().for_each(lead);
    leaders
}

/// Whether control may come to the end of the body, which ends the function as `ret` does.
pub(super) fn may_come_to_its_end(function: &Function) -> bool {
    let leaves = |op: &Op| matches!(op, Op::Ret { .. } | Op::Exit | Op::Trap | Op::Bra { .. } | Op::BrxIdx { .. });
    let last = function.body.last().is_some_and(|last| last.guard.is_none() && leaves(&last.op));
    !last || leaders(function).last() == Some(&true)
}

/// Takes the registers out that no instruction names: as text they would not be there.
pub(super) fn drop_unnamed(function: &mut Function) {
    let mut named = vec![false; function.registers.len()];
    let mut name = |register: Reg| named.get_mut(register.index()).into_iter().for_each(|named| *named = true);
    for instruction in &function.body {
        instruction.reads().chain(instruction.writes().map(|(_, register)| register)).for_each(&mut name);
    }
    let place_of = |next: &mut u32, named: &bool| {
        *next += u32::from(*named);
        Some(Reg(next.saturating_sub(1)))
    };
    let places: Vec<Reg> = named.iter().scan(0, place_of).collect();
    let mut kept = named.iter();
    function.registers.retain(|_| kept.next().is_some_and(|named| *named));
    let place = |register: &mut Reg| *register = places.get(register.index()).copied().unwrap_or(*register);
    for instruction in &mut function.body {
        instruction.guard.iter_mut().for_each(|guard| place(&mut guard.pred));
        for dst in &mut instruction.dst {
            if let Dst::Reg(register) = dst {
                place(register);
            }
        }
        for src in &mut instruction.src {
            if let Src::Reg(register) | Src::Not(register) | Src::Address(Base::Reg(register), _) = src {
                place(register);
            }
        }
    }
}
