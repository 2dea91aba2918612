//! Where each state space lies in the generic address space.
//!
//! Global memory begins at [`DEVICE_BASE`] and is mapped in 2 MiB steps, as a driver does; allocations begin at
//! [`FIRST_ALLOCATION`]. The addresses lie where Linux puts nothing of a process, so that an application can tell device
//! memory from its own. Shared, local and parameter memory have windows far from it.

/// First device address handed out.
pub const DEVICE_BASE: u64 = 0x3f40_0000_0000;
/// Where the first allocation goes: as far behind a multiple of 32 MiB as an H200's driver puts it, in every process that
/// was looked at, so that a flipped bit of a pointer leads as far and the same way. Where in its 512 MiB that is differs from
/// process to process.
pub const FIRST_ALLOCATION: u64 = DEVICE_BASE + (158 << 20);
/// Bytes of a page.
pub const PAGE: usize = 4096;
/// Granularity of mapping.
pub const MAPPING: u64 = 2 << 20;
/// Alignment of an allocation.
pub const ALLOCATION: u64 = 512;
/// Device memory: more cannot be allocated.
pub const DEVICE_BYTES: u64 = 16 << 30;

/// Start of the window of shared memory.
pub const SHARED_BASE: u64 = 0x3fd0_0000_0000;
/// Start of the window of local memory.
pub const LOCAL_BASE: u64 = 0x3fd2_0000_0000;
/// Start of the window of kernel parameters.
pub const PARAM_BASE: u64 = 0x3fd4_0000_0000;
/// Size of each of these windows.
pub const WINDOW: u64 = 16 << 20;

/// Where a constant lies: of an address in the bank of constants a GPU looks at 32 bits.
#[must_use]
pub fn constant(address: u64) -> u64 {
    DEVICE_BASE | (address & 0xffff_ffff)
}

/// Whether a generic address lies in the window that starts at `base`.
#[inline(always)]
#[must_use]
pub fn within(address: u64, base: u64) -> bool {
    address.wrapping_sub(base) < WINDOW
}
