//! Asynchronous copies and barrier objects.

use super::Lowering;
use isa::op::{CopyAsync, Fill, Mbarrier, MbarrierOp};
use isa::{Instruction, Space, Src, Type, Width};
use simt::GuestError;
use simt::program::{AccessPlan, CopyFill, CopyPlan, MbarrierPlan, MicroKind};
use simt::registers::Slot;

impl Lowering<'_> {
    pub(super) fn copy_async(&mut self, instruction: &Instruction, copy: &CopyAsync) -> Result<(), GuestError> {
        match copy {
            CopyAsync::Copy { cg, fill, .. } => self.copy(instruction, *cg, *fill),
            CopyAsync::Arrive { expected: true, space } => {
                let access = self.plan(&instruction.src[0], *space, 8, Vec::new())?;
                self.mbarrier_plan(MbarrierPlan { op: MbarrierOp::Arrive, access, operand: None })
            }
            // One more arrival is expected, and has come.
            CopyAsync::Arrive { .. } | CopyAsync::Commit | CopyAsync::WaitGroup | CopyAsync::WaitAll => {
                self.plain(MicroKind::Nop)
            }
        }
    }

    /// A copy is a load and a store, unless some of its bytes may not be read.
    fn copy(&mut self, instruction: &Instruction, cg: bool, fill: Fill) -> Result<(), GuestError> {
        let src = &instruction.src;
        let bytes = match src[2] {
            Src::Imm(bytes @ (4 | 8 | 16)) if !cg || bytes == 16 => bytes as u8,
            _ => return Err(self.unsupported("a copy of other than 4, 8 or 16 bytes, or of 16 with `.cg`")),
        };
        let fill = match (fill, src.get(3)) {
            (Fill::Size, Some(operand)) if *operand != Src::Imm(bytes.into()) => {
                Some(CopyFill::Size(self.source(operand, Type::U32)?))
            }
            (Fill::Ignore, Some(operand)) => Some(CopyFill::Ignore(self.source(operand, Type::Pred)?)),
            _ => None,
        };
        let width = simt::program::width_of(bytes);
        let value = if fill.is_none() { Some(Slot { width, index: self.temporary(width)? }) } else { None };
        let values: Vec<_> = value.map(Some).into_iter().collect();
        let to = self.plan(&src[0], Space::Shared, bytes, values.clone())?;
        let from = self.plan(&src[1], Space::Global, bytes, values)?;
        if let Some(fill) = fill {
            self.program.copies.push(CopyPlan { from, to, fill });
            let index = self.program.copies.len() as u32 - 1;
            return self.plain(MicroKind::Copy(index));
        }
        let (load, store) = (self.access_plan(from), self.access_plan(to));
        self.emit(MicroKind::Load(load), 0, &[]);
        self.emit(MicroKind::Store(store), 0, &[]);
        Ok(())
    }

    fn access_plan(&mut self, plan: AccessPlan) -> u32 {
        self.program.accesses.push(plan);
        self.program.accesses.len() as u32 - 1
    }

    pub(super) fn mbarrier(&mut self, instruction: &Instruction, it: &Mbarrier) -> Result<(), GuestError> {
        let src = &instruction.src;
        let ty = match it.op {
            MbarrierOp::TestWait | MbarrierOp::TryWait | MbarrierOp::PendingCount => Type::U64,
            _ => Type::U32,
        };
        let values = self.written(instruction);
        let (access, operand) = if it.op == MbarrierOp::PendingCount {
            let nowhere = AccessPlan {
                space: Space::Shared,
                bytes: 8,
                signed: false,
                base: None,
                frame: false,
                offset: 0,
                values,
            };
            (nowhere, src.first())
        } else {
            (self.plan(&src[0], it.space, 8, values)?, src.get(1))
        };
        let operand = operand.map(|operand| self.source(operand, ty)).transpose()?;
        let width = if ty == Type::U64 { Width::B64 } else { Width::B32 };
        let operand = operand.map(|index| Slot { width, index });
        self.mbarrier_plan(MbarrierPlan { op: it.op, access, operand })
    }

    fn mbarrier_plan(&mut self, plan: MbarrierPlan) -> Result<(), GuestError> {
        self.program.mbarriers.push(plan);
        let index = self.program.mbarriers.len() as u32 - 1;
        self.plain(MicroKind::Mbarrier(index))
    }
}
