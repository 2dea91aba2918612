//! Global memory, 32 lanes at a time.
//!
//! Neighbouring lanes are mostly in one page: it is looked up once for a run of lanes. Accesses that may lie outside
//! every allocation are noticed by asking which bytes of the page are known to be allocated.

use super::address::{Address, HALF, HALVES};
use super::executing::LaneTrap;
use super::order::StoreOrder;
use super::word::{Word, read_run, write_run};
use crate::memory::window::{LOCAL_BASE, SHARED_BASE, constant, within};
use crate::memory::{AccessTrace, GlobalMemory, PAGE};
use crate::trap::TrapKind;
use ::lanes::registers::{LANES, lanes};

const PAGE_BYTES: u64 = PAGE as u64;

/// What is wrong with an access where nothing is mapped.
#[cold]
fn illegal<A: Address>(at: A, lane: usize) -> LaneTrap {
    let in_window = [SHARED_BASE, LOCAL_BASE].iter().any(|&base| within(at.at(lane), base));
    let kind = if in_window { TrapKind::InvalidAddressSpace } else { TrapKind::IllegalAddress };
    LaneTrap::at(kind, lane, at.at(lane))
}

/// The lowest lane of a mask whose address is outside every mapped page.
#[cold]
fn first_illegal<A: Address>(memory: &GlobalMemory, at: A, mask: u32) -> LaneTrap {
    let wrong = lanes(mask).find(|&lane| memory.page_number(at.at(lane)).is_none());
    illegal(at, wrong.unwrap_or(0))
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
    (is_aligned::<W>(address) && memory.held(address).covers(from, from + bytes)).then_some(from..from + bytes)
}

/// These bytes.
#[inline(always)]
fn plain<W: Word>(memory: &mut GlobalMemory, address: u64, bytes: usize) -> Option<&[u8]> {
    let range = plain_range::<W>(memory, address, bytes)?;
    Some(&memory.page(address)?[range])
}

/// These bytes, to be written.
#[inline(always)]
fn plain_mut<W: Word>(memory: &mut GlobalMemory, address: u64, bytes: usize) -> Option<&mut [u8]> {
    let range = plain_range::<W>(memory, address, bytes)?;
    Some(&mut memory.page_mut(address, range.clone())?[range])
}

/// Loads for half a warp, if its lanes are at one address or at neighbouring ones.
#[inline(always)]
fn gather_half<W: Word, A: Address>(memory: &mut GlobalMemory, at: A, first: usize, words: &mut [W]) -> bool {
    if at.has_stride::<HALF>(first, 0) {
        plain::<W>(memory, at.at(first), W::BYTES).map(|bytes| words.fill(W::read(bytes))).is_some()
    } else if at.has_stride::<HALF>(first, W::BYTES) {
        plain::<W>(memory, at.at(first), W::BYTES * HALF).map(|bytes| read_run(bytes, words)).is_some()
    } else {
        false
    }
}

/// Replaces one element, which is aligned, by what a function makes of it; the old one.
#[inline(always)]
pub(super) fn exchange<W: Word, A: Address>(
    memory: &mut GlobalMemory,
    at: A,
    lane: usize,
    new: impl FnOnce(W) -> W,
) -> Result<W, LaneTrap> {
    if memory.trace().is_some() {
        trace(memory, at, 1 << lane, W::BYTES, AccessTrace::updated);
    }
    let address = at.at(lane);
    if !memory.held(address).covers(offset::<W>(address), offset::<W>(address) + W::BYTES) {
        // Read and written.
        note(memory, at, 1 << lane, W::BYTES)?;
        note(memory, at, 1 << lane, W::BYTES)?;
    }
    let range = offset::<W>(address)..offset::<W>(address) + W::BYTES;
    let Some(page) = memory.page_mut(address, range.clone()) else { return Err(illegal(at, lane)) };
    let bytes = &mut page[range];
    let old = W::read(bytes);
    new(old).write(bytes);
    Ok(old)
}

/// The bytes of a whole warp at neighbouring elements of a page, if none can stray and nobody notes what is read.
#[inline(always)]
pub(super) fn row<W: Word, A: Address>(memory: &mut GlobalMemory, at: A, mask: u32) -> Option<&[u8]> {
    let is_row = memory.trace().is_none() && at.is_row(mask, W::BYTES);
    if is_row { plain::<W>(memory, at.at(0), W::BYTES * LANES) } else { None }
}

/// Loads for the lanes of the mask, of which there is no [`row`].
#[inline(always)]
pub(super) fn gather<W: Word, A: Address>(
    memory: &mut GlobalMemory,
    at: A,
    mask: u32,
    words: &mut [W; LANES],
) -> Result<(), LaneTrap> {
    if memory.trace().is_some() {
        trace(memory, at, mask, W::BYTES, AccessTrace::read);
    }
    let mut left = mask;
    for (first, half) in HALVES {
        if mask & half == half && gather_half(memory, at, first, &mut words[first..first + HALF]) {
            left &= !half;
        }
    }
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
            strays |= !held.covers(from, from + W::BYTES);
            left &= left - 1;
        }
        if misaligned {
            at.misaligned(before & !left, W::BYTES)?;
        }
        if strays {
            note(memory, at, before & !left, W::BYTES)?;
        }
    }
    Ok(())
}

