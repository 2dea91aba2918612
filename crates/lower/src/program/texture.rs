//! Textures and surfaces.

use super::Lowering;
use isa::op::{Fetch, Geometry, Surface};
use isa::{Dst, Instruction, Src, Type, Width};
use simt::GuestError;
use simt::program::{MicroKind, TextureOp, TexturePlan};
use simt::registers::Slot;

impl Lowering<'_> {
    pub(super) fn fetch(&mut self, instruction: &Instruction, fetch: Fetch) -> Result<(), GuestError> {
        let wider = |dst: &Dst| matches!(dst, Dst::Reg(reg) if self.register(*reg).width != Width::B32);
        if instruction.dst.iter().any(wider) {
            return Err(self.unsupported("an element of a texture in registers of other than 32 bits"));
        }
        let values = self.written(instruction);
        // Textures have one level, which is read whatever level is asked for.
        self.texture(instruction, TextureOp::Fetch(fetch), fetch.geometry, values)
    }

    pub(super) fn surface(&mut self, instruction: &Instruction, access: Surface) -> Result<(), GuestError> {
        let values = if access.store {
            let stored = instruction.src.iter().skip(1 + usize::from(access.geometry.written()));
            let slot = |operand: &Src| match operand {
                Src::Reg(reg) => Ok(Some(self.register(*reg))),
                other => Ok(Some(Slot { width: access.ty.width(), index: self.source(other, access.ty)? })),
            };
            stored.map(slot).collect::<Result<_, GuestError>>()?
        } else {
            self.written(instruction)
        };
        self.texture(instruction, TextureOp::Surface(access), access.geometry, values)
    }

    fn texture(
        &mut self,
        instruction: &Instruction,
        op: TextureOp,
        geometry: Geometry,
        values: Vec<Option<Slot>>,
    ) -> Result<(), GuestError> {
        let object = self.source(&instruction.src[0], Type::B64)?;
        let written = instruction.src.iter().skip(1).take(geometry.written().into());
        let coordinates = written.map(|operand| self.source(operand, Type::B32)).collect::<Result<_, _>>()?;
        self.program.textures.push(TexturePlan { op, object, coordinates, values });
        let index = self.program.textures.len() as u32 - 1;
        self.plain(MicroKind::Texture(index))
    }
}
