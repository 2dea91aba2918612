//! Guidance through a block whose threads depend on each other.
//!
//! What a thread did in the golden run is on record: the path that it took, and for every instruction that others may
//! have a part in, the registers that it read and what it got. A lane that takes the same path and gives others the
//! same gets the same from them, whatever else is wrong with it: it writes other values where nobody else of the block
//! looks, or reads other addresses that nobody else of the block writes. In all other cases it escapes.

use crate::program::{CallTo, MatrixPlan, MicroKind, Program, TextureOp};
use ::lanes::registers::{Registers, Slot, lanes};
use isa::{Space, Width};

/// What an instruction has to do with what is not its thread's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Nothing.
    #[default]
    Own,
    /// Registers say where control goes on.
    Control,
    /// A load that may be from global memory; the index of its plan.
    Load(u32),
    /// A store that may be to global memory; the index of its plan.
    Store(u32),
    /// What it gets depends on others, or others see what it gives.
    Others {
        /// Whether it may read global memory.
        memory: bool,
    },
    /// It cannot be told from the registers what it gives.
    Hidden,
}

/// What each instruction of a program has to do with other threads.
#[must_use]
pub fn sharings(program: &Program) -> Vec<Sharing> {
    let mut sharings = vec![Sharing::Own; program.instructions.len()];
    for micro in &program.micros {
        let space = |plan: u32| program.accesses[plan as usize].space;
        let open = |plan: u32| matches!(space(plan), Space::Global | Space::Const | Space::Generic);
        let sharing = match micro.kind {
            MicroKind::Load(plan) if open(plan) => Sharing::Load(plan),
            MicroKind::Store(plan) if open(plan) => Sharing::Store(plan),
            MicroKind::BranchIndexed(_) => Sharing::Control,
            MicroKind::Call(plan) => match program.calls[plan as usize].target {
                CallTo::Function(_) => Sharing::Own,
                CallTo::Row(_) => Sharing::Control,
                CallTo::System(_) => Sharing::Hidden,
            },
            // An object in local memory is not in the registers.
            MicroKind::Atomic(plan) if program.atomics[plan as usize].access.space == Space::Generic => Sharing::Hidden,
            MicroKind::Matrix(plan) if stores_openly(&program.matrices[plan as usize]) => Sharing::Hidden,
            MicroKind::Texture(plan) if matches!(program.textures[plan as usize].op, TextureOp::Surface(_)) => {
                Sharing::Hidden
            }
            MicroKind::Atomic(_) | MicroKind::Copy(_) | MicroKind::Matrix(_) | MicroKind::Texture(_) => {
                Sharing::Others { memory: true }
            }
            kind if needs_others(kind, program) => Sharing::Others { memory: false },
            _ => Sharing::Own,
        };
        if sharing != Sharing::Own {
            sharings[micro.instruction as usize] = sharing;
        }
    }
    sharings
}

/// Whether an operation involves other threads, or what the whole block shares.
pub(crate) fn needs_others(kind: MicroKind, program: &Program) -> bool {
    match kind {
        MicroKind::Load(plan) | MicroKind::Store(plan) => program.accesses[plan as usize].space == Space::Shared,
        MicroKind::Call(plan) => matches!(program.calls[plan as usize].target, CallTo::System(_)),
        MicroKind::Alu(_)
        | MicroKind::Pred(_)
        | MicroKind::FrameAddress
        | MicroKind::Isspacep(_)
        | MicroKind::Alloca(_)
        | MicroKind::StackSave(_)
        | MicroKind::StackRestore(_)
        | MicroKind::Pack128(_)
        | MicroKind::Unpack128(_)
        | MicroKind::Branch
        | MicroKind::BranchIndexed(_)
        | MicroKind::Return
        | MicroKind::Exit
        | MicroKind::Trap
        | MicroKind::Nop => false,
        MicroKind::Atomic(_)
        | MicroKind::Copy(_)
        | MicroKind::Mbarrier(_)
        | MicroKind::Matrix(_)
        | MicroKind::Texture(_)
        | MicroKind::Counter(_)
        | MicroKind::Shuffle(_)
        | MicroKind::Vote(_)
        | MicroKind::Match { .. }
        | MicroKind::Redux(..)
        | MicroKind::Activemask
        | MicroKind::Elect
        | MicroKind::Barrier(_)
        | MicroKind::WarpSync
        | MicroKind::Assert => true,
    }
}

/// Whether an instruction on matrices may write to global memory.
fn stores_openly(plan: &MatrixPlan) -> bool {
    match plan {
        MatrixPlan::StoreTiles { access, .. } | MatrixPlan::StoreFragment { access, .. } => {
            access.space != Space::Shared
        }
        _ => false,
    }
}

/// The registers that an instruction reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Ports {
    /// What the instruction has to do with other threads.
    pub sharing: Sharing,
    /// Those that it reads, in the order in which they are on record.
    pub inputs: Vec<Slot>,
    /// Those that it writes, likewise.
    pub outputs: Vec<Slot>,
}

/// What a thread did in the golden run.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The instructions that it came to, and whether it executed them.
    pub path: Vec<(u32, bool)>,
    /// For every executed instruction whose sharing is not [`Sharing::Own`], what it read and what it wrote.
    pub values: Vec<u128>,
}

/// A record to go by, and what its values mean.
#[derive(Clone, Copy, Debug)]
pub struct Guide<'a> {
    /// By instruction.
    pub ports: &'a [Ports],
    /// What the thread did.
    pub record: &'a Record,
}

/// How far a replica has come along its record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    pub(crate) path: usize,
    pub(crate) values: usize,
}

/// The lanes of a mask that hold these values in these registers.
pub(crate) fn holding(registers: &Registers, slots: &[Slot], values: &[u128], mask: u32) -> u32 {
    slots.iter().zip(values).fold(mask, |mask, (slot, value)| {
        let index = usize::from(slot.index);
        macro_rules! same {
            ($file:ident, $t:ty) => {{
                let row = &registers.$file[index].0;
                (0..row.len()).fold(0, |found, lane| found | (u32::from(row[lane] == *value as $t) << lane))
            }};
        }
        mask & match slot.width {
            Width::Pred if *value == 0 => !registers.pred[index],
            Width::Pred => registers.pred[index],
            Width::B16 => same!(b16, u16),
            Width::B32 => same!(b32, u32),
            Width::B64 => same!(b64, u64),
            Width::B128 => same!(b128, u128),
        }
    })
}

/// Gives the lanes of a mask these values.
pub(crate) fn give(registers: &mut Registers, slots: &[Slot], values: &[u128], mask: u32) {
    for (slot, value) in slots.iter().zip(values) {
        if mask == u32::MAX {
            registers.broadcast(*slot, *value);
        } else {
            lanes(mask).for_each(|lane| registers.set(*slot, lane, *value));
        }
    }
}
