//! Host memory at the addresses of device memory, for memory that host and GPU both see (managed and pinned).
//!
//! The whole range of device addresses is reserved in this process when the runtime starts. So a device address is
//! never by chance also a host address, host code that follows one faults as it would with a GPU, and where both are
//! to see the same address, pages of the range are opened.

use std::alloc::Layout;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use simt::memory::window::{DEVICE_BASE, DEVICE_BYTES};

const PAGE: u64 = 4096;
const PROT_NONE: c_int = 0;
const PROT_READ: c_int = 1;
const MAP_SHARED: c_int = 1;
const PROT_READ_WRITE: c_int = 1 | 2;
/// Private, anonymous, no swap set aside, and never in place of a mapping that is there.
const FLAGS: c_int = 0x02 | 0x20 | 0x4000 | 0x10_0000;

// As glibc and musl declare them on x86-64.
unsafe extern "C" {
    fn mmap(
        address: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(address: *mut c_void, bytes: usize) -> c_int;
    fn mprotect(address: *mut c_void, bytes: usize, protection: c_int) -> c_int;
}

/// The reserved range.
#[derive(Debug)]
pub(crate) struct Reservation(());

impl Reservation {
    /// Reserves the range of device addresses, if nothing of this process is there.
    pub(crate) fn new() -> Option<Self> {
        let wanted = std::ptr::without_provenance_mut::<c_void>(DEVICE_BASE as usize);
        let bytes = DEVICE_BYTES as usize;
        // SAFETY: a new inaccessible mapping that replaces none (MAP_FIXED_NOREPLACE) affects no memory of the program.
        let got = unsafe { mmap(wanted, bytes, PROT_NONE, FLAGS, -1, 0) };
        if got.addr() == wanted.addr() {
            return Some(Self(()));
        }
        if got.addr() != usize::MAX {
            // Kernels before 4.17 take the address for a hint.
            // SAFETY: the mapping was made a moment ago, and nobody else knows of it.
            unsafe { munmap(got, bytes) };
        }
        None
    }

    /// Makes the pages that hold a range of the reservation accessible, if they are not already. New ones are zero.
    pub(crate) fn open(&self, address: u64, bytes: u64) -> io::Result<()> {
        let start = address / PAGE * PAGE;
        let end = address.checked_add(bytes.max(1)).map(|end| end.next_multiple_of(PAGE));
        let limit = DEVICE_BASE + DEVICE_BYTES;
        let Some(end) = end.filter(|&end| start >= DEVICE_BASE && end <= limit) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let pointer = std::ptr::with_exposed_provenance_mut(start as usize);
        // SAFETY: the pages lie in the reservation, which is ours; making them accessible takes nothing from anyone.
        match unsafe { mprotect(pointer, (end - start) as usize, PROT_READ_WRITE) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// The contents of a file of which nothing changes any more, for as long as the process lives.
pub(crate) fn map(file: &File) -> io::Result<&'static [u8]> {
    let bytes = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: a new mapping wherever there is room.
    let got = unsafe { mmap(std::ptr::null_mut(), bytes, PROT_READ, MAP_SHARED, file.as_raw_fd(), 0) };
    if got.addr() == usize::MAX {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: so many bytes are mapped there, readable, and are never unmapped; the file is sealed against changes.
    Ok(unsafe { std::slice::from_raw_parts(got.cast(), bytes) })
}

/// Zeroed memory of the host at any address, for want of better.
pub(crate) fn heap(bytes: u64) -> Option<u64> {
    let layout = heap_layout(bytes)?;
    // SAFETY: the size is not zero: `heap_layout` sees to it.
    let pointer = unsafe { std::alloc::alloc_zeroed(layout) };
    (!pointer.is_null()).then(|| pointer.expose_provenance() as u64)
}

/// Gives back what [`heap`] gave.
///
/// # Safety
/// It was given for these bytes, and nobody uses it any more.
pub(crate) unsafe fn free_heap(address: u64, bytes: u64) {
    if let Some(layout) = heap_layout(bytes) {
        // SAFETY: the caller vouches that it was allocated with this layout.
        unsafe { std::alloc::dealloc(std::ptr::with_exposed_provenance_mut(address as usize), layout) };
    }
}

fn heap_layout(bytes: u64) -> Option<Layout> {
    let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes > 0)?;
    Layout::from_size_align(bytes, PAGE as usize).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_pages_can_be_opened_and_used() {
        let Some(reservation) = Reservation::new() else {
            // Something else lies there in this process: address randomisation allows it.
            return;
        };
        let address = DEVICE_BASE + 512;
        reservation.open(address, 8192).unwrap();
        let pointer = std::ptr::with_exposed_provenance_mut::<u64>(address as usize);
        // SAFETY: opened just now, for this test alone.
        let value = unsafe {
            pointer.write(7);
            pointer.read()
        };
        assert_eq!(value, 7);
        assert!(reservation.open(DEVICE_BASE - 1, 8).is_err());
        assert!(reservation.open(DEVICE_BASE, DEVICE_BYTES + 1).is_err());
        assert!(Reservation::new().is_none());
    }
}
