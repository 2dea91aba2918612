//! Memories of a block and its threads: shared memory and parameters as bytes, local memory as rows of words.

use super::address::{Address, Fixed, HALF, HALVES};
use super::executing::{LaneTrap, Memories};
use super::order::StoreOrder;
use super::word::{Word, read_run, write_run};
use crate::memory::window::WINDOW;
use crate::trap::TrapKind;
use ::lanes::registers::{LANES, bits_of, has, lanes};
use std::ops::Range;

/// The range of `bytes` bytes at an address, if the memory has them and they are aligned. A GPU looks at 32 bits of an
/// address.
#[inline(always)]
fn range<W: Word>(length: usize, address: u64, bytes: usize) -> Option<Range<usize>> {
    let from = address as u32 as usize;
    let to = from + bytes;
    (to <= length && from & (W::BYTES - 1) == 0).then_some(from..to)
}

/// What a lane does wrong in a memory of so many bytes, in the words of a GPU: it looks at the range first, and takes an
/// address beyond the window for an illegal instruction.
#[cold]
fn trap<A: Address>(length: usize, at: A, lane: usize, bytes: usize) -> LaneTrap {
    let address = at.at(lane) & 0xffff_ffff;
    let kind = if address >= WINDOW {
        TrapKind::IllegalInstruction
    } else if address + bytes as u64 > length as u64 {
        TrapKind::OutOfRangeAddress
    } else {
        TrapKind::MisalignedAddress
    };
    LaneTrap::at(kind, lane, at.at(lane))
}

/// The bytes of a whole warp at neighbouring elements.
#[inline(always)]
pub(super) fn row<W: Word, A: Address>(memory: &[u8], at: A, mask: u32) -> Option<&[u8]> {
    let is_row = at.fixed().is_none() && at.is_row(mask, W::BYTES);
    if is_row { Some(&memory[range::<W>(memory.len(), at.at(0), W::BYTES * LANES)?]) } else { None }
}

/// Loads for the lanes of the mask.
#[inline(always)]
pub(super) fn gather<W: Word, A: Address>(
    memory: &[u8],
    at: A,
    mask: u32,
    words: &mut [W; LANES],
) -> Result<(), LaneTrap> {
    if let Some(address) = at.fixed() {
        let range = range::<W>(memory.len(), address, W::BYTES);
        let lane = mask.trailing_zeros() as usize % LANES;
        words.fill(W::read(&memory[range.ok_or_else(|| trap(memory.len(), at, lane, W::BYTES))?]));
        return Ok(());
    }
    let mut left = mask;
    for (first, half) in HALVES {
        if mask & half == half && gather_half(memory, at, first, &mut words[first..first + HALF]) {
            left &= !half;
        }
    }
    for lane in lanes(left) {
        let range = range::<W>(memory.len(), at.at(lane), W::BYTES);
        words[lane] = W::read(&memory[range.ok_or_else(|| trap(memory.len(), at, lane, W::BYTES))?]);
    }
    Ok(())
}

/// Loads for half a warp, if its lanes are at one address or at neighbouring ones.
#[inline(always)]
fn gather_half<W: Word, A: Address>(memory: &[u8], at: A, first: usize, words: &mut [W]) -> bool {
    let elements = if at.has_stride::<HALF>(first, 0) {
        1
    } else if at.has_stride::<HALF>(first, W::BYTES) {
        HALF
    } else {
        return false;
    };
    let Some(range) = range::<W>(memory.len(), at.at(first), W::BYTES * elements) else { return false };
    if elements == 1 {
        words.fill(W::read(&memory[range]));
    } else {
        read_run(&memory[range], words);
    }
    true
}

/// Stores for the lanes of the mask in an order.
#[inline(always)]
pub(super) fn scatter<W: Word, A: Address>(
    memory: &mut [u8],
    at: A,
    mask: u32,
    words: &[W; LANES],
    order: StoreOrder,
) -> Result<(), LaneTrap> {
    if at.is_row(mask, W::BYTES)
        && let Some(range) = range::<W>(memory.len(), at.at(0), W::BYTES * LANES)
    {
        write_run(&mut memory[range], words);
        return Ok(());
    }
    for (first, half) in order.halves() {
        if at.is_half_row(mask, (first, half), W::BYTES)
            && let Some(range) = range::<W>(memory.len(), at.at(first), W::BYTES * HALF)
        {
            write_run(&mut memory[range], &words[first..first + HALF]);
            continue;
        }
        for lane in order.lanes(mask & half) {
            let range = range::<W>(memory.len(), at.at(lane), W::BYTES);
            let range = range.ok_or_else(|| first_trap::<W, A>(memory.len(), at, mask))?;
            words[lane].write(&mut memory[range]);
        }
    }
    Ok(())
}

