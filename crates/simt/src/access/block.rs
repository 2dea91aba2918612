//! Memories of a block and its threads: shared memory and parameters as bytes, local memory as rows of words.

use super::word::Word;
use super::{Addresses, Fault, Memories, is_contiguous};
use crate::registers::{FULL, LANES, lanes};
use crate::trap::TrapKind;

/// The range of an element in a memory of bytes.
#[inline(always)]
fn range<W: Word>(length: usize, address: u64) -> Option<std::ops::Range<usize>> {
    let from = usize::try_from(address).ok()?;
    let to = from.checked_add(W::BYTES)?;
    (to <= length).then_some(from..to)
}

fn out_of_range<W: Word>(at: &Addresses, mask: u32, length: usize) -> Fault {
    let lane = lanes(mask).find(|&lane| range::<W>(length, at[lane]).is_none()).unwrap_or(0);
    Fault::at(TrapKind::OutOfRangeAddress, lane, at[lane])
}

/// Loads for every lane; lanes outside the mask have the address of one inside it.
#[inline(always)]
pub(super) fn gather<W: Word>(
    memory: &[u8],
    at: &Addresses,
    mask: u32,
    words: &mut [W; LANES],
) -> Result<(), Fault> {
    let highest = at.iter().fold(0, |highest, &address| highest.max(address));
    if range::<W>(memory.len(), highest).is_none() {
        return Err(out_of_range::<W>(at, mask, memory.len()));
    }
    if is_contiguous::<W>(at) {
        let from = at[0] as usize;
        for (word, bytes) in words.iter_mut().zip(memory[from..].chunks_exact(W::BYTES)) {
            *word = W::read(bytes);
        }
    } else {
        for lane in 0..LANES {
            let from = at[lane] as usize;
            words[lane] = W::read(&memory[from..from + W::BYTES]);
        }
    }
    Ok(())
}

/// Stores for the lanes of the mask, in ascending order; the others have the address of one inside it.
#[inline(always)]
pub(super) fn scatter<W: Word>(
    memory: &mut [u8],
    at: &Addresses,
    mask: u32,
    words: &[W; LANES],
) -> Result<(), Fault> {
    let highest = at.iter().fold(0, |highest, &address| highest.max(address));
    if range::<W>(memory.len(), highest).is_none() {
        return Err(out_of_range::<W>(at, mask, memory.len()));
    }
    if mask == FULL && is_contiguous::<W>(at) {
        let from = at[0] as usize;
        for (word, bytes) in words.iter().zip(memory[from..].chunks_exact_mut(W::BYTES)) {
            word.write(bytes);
        }
    } else {
        for lane in lanes(mask) {
            let from = at[lane] as usize;
            words[lane].write(&mut memory[from..from + W::BYTES]);
        }
    }
    Ok(())
}

/// Checks a local address and makes sure that its words exist.
fn local<W: Word>(memories: &mut Memories<'_>, address: u64, lane: usize) -> Result<usize, Fault> {
    let Some(range) = range::<W>(memories.local_limit as usize, address) else {
        return Err(Fault::at(TrapKind::OutOfRangeAddress, lane, address));
    };
    let rows = range.end.div_ceil(4);
    if memories.local.len() < rows {
        memories.local.resize(rows, [0; LANES]);
    }
    Ok(range.start)
}

/// Loads from local memory for the lanes of the mask.
pub(super) fn gather_local<W: Word>(
    memories: &mut Memories<'_>,
    at: &Addresses,
    mask: u32,
    words: &mut [W; LANES],
) -> Result<(), Fault> {
    for lane in lanes(mask) {
        let address = local::<W>(memories, at[lane], lane)?;
        let row = |row: usize| u64::from(memories.local[row][lane]);
        let low = row(address / 4) >> (8 * (address % 4));
        let high = if W::BYTES == 8 { row(address / 4 + 1) << 32 } else { 0 };
        words[lane] = W::from_u64(high | low);
    }
    Ok(())
}

/// Stores to local memory for the lanes of the mask.
pub(super) fn scatter_local<W: Word>(
    memories: &mut Memories<'_>,
    at: &Addresses,
    mask: u32,
    words: &[W; LANES],
) -> Result<(), Fault> {
    for lane in lanes(mask) {
        let address = local::<W>(memories, at[lane], lane)?;
        let bits = words[lane].to_u64();
        let shift = 8 * (address % 4);
        let covered = (u32::MAX >> (32 - 8 * W::BYTES.min(4))) << shift;
        let row = &mut memories.local[address / 4][lane];
        *row = (*row & !covered) | (((bits as u32) << shift) & covered);
        if W::BYTES == 8 {
            memories.local[address / 4 + 1][lane] = (bits >> 32) as u32;
        }
    }
    Ok(())
}
