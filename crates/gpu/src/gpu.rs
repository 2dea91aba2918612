//! One GPU: a context of our own, its memory, its modules.

use crate::driver::{AccessDescription, AllocationProperties, Driver, Handle, Location};
use crate::error::GpuError;
use std::ffi::{CStr, c_char, c_int};

/// What memory is mapped in, in bytes.
const PAGE: u64 = 2 << 20;

/// What addresses are reserved in, in bytes: of smaller ranges the driver chooses the place itself.
const WINDOW: u64 = 1 << 30;

/// `CU_LIMIT_STACK_SIZE`, and what a thread may have: applications that recurse ask for more than the driver gives.
const STACK_LIMIT: c_int = 0;
const STACK_BYTES: usize = 64 << 10;
const STACK_LEAST: usize = 2 << 10;

/// What a GPU is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuProperties {
    /// For example `NVIDIA H100 80GB HBM3`.
    pub name: String,
    /// Compute capability, for example `(9, 0)`.
    pub compute: (i32, i32),
    /// The CUDA version that the driver supports, for example `(13, 0)`.
    pub driver: (i32, i32),
    /// The highest clocks of multiprocessors and of memory, in MHz.
    pub clocks_mhz: (u32, u32),
}

/// The first GPU of this machine, with a context of our own: an error that stays ends with it.
#[derive(Debug)]
pub struct Gpu {
    pub(crate) driver: Driver,
    context: Handle,
    device: c_int,
    description: GpuProperties,
    mapped: Vec<Mapping>,
    /// Ranges of addresses, for `mapped` to be in.
    reserved: Vec<(u64, usize)>,
}

/// Memory at a place of our choice.
#[derive(Debug)]
struct Mapping {
    address: u64,
    bytes: usize,
    handle: u64,
}

impl Gpu {
    /// Opens the first GPU of this machine, with a stack for applications that recurse: the largest that fits, as other processes
    /// may have most of its memory, and as the driver gives it if none does.
    ///
    /// # Errors
    /// If there is no driver or no device, or the driver fails.
    pub fn open() -> Result<Self, GpuError> {
        let gpu = Self::open_as_is()?;
        let halved = std::iter::successors(Some(STACK_BYTES), |bytes| Some(bytes / 2));
        let mut sizes = halved.take_while(|&bytes| bytes >= STACK_LEAST);
        // SAFETY: the limit is that of the context, which is current.
        let fits = |bytes: usize| unsafe { gpu.driver.set_limit(STACK_LIMIT, bytes) }.is_ok();
        let _largest = sizes.find(|&bytes| fits(bytes));
        Ok(gpu)
    }

