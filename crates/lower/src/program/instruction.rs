//! Architectural instructions as micro-operations.

use super::Lowering;
use super::memory::copy_of;
use isa::op::{Barrier, BarrierMode, Vote};
use isa::{Alu, AluForm, Dst, Instruction, Op, Src, Type, Width};
use simt::GuestError;
use simt::program::{BarrierPlan, MicroKind, NOWHERE};
use simt::registers::Slot;

impl<'a> Lowering<'a> {
    /// Emits what one instruction does.
    pub(super) fn operation(&mut self, instruction: &'a Instruction) -> Result<(), GuestError> {
        let src = &instruction.src;
        match &instruction.op {
            Op::Alu(form) => self.alu(instruction, *form),
            Op::Setp(comparison) => self.setp(instruction, *comparison),
            Op::Set(comparison, to) => self.set(instruction, *comparison, *to),
            Op::Lop3(combine) => self.lop3(instruction, *combine),
            Op::Extended(extended) => self.extended(instruction, *extended),
            Op::MovVector(ty) => self.vector_move(instruction, *ty),
            Op::Ld(access) => self.load(instruction, access),
            Op::St(access) => self.store(instruction, access),
            Op::Atom(atom) | Op::Red(atom) => self.atomic(instruction, atom),
            Op::Cvta { to, space, .. } => self.cvta(instruction, *to, *space),
            Op::Isspacep(space) => self.simple(instruction, MicroKind::Isspacep(*space), Type::Pred, &[Type::B64]),
            Op::Shfl(mode) => self.collective(instruction, MicroKind::Shuffle(*mode), Type::B32, &[Type::B32; 4]),
            Op::Vote(mode) => {
                let result = if *mode == Vote::Ballot { Type::B32 } else { Type::Pred };
                self.collective(instruction, MicroKind::Vote(*mode), result, &[Type::Pred, Type::B32])
            }
            Op::Match { all, ty } => {
                let kind = MicroKind::Match { all: *all, wide: *ty == Type::B64 };
                self.collective(instruction, kind, Type::B32, &[*ty, Type::B32])
            }
            Op::Redux(op, ty) => self.collective(instruction, MicroKind::Redux(*op, *ty), *ty, &[*ty, Type::B32]),
            Op::Activemask => self.simple(instruction, MicroKind::Activemask, Type::B32, &[]),
            Op::Elect => self.collective(instruction, MicroKind::Elect, Type::B32, &[Type::B32]),
            Op::Barrier(barrier) => self.barrier(instruction, *barrier),
            Op::WarpSync => {
                let mask = self.source(&src[0], Type::B32)?;
                self.emit(MicroKind::WarpSync, 0, &[mask]);
                Ok(())
            }
            Op::Bra { target, .. } => {
                self.emit(MicroKind::Branch, 0, &[]).imm = i64::from(target.0);
                Ok(())
            }
            Op::BrxIdx { targets, .. } => {
                let index = self.source(&src[0], Type::U32)?;
                self.program.branches.push(targets.iter().map(|target| target.0).collect());
                let list = self.program.branches.len() as u32 - 1;
                self.emit(MicroKind::BranchIndexed(list), 0, &[index]);
                Ok(())
            }
            Op::Call(call) => self.call(instruction, call),
            Op::Ret { .. } => self.plain(MicroKind::Return),
            Op::Exit => self.plain(MicroKind::Exit),
            Op::Trap => self.plain(MicroKind::Trap),
            Op::Alloca(ty) => self.alloca(instruction, *ty),
            Op::StackSave(ty) => self.simple(instruction, MicroKind::StackSave(ty.width()), *ty, &[]),
            Op::StackRestore(ty) => {
                let top = self.source(&src[0], *ty)?;
                self.emit(MicroKind::StackRestore(ty.width()), 0, &[top]);
                Ok(())
            }
            // A block is a cluster of its own, and the only one whose shared memory it can name.
            Op::Mapa(it) => self.simple(instruction, MicroKind::Alu(copy_of(it.ty.width()) as u16), it.ty, &[it.ty]),
            Op::Getctarank(_) => self.zero(instruction, Type::B32),
            Op::CreatePolicy(_) => self.zero(instruction, Type::B64),
            Op::CopyAsync(copy) => self.copy_async(instruction, copy),
            Op::Mbarrier(mbarrier) => self.mbarrier(instruction, mbarrier),
            Op::Matrix(matrix) => self.matrix(instruction, matrix),
            Op::Fetch(fetch) => self.fetch(instruction, *fetch),
            Op::Surface(access) => self.surface(instruction, *access),
            Op::Prefetch(_) | Op::Fence(_) | Op::Brkpt | Op::Nanosleep | Op::Event(_) => self.plain(MicroKind::Nop),
        }
    }