/// What the lowest lane of the mask does wrong that does something wrong.
#[cold]
fn first_trap<W: Word, A: Address>(length: usize, at: A, mask: u32) -> LaneTrap {
    let wrong = lanes(mask).find(|&lane| range::<W>(length, at.at(lane), W::BYTES).is_none());
    trap(length, at, wrong.unwrap_or(0), W::BYTES)
}

/// Replaces one element by what a function makes of it; the old one.
#[inline(always)]
pub(super) fn exchange<W: Word, A: Address>(
    memory: &mut [u8],
    at: A,
    lane: usize,
    new: impl FnOnce(W) -> W,
) -> Result<W, LaneTrap> {
    let range =
        range::<W>(memory.len(), at.at(lane), W::BYTES).ok_or_else(|| trap(memory.len(), at, lane, W::BYTES))?;
    let old = W::read(&memory[range.clone()]);
    new(old).write(&mut memory[range]);
    Ok(old)
}

/// The place of an element in local memory; its rows are made if they are not there yet.
fn local<W: Word, A: Address>(memories: &mut Memories<'_>, at: A, lane: usize) -> Result<usize, LaneTrap> {
    let place = memories.local_window.place(at.at(lane), W::BYTES as u32);
    let place = place.map_err(|kind| LaneTrap::at(kind, lane, at.at(lane)))?;
    let rows = (place + W::BYTES).div_ceil(4);
    if memories.local.len() < rows {
        memories.local.resize(rows, [0; LANES]);
    }
    Ok(place)
}

/// The rows of an element at one address in every lane of the mask, where whole rows hold it: the common case.
fn local_rows<W: Word, A: Address>(memories: &mut Memories<'_>, at: A, mask: u32) -> Option<Range<usize>> {
    let first = at.at(mask.trailing_zeros() as usize % LANES);
    let same = (0..LANES).fold(true, |same, lane| same & (!has(mask, lane) | (at.at(lane) == first)));
    if !same || W::BYTES < 4 {
        return None;
    }
    let address = local::<W, _>(memories, Fixed(first), 0).ok()?;
    Some(address / 4..(address + W::BYTES) / 4)
}

/// Loads from local memory for the lanes of the mask.
#[inline(always)]
pub(super) fn gather_local<W: Word, A: Address>(
    memories: &mut Memories<'_>,
    at: A,
    mask: u32,
    words: &mut [W; LANES],
) -> Result<(), LaneTrap> {
    if let Some(rows) = local_rows::<W, A>(memories, at, mask) {
        *words = [W::default(); LANES];
        for (part, row) in memories.local[rows].iter().enumerate() {
            for lane in 0..LANES {
                words[lane] = words[lane].with_part(part, row[lane]);
            }
        }
        return Ok(());
    }
    for lane in lanes(mask) {
        let address = local::<W, A>(memories, at, lane)?;
        let rows = &memories.local[address / 4..(address + W::BYTES).div_ceil(4)];
        let bits = rows.iter().rev().fold(0u128, |bits, row| (bits << 32) | u128::from(row[lane]));
        words[lane] = W::from_u128(bits >> (8 * (address % 4)));
    }
    Ok(())
}

/// Stores to local memory for the lanes of the mask.
#[inline(always)]
pub(super) fn scatter_local<W: Word, A: Address>(
    memories: &mut Memories<'_>,
    at: A,
    mask: u32,
    words: &[W; LANES],
) -> Result<(), LaneTrap> {
    if let Some(rows) = local_rows::<W, A>(memories, at, mask) {
        for (part, row) in memories.local[rows].iter_mut().enumerate() {
            for lane in 0..LANES {
                let new = bits_of(mask, lane) as u32;
                row[lane] = (words[lane].part(part) & new) | (row[lane] & !new);
            }
        }
        return Ok(());
    }
    for lane in lanes(mask) {
        let address = local::<W, A>(memories, at, lane)?;
        let shift = 8 * (address % 4);
        let covered = (u32::MAX >> (32 - 8 * W::BYTES.min(4))) << shift;
        let mut bits = words[lane].to_u128() << shift;
        for row in &mut memories.local[address / 4..(address + W::BYTES).div_ceil(4)] {
            row[lane] = (row[lane] & !covered) | (bits as u32 & covered);
            bits >>= 32;
        }
    }
    Ok(())
}
