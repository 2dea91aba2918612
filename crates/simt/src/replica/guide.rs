//! Guidance through a block whose threads depend on each other.
//!
//! What a thread did in the golden run is on record: the path that it took, and for every instruction that others may
//! have a part in, the registers that it read and what it got. A lane that takes the same path and gives others the
//! same gets the same from them, whatever else is wrong with it: it writes other values where nobody else of the block
//! looks, or reads other addresses that nobody else of the block writes. In all other cases it escapes.

use crate::program::{CallTo, Kind, MatrixPlan, Program, TextureOp};
use ::lanes::registers::{Registers, Slot, lanes};
use isa::{Space, Width};

/// What an instruction has to do with what is not its thread's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
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

/// The part of each site of a program.
#[must_use]
pub fn parts(program: &Program) -> Vec<Part> {
    let mut parts = vec![Part::Own; program.sites.len()];
    for micro in &program.micros {
        let space = |plan: u32| program.accesses[plan as usize].space;
        let open = |plan: u32| matches!(space(plan), Space::Global | Space::Const | Space::Generic);
        let part = match micro.kind {
            Kind::Load(plan) if open(plan) => Part::Load(plan),
            Kind::Store(plan) if open(plan) => Part::Store(plan),
            Kind::BranchIndexed(_) => Part::Control,
            Kind::Call(plan) => match program.calls[plan as usize].target {
                CallTo::Function(_) => Part::Own,
                CallTo::Row(_) => Part::Control,
                CallTo::System(_) => Part::Hidden,
            },
            // An object in local memory is not in the registers.
            Kind::Atomic(plan) if program.atomics[plan as usize].access.space == Space::Generic => Part::Hidden,
            Kind::Matrix(plan) if stores_openly(&program.matrices[plan as usize]) => Part::Hidden,
            Kind::Texture(plan) if matches!(program.textures[plan as usize].op, TextureOp::Surface(_)) => Part::Hidden,
            Kind::Atomic(_) | Kind::Copy(_) | Kind::Matrix(_) | Kind::Texture(_) => Part::Others { memory: true },
            kind if needs_others(kind, program) => Part::Others { memory: false },
            _ => Part::Own,
        };
        if part != Part::Own {
            parts[micro.site as usize] = part;
        }
    }
    parts
}

/// Whether an operation involves other threads, or what the whole block shares.
pub(crate) fn needs_others(kind: Kind, program: &Program) -> bool {
    match kind {
        Kind::Load(plan) | Kind::Store(plan) => program.accesses[plan as usize].space == Space::Shared,
        Kind::Call(plan) => matches!(program.calls[plan as usize].target, CallTo::System(_)),
        Kind::Alu(_)
        | Kind::Pred(_)
        | Kind::FrameAddress
        | Kind::Isspacep(_)
        | Kind::Alloca(_)
        | Kind::StackSave(_)
        | Kind::StackRestore(_)
        | Kind::Pack128(_)
        | Kind::Unpack128(_)
        | Kind::Branch
        | Kind::BranchIndexed(_)
        | Kind::Return
        | Kind::Exit
        | Kind::Trap
        | Kind::Nop => false,
        Kind::Atomic(_)
        | Kind::Copy(_)
        | Kind::Mbarrier(_)
        | Kind::Matrix(_)
        | Kind::Texture(_)
        | Kind::Counter(_)
        | Kind::Shuffle(_)
        | Kind::Vote(_)
        | Kind::Match { .. }
        | Kind::Redux(..)
        | Kind::Activemask
        | Kind::Elect
        | Kind::Barrier(_)
        | Kind::WarpSync
        | Kind::Assert => true,
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

/// The registers that a site reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Ports {
    /// What its part is.
    pub part: Part,
    /// Those that it reads, in the order in which they are on record.
    pub inputs: Vec<Slot>,
    /// Those that it writes, likewise.
    pub outputs: Vec<Slot>,
}

/// What a thread did in the golden run.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The sites that it came to, and whether it executed them.
    pub path: Vec<(u32, bool)>,
    /// For every executed instruction whose part is not [`Part::Own`], what it read and what it wrote.
    pub values: Vec<u128>,
}

/// A record to go by, and what its values mean.
#[derive(Clone, Copy, Debug)]
pub struct Guide<'a> {
    /// By site.
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
