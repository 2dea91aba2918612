//! Global memory, 32 lanes at a time.
//!
//! Most accesses of a warp stay within one page: that page is looked up once, and if one allocation holds every byte
//! of it that is touched, nothing can stray. Neighbouring lanes at neighbouring addresses are one copy.

use super::word::Word;
use super::{Addresses, Fault, is_contiguous};
use crate::memory::{GlobalMemory, PAGE};
use crate::registers::{FULL, LANES, lanes};
use crate::trap::TrapKind;

/// The first and last byte within the page that all lanes access, if it is one page.
#[inline(always)]
fn one_page<W: Word>(at: &Addresses) -> Option<(usize, usize)> {
    let (mut differs, mut low, mut high) = (0, u64::MAX, 0);
    for &address in at {
        differs |= address ^ at[0];
        low = low.min(address);
        high = high.max(address);
    }
    let within = |address: u64| (address % PAGE as u64) as usize;
    (differs < PAGE as u64).then(|| (within(low), within(high) + W::BYTES))
}

/// Where an aligned element lies in its page; the mask proves that it fits.
#[inline(always)]
fn offset<W: Word>(address: u64) -> usize {
    address as usize & (PAGE - W::BYTES)
}

/// Loads for every lane; lanes outside the mask have the address of one inside it.
#[inline(always)]
pub(super) fn gather<W: Word>(
    memory: &mut GlobalMemory,
    at: &Addresses,
    mask: u32,
    words: &mut [W; LANES],
) -> Result<(), Fault> {
    if let Some((from, to)) = one_page::<W>(at)
        && memory.holds(at[0], from, to)
    {
        let Some(page) = memory.page(at[0]) else { return Err(illegal(at, mask.trailing_zeros() as usize)) };
        if is_contiguous::<W>(at) {
            for (word, bytes) in words.iter_mut().zip(page[from..to].chunks_exact(W::BYTES)) {
                *word = W::read(bytes);
            }
        } else {
            for lane in 0..LANES {
                let from = offset::<W>(at[lane]);
                words[lane] = W::read(&page[from..from + W::BYTES]);
            }
        }
        return Ok(());
    }
    gather_pages(memory, at, mask, words)
}

/// Lane by lane, noting accesses outside every allocation.
#[inline(never)]
fn gather_pages<W: Word>(
    memory: &mut GlobalMemory,
    at: &Addresses,
    mask: u32,
    words: &mut [W; LANES],
) -> Result<(), Fault> {
    for lane in lanes(mask) {
        let from = offset::<W>(at[lane]);
        if !memory.holds(at[lane], from, from + W::BYTES) {
            memory.note(at[lane], W::BYTES as u64);
        }
        let Some(page) = memory.page(at[lane]) else { return Err(illegal(at, lane)) };
        words[lane] = W::read(&page[from..from + W::BYTES]);
    }
    Ok(())
}

/// Stores for the lanes of the mask, in ascending order; the others have the address of one inside it.
#[inline(always)]
pub(super) fn scatter<W: Word>(
    memory: &mut GlobalMemory,
    at: &Addresses,
    mask: u32,
    words: &[W; LANES],
) -> Result<(), Fault> {
    if let Some((from, to)) = one_page::<W>(at)
        && memory.holds(at[0], from, to)
    {
        let Some(page) = memory.page_mut(at[0]) else { return Err(illegal(at, mask.trailing_zeros() as usize)) };
        if mask == FULL && is_contiguous::<W>(at) {
            for (word, bytes) in words.iter().zip(page[from..to].chunks_exact_mut(W::BYTES)) {
                word.write(bytes);
            }
        } else {
            for lane in lanes(mask) {
                let from = offset::<W>(at[lane]);
                words[lane].write(&mut page[from..from + W::BYTES]);
            }
        }
        return Ok(());
    }
    scatter_pages(memory, at, mask, words)
}

#[inline(never)]
fn scatter_pages<W: Word>(
    memory: &mut GlobalMemory,
    at: &Addresses,
    mask: u32,
    words: &[W; LANES],
) -> Result<(), Fault> {
    for lane in lanes(mask) {
        let from = offset::<W>(at[lane]);
        if !memory.holds(at[lane], from, from + W::BYTES) {
            memory.note(at[lane], W::BYTES as u64);
        }
        let Some(page) = memory.page_mut(at[lane]) else { return Err(illegal(at, lane)) };
        words[lane].write(&mut page[from..from + W::BYTES]);
    }
    Ok(())
}

fn illegal(at: &Addresses, lane: usize) -> Fault {
    Fault::at(TrapKind::IllegalAddress, lane, at[lane])
}