    /// Opens the first GPU of this machine, with all limits as the driver gives them to any program. Several processes
    /// can have it at once; larger stacks for all threads of each would not fit.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_as_is() -> Result<Self, GpuError> {
        let driver = Driver::load()?;
        let (mut device, mut count, mut version, mut context) = (0, 0, 0, std::ptr::null_mut());
        // SAFETY: the pointers are to variables of the right types.
        unsafe {
            driver.init(0).map_err(|error| GpuError::NoDevice(error.to_string()))?;
            driver.device_count(&raw mut count)?;
            if count == 0 {
                return Err(GpuError::NoDevice("0 devices".to_owned()));
            }
            driver.device(&raw mut device, 0)?;
            driver.driver_version(&raw mut version)?;
        }
        let description = GpuProperties {
            name: name(&driver, device)?,
            compute: (attribute(&driver, device, 75)?, attribute(&driver, device, 76)?),
            driver: (version / 1000, version % 1000 / 10),
            clocks_mhz: (clock_mhz(&driver, device, 13)?, clock_mhz(&driver, device, 36)?),
        };
        // SAFETY: `device` is one that the driver gave.
        unsafe { driver.create_context(&raw mut context, 0, device)? };
        Ok(Self { driver, context, device, description, mapped: Vec::new(), reserved: Vec::new() })
    }

    /// What it is.
    #[must_use]
    pub fn description(&self) -> &GpuProperties {
        &self.description
    }

    /// Maps zeroed memory at places of our choice, given as `(address, bytes)`: the whole pages of 2 MiB around them.
    ///
    /// # Errors
    /// If a place is taken or there is not enough memory.
    pub fn map(&mut self, places: &[(u64, u64)]) -> Result<(), GpuError> {
        for (start, bytes) in rounded(places, WINDOW) {
            let mut given = 0;
            // SAFETY: the pointer is to a variable of the right type.
            unsafe { self.driver.reserve(&raw mut given, bytes as usize, 0, start, 0)? };
            self.reserved.push((given, bytes as usize));
            if given != start {
                return Err(GpuError::Taken { address: start, bytes, given });
            }
        }
        for (start, bytes) in rounded(places, PAGE) {
            self.map_pages(start, bytes as usize)?;
        }
        self.synchronize()
    }

    fn map_pages(&mut self, address: u64, bytes: usize) -> Result<(), GpuError> {
        let location = Location { kind: 1, id: self.device };
        let properties =
            AllocationProperties { kind: 1, handle_types: 0, location, meta_data: std::ptr::null_mut(), flags: [0; 8] };
        let access = AccessDescription { location, flags: 3 };
        let mut handle = 0;
        // SAFETY: the pointers are to variables of the right types; the addresses are reserved.
        unsafe {
            self.driver.create_memory(&raw mut handle, bytes, &raw const properties, 0)?;
            self.driver.map(address, bytes, 0, handle, 0)?;
            self.mapped.push(Mapping { address, bytes, handle });
            self.driver.set_access(address, bytes, &raw const access, 1)?;
            self.driver.fill_bytes(address, 0, bytes)
        }
    }

    /// Allocates memory where the driver likes; it is freed with the GPU.
    ///
    /// # Errors
    /// If there is not enough.
    pub fn allocate(&self, bytes: u64) -> Result<u64, GpuError> {
        let mut address = 0;
        // SAFETY: the pointer is to a variable of the right type.
        unsafe { self.driver.allocate(&raw mut address, bytes.max(1) as usize)? };
        Ok(address)
    }

    /// Gives back what [`allocate`](Self::allocate) gave.
    ///
    /// # Errors
    /// If it was not allocated so.
    pub fn free(&self, address: u64) -> Result<(), GpuError> {
        // SAFETY: the driver checks the address.
        unsafe { self.driver.free(address) }
    }

    /// Writes bytes to the device.
    ///
    /// # Errors
    /// If they are not all mapped, or an earlier launch failed.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), GpuError> {
        // SAFETY: the source is a slice; the driver checks the device's addresses.
        unsafe { self.driver.copy_in(address, bytes.as_ptr().cast(), bytes.len()) }
    }

    /// Writes zeros to the device.
    ///
    /// # Errors
    /// If they are not all mapped, or an earlier launch failed.
    pub fn fill(&self, address: u64, bytes: u64) -> Result<(), GpuError> {
        // SAFETY: the driver checks the device's addresses.
        unsafe { self.driver.fill_bytes(address, 0, bytes as usize) }
    }

    /// Reads bytes of the device.
    ///
    /// # Errors
    /// If they are not all mapped, or an earlier launch failed.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), GpuError> {
        // SAFETY: the destination is a slice; the driver checks the device's addresses.
        unsafe { self.driver.copy_out(bytes.as_mut_ptr().cast(), address, bytes.len()) }
    }

    /// Waits for what was launched.
    ///
    /// # Errors
    /// What a kernel did wrong.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        // SAFETY: nothing is asked of the caller.
        unsafe { self.driver.synchronize() }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: the context and the mappings are ours, and nobody uses them any more. Errors cannot be helped here.
        unsafe {
            let _ = self.driver.synchronize();
            for mapping in &self.mapped {
                let _ = self.driver.unmap(mapping.address, mapping.bytes);
                let _ = self.driver.release_memory(mapping.handle);
            }
            for &(address, bytes) in &self.reserved {
                let _ = self.driver.release_addresses(address, bytes);
            }
            let _ = self.driver.destroy_context(self.context);
        }
    }
}

/// The places in whole units, in order, joined where they touch.
fn rounded(places: &[(u64, u64)], unit: u64) -> Vec<(u64, u64)> {
    let round = |&(address, bytes): &(u64, u64)| {
        (address / unit * unit, address.saturating_add(bytes.max(1)).div_ceil(unit).saturating_mul(unit))
    };
    let mut ranges: Vec<(u64, u64)> = places.iter().map(round).collect();
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match joined.last_mut() {
            Some((_, last)) if *last >= start => *last = end.max(*last),
            _ => joined.push((start, end)),
        }
    }
    joined.into_iter().map(|(start, end)| (start, end - start)).collect()
}

fn name(driver: &Driver, device: c_int) -> Result<String, GpuError> {
    let mut name = [0u8; 256];
    // SAFETY: the driver writes at most as many bytes as it is told, and ends them with zero.
    unsafe { driver.device_name(name.as_mut_ptr().cast::<c_char>(), name.len() as c_int, device)? };
    Ok(CStr::from_bytes_until_nul(&name).map_or_else(|_| "?".to_owned(), |name| name.to_string_lossy().into_owned()))
}

fn attribute(driver: &Driver, device: c_int, attribute: c_int) -> Result<i32, GpuError> {
    let mut value = 0;
    // SAFETY: the pointer is to a variable of the right type.
    unsafe { driver.device_attribute(&raw mut value, attribute, device)? };
    Ok(value)
}

/// A clock that an attribute gives in kHz.
fn clock_mhz(driver: &Driver, device: c_int, clock: c_int) -> Result<u32, GpuError> {
    attribute(driver, device, clock).map(|khz| khz.unsigned_abs() / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_rounded_to_whole_units_and_joined() {
        assert_eq!(
            rounded(&[(0x1200, 0x100), (0x100, 1), (0x2000, 0x10), (0x9fff, 2)], 0x1000),
            [(0, 0x3000), (0x9000, 0x2000)]
        );
        assert_eq!(rounded(&[(0x1000, 0)], 0x1000), [(0x1000, 0x1000)]);
        assert_eq!(rounded(&[], PAGE), []);
    }
}
