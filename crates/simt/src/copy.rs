//! `cp.async` with bytes that are not read but zero. A copy is done at once: what waits for it has nothing to wait for.

use crate::access::{Executing, LaneTrap, Memories, Word, read_one, write_one};
use crate::program::{CopyFill, CopyPlan};
use crate::trap::TrapKind;
use ::lanes::registers::{has, lanes};
use isa::Space;

/// Copies for every lane that executes it.
pub(crate) fn copy(on: &mut Executing<'_>, plan: &CopyPlan) -> Result<(), LaneTrap> {
    let (from, to) = (on.addresses(&plan.from), on.addresses(&plan.to));
    let Executing { registers, memories, .. } = on;
    for lane in lanes(on.mask) {
        let whole = u32::from(plan.from.bytes);
        let read = match plan.fill {
            CopyFill::Size(row) => registers.b32[usize::from(row)].0[lane].min(whole),
            CopyFill::Ignore(row) if has(registers.pred[usize::from(row)], lane) => 0,
            CopyFill::Ignore(_) => whole,
        };
        match plan.from.bytes {
            4 => one::<u32>(memories, from[lane], to[lane], lane, read)?,
            8 => one::<u64>(memories, from[lane], to[lane], lane, read)?,
            _ => one::<u128>(memories, from[lane], to[lane], lane, read)?,
        }
    }
    Ok(())
}

fn one<W: Word>(memories: &mut Memories<'_>, from: u64, to: u64, lane: usize, read: u32) -> Result<(), LaneTrap> {
    if !from.is_multiple_of(W::BYTES as u64) {
        return Err(LaneTrap::at(TrapKind::MisalignedAddress, lane, from));
    }
    let word = if read as usize == W::BYTES {
        read_one::<W>(memories, Space::Global, from, lane)?
    } else {
        let mut bits = 0;
        for byte in 0..read {
            let value = read_one::<u8>(memories, Space::Global, from + u64::from(byte), lane)?;
            bits |= u128::from(value) << (8 * byte);
        }
        W::from_u128(bits)
    };
    write_one(memories, Space::Shared, to, lane, word)
}
