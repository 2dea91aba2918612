//! What an instruction that is about to execute does to a byte of the block's own memories.
//!
//! What the machine itself does for functions without a body, as `printf` does, is not looked at.

use crate::access::addresses;
use crate::atomic::resolve;
use crate::hook::InstructionContext;
use crate::matrix::each_element;
use crate::memory::Touch;
use crate::program::{AccessPlan, CallPlan, FrameRange, MatrixPlan, Micro, MicroKind};
use ::lanes::registers::{has, lanes};
use isa::Space;

/// A byte of a block's own memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnByte {
    /// A byte of shared memory.
    Shared(u64),
    /// A byte of the local memory of a lane of one warp.
    Local {
        /// The warp, by its index in the block.
        warp: u32,
        /// The lane.
        lane: usize,
        /// The byte.
        at: u64,
    },
}

impl OwnByte {
    /// Whether a lane of a warp may reach it at all.
    fn is_of(self, warp: u32, lane: usize) -> bool {
        match self {
            Self::Shared(_) => true,
            Self::Local { warp: of, lane: own, .. } => (of, own) == (warp, lane),
        }
    }

    /// Whether it lies among these bytes.
    fn is_in(self, space: Space, address: u64, bytes: u64) -> bool {
        let (own, at) = match self {
            Self::Shared(at) => (Space::Shared, at),
            Self::Local { at, .. } => (Space::Local, at),
        };
        space == own && at.wrapping_sub(address) < bytes
    }
}

impl InstructionContext<'_> {
    /// What the instruction that is about to execute does to a byte, if anything.
    #[must_use]
    pub fn touch(&self, byte: OwnByte) -> Option<Touch> {
        let micros = &self.program.micros;
        let first = micros.partition_point(|micro| micro.instruction < self.instruction);
        let own = micros[first..].iter().take_while(|micro| micro.instruction == self.instruction);
        own.filter_map(|micro| self.touched_by(micro, byte)).next()
    }

    fn touched_by(&self, micro: &Micro, byte: OwnByte) -> Option<Touch> {
        let program = self.program;
        match micro.kind {
            MicroKind::Load(plan) => self.accesses(&program.accesses[plan as usize], byte).then_some(Touch::Read),
            MicroKind::Store(plan) => self.accesses(&program.accesses[plan as usize], byte).then_some(Touch::Written),
            MicroKind::Atomic(plan) => {
                self.accesses(&program.atomics[plan as usize].access, byte).then_some(Touch::Read)
            }
            MicroKind::Mbarrier(plan) => {
                self.accesses(&program.mbarriers[plan as usize].access, byte).then_some(Touch::Read)
            }
            MicroKind::Copy(plan) => {
                let plan = &program.copies[plan as usize];
                let read = self.accesses(&plan.from, byte).then_some(Touch::Read);
                read.or_else(|| self.accesses(&plan.to, byte).then_some(Touch::Written))
            }
            MicroKind::Matrix(plan) => self.touched_by_matrix(&program.matrices[plan as usize], byte),
            MicroKind::Call(plan) => self.touched_by_call(&program.calls[plan as usize], byte),
            _ => None,
        }
    }

    /// Whether a lane that executes accesses the byte.
    fn accesses(&self, plan: &AccessPlan, byte: OwnByte) -> bool {
        let at = addresses(self.registers, plan, self.frame.start);
        let bytes = u64::from(plan.bytes) * plan.values.len().max(1) as u64;
        lanes(self.executing).any(|lane| {
            let (space, address) = resolve(plan.space, at[lane]);
            byte.is_of(self.warp, lane) && byte.is_in(space, address, bytes)
        })
    }

    fn touched_by_matrix(&self, plan: &MatrixPlan, byte: OwnByte) -> Option<Touch> {
        let rows = |access: &AccessPlan| {
            let at = addresses(self.registers, access, self.frame.start);
            (0..8 * access.values.len()).any(|lane| {
                let (space, address) = resolve(access.space, at[lane]);
                byte.is_of(self.warp, lane) && byte.is_in(space, address, 16)
            })
        };
        let elements = |it, access: &AccessPlan, stride| {
            let at = addresses(self.registers, access, self.frame.start);
            let mut found = false;
            // The visit itself cannot fail.
            let _ = each_element(self.registers, it, &at, stride, self.executing, |lane, _, _, address| {
                let (space, address) = resolve(access.space, address);
                found |= byte.is_of(self.warp, lane) && byte.is_in(space, address, it.element.bytes().into());
                Ok(())
            });
            found
        };
        let (found, touch) = match plan {
            MatrixPlan::LoadTiles { access, .. } => (rows(access), Touch::Read),
            MatrixPlan::StoreTiles { access, .. } => (rows(access), Touch::Written),
            MatrixPlan::LoadFragment { it, access, stride } => (elements(it, access, *stride), Touch::Read),
            MatrixPlan::StoreFragment { it, access, stride } => (elements(it, access, *stride), Touch::Written),
            MatrixPlan::Transpose { .. } | MatrixPlan::Multiply { .. } => (false, Touch::Read),
        };
        found.then_some(touch)
    }

    /// A call copies its arguments out of the caller's frame.
    fn touched_by_call(&self, plan: &CallPlan, byte: OwnByte) -> Option<Touch> {
        let OwnByte::Local { warp, lane, at } = byte else { return None };
        let holds = |range: &FrameRange| {
            let start = u64::from(self.frame.start + range.offset);
            at.wrapping_sub(start) < u64::from(range.bytes)
        };
        let calls = warp == self.warp && has(self.executing, lane);
        (calls && plan.arguments.iter().any(holds)).then_some(Touch::Read)
    }
}
