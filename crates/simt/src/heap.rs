//! The heap of device code: `malloc` and `free`.
//!
//! The heap is a variable of the module, and all its state lies within it. It is a row of blocks, each with 16 bytes
//! before it of which the first 8 hold its size, a multiple of 16, and in the lowest bit whether it is taken. A size of
//! zero ends the row: what lies behind was never taken. The first block that is large enough is taken, and free blocks that meet
//! are joined on the way there. The first 16 bytes of the heap say where the way starts.

use crate::access::{LaneTrap, Memories, read_one, write_one};
use crate::program::HeapPlace;
use crate::trap::TrapKind;
use isa::Space;

/// The name of the variable.
pub const HEAP_NAME: &str = "device heap";
/// Bytes of a heap unless the application asks for another: what `cudaLimitMallocHeapSize` is at first.
pub const HEAP_BYTES: u64 = 8 << 20;
/// Bytes before a block, and what sizes and addresses are multiples of.
const UNIT: u64 = 16;

/// Alignment of the variable.
pub const HEAP_ALIGN: u32 = UNIT as u32;

/// How large the variable is for a heap of about so many bytes.
#[must_use]
pub fn heap_size(bytes: u64) -> u64 {
    (bytes / UNIT * UNIT).max(2 * UNIT)
}

/// A heap in memory, and the lane on whose behalf it is changed.
pub(crate) struct Heap<'m, 'a> {
    pub(crate) memories: &'m mut Memories<'a>,
    pub(crate) place: HeapPlace,
    pub(crate) lane: usize,
}

impl Heap<'_, '_> {
    fn read(&mut self, at: u64) -> Result<u64, LaneTrap> {
        read_one(self.memories, Space::Global, self.place.base + at, self.lane)
    }

    fn write(&mut self, at: u64, value: u64) -> Result<(), LaneTrap> {
        write_one(self.memories, Space::Global, self.place.base + at, self.lane, value)
    }

    /// The size of the block behind a header, and whether it is taken; `None` at the end, or where nothing sensible is.
    fn block(&mut self, at: u64) -> Result<Option<(u64, bool)>, LaneTrap> {
        if at + UNIT > self.place.bytes {
            return Ok(None);
        }
        let word = self.read(at)?;
        let size = word & !1;
        let sound = size != 0 && size.is_multiple_of(UNIT) && size <= self.place.bytes - at - UNIT;
        Ok(sound.then_some((size, word & 1 == 1)))
    }

    /// The address of as many bytes, or 0 where no room is left.
    pub(crate) fn allocate(&mut self, bytes: u64) -> Result<u64, LaneTrap> {
        if bytes == 0 || bytes > self.place.bytes {
            return Ok(0);
        }
        let wanted = bytes.next_multiple_of(UNIT);
        let start = self.read(0)?;
        let start = if start.is_multiple_of(UNIT) { start.clamp(UNIT, self.place.bytes) } else { UNIT };
        let (mut at, mut first_free) = (start, None);
        while let Some((size, taken)) = self.block(at)? {
            if taken {
                at += UNIT + size;
                continue;
            }
            let free = self.join(at, size)?;
            if free >= wanted {
                let size = self.take(at, free, wanted)?;
                self.write(0, first_free.unwrap_or(at + UNIT + size))?;
                return Ok(self.place.base + at + UNIT);
            }
            first_free = first_free.or(Some(at));
            at += UNIT + free;
        }
        let untouched = at + UNIT <= self.place.bytes && self.read(at)? == 0;
        if !untouched || wanted > self.place.bytes - at - UNIT {
            return Ok(0);
        }
        self.write(at, wanted | 1)?;
        self.write(0, first_free.unwrap_or(at + UNIT + wanted))?;
        Ok(self.place.base + at + UNIT)
    }

    /// Joins a free block with the free ones behind it; its size then.
    fn join(&mut self, at: u64, size: u64) -> Result<u64, LaneTrap> {
        let mut joined = size;
        while let Some((next, false)) = self.block(at + UNIT + joined)? {
            joined += UNIT + next;
        }
        if joined != size {
            self.write(at, joined)?;
        }
        Ok(joined)
    }

    /// Takes the first part of a free block, and leaves the rest free if it can be a block. The size that was taken.
    fn take(&mut self, at: u64, free: u64, wanted: u64) -> Result<u64, LaneTrap> {
        let rest = free - wanted;
        let size = if rest <= UNIT { free } else { wanted };
        self.write(at, size | 1)?;
        if size < free {
            self.write(at + UNIT + wanted, rest - UNIT)?;
        }
        Ok(size)
    }

    /// Gives a block back. What is no taken block of the heap is an illegal address.
    pub(crate) fn free(&mut self, address: u64) -> Result<(), LaneTrap> {
        if address == 0 {
            return Ok(());
        }
        let illegal = LaneTrap::at(TrapKind::IllegalAddress, self.lane, address);
        let at = address.wrapping_sub(self.place.base).wrapping_sub(UNIT);
        if !(UNIT..self.place.bytes).contains(&at) || !at.is_multiple_of(UNIT) {
            return Err(illegal);
        }
        match self.block(at)? {
            Some((size, true)) => self.write(at, size)?,
            _ => return Err(illegal),
        }
        let start = self.read(0)?;
        self.write(0, start.min(at))
    }
}
