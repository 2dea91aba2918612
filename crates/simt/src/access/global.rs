//! Global memory, 32 lanes at a time.
//!
//! Neighbouring lanes are mostly in one page: it is looked up once for a run of lanes. Accesses that may lie outside
//! every allocation are noticed by comparing with the part of the page that one allocation is known to hold.

use super::word::Word;
use super::{Address, Fault};
use crate::memory::{GlobalMemory, PAGE, Trace};
use crate::registers::{FULL, LANES, lanes};
use crate::trap::TrapKind;

const PAGE_BYTES: u64 = PAGE as u64;

fn illegal<A: Address>(at: A, lane: usize) -> Fault {
    Fault::at(TrapKind::IllegalAddress, lane, at.at(lane))
}

/// Where an element lies in its page. The mask proves that it fits; an address that it changes is misaligned.
#[inline(always)]
fn offset<W: Word>(address: u64) -> usize {
    address as usize & (PAGE - W::BYTES)
}

#[inline(always)]
fn is_aligned<W: Word>(address: u64) -> bool {
    address & (W::BYTES as u64 - 1) == 0
}

/// The range within its page of `bytes` bytes at an address, if they are in one page, aligned, and cannot stray.
#[inline(always)]
fn plain_range<W: Word>(memory: &GlobalMemory, address: u64, bytes: usize) -> Option<std::ops::Range<usize>> {
    let from = (address % PAGE_BYTES) as usize;
    let to = from + bytes;
    (to <= PAGE && is_aligned::<W>(address) && memory.holds(address, from, to)).then_some(from..to)
}

/// Loads for the lanes of the mask.
#[inline(always)]
pub(super) fn gather<W: Word, A: Address>(
    memory: &mut GlobalMemory,
    at: A,
    mask: u32,
    words: &mut [W; LANES],
) -> Result<(), Fault> {
    if memory.trace().is_some() {
        trace(memory, at, mask, W::BYTES, Trace::read);
    }
    if mask == FULL && at.has_stride(W::BYTES) {
        let range = plain_range::<W>(memory, at.at(0), W::BYTES * LANES);
        if let Some((range, page)) = range.and_then(|range| Some((range, memory.page(at.at(0))?))) {
            for (word, bytes) in words.iter_mut().zip(page[range].chunks_exact(W::BYTES)) {
                *word = W::read(bytes);
            }
            return Ok(());
        }
    }
    let mut left = mask;
    while left != 0 {
        let first = at.at(left.trailing_zeros() as usize);
        let held = memory.held(first);
        let Some(page) = memory.page(first) else { return Err(illegal(at, left.trailing_zeros() as usize)) };
        let before = left;
        let (mut misaligned, mut strays) = (false, false);
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let address = at.at(lane);
            if address / PAGE_BYTES != first / PAGE_BYTES {
                break;
            }
            let from = offset::<W>(address);
            words[lane] = W::read(&page[from..from + W::BYTES]);
            misaligned |= !is_aligned::<W>(address);
            strays |= from < held.0 || from + W::BYTES > held.1;
            left &= left - 1;
        }
        if misaligned {
            at.misaligned(before & !left, W::BYTES)?;
        }
        if strays {
            note(memory, at, before & !left, W::BYTES);
        }
    }
    Ok(())
}

/// Notes the bytes that the lanes of a mask access; what traps in the end does no harm in a trace.
#[cold]
fn trace<A: Address>(
    memory: &mut GlobalMemory,
    at: A,
    mask: u32,
    bytes: usize,
    note: fn(&mut Trace, u32, usize, usize),
) {
    let from = (at.at(0) % PAGE_BYTES) as usize;
    if mask == FULL && at.has_stride(bytes) && from + LANES * bytes <= PAGE {
        if let Some((page, trace)) = memory.page_number(at.at(0)).zip(memory.trace()) {
            note(trace, page, from, from + LANES * bytes);
        }
        return;
    }
    for lane in lanes(mask) {
        let Some(page) = memory.page_number(at.at(lane)) else { continue };
        let from = (at.at(lane) % PAGE_BYTES) as usize;
        if let Some(trace) = memory.trace() {
            note(trace, page, from, (from + bytes).min(PAGE));
        }
    }
}

/// Counts the accesses that lie outside every allocation.
#[cold]
fn note<A: Address>(memory: &mut GlobalMemory, at: A, mask: u32, bytes: usize) {
    for lane in lanes(mask) {
        memory.note(at.at(lane), bytes as u64);
    }
}

/// Stores for the lanes of the mask, in ascending order.
#[inline(always)]
pub(super) fn scatter<W: Word, A: Address>(
    memory: &mut GlobalMemory,
    at: A,
    mask: u32,
    words: &[W; LANES],
) -> Result<(), Fault> {
    if memory.trace().is_some() {
        trace(memory, at, mask, W::BYTES, Trace::wrote);
    }
    if mask == FULL && at.has_stride(W::BYTES) {
        let range = plain_range::<W>(memory, at.at(0), W::BYTES * LANES);
        if let Some((range, page)) = range.and_then(|range| Some((range, memory.page_mut(at.at(0))?))) {
            for (word, bytes) in words.iter().zip(page[range].chunks_exact_mut(W::BYTES)) {
                word.write(bytes);
            }
            return Ok(());
        }
    }
    at.misaligned(mask, W::BYTES)?;
    let mut left = mask;
    while left != 0 {
        let first = at.at(left.trailing_zeros() as usize);
        let held = memory.held(first);
        let Some(page) = memory.page_mut(first) else { return Err(illegal(at, left.trailing_zeros() as usize)) };
        let before = left;
        let mut strays = false;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let address = at.at(lane);
            if address / PAGE_BYTES != first / PAGE_BYTES {
                break;
            }
            let from = offset::<W>(address);
            words[lane].write(&mut page[from..from + W::BYTES]);
            strays |= from < held.0 || from + W::BYTES > held.1;
            left &= left - 1;
        }
        if strays {
            note(memory, at, before & !left, W::BYTES);
        }
    }
    Ok(())
}
