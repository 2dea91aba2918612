//! Which registers of a warp matter to what it still has to execute.
//!
//! A register of a function is live where the function may read it before it writes it. What a group of lanes still
//! reads is what is live where it stands, and in each of its callers where that goes on. Four kinds of rows are not
//! covered by this, and count as live wherever they could matter: carry flags; registers of a function that a later call
//! of it may read; registers that instructions on matrices read also of lanes that do not execute them; and the
//! temporaries of an instruction in the midst of which lanes wait.

use crate::control::State;
use crate::program::{CallTo, FunctionCode, MicroKind, Program};
use crate::warp::Warp;
use ::lanes::registers::{Sizes, Slot};
use facts::{Facts, Flow, Pc, Reg, RegSet, Width};
use std::collections::BTreeSet;

/// A function with more instructions times registers than this is not looked at.
const LARGEST: usize = 1 << 27;

/// What is live where in a program.
#[derive(Debug)]
pub struct Liveness {
    recursive: bool,
    /// By function of the program.
    functions: Vec<Live>,
    always: Vec<Slot>,
    /// Registers that matrix instructions read.
    across: Vec<Slot>,
    /// Registers that instructions read which do not name them.
    held: BTreeSet<(Width, u16)>,
    temporaries: Vec<Slot>,
    /// All rows that instructions write.
    pub(crate) computed: Vec<Slot>,
}

/// The registers that are live before each instruction of a function, and behind the last one: none.
#[derive(Debug)]
struct Live(Vec<RegSet>);

impl Liveness {
    /// What is live in a program; `None` if it is too large to say.
    #[must_use]
    pub fn of(program: &Program) -> Option<Self> {
        let bodies: Vec<Vec<&Facts>> = program.functions.iter().map(|code| program.body(code.id)).collect();
        let functions = || program.functions.iter().zip(&bodies);
        if functions().any(|(code, body)| body.len().saturating_mul(code.declared.len()) > LARGEST) {
            return None;
        }
        let carries = functions().flat_map(|(code, _)| code.registers.get(code.declared.len()..));
        let stale = program.functions.iter().skip(1).flat_map(|code| &code.zeroed);
        let across = across(program);
        let always = carries.flatten().chain(stale).chain(&across).copied().collect();
        let temporaries = temporaries(program);
        let registers = program.functions.iter().flat_map(|code| &code.registers);
        let computed = registers.chain(&temporaries).copied().collect();
        Some(Self {
            recursive: is_recursive(program),
            functions: functions().map(|(code, body)| Live::of(code.declared.len(), body)).collect(),
            always,
            across,
            held: held(program),
            temporaries,
            computed,
        })
    }

    /// Whether a function may be called while it is active. Such a call saves registers and brings them back.
    #[must_use]
    pub fn is_recursive(&self) -> bool {
        self.recursive
    }

    /// Whether some instruction reads registers of lanes that do not execute it.
    #[must_use]
    pub fn reads_across_lanes(&self) -> bool {
        !self.across.is_empty()
    }

    /// Whether what a register holds for a thread is read by nobody but the instructions that name it and that the
    /// thread executes: once it is overwritten, or the thread has ended, what it held is gone.
    #[must_use]
    pub fn is_private(&self, slot: Slot) -> bool {
        !self.recursive && !self.across.contains(&slot) && !self.held.contains(&(slot.width, slot.index))
    }

    /// The registers of the function that an instruction is in which are live before it: which it, or what follows it
    /// in the function, may read before writing them.
    #[must_use]
    pub fn live_before(&self, program: &Program, instruction: u32) -> Vec<Reg> {
        let Some(at) = program.instructions.get(instruction as usize) else { return Vec::new() };
        let function = program.functions.iter().position(|code| code.id == at.function);
        let Some(live) = function.and_then(|function| self.functions.get(function)) else { return Vec::new() };
        live.before(at.pc.index()).collect()
    }

    /// The rows that are live in some lane of a warp, by width and index.
    pub(crate) fn rows(&self, program: &Program, warp: &Warp) -> Vec<Slot> {
        let mut rows = self.always.clone();
        for group in &warp.control.groups {
            self.add(program, group.pc, group.state, &mut rows);
            let mut frame = &warp.control.frames[group.frame as usize];
            while frame.depth > 0 {
                self.add(program, frame.back, State::Ready, &mut rows);
                frame = &warp.control.frames[frame.parent as usize];
            }
        }
        rows.sort_unstable_by_key(|slot| (slot.width.bits(), slot.index));
        rows.dedup();
        rows
    }

