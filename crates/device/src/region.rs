//! Regions of device memory: rows read, written, copied and filled.
//!
//! The memory that this takes of the host is asked for before anything is written, so that a host that has not enough is an
//! error and nothing is half done.

use crate::error::DeviceError;
use capsule::Region;
use simt::memory::window::DEVICE_BYTES;
use simt::memory::{GlobalMemory, HostMemoryError};

/// Bytes that are on their way from one place to another, at most, where neither has gaps.
const PIECE: u64 = 1 << 20;

/// Writes the rows of a region from packed bytes.
pub fn write(memory: &mut GlobalMemory, to: &Region, packed: &[u8]) -> Result<(), DeviceError> {
    let needed = to.bytes().unwrap_or(u64::MAX);
    if packed.len() as u64 != needed {
        return Err(DeviceError::Size { given: packed.len() as u64, needed });
    }
    let mut rest = packed;
    for (address, bytes) in to.rows() {
        let (row, after) = rest.split_at(bytes as usize);
        rest = after;
        memory.reserve(address, bytes)?;
        mapped(memory.copy_in(address, row), address, bytes)?;
    }
    Ok(())
}

/// Reads the rows of a region, packed.
pub fn read(memory: &mut GlobalMemory, from: &Region) -> Result<Vec<u8>, DeviceError> {
    let mut packed = Vec::new();
    for (address, bytes) in from.rows() {
        bounded(address, bytes)?;
        let start = packed.len();
        packed.try_reserve(bytes as usize).map_err(|_| HostMemoryError { bytes })?;
        packed.resize(start + bytes as usize, 0);
        mapped(memory.copy_out(address, &mut packed[start..]), address, bytes)?;
    }
    Ok(packed)
}

/// Copies from one region to another; they may overlap.
pub fn copy(memory: &mut GlobalMemory, to: &Region, from: &Region) -> Result<(), DeviceError> {
    match (to.is_contiguous(), from.is_contiguous(), to.bytes(), from.bytes()) {
        (true, true, Some(bytes), Some(given)) if bytes == given => copy_line(memory, to.address, from.address, bytes),
        _ => {
            let bytes = read(memory, from)?;
            write(memory, to, &bytes)
        }
    }
}

/// Copies bytes without gaps in pieces, beginning at the end where they do not overlap what is still to be read.
fn copy_line(memory: &mut GlobalMemory, to: u64, from: u64, bytes: u64) -> Result<(), DeviceError> {
    bounded(from, bytes)?;
    bounded(to, bytes)?;
    memory.reserve(to, bytes)?;
    let mut buffer = vec![0; bytes.min(PIECE) as usize];
    let pieces = bytes.div_ceil(PIECE);
    for piece in 0..pieces {
        let at = PIECE * if to <= from { piece } else { pieces - 1 - piece };
        let buffer = &mut buffer[..(bytes - at).min(PIECE) as usize];
        mapped(memory.copy_out(from + at, buffer), from, bytes)?;
        mapped(memory.copy_in(to + at, buffer), to, bytes)?;
    }
    Ok(())
}

/// Fills the rows of a region with a value of 1, 2 or 4 bytes.
pub fn fill(memory: &mut GlobalMemory, to: &Region, value: u32, width: u8) -> Result<(), DeviceError> {
    let [a, b, c, d] = value.to_le_bytes();
    for (address, length) in to.rows() {
        if !matches!(width, 1 | 2 | 4) || length % u64::from(width) != 0 {
            return Err(DeviceError::Size { given: u64::from(width), needed: length });
        }
        bounded(address, length)?;
        if value != 0 {
            memory.reserve(address, length)?;
        }
        let filled = match width {
            1 => memory.fill(address, length, [a]),
            2 => memory.fill(address, length, [a, b]),
            _ => memory.fill(address, length, [a, b, c, d]),
        };
        mapped(filled, address, length)?;
    }
    Ok(())
}

/// Refuses a row that no device could hold before room is made for it.
fn bounded(address: u64, bytes: u64) -> Result<(), DeviceError> {
    mapped(bytes <= DEVICE_BYTES && address.checked_add(bytes).is_some(), address, bytes)
}

fn mapped(done: bool, address: u64, bytes: u64) -> Result<(), DeviceError> {
    if done { Ok(()) } else { Err(DeviceError::Unmapped { address, bytes }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_overlap_are_copied_as_if_they_did_not() {
        let mut memory = GlobalMemory::new();
        let bytes = 3 * PIECE + 77;
        let base = memory.allocate(2 * bytes).unwrap();
        let given: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        for (from, to) in [(base, base + 5000), (base + 5000, base), (base + PIECE, base + PIECE), (base, base + bytes)]
        {
            let [to, from] = [to, from].map(|at| Region::linear(at, bytes));
            write(&mut memory, &from, &given).unwrap();
            copy(&mut memory, &to, &from).unwrap();
            assert!(read(&mut memory, &to).unwrap() == given);
        }
    }

    #[test]
    fn what_is_not_mapped_is_neither_copied_nor_filled() {
        let mut memory = GlobalMemory::new();
        let base = memory.allocate(64).unwrap();
        let far = Region::linear(base + (1 << 33), 64);
        let near = Region::linear(base, 64);
        for wrong in [
            copy(&mut memory, &far, &near),
            copy(&mut memory, &near, &far),
            fill(&mut memory, &far, 1, 1),
            fill(&mut memory, &far, 0, 4),
        ] {
            assert!(matches!(wrong, Err(DeviceError::Unmapped { .. })), "{wrong:?}");
        }
        assert!(matches!(copy(&mut memory, &near, &Region::linear(base, 32)), Err(DeviceError::Size { .. })));
    }
}
