//! How many blocks of a kernel fit a multiprocessor.
//!
//! Registers are those that we estimate: PTX has none of the hardware's. We take the number of words that the
//! kernel's virtual registers have, but no more than let a block of the largest size that the kernel allows run.

use device::KernelInfo;
use simt::occupancy::{self as limits, Needs};

/// The threads that a block of this kernel may have.
pub(crate) fn max_threads(info: &KernelInfo) -> u32 {
    let most = limits::THREADS_PER_BLOCK;
    info.max_threads.unwrap_or(most).clamp(1, most)
}

/// The registers of a thread, estimated.
pub(crate) fn registers(info: &KernelInfo) -> u32 {
    let (warp, unit) = (limits::WARP, limits::REGISTER_UNIT);
    let warps = max_threads(info).div_ceil(warp);
    let affordable = limits::REGISTERS_PER_MULTIPROCESSOR / warps / unit * unit / warp;
    info.register_words.max(8).min(affordable).min(limits::REGISTERS_PER_THREAD)
}

/// The blocks of this size and with this dynamic shared memory that run on a multiprocessor at a time.
pub(crate) fn blocks(info: &KernelInfo, threads: u32, dynamic_shared: u64) -> u32 {
    let shared = u64::from(info.static_shared_bytes).saturating_add(dynamic_shared);
    Needs { threads, registers: registers(info), shared }.blocks()
}

/// The dynamic shared memory that each of so many blocks could have.
pub(crate) fn available_shared(info: &KernelInfo, blocks: u32) -> u64 {
    let unit = limits::SHARED_UNIT;
    let of_block = limits::SHARED_PER_MULTIPROCESSOR / blocks.max(1) / unit * unit;
    let usable = of_block.saturating_sub(limits::SHARED_RESERVED).min(limits::SHARED_OPT_IN);
    u64::from(usable.saturating_sub(info.static_shared_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(registers: u32, shared: u32, max_threads: Option<u32>) -> KernelInfo {
        KernelInfo {
            params: Vec::new(),
            param_bytes: 0,
            static_shared_bytes: shared,
            local_bytes: 0,
            registers,
            register_words: registers,
            max_threads,
            instructions: 0,
        }
    }

    #[test]
    fn the_scarcest_resource_decides() {
        assert_eq!(blocks(&kernel(16, 0, None), 256, 0), 8);
        assert_eq!(blocks(&kernel(16, 0, None), 32, 0), 32);
        assert_eq!(blocks(&kernel(16, 0, None), 33, 0), 32);
        assert_eq!(blocks(&kernel(64, 0, None), 256, 0), 4);
        assert_eq!(blocks(&kernel(16, 40 << 10, None), 256, 0), 4);
        assert_eq!(blocks(&kernel(16, 0, None), 256, 163 << 10), 1);
        assert_eq!(blocks(&kernel(16, 0, None), 256, (163 << 10) + 1), 0);
    }

    #[test]
    fn the_largest_block_always_has_registers() {
        assert_eq!(registers(&kernel(500, 0, None)), 64);
        assert_eq!(registers(&kernel(500, 0, Some(256))), 255);
        assert!(blocks(&kernel(500, 0, None), 1024, 0) > 0);
        assert_eq!(blocks(&kernel(16, 0, None), 1025, 0), 0);
    }
}
