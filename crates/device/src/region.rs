//! Regions of device memory: rows read, written and filled.

use crate::error::DeviceError;
use capsule::Region;
use simt::memory::GlobalMemory;
use simt::memory::window::DEVICE_BYTES;

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
        packed.resize(start + bytes as usize, 0);
        mapped(memory.copy_out(address, &mut packed[start..]), address, bytes)?;
    }
    Ok(packed)
}

/// Copies from one region to another; they may overlap.
pub fn copy(memory: &mut GlobalMemory, to: &Region, from: &Region) -> Result<(), DeviceError> {
    let bytes = read(memory, from)?;
    write(memory, to, &bytes)
}

/// Fills the rows of a region with a value of 1, 2 or 4 bytes.
pub fn fill(memory: &mut GlobalMemory, to: &Region, value: u32, width: u8) -> Result<(), DeviceError> {
    let bytes = value.to_le_bytes();
    for (address, length) in to.rows() {
        if !matches!(width, 1 | 2 | 4) || length % u64::from(width) != 0 {
            return Err(DeviceError::Size { given: u64::from(width), needed: length });
        }
        bounded(address, length)?;
        let row = bytes[..usize::from(width)].repeat((length / u64::from(width)) as usize);
        mapped(memory.copy_in(address, &row), address, length)?;
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
