//! Instructions on matrices.

use super::Lowering;
use isa::op::matrix::{Fragment, Matrix, MatrixRole, Tiles};
use isa::{Dst, Instruction, Space, Src, Type, Width};
use simt::GuestError;
use simt::program::{AccessPlan, MatrixPlan, MicroKind};
use simt::registers::Slot;

impl Lowering<'_> {
    pub(super) fn matrix(&mut self, instruction: &Instruction, matrix: &Matrix) -> Result<(), GuestError> {
        let src = &instruction.src;
        let plan = match matrix {
            Matrix::Load(tiles) => {
                let values = self.exact(instruction, Type::B32)?;
                MatrixPlan::LoadTiles { tiles: *tiles, access: self.tiles(&src[0], *tiles, values)? }
            }
            Matrix::Store(tiles) => {
                let values = self.held(&src[1..], Type::B32)?.into_iter().map(Some).collect();
                MatrixPlan::StoreTiles { tiles: *tiles, access: self.tiles(&src[0], *tiles, values)? }
            }
            Matrix::Transpose => {
                let from = self.source(&src[0], Type::B32)?;
                let to = self.destination(instruction.dst.first(), Type::B32)?.row;
                MatrixPlan::Transpose { from, to: Slot { width: Width::B32, index: to } }
            }
            Matrix::Multiply(it) => {
                let [d, a, b, c] = it.elements;
                let (for_a, for_b) =
                    (usize::from(it.registers(MatrixRole::A)), usize::from(it.registers(MatrixRole::B)));
                let (left, rest) = src.split_at(for_a.min(src.len()));
                let (right, addend) = rest.split_at(for_b.min(rest.len()));
                MatrixPlan::Multiply {
                    it: *it,
                    d: self.exact(instruction, d.register())?,
                    a: self.held(left, a.register())?,
                    b: self.held(right, b.register())?,
                    c: self.held(addend, c.register())?,
                }
            }
            Matrix::LoadFragment(it) => {
                let values = self.exact(instruction, it.element.register())?;
                let stride = self.stride(src.get(1))?;
                MatrixPlan::LoadFragment { it: *it, access: self.fragment(&src[0], it, values)?, stride }
            }
            Matrix::StoreFragment(it) => {
                let (values, stride) = src[1..].split_at(usize::from(it.registers()).min(src.len() - 1));
                let values = self.held(values, it.element.register())?.into_iter().map(Some).collect();
                let stride = self.stride(stride.first())?;
                MatrixPlan::StoreFragment { it: *it, access: self.fragment(&src[0], it, values)?, stride }
            }
        };
        self.program.matrices.push(plan);
        let index = self.program.matrices.len() as u32 - 1;
        self.emit(MicroKind::Matrix(index), 0, &[]);
        Ok(())
    }

    /// The registers written, which must be as wide as what they receive.
    fn exact(&self, instruction: &Instruction, ty: Type) -> Result<Vec<Option<Slot>>, GuestError> {
        let wider = |dst: &Dst| matches!(dst, Dst::Reg(reg) if self.register(*reg).width != ty.width());
        if instruction.dst.iter().any(wider) {
            return Err(self.unsupported("a matrix in registers of another width"));
        }
        Ok(self.written(instruction))
    }

    fn held(&mut self, operands: &[Src], ty: Type) -> Result<Vec<Slot>, GuestError> {
        let width = ty.width();
        operands.iter().map(|operand| Ok(Slot { width, index: self.source(operand, ty)? })).collect()
    }

    fn stride(&mut self, operand: Option<&Src>) -> Result<Option<u16>, GuestError> {
        operand.map(|operand| self.source(operand, Type::U32)).transpose()
    }

    fn tiles(&self, at: &Src, tiles: Tiles, values: Vec<Option<Slot>>) -> Result<AccessPlan, GuestError> {
        self.plan(at, tiles.space, 16, values)
    }

    fn fragment(&self, at: &Src, it: &Fragment, values: Vec<Option<Slot>>) -> Result<AccessPlan, GuestError> {
        self.plan(at, it.space, it.element.bytes(), values)
    }

    /// A plan with an address that is not a variable of the function.
    pub(super) fn plan(
        &self,
        at: &Src,
        space: Space,
        bytes: u8,
        values: Vec<Option<Slot>>,
    ) -> Result<AccessPlan, GuestError> {
        let (base, offset) = self.plain_address(at)?;
        Ok(AccessPlan { space, bytes, signed: false, base, frame: false, offset, values })
    }
}
