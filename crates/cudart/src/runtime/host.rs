//! Reading and writing memory of the application.

use std::borrow::Cow;
use std::ptr;
use std::slice;

use capsule::Region;

/// The rows of a region of host memory, packed; borrowed if they lie in one piece.
///
/// # Safety
/// The application vouches that the rows are readable and that nothing changes them during the call.
pub(crate) unsafe fn gather<'a>(from: &Region) -> Cow<'a, [u8]> {
    let row = |address: u64, bytes: u64| {
        let start = ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: the caller vouches for the rows.
        unsafe { slice::from_raw_parts(start, bytes as usize) }
    };
    if from.is_contiguous() && !from.is_empty() {
        return Cow::Borrowed(row(from.address, from.bytes().unwrap_or(0)));
    }
    let mut packed = Vec::new();
    for (address, bytes) in from.rows() {
        packed.extend_from_slice(row(address, bytes));
    }
    Cow::Owned(packed)
}

/// Writes packed bytes to the rows of a region of host memory.
///
/// # Safety
/// The application vouches that the rows are writable and that nothing reads them during the call.
pub(crate) unsafe fn scatter(to: &Region, packed: &[u8]) {
    let mut rest = packed;
    for (address, bytes) in to.rows() {
        let Some((row, after)) = rest.split_at_checked(bytes as usize) else { return };
        rest = after;
        let start = ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: the caller vouches for the rows, and ours are no memory of the application.
        unsafe { ptr::copy_nonoverlapping(row.as_ptr(), start, row.len()) };
    }
}

/// Sets the rows of a region of host memory to a value, again and again.
///
/// # Safety
/// As [`scatter`].
pub(crate) unsafe fn fill(to: &Region, value: &[u8]) {
    for (address, bytes) in to.rows() {
        let row: Vec<u8> = value.iter().copied().cycle().take(bytes as usize).collect();
        let start = ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: the caller vouches for the rows, and ours are no memory of the application.
        unsafe { ptr::copy_nonoverlapping(row.as_ptr(), start, row.len()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_and_scattered() {
        let mut memory: Vec<u8> = (0..24).collect();
        let address = memory.as_mut_ptr().expose_provenance() as u64;
        let box_of_rows = Region { address: address + 1, width: 2, height: 2, depth: 2, pitch: 4, slice: 12 };
        // SAFETY: all rows lie in `memory`.
        let packed = unsafe { gather(&box_of_rows) }.into_owned();
        assert_eq!(packed, [1, 2, 5, 6, 13, 14, 17, 18]);
        // SAFETY: as above.
        unsafe { scatter(&box_of_rows, &[9; 8]) };
        assert_eq!(memory[..8], [0, 9, 9, 3, 4, 9, 9, 7]);
    }
}
