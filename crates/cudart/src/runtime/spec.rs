//! What the simulated GPU says of itself.
//!
//! It is of compute capability 8.0, with the resources of that generation's data-centre GPU. Not 9.0, though the
//! reference device for our measurements is: an application that meets a device of 9.0 may choose paths (clusters,
//! tensor memory copies, warp-group matrix instructions) that a PTX simulator does not have, while all of 8.0 is
//! there, and PTX for 9.0 without those paths runs all the same. Grids that an application sizes by the number of
//! multiprocessors come out as on the real device.
//!
//! Reference: CUDA C++ Programming Guide, "Compute Capabilities"; NVIDIA A100 Tensor Core GPU Architecture, table 4.

use simt::occupancy as limits;

/// Its name.
pub(crate) const NAME: &str = "Beamline Simulated GPU";
/// Its unique id.
pub(crate) const UUID: &[u8; 16] = b"beamline-sim-gpu";
/// Compute capability.
pub(crate) const MAJOR: i32 = 8;
pub(crate) const MINOR: i32 = 0;
/// The same as PTX and cubins count it.
pub(crate) const ARCH: u32 = 80;
/// The version of CUDA whose driver it seems to have: 13.0.
pub(crate) const DRIVER_VERSION: i32 = 13_000;

/// Device memory.
pub(crate) const MEMORY_BYTES: u64 = simt::memory::window::DEVICE_BYTES;
/// What a heap of device code is rounded up to, and how large it may be. An H200 gives it 17,681,179,680 of 150,109,880,320
/// bytes; here it is what leaves half of the memory, as pages that device code does not touch cost nothing.
pub(crate) const HEAP_UNIT: u64 = 64 << 10;
pub(crate) const MOST_HEAP_BYTES: u64 = MEMORY_BYTES / 2;
pub(crate) const CONSTANT_BYTES: i32 = 64 << 10;
pub(crate) const MAX_PITCH: i32 = i32::MAX;
/// What pitched allocations round rows up to.
pub(crate) const PITCH_ALIGNMENT: u64 = 512;

/// Threads.
pub(crate) const WARP: i32 = limits::WARP as i32;
pub(crate) const THREADS_PER_BLOCK: i32 = limits::THREADS_PER_BLOCK as i32;
pub(crate) const BLOCK: [i32; 3] = [1024, 1024, 64];
pub(crate) const GRID: [i32; 3] = [i32::MAX, 65_535, 65_535];

/// Multiprocessors and what each has.
pub(crate) const MULTIPROCESSORS: i32 = limits::MULTIPROCESSORS as i32;
pub(crate) const THREADS_PER_MULTIPROCESSOR: i32 = limits::THREADS_PER_MULTIPROCESSOR as i32;
pub(crate) const BLOCKS_PER_MULTIPROCESSOR: i32 = limits::BLOCKS_PER_MULTIPROCESSOR as i32;
pub(crate) const REGISTERS_PER_BLOCK: i32 = REGISTERS_PER_MULTIPROCESSOR;
pub(crate) const REGISTERS_PER_MULTIPROCESSOR: i32 = limits::REGISTERS_PER_MULTIPROCESSOR as i32;

/// Shared memory: what a block may have without asking, when it asks, and what the system keeps.
pub(crate) const SHARED_PER_BLOCK: i32 = 48 << 10;
pub(crate) const SHARED_OPT_IN: i32 = limits::SHARED_OPT_IN as i32;
pub(crate) const SHARED_PER_MULTIPROCESSOR: i32 = limits::SHARED_PER_MULTIPROCESSOR as i32;
pub(crate) const SHARED_RESERVED: i32 = limits::SHARED_RESERVED as i32;

/// Figures that only describe.
pub(crate) const CLOCK_KHZ: i32 = 1_410_000;
pub(crate) const MEMORY_CLOCK_KHZ: i32 = 1_215_000;
pub(crate) const MEMORY_BUS_BITS: i32 = 5120;
pub(crate) const L2_BYTES: i32 = 40 << 20;
pub(crate) const PCI_BUS: i32 = 1;
pub(crate) const PCI_ID: &str = "0000:01:00.0";

/// Whether blocks of a grid can wait for each other.
pub(crate) const COOPERATIVE: i32 = 1;

