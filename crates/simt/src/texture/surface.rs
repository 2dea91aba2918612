//! Surface accesses: bytes of an array, addressed by byte, row and slice.

use super::Descriptor;
use super::filter::read;
use crate::access::{LaneTrap, Memories, Word, write_one};
use crate::program::TexturePlan;
use crate::trap::TrapKind;
use ::lanes::registers::Registers;
use isa::Space;
use isa::op::{Outside, Surface};

/// One lane's access. The coordinates are as they are written, a layer first.
pub(super) fn access(
    registers: &mut Registers,
    memories: &mut Memories<'_>,
    it: &Descriptor,
    access: Surface,
    plan: &TexturePlan,
    at: [u32; 4],
    lane: usize,
) -> Result<(), LaneTrap> {
    let [x, y, z] = coordinates(access, at);
    let bytes = u64::from(access.bytes());
    let row = u64::from(it.extent[0]) * it.format.bytes();
    let [_, rows, slices] = it.extent;
    let inside = u64::from(x) + bytes <= row && y < rows && z < slices;
    let place = match access.outside {
        _ if inside => Some(it.place(x.into(), y, z)),
        Outside::Trap => return Err(LaneTrap::at(TrapKind::IllegalAddress, lane, it.place(x.into(), y, z))),
        Outside::Zero => None,
        Outside::Clamp => {
            let last = row.saturating_sub(bytes);
            let x = clamped(x, last.min(u32::MAX.into()) as u32);
            Some(it.place(x.into(), clamped(y, rows - 1), clamped(z, slices - 1)))
        }
    };
    let each = access.ty.bits();
    if access.store {
        let Some(address) = place else { return Ok(()) };
        let mask = u128::MAX >> (128 - each);
        let values = plan.values.iter().enumerate();
        let value = |slot| registers.get(slot, lane) & mask;
        let word = values.fold(0, |word, (at, slot)| word | (slot.map_or(0, value) << (at as u32 * each)));
        return match bytes {
            1 => write::<u8>(memories, address, lane, word),
            2 => write::<u16>(memories, address, lane, word),
            4 => write::<u32>(memories, address, lane, word),
            8 => write::<u64>(memories, address, lane, word),
            _ => write::<u128>(memories, address, lane, word),
        };
    }
    let word = match (place, bytes) {
        (None, _) => 0,
        (Some(address), 1) => read::<u8>(memories, address, lane)?,
        (Some(address), 2) => read::<u16>(memories, address, lane)?,
        (Some(address), 4) => read::<u32>(memories, address, lane)?,
        (Some(address), 8) => read::<u64>(memories, address, lane)?,
        (Some(address), _) => read::<u128>(memories, address, lane)?,
    };
    for (at, slot) in plan.values.iter().enumerate() {
        let bits = (word >> (at as u32 * each)) & (u128::MAX >> (128 - each));
        slot.iter().for_each(|slot| registers.set(*slot, lane, bits));
    }
    Ok(())
}

/// Byte, row, and slice or layer; those that the geometry does not have are zero.
fn coordinates(access: Surface, at: [u32; 4]) -> [u32; 3] {
    let layered = access.geometry.is_layered();
    let (axes, third) = if layered { (&at[1..3], at[0]) } else { (&at[..2], at[2]) };
    match access.geometry.dimensions() {
        1 => [axes[0], 0, if layered { third } else { 0 }],
        2 => [axes[0], axes[1], if layered { third } else { 0 }],
        _ => [axes[0], axes[1], third],
    }
}

/// The nearest coordinate inside; negative ones lie before all.
fn clamped(at: u32, last: u32) -> u32 {
    if (at as i32) < 0 { 0 } else { at.min(last) }
}

fn write<W: Word>(memories: &mut Memories<'_>, address: u64, lane: usize, word: u128) -> Result<(), LaneTrap> {
    write_one(memories, Space::Global, address, lane, W::from_u128(word))
}