    /// An instruction whose result is always zero.
    fn zero(&mut self, instruction: &Instruction, ty: Type) -> Result<(), GuestError> {
        let zero = self.constant(ty.width(), 0)?;
        let target = self.destination(instruction.dst.first(), ty)?;
        self.emit(MicroKind::Alu(copy_of(ty.width()) as u16), target.row, &[zero]);
        self.finish(&target)
    }

    fn alloca(&mut self, instruction: &Instruction, ty: Type) -> Result<(), GuestError> {
        let align = match instruction.src.get(1) {
            None => 8,
            Some(Src::Imm(align)) if align.is_power_of_two() && *align <= 1 << 16 => *align as i64,
            Some(_) => return Err(self.unsupported("an `alloca` whose alignment is no constant power of two")),
        };
        let bytes = self.source(&instruction.src[0], ty)?;
        let target = self.destination(instruction.dst.first(), ty)?;
        self.emit(MicroKind::Alloca(ty.width()), target.row, &[bytes]).imm = align;
        self.program.stack = super::STACK;
        self.finish(&target)
    }

    pub(super) fn plain(&mut self, kind: MicroKind) -> Result<(), GuestError> {
        self.emit(kind, 0, &[]);
        Ok(())
    }

    fn alu(&mut self, instruction: &Instruction, form: AluForm) -> Result<(), GuestError> {
        if let Some(done) = self.contracted(instruction, form, self.at.pc) {
            return done;
        }
        self.simple(instruction, MicroKind::Alu(form.alu as u16), form.destination(), form.sources())
    }

    /// One micro-operation from sources to a destination.
    fn simple(
        &mut self,
        instruction: &Instruction,
        kind: MicroKind,
        to: Type,
        from: &[Type],
    ) -> Result<(), GuestError> {
        let rows = self.sources(instruction, from)?;
        let target = self.destination(instruction.dst.first(), to)?;
        self.emit(kind, target.row, &rows);
        self.finish(&target)
    }

    pub(super) fn sources(&mut self, instruction: &Instruction, types: &[Type]) -> Result<Vec<u16>, GuestError> {
        instruction.src.iter().zip(types).map(|(operand, ty)| self.source(operand, *ty)).collect()
    }

    /// As [`simple`](Self::simple), with an optional predicate as second destination.
    fn collective(
        &mut self,
        instruction: &Instruction,
        kind: MicroKind,
        to: Type,
        from: &[Type],
    ) -> Result<(), GuestError> {
        let rows = self.sources(instruction, from)?;
        let target = self.destination(instruction.dst.first(), to)?;
        let second = match instruction.dst.get(1) {
            Some(Dst::Reg(reg)) => self.register(*reg).index,
            _ => NOWHERE,
        };
        self.emit(kind, target.row, &rows).second = second;
        self.finish(&target)
    }

    /// `mov` between one register and several: shifts and joins of halves and quarters.
    fn vector_move(&mut self, instruction: &Instruction, ty: Type) -> Result<(), GuestError> {
        let (dst, src) = (&instruction.dst, &instruction.src);
        let parts = dst.len().max(src.len()) as u32;
        let width = ty.bits() / parts.max(1);
        let part = match width {
            8 => return Err(self.unsupported("a vector move of bytes")),
            16 => Type::U16,
            32 => Type::U32,
            64 => Type::U64,
            _ => return Err(self.unsupported("a vector move of this width")),
        };
        match (ty.bits(), dst.len()) {
            (128, 1) => {
                let list: Vec<Option<Slot>> =
                    src.iter().map(|operand| self.slot_source(operand, part).map(Some)).collect::<Result<_, _>>()?;
                let index = self.list(list);
                let target = self.destination(dst.first(), Type::B128)?;
                self.emit(MicroKind::Pack128(index), target.row, &[]);
                Ok(())
            }
            (128, _) => {
                let index = self.list(self.written(instruction));
                let row = self.source(&src[0], Type::B128)?;
                self.emit(MicroKind::Unpack128(index), 0, &[row]);
                Ok(())
            }
            (_, 1) => self.pack(instruction, ty, part),
            _ => self.unpack(instruction, ty, part),
        }
    }