/// What a GPU that gives a heap at most so many bytes makes of a request, as measured on an H200
/// (`records/cuda_gdb/`, `verify/heap2.txt`). What cannot be rounded up any more becomes 0, and `malloc` then null.
fn heap_limit_of(most: u64, asked: u64) -> u64 {
    asked.checked_next_multiple_of(HEAP_UNIT).map_or(0, |rounded| rounded.min(most))
}

/// What `cudaLimitMallocHeapSize` becomes when an application asks for so many bytes.
pub(crate) fn heap_limit(asked: u64) -> u64 {
    heap_limit_of(MOST_HEAP_BYTES, asked)
}

/// The value of a `cudaDeviceAttr`, or nothing if there is no such attribute.
pub(crate) fn attribute(number: i32) -> Option<i32> {
    Some(match number {
        1 => THREADS_PER_BLOCK,
        2..=4 => BLOCK[number as usize - 2],
        5..=7 => GRID[number as usize - 5],
        8 => SHARED_PER_BLOCK,
        9 => CONSTANT_BYTES,
        10 => WARP,
        11 => MAX_PITCH,
        12 => REGISTERS_PER_BLOCK,
        13 => CLOCK_KHZ,
        14 | 30 => 512,
        16 => MULTIPROCESSORS,
        33 => PCI_BUS,
        36 => MEMORY_CLOCK_KHZ,
        37 => MEMORY_BUS_BITS,
        38 => L2_BYTES,
        39 => THREADS_PER_MULTIPROCESSOR,
        40 => 3,
        51 => 32,
        75 => MAJOR,
        76 => MINOR,
        81 => SHARED_PER_MULTIPROCESSOR,
        82 => REGISTERS_PER_MULTIPROCESSOR,
        87 => 2,
        95 => COOPERATIVE,
        97 => SHARED_OPT_IN,
        106 => BLOCKS_PER_MULTIPROCESSOR,
        111 => SHARED_RESERVED,
        126 => 1,
        131 | 134 => -1,
        // Overlap, mapping host memory, concurrent kernels, one address space, priorities, caches, managed memory,
        // preemption, registering host memory, memory pools.
        15 | 19 | 31 | 41 | 78 | 79 | 80 | 83 | 89 | 90 | 99 | 115 => 1,
        _ => return extent(number),
    })
}

/// Limits of textures and surfaces, which kernels cannot use yet; and all that is not there.
fn extent(number: i32) -> Option<i32> {
    Some(match number {
        21 | 22 | 56 | 70 => 131_072,
        23 | 57 => 65_536,
        24..=26 | 58..=60 => 16_384,
        27 | 28 | 42 | 45 | 46 | 49 | 52 | 53 | 55 | 61 | 63 | 64 | 66 | 67 | 73 | 74 | 77 => 32_768,
        29 | 43 | 62 | 65 => 2048,
        47 | 48 => 8192,
        54 | 68 => 2046,
        69 => 268_435_456,
        71 => 65_000,
        72 => 2_097_120,
        1..=91 | 98 | 100..=147 => 0,
        92..=96 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_say_what_the_properties_say() {
        assert_eq!(attribute(75).zip(attribute(76)), Some((8, 0)));
        assert_eq!((MAJOR * 10 + MINOR) as u32, ARCH);
        assert_eq!(attribute(10), Some(32));
        assert_eq!(attribute(4), Some(64));
        assert_eq!(attribute(17), Some(0));
        assert_eq!((attribute(0), attribute(148), attribute(-1)), (None, None, None));
    }

    #[test]
    fn a_heap_is_as_large_as_an_h200_makes_it_up_to_what_the_device_can_give() {
        let most = 17_681_179_680;
        let seen = [
            (8_388_608, 8_388_608),
            (16_000_000_000, 16_000_024_576),
            (17_000_000_000, 17_000_038_400),
            (most, most),
            (most + 1, most),
            (150_000_000_000, most),
            (1 << 41, most),
            (u64::MAX, 0),
        ];
        for (asked, limit) in seen {
            assert_eq!(heap_limit_of(most, asked), limit, "{asked}");
        }
        assert_eq!(heap_limit(1 << 40), MOST_HEAP_BYTES);
        assert_eq!((heap_limit(0), heap_limit(1)), (0, HEAP_UNIT));
    }
}
