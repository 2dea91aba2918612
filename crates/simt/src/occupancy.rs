//! What a multiprocessor of the simulated GPU has, and how many blocks of a kernel fit it.
//!
//! Reference: CUDA C++ Best Practices Guide, "Calculating Occupancy"; `cuda_occupancy.h` of CUDA 13.0 for the units in
//! which compute capability 8.0 hands out registers and shared memory; NVIDIA A100 Tensor Core GPU Architecture, table 4.

/// Multiprocessors of the device.
pub const MULTIPROCESSORS: u32 = 108;
/// Threads of a warp.
pub const WARP: u32 = 32;
/// Threads that a block may have.
pub const THREADS_PER_BLOCK: u32 = 1024;
/// Threads that run on a multiprocessor at a time, at most.
pub const THREADS_PER_MULTIPROCESSOR: u32 = 2048;
/// Blocks that run on it at a time, at most.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
/// Registers of 32 bits that it has.
pub const REGISTERS_PER_MULTIPROCESSOR: u32 = 65_536;
/// Registers that a thread may have.
pub const REGISTERS_PER_THREAD: u32 = 255;
/// Registers are given to warps in units of this many.
pub const REGISTER_UNIT: u32 = 256;
/// Bytes of shared memory that a multiprocessor has.
pub const SHARED_PER_MULTIPROCESSOR: u32 = 164 << 10;
/// Bytes of it that a block may have when it asks for them.
pub const SHARED_OPT_IN: u32 = 163 << 10;
/// Bytes of it that the system keeps of each block's.
pub const SHARED_RESERVED: u32 = 1 << 10;
/// Shared memory is given to blocks in units of this many bytes.
pub const SHARED_UNIT: u32 = 128;

/// What a block takes of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Threads.
    pub threads: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of shared memory, static and dynamic.
    pub shared: u64,
}

impl Needs {
    /// Registers that a block is given: those of whole warps, in units.
    #[must_use]
    pub fn registers_given(self) -> u32 {
        self.threads.div_ceil(WARP) * (self.registers * WARP).next_multiple_of(REGISTER_UNIT)
    }

    /// The blocks that run on a multiprocessor at a time; none if one does not fit.
    #[must_use]
    pub fn blocks(self) -> u32 {
        if self.threads == 0 || self.threads > THREADS_PER_BLOCK {
            return 0;
        }
        let by_threads = THREADS_PER_MULTIPROCESSOR / self.threads.next_multiple_of(WARP);
        let by_registers = REGISTERS_PER_MULTIPROCESSOR / self.registers_given().max(1);
        by_threads.min(by_registers).min(self.by_shared()).min(BLOCKS_PER_MULTIPROCESSOR)
    }

    fn by_shared(self) -> u32 {
        match u32::try_from(self.shared) {
            Ok(shared) if shared <= SHARED_OPT_IN => {
                SHARED_PER_MULTIPROCESSOR / (shared + SHARED_RESERVED).next_multiple_of(SHARED_UNIT)
            }
            _ => 0,
        }
    }

    /// The share of the device's registers that are given to a grid of so many blocks while it runs at its fullest.
    #[must_use]
    pub fn register_share(self, grid: u64) -> f64 {
        let resident = u64::from(self.blocks() * MULTIPROCESSORS).min(grid);
        let given = resident as f64 * f64::from(self.registers_given());
        given / (f64::from(MULTIPROCESSORS) * f64::from(REGISTERS_PER_MULTIPROCESSOR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(threads: u32, registers: u32, shared: u64) -> u32 {
        Needs { threads, registers, shared }.blocks()
    }

    #[test]
    fn the_scarcest_resource_decides() {
        assert_eq!(blocks(256, 16, 0), 8);
        assert_eq!(blocks(32, 16, 0), 32);
        assert_eq!(blocks(33, 16, 0), 32);
        assert_eq!(blocks(256, 64, 0), 4);
        assert_eq!(blocks(256, 16, 40 << 10), 4);
        assert_eq!(blocks(256, 16, 163 << 10), 1);
        assert_eq!(blocks(256, 16, (163 << 10) + 1), 0);
        assert_eq!(blocks(1025, 16, 0), 0);
    }

    #[test]
    fn a_full_device_has_given_what_its_threads_need_and_a_small_grid_little() {
        let needs = Needs { threads: 256, registers: 32, shared: 0 };
        assert!((needs.register_share(1 << 20) - 1.0).abs() < 1e-12);
        let needs = Needs { threads: 256, registers: 16, shared: 0 };
        assert!((needs.register_share(1 << 20) - 0.5).abs() < 1e-12);
        assert!((needs.register_share(108) - 0.0625).abs() < 1e-12);
    }
}