/// Loads constants. A GPU looks at 32 bits of an address, gives zeros where there are no constants and never faults; a
/// sanitizer minds.
#[inline(always)]
pub(super) fn gather_const<W: Word, A: Address>(
    memory: &mut GlobalMemory,
    at: A,
    mask: u32,
    words: &mut [W; LANES],
) -> Result<(), LaneTrap> {
    match gather(memory, at, mask, words) {
        Err(trap) if trap.kind != TrapKind::MisalignedAddress && !memory.is_strict() => {
            at.misaligned(mask, W::BYTES)?;
            words.fill(W::default());
            let found = mapped(memory, at, mask);
            gather(memory, at, found, words)?;
            let in_bank = mapped(memory, InBank(at), mask & !found);
            gather(memory, InBank(at), in_bank, words)
        }
        done => done,
    }
}

/// The lanes of a mask whose addresses are mapped.
#[cold]
fn mapped<A: Address>(memory: &GlobalMemory, at: A, mask: u32) -> u32 {
    let mapped = lanes(mask).filter(|&lane| memory.page_number(at.at(lane)).is_some());
    mapped.fold(0, |mapped, lane| mapped | (1 << lane))
}

/// Where the constants of addresses lie, which differ from these in their upper halves.
#[derive(Clone, Copy)]
struct InBank<A>(A);

impl<A: Address> Address for InBank<A> {
    fn at(self, lane: usize) -> u64 {
        constant(self.0.at(lane))
    }

    /// As they wrap they are taken one by one.
    fn ends(self, _: usize, _: usize) -> u64 {
        u64::MAX
    }

    fn half_has_stride(self, _: usize, _: usize) -> bool {
        false
    }
}

/// Notes the bytes that the lanes of a mask access; what traps in the end does no harm in a trace.
#[cold]
fn trace<A: Address>(
    memory: &mut GlobalMemory,
    at: A,
    mask: u32,
    bytes: usize,
    note: fn(&mut AccessTrace, usize, u32, usize, usize),
) {
    let from = (at.at(0) % PAGE_BYTES) as usize;
    let by_thread = memory.trace().is_some_and(|trace| trace.is_by_thread());
    if !by_thread && at.is_row(mask, bytes) && from + LANES * bytes <= PAGE {
        if let Some((page, trace)) = memory.page_number(at.at(0)).zip(memory.trace()) {
            note(trace, 0, page, from, from + LANES * bytes);
        }
        return;
    }
    for lane in lanes(mask) {
        let Some(page) = memory.page_number(at.at(lane)) else { continue };
        let from = (at.at(lane) % PAGE_BYTES) as usize;
        if let Some(trace) = memory.trace() {
            note(trace, lane, page, from, (from + bytes).min(PAGE));
        }
    }
}

/// Counts the accesses that lie outside every allocation, or takes the first for wrong.
#[cold]
fn note<A: Address>(memory: &mut GlobalMemory, at: A, mask: u32, bytes: usize) -> Result<(), LaneTrap> {
    for lane in lanes(mask) {
        let strayed = memory.note(at.at(lane), bytes as u64);
        if strayed && memory.is_strict() {
            return Err(LaneTrap::at(TrapKind::IllegalAddress, lane, at.at(lane)));
        }
    }
    Ok(())
}

/// Stores for the lanes of the mask in an order.
#[inline(always)]
pub(super) fn scatter<W: Word, A: Address>(
    memory: &mut GlobalMemory,
    at: A,
    mask: u32,
    words: &[W; LANES],
    order: StoreOrder,
) -> Result<(), LaneTrap> {
    if memory.trace().is_some() {
        trace(memory, at, mask, W::BYTES, AccessTrace::wrote);
    }
    if at.is_row(mask, W::BYTES)
        && let Some(bytes) = plain_mut::<W>(memory, at.at(0), W::BYTES * LANES)
    {
        write_run(bytes, words);
        return Ok(());
    }
    at.misaligned(mask, W::BYTES)?;
    for (first, half) in order.halves() {
        if at.is_half_row(mask, (first, half), W::BYTES)
            && let Some(bytes) = plain_mut::<W>(memory, at.at(first), W::BYTES * HALF)
        {
            write_run(bytes, &words[first..first + HALF]);
        } else {
            scatter_lanes(memory, at, (mask & half, mask), words, order)?;
        }
    }
    Ok(())
}

/// Stores lane by lane for the lanes of the first mask; every address is aligned. The second mask has all lanes of the
/// instruction: the lowest that does something wrong is told.
#[inline(always)]
fn scatter_lanes<W: Word, A: Address>(
    memory: &mut GlobalMemory,
    at: A,
    (mask, all): (u32, u32),
    words: &[W; LANES],
    order: StoreOrder,
) -> Result<(), LaneTrap> {
    let mut queue = order.lanes(mask);
    while let Some(lane) = queue.first() {
        let first = at.at(lane);
        let held = memory.held(first);
        let is_one = queue.mask().is_power_of_two();
        let range = if is_one { offset::<W>(first)..offset::<W>(first) + W::BYTES } else { 0..PAGE_BYTES as usize };
        let Some(page) = memory.page_mut(first, range) else { return Err(first_illegal(memory, at, all)) };
        let before = queue;
        let mut strays = false;
        while let Some(lane) = queue.first() {
            let address = at.at(lane);
            if address / PAGE_BYTES != first / PAGE_BYTES {
                break;
            }
            let from = offset::<W>(address);
            words[lane].write(&mut page[from..from + W::BYTES]);
            strays |= !held.covers(from, from + W::BYTES);
            queue.next();
        }
        if strays {
            note(memory, at, before.mask() & !queue.mask(), W::BYTES)?;
        }
    }
    Ok(())
}
