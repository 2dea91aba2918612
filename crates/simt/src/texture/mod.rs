//! Texture and surface objects, lane by lane in ascending order.
//!
//! An object is the address of a [`Descriptor`] in global memory, which is read as any memory is, as are the elements:
//! whoever traces memory, or keeps its history, sees all of it.

mod descriptor;
mod filter;
mod surface;

use crate::access::{Executing, LaneTrap, Memories, read_one};
use crate::program::{TextureOp, TexturePlan};
use crate::trap::TrapKind;
use ::lanes::registers::lanes;
pub use descriptor::{Channel, Descriptor, Edge, RECORD, TexelFormat};
use isa::Space;

/// Does what the instruction says for every lane that executes it.
pub(crate) fn texture(on: &mut Executing<'_>, plan: &TexturePlan) -> Result<(), LaneTrap> {
    let Executing { registers, memories, .. } = on;
    let mut last = None;
    for lane in lanes(on.mask) {
        let object = registers.b64[usize::from(plan.object)].0[lane];
        let it = match last {
            Some((known, it)) if known == object => it,
            _ => describe(memories, object, lane)?,
        };
        last = Some((object, it));
        let mut at = [0; 4];
        for (at, row) in at.iter_mut().zip(&plan.coordinates) {
            *at = registers.b32[usize::from(*row)].0[lane];
        }
        let surface = matches!(plan.op, TextureOp::Surface(_));
        if it.surface != surface {
            return Err(LaneTrap::at(TrapKind::IllegalInstruction, lane, object));
        }
        match plan.op {
            TextureOp::Fetch(fetch) => {
                let texels = filter::fetch(memories, &it, fetch, at, lane)?;
                for (value, bits) in plan.values.iter().zip(texels) {
                    value.iter().for_each(|slot| registers.set(*slot, lane, bits.into()));
                }
            }
            TextureOp::Surface(access) => surface::access(registers, memories, &it, access, plan, at, lane)?,
        }
    }
    Ok(())
}

/// What an object names. Nothing else than a descriptor can be used as an object.
fn describe(memories: &mut Memories<'_>, object: u64, lane: usize) -> Result<Descriptor, LaneTrap> {
    let illegal = LaneTrap::at(TrapKind::IllegalInstruction, lane, object);
    if !object.is_multiple_of(RECORD as u64) {
        return Err(illegal);
    }
    let mut record = [0; RECORD];
    for (part, at) in record.chunks_exact_mut(16).zip((object..).step_by(16)) {
        let word: u128 = read_one(memories, Space::Global, at, lane).map_err(|_| illegal)?;
        part.copy_from_slice(&word.to_le_bytes());
    }
    Descriptor::decode(&record).ok_or(illegal)
}