    /// Adds what is live before a micro-operation.
    fn add(&self, program: &Program, at: u32, state: State, rows: &mut Vec<Slot>) {
        let micro = &program.micros[at as usize];
        let function = program.functions.partition_point(|code| code.entry <= at).saturating_sub(1);
        let pc = program.instructions[micro.instruction as usize].pc.index();
        let code = &program.functions[function];
        self.functions[function].add(pc, code, rows);
        // Lanes that wait have read what is before them, and may have written already.
        if state != State::Ready || !micro.first {
            self.functions[function].add(pc + 1, code, rows);
        }
        if !micro.first || (state == State::Met && !micro.last) {
            rows.extend(&self.temporaries);
        }
    }
}

impl Live {
    /// What is live in a function with so many registers.
    fn of(registers: usize, body: &[&Facts]) -> Self {
        let flow = Flow::of(body);
        let live_in = flow.live_in(body, registers);
        let mut before = vec![RegSet::new(registers); body.len() + 1];
        for (index, block) in flow.blocks.iter().enumerate() {
            let mut now = flow.live_out(index, &live_in, registers);
            for pc in (block.start.index()..block.end.index()).rev() {
                now.step_back(body[pc]);
                before[pc].clone_from(&now);
            }
        }
        Self(before)
    }

    fn add(&self, pc: usize, code: &FunctionCode, rows: &mut Vec<Slot>) {
        rows.extend(self.before(pc).map(|register| code.registers[register.index()]));
        rows.extend(code.held.get(&Pc(pc as u32)).into_iter().flatten());
    }

    /// The registers that are live before an instruction, ascending.
    fn before(&self, pc: usize) -> impl Iterator<Item = Reg> {
        self.0.get(pc).into_iter().flat_map(RegSet::iter)
    }
}

/// The rows that some instructions leave for others which do not name them.
fn held(program: &Program) -> BTreeSet<(Width, u16)> {
    let slots = program.functions.iter().flat_map(|code| code.held.values().flatten());
    slots.map(|slot| (slot.width, slot.index)).collect()
}

/// The registers that instructions on matrices read.
fn across(program: &Program) -> Vec<Slot> {
    let instructions =
        program.micros.iter().filter(|micro| matches!(micro.kind, MicroKind::Matrix(_))).map(|micro| micro.instruction);
    let read = instructions.flat_map(|instruction| {
        let registers = program.facts(instruction).into_iter().flat_map(Facts::reads);
        registers.filter_map(move |register| program.slot(instruction, register))
    });
    read.collect()
}

/// Whether calls of a program may go round in a circle.
fn is_recursive(program: &Program) -> bool {
    let functions = program.functions.len() as u32;
    let mut callees = vec![BTreeSet::new(); program.functions.len()];
    for (at, micro) in (0..).zip(&program.micros) {
        let MicroKind::Call(call) = micro.kind else { continue };
        let caller = program.functions.partition_point(|code| code.entry <= at).saturating_sub(1);
        match program.calls[call as usize].target {
            CallTo::Function(function) => callees[caller].extend([function]),
            // A pointer may name any function but the kernel.
            CallTo::Row(_) => callees[caller].extend(1..functions),
            CallTo::System(_) => {}
        }
    }
    // Functions that call nothing are taken away until none is left, or a circle.
    let mut left: BTreeSet<u32> = (0..functions).collect();
    loop {
        let before = left.len();
        let inner = left.clone();
        left.retain(|&function| callees[function as usize].iter().any(|callee| inner.contains(callee)));
        if left.len() == before {
            return !left.is_empty();
        }
    }
}

/// Rows that belong to no register, constant, special register or parameter.
fn temporaries(program: &Program) -> Vec<Slot> {
    let key = |slot: &Slot| (slot.width.bits(), slot.index);
    let mut named: BTreeSet<(u32, u16)> = program.functions.iter().flat_map(|code| &code.registers).map(key).collect();
    named.extend(program.constants.iter().map(|(slot, _)| key(slot)));
    named.extend(program.specials.iter().map(|(_, slot)| key(slot)));
    named.extend(program.params.iter().map(|param| key(&param.slot)));
    let Sizes { pred, b16, b32, b64, b128 } = program.sizes;
    let widths = [(Width::Pred, pred), (Width::B16, b16), (Width::B32, b32), (Width::B64, b64), (Width::B128, b128)];
    let all = widths.into_iter().flat_map(|(width, rows)| (0..rows).map(move |index| Slot { width, index }));
    all.filter(|slot| !named.contains(&key(slot))).collect()
}
