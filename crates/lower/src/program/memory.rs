//! Memory operands: the plans of loads, stores and atomic accesses.

use super::Lowering;
use isa::op::{Atom, AtomOp, LoadStore};
use isa::{Alu, Base, Dst, Instruction, Reg, Space, Src, Symbol, Type, Width};
use simt::GuestError;
use simt::program::{AccessPlan, AtomicPlan, MicroKind};
use simt::registers::Slot;

/// Where an address operand points.
struct Address {
    base: Option<Slot>,
    offset: i64,
    frame: bool,
}

impl Lowering<'_> {
    pub(super) fn shared_offset(&self, symbol: Symbol) -> Option<u32> {
        let key = match symbol {
            Symbol::Local(index) => (Some(self.at.id), index),
            Symbol::Module(index) => (None, index),
            _ => return None,
        };
        self.shared.get(&key).copied()
    }

    fn address(&self, operand: &Src) -> Result<Address, GuestError> {
        let Src::Address(base, offset) = operand else {
            return Err(self.unsupported("a memory access without an address"));
        };
        match base {
            Base::Reg(reg) => self.register_address(*reg, *offset),
            Base::Zero => Ok(Address { base: None, offset: *offset, frame: false }),
            Base::Symbol(symbol) => {
                if let Some(range) = self.frames[self.at.index as usize].offsets.get(symbol) {
                    let offset = i64::from(range.offset).wrapping_add(*offset);
                    return Ok(Address { base: None, offset, frame: true });
                }
                let start = self.static_address(*symbol)?;
                Ok(Address { base: None, offset: (start as i64).wrapping_add(*offset), frame: false })
            }
        }
    }

    /// An address that is not one of the function's frame: base and offset.
    pub(super) fn plain_address(&self, operand: &Src) -> Result<(Option<Slot>, i64), GuestError> {
        let Address { base, offset, frame } = self.address(operand)?;
        if frame { Err(self.unsupported("the address of a local variable")) } else { Ok((base, offset)) }
    }

    fn register_address(&self, reg: Reg, offset: i64) -> Result<Address, GuestError> {
        let slot = self.register(reg);
        match slot.width {
            Width::B32 | Width::B64 => Ok(Address { base: Some(slot), offset, frame: false }),
            _ => Err(self.unsupported("an address register of neither 32 nor 64 bits")),
        }
    }

    fn access(
        &self,
        access: &LoadStore,
        address: Address,
        values: Vec<Option<Slot>>,
    ) -> Result<AccessPlan, GuestError> {
        // `.param` in a device function is its frame; elsewhere it is the kernel's parameters.
        let space = if address.frame { Space::Local } else { access.space };
        let Address { base, offset, frame } = address;
        Ok(AccessPlan {
            space,
            bytes: access.ty.bytes() as u8,
            signed: access.ty.is_signed(),
            base,
            frame,
            offset,
            values,
        })
    }

    /// The registers that an instruction writes; `None` where it drops a result.
    pub(super) fn written(&self, instruction: &Instruction) -> Vec<Option<Slot>> {
        let slot = |dst: &Dst| match dst {
            Dst::Reg(reg) => Some(self.register(*reg)),
            Dst::Sink => None,
        };
        instruction.dst.iter().map(slot).collect()
    }

    pub(super) fn load(&mut self, instruction: &Instruction, access: &LoadStore) -> Result<(), GuestError> {
        let address = self.address(&instruction.src[0])?;
        if access.space == Space::Param && address.base.is_none() && !address.frame {
            return self.load_param(instruction, access, address.offset);
        }
        let values = self.written(instruction);
        let plan = self.access(access, address, values)?;
        self.program.accesses.push(plan);
        let index = self.program.accesses.len() as u32 - 1;
        self.emit(MicroKind::Load(index), 0, &[]);
        Ok(())
    }

    /// A kernel parameter at a fixed place is a constant of the launch: its load is a move from a row.
    fn load_param(&mut self, instruction: &Instruction, access: &LoadStore, offset: i64) -> Result<(), GuestError> {
        let bytes = access.ty.bytes();
        for (index, dst) in instruction.dst.iter().enumerate() {
            let at = offset.wrapping_add(index as i64 * i64::from(bytes));
            let ends = |at: u32| at.checked_add(bytes).is_some_and(|end| end <= self.program.param_bytes);
            let fits = u32::try_from(at).ok().filter(|&at| ends(at));
            let at = fits.ok_or_else(|| self.unsupported("a load outside the kernel's parameters"))?;
            let Dst::Reg(reg) = dst else { continue };
            let slot = self.register(*reg);
            let row = self.param(at, bytes as u8, access.ty.is_signed(), slot.width)?;
            self.emit(MicroKind::Alu(copy_of(slot.width) as u16), slot.index, &[row]);
        }
        Ok(())
    }

    pub(super) fn store(&mut self, instruction: &Instruction, access: &LoadStore) -> Result<(), GuestError> {
        let address = self.address(&instruction.src[0])?;
        // A cache policy may follow the values.
        let stored = instruction.src[1..].iter().take(usize::from(access.vector));
        let values = stored.map(|operand| match operand {
            Src::Reg(reg) => Ok(Some(self.register(*reg))),
            other => {
                let index = self.source(other, access.ty)?;
                Ok(Some(Slot { width: access.ty.width(), index }))
            }
        });
        let values = values.collect::<Result<_, GuestError>>()?;
        let plan = self.access(access, address, values)?;
        self.program.accesses.push(plan);
        let index = self.program.accesses.len() as u32 - 1;
        self.emit(MicroKind::Store(index), 0, &[]);
        Ok(())
    }

    pub(super) fn atomic(&mut self, instruction: &Instruction, atom: &Atom) -> Result<(), GuestError> {
        let Address { base, offset, frame } = self.address(&instruction.src[0])?;
        let width = atom.ty.width();
        let values = instruction.src[1..].iter().take(usize::from(atom.vector) + usize::from(atom.op == AtomOp::Cas));
        let mut rows = values
            .map(|operand| Ok(Slot { width, index: self.source(operand, atom.ty)? }))
            .collect::<Result<Vec<_>, GuestError>>()?;
        let swap = if atom.op == AtomOp::Cas { rows.pop() } else { None };
        let access = AccessPlan {
            space: atom.space,
            bytes: atom.ty.bytes() as u8,
            signed: false,
            base,
            frame,
            offset,
            values: self.written(instruction),
        };
        self.program.atomics.push(AtomicPlan { op: atom.op, ty: atom.ty, access, operands: rows, swap });
        let index = self.program.atomics.len() as u32 - 1;
        self.emit(MicroKind::Atomic(index), 0, &[]);
        Ok(())
    }

    /// `cvta`: the window of a space is added to or taken from an address.
    pub(super) fn cvta(&mut self, instruction: &Instruction, to: bool, space: Space) -> Result<(), GuestError> {
        let window = match space {
            Space::Shared => simt::memory::window::SHARED_BASE,
            Space::Local => simt::memory::window::LOCAL_BASE,
            Space::Param => simt::memory::window::PARAM_BASE,
            Space::Global | Space::Const | Space::Generic => 0,
        };
        let source = self.source(&instruction.src[0], Type::U64)?;
        let target = self.destination(instruction.dst.first(), Type::U64)?;
        if window == 0 {
            self.emit(MicroKind::Alu(Alu::MovB64 as u16), target.row, &[source]);
        } else {
            let shift = if to { 0u64.wrapping_sub(window) } else { window };
            let row = self.constant(Width::B64, u128::from(shift))?;
            self.emit(MicroKind::Alu(Alu::AddB64 as u16), target.row, &[source, row]);
        }
        self.finish(&target)
    }
}

/// The plain copy between registers of a width.
pub(super) fn copy_of(width: Width) -> Alu {
    match width {
        Width::Pred => Alu::MovPred,
        Width::B16 => Alu::MovB16,
        Width::B32 => Alu::MovB32,
        Width::B64 => Alu::MovB64,
        Width::B128 => Alu::MovB128,
    }
}
