//! Reading and writing global memory: a value at a multiple of its size, and ranges.

use super::global::GlobalMemory;
use super::page::{Page, Pieces, address_of};
use super::window::PAGE;

/// Why an access cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// The address is outside every mapped page.
    Unmapped,
    /// The address is not a multiple of the access size.
    Misaligned,
}

impl GlobalMemory {
    /// The bytes of a page by its number, or `None` where it is not mapped.
    pub fn numbered(&mut self, page: u32) -> Option<&Page> {
        self.page(address_of(page))
    }

    /// Reads `N` bytes at a multiple of `N`.
    ///
    /// # Errors
    /// If the address is misaligned or unmapped.
    #[inline(always)]
    pub fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], AccessError> {
        if !address.is_multiple_of(N as u64) {
            return Err(AccessError::Misaligned);
        }
        let page = self.page(address).ok_or(AccessError::Unmapped)?;
        let at = (address % PAGE as u64) as usize;
        let mut bytes = [0; N];
        bytes.copy_from_slice(&page[at..at + N]);
        Ok(bytes)
    }

    /// Writes `N` bytes at a multiple of `N`.
    ///
    /// # Errors
    /// If the address is misaligned or unmapped.
    #[inline(always)]
    pub fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), AccessError> {
        if !address.is_multiple_of(N as u64) {
            return Err(AccessError::Misaligned);
        }
        let at = (address % PAGE as u64) as usize;
        let page = self.page_mut(address, at..at + N).ok_or(AccessError::Unmapped)?;
        page[at..at + N].copy_from_slice(&bytes);
        Ok(())
    }

    /// Copies a range out; `false` where some of it is unmapped.
    #[must_use]
    pub fn copy_out(&mut self, address: u64, into: &mut [u8]) -> bool {
        let mut at = address;
        for piece in Pieces::of(address, into.len()) {
            let Some(page) = self.page(at) else { return false };
            into[piece.done..piece.done + piece.len].copy_from_slice(&page[piece.from..piece.from + piece.len]);
            at = at.wrapping_add(piece.len as u64);
        }
        true
    }

    /// Writes `N` bytes again and again; `false` where some of the range is unmapped. Where nothing was ever written there are
    /// zeros already.
    #[must_use]
    pub fn fill<const N: usize>(&mut self, address: u64, length: u64, bytes: [u8; N]) -> bool {
        let repeated: Vec<u8> = bytes.into_iter().cycle().take(PAGE + N).collect();
        let is_zero = bytes.iter().all(|&byte| byte == 0);
        let mut at = address;
        for piece in Pieces::of(address, length as usize) {
            if !(is_zero && self.blank(at).is_some()) {
                let Some(to) = self.page_mut(at, piece.from..piece.from + piece.len) else { return false };
                let from = piece.done % N;
                to[piece.from..piece.from + piece.len].copy_from_slice(&repeated[from..from + piece.len]);
            }
            at = at.wrapping_add(piece.len as u64);
        }
        true
    }

    /// Copies bytes in; `false` where some of the range is unmapped.
    #[must_use]
    pub fn copy_in(&mut self, address: u64, bytes: &[u8]) -> bool {
        let mut at = address;
        for piece in Pieces::of(address, bytes.len()) {
            let Some(page) = self.page_mut(at, piece.from..piece.from + piece.len) else { return false };
            page[piece.from..piece.from + piece.len].copy_from_slice(&bytes[piece.done..piece.done + piece.len]);
            at = at.wrapping_add(piece.len as u64);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::AddressProfile;
    use std::sync::Arc;

    fn memory(bytes: u64) -> (GlobalMemory, u64) {
        let mut memory = GlobalMemory::new();
        let at = memory.allocate(bytes).unwrap();
        (memory, at)
    }

    #[test]
    fn what_is_written_is_read_and_the_rest_is_zero() {
        let (mut memory, at) = memory(3 * PAGE as u64);
        assert!(memory.copy_in(at + 4090, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
        let mut bytes = [9; 12];
        assert!(memory.copy_out(at + 4089, &mut bytes));
        assert_eq!(bytes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0]);
        assert_eq!(memory.read::<4>(at + 4092), Ok([3, 4, 5, 6]));
    }

    #[test]
    fn a_fill_repeats_its_bytes_from_any_address_on() {
        let (mut memory, at) = memory(3 * PAGE as u64);
        assert!(memory.fill(at + 4091, 4100, [1, 2, 3, 4]));
        let mut bytes = vec![9; 4102];
        assert!(memory.copy_out(at + 4090, &mut bytes));
        let expected: Vec<u8> = [1, 2, 3, 4].into_iter().cycle().take(4100).collect();
        assert_eq!((bytes[0], &bytes[1..4101], bytes[4101]), (0, &expected[..], 0));
        assert!(!memory.fill(at, 600 << 20, [7]));
    }

    #[test]
    fn zeros_take_no_page_where_nothing_was_written() {
        let (mut memory, at) = memory(64 << 20);
        assert!(memory.copy_in(at + 5000, &[7; 4]));
        assert!(memory.fill(at, 64 << 20, [0]));
        assert_eq!((memory.written().count(), memory.read::<4>(at + 5000)), (1, Ok([0; 4])));
    }

    #[test]
    fn outside_mapped_pages_and_off_alignment_are_errors() {
        let (mut memory, at) = memory(16);
        assert_eq!(memory.read::<4>(at + 2), Err(AccessError::Misaligned));
        assert_eq!(memory.read::<4>(at + (74 << 20)), Err(AccessError::Unmapped));
        assert_eq!(memory.write::<4>(at - (414 << 20) - 4, [0; 4]), Err(AccessError::Unmapped));
        assert_eq!(memory.read::<4>(0), Err(AccessError::Unmapped));
        memory.set_profile(Arc::new(AddressProfile::strict()));
        assert_eq!(memory.read::<4>(at + (2 << 20)), Err(AccessError::Unmapped));
        assert_eq!(memory.write::<4>(at - 4, [0; 4]), Err(AccessError::Unmapped));
    }
}