    fn slot_source(&mut self, operand: &Src, ty: Type) -> Result<Slot, GuestError> {
        Ok(Slot { width: ty.width(), index: self.source(operand, ty)? })
    }

    fn list(&mut self, list: Vec<Option<Slot>>) -> u32 {
        self.program.lists.push(list);
        self.program.lists.len() as u32 - 1
    }

    fn pack(&mut self, instruction: &Instruction, ty: Type, part: Type) -> Result<(), GuestError> {
        let (shl, or) = if ty.bits() == 64 { (Alu::ShlB64, Alu::OrB64) } else { (Alu::ShlB32, Alu::OrB32) };
        let mut joined = None;
        for (index, operand) in instruction.src.iter().enumerate() {
            let row = self.source(operand, part)?;
            let wide = self.temporary(ty.width())?;
            self.emit(MicroKind::Alu(widening(part, ty) as u16), wide, &[row]);
            let amount = self.constant(Width::B32, index as u128 * u128::from(part.bits()))?;
            self.emit(MicroKind::Alu(shl as u16), wide, &[wide, amount]);
            joined = match joined {
                None => Some(wide),
                Some(low) => {
                    self.emit(MicroKind::Alu(or as u16), wide, &[wide, low]);
                    Some(wide)
                }
            };
        }
        let target = self.destination(instruction.dst.first(), ty)?;
        let joined = joined.ok_or_else(|| self.unsupported("a vector move of nothing"))?;
        self.emit(MicroKind::Alu(copy_of(ty.width()) as u16), target.row, &[joined]);
        self.finish(&target)
    }

    fn unpack(&mut self, instruction: &Instruction, ty: Type, part: Type) -> Result<(), GuestError> {
        let shr = if ty.bits() == 64 { Alu::ShrU64 } else { Alu::ShrU32 };
        let source = self.source(&instruction.src[0], ty)?;
        // The source may be one of the destinations.
        let copy = self.temporary(ty.width())?;
        self.emit(MicroKind::Alu(copy_of(ty.width()) as u16), copy, &[source]);
        for (index, dst) in instruction.dst.iter().enumerate() {
            let Dst::Reg(reg) = dst else { continue };
            let amount = self.constant(Width::B32, index as u128 * u128::from(part.bits()))?;
            let shifted = self.temporary(ty.width())?;
            self.emit(MicroKind::Alu(shr as u16), shifted, &[copy, amount]);
            let target = self.destination(Some(&Dst::Reg(*reg)), part)?;
            self.emit(MicroKind::Alu(narrowing(ty, part) as u16), target.row, &[shifted]);
            self.finish(&target)?;
        }
        Ok(())
    }

    fn barrier(&mut self, instruction: &Instruction, barrier: Barrier) -> Result<(), GuestError> {
        let src = &instruction.src;
        let number = match src.first() {
            Some(operand) => self.source(operand, Type::U32)?,
            None => self.constant(Width::B32, 0)?,
        };
        let reduce = match barrier.mode {
            BarrierMode::Reduce(op) => {
                let last = src.last().ok_or_else(|| self.unsupported("a barrier reduction without a predicate"))?;
                Some((op, self.source(last, Type::Pred)?))
            }
            _ => None,
        };
        let counted = src.len() - usize::from(reduce.is_some()) > 1;
        let count = if counted { Some(self.source(&src[1], Type::U32)?) } else { None };
        let wait = barrier.mode != BarrierMode::Arrive;
        let result = match barrier.mode {
            BarrierMode::Reduce(isa::op::Reduction::Popc) => Type::U32,
            _ => Type::Pred,
        };
        self.program.barriers.push(BarrierPlan { number, count, wait, reduce });
        let index = self.program.barriers.len() as u32 - 1;
        let row = if reduce.is_some() { self.destination(instruction.dst.first(), result)?.row } else { NOWHERE };
        self.emit(MicroKind::Barrier(index), row, &[]);
        Ok(())
    }
}

fn widening(from: Type, to: Type) -> Alu {
    match (from.bits(), to.bits()) {
        (16, 32) => Alu::CvtU32U16,
        (16, _) => Alu::CvtU64U16,
        _ => Alu::CvtU64U32,
    }
}

fn narrowing(from: Type, to: Type) -> Alu {
    match (from.bits(), to.bits()) {
        (32, _) => Alu::CvtU16U32,
        (_, 16) => Alu::CvtU16U64,
        _ => Alu::CvtU32U64,
    }
}
