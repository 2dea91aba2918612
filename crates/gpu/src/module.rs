//! Modules on the GPU: PTX compiled by the driver, its variables, its kernels.

use crate::driver::{Handle, LaunchAttribute, LaunchConfig};
use crate::error::GpuError;
use crate::gpu::Gpu;
use std::ffi::{CString, c_int, c_void};

/// A loaded module.
#[derive(Debug)]
pub struct LoadedModule<'g> {
    gpu: &'g Gpu,
    handle: Handle,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
}

/// Options of `cuModuleLoadDataEx`.
const ERROR_LOG: c_int = 5;
const ERROR_LOG_BYTES: c_int = 6;
const OPTIMIZATION_LEVEL: c_int = 7;
/// Attribute of a function: the most dynamic shared memory that a launch may ask for.
const MAX_DYNAMIC_SHARED: c_int = 8;
/// Attributes of a function: bytes of local memory and registers of a thread.
const LOCAL_BYTES: c_int = 3;
const REGISTERS: c_int = 4;
/// Attribute of a launch: all blocks at once.
const COOPERATIVE: c_int = 2;
/// Dynamic shared memory that needs no permission.
const SHARED_FOR_ALL: u32 = 48 << 10;

impl Gpu {
    /// Compiles and loads PTX.
    ///
    /// # Errors
    /// If the driver's compiler refuses it; the error holds what it said.
    pub fn load(&self, ptx: &str) -> Result<LoadedModule<'_>, GpuError> {
        self.load_at(ptx, 4)
    }

    /// As [`load`](Self::load), compiled at a level of optimisation from 0 to 4.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_at(&self, ptx: &str, level: u8) -> Result<LoadedModule<'_>, GpuError> {
        let image = CString::new(ptx).map_err(|_| GpuError::Refused {
            name: "not a text".to_owned(),
            said: "there is a zero byte in it".to_owned(),
        })?;
        let mut log = vec![0u8; 4096];
        let mut options = [ERROR_LOG, ERROR_LOG_BYTES, OPTIMIZATION_LEVEL];
        // Numbers are passed in place of pointers.
        let number = std::ptr::without_provenance_mut::<c_void>;
        let mut values = [log.as_mut_ptr().cast(), number(log.len()), number(usize::from(level))];
        let mut handle = std::ptr::null_mut();
        // SAFETY: the image ends in zero; the log has as many bytes as it says; both outlive the call.
        let loaded = unsafe {
            self.driver.load_module(
                &raw mut handle,
                image.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        loaded.map_err(|error| match error {
            GpuError::Call { name, .. } => {
                let said = String::from_utf8_lossy(&log).replace('\0', " ");
                GpuError::Refused { name, said: said.split_whitespace().collect::<Vec<_>>().join(" ") }
            }
            other => other,
        })?;
        Ok(LoadedModule { gpu: self, handle })
    }
}

impl LoadedModule<'_> {
    /// Where a variable is, and its size.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn global(&self, name: &str) -> Result<(u64, u64), GpuError> {
        let (mut address, mut bytes) = (0, 0);
        let name = c_name(name)?;
        // SAFETY: the name ends in zero; the pointers are to variables of the right types.
        unsafe { self.gpu.driver.global(&raw mut address, &raw mut bytes, self.handle, name.as_ptr())? };
        Ok((address, bytes as u64))
    }

    /// Starts a kernel; `params` are its arguments as its `.param` layout has them.
    ///
    /// # Errors
    /// If there is no such kernel, or the device refuses the launch.
    pub fn launch(&self, kernel: &str, shape: LaunchShape, params: &[u8]) -> Result<(), GpuError> {
        let (driver, name) = (&self.gpu.driver, c_name(kernel)?);
        let mut function = std::ptr::null_mut();
        // SAFETY: the name ends in zero; the pointer is to a variable of the right type.
        unsafe { driver.function(&raw mut function, self.handle, name.as_ptr())? };
        if shape.shared_bytes > SHARED_FOR_ALL {
            // SAFETY: the function is the driver's own.
            unsafe { driver.set_function_attribute(function, MAX_DYNAMIC_SHARED, shape.shared_bytes as c_int)? };
        }
        let mut attribute = LaunchAttribute { id: COOPERATIVE, padding: 0, value: [1, 0, 0, 0, 0, 0, 0, 0] };
        let config = LaunchConfig {
            grid: shape.grid,
            block: shape.block,
            shared_bytes: shape.shared_bytes,
            stream: std::ptr::null_mut(),
            attributes: &raw mut attribute,
            attribute_count: u32::from(shape.cooperative),
        };
        let mut bytes = params.len();
        // CU_LAUNCH_PARAM_BUFFER_POINTER, its value, CU_LAUNCH_PARAM_BUFFER_SIZE, its value, CU_LAUNCH_PARAM_END.
        let mut extra: [*mut c_void; 5] = [
            std::ptr::without_provenance_mut(1),
            params.as_ptr().cast_mut().cast(),
            std::ptr::without_provenance_mut(2),
            (&raw mut bytes).cast(),
            std::ptr::null_mut(),
        ];
        // SAFETY: the configuration, the arguments and their size outlive the call, which copies them.
        unsafe { driver.launch(&raw const config, function, std::ptr::null_mut(), extra.as_mut_ptr()) }
    }
}

/// The resources that the driver's compiler gave a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelResources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread, where registers that found no place are spilled.
    pub local_bytes: u32,
    /// Blocks that a multiprocessor holds at once.
    pub resident_blocks: u32,
}

impl LoadedModule<'_> {
    /// The resources that the driver's compiler gave a kernel, and its occupancy with blocks of this shape.
    ///
    /// # Errors
    /// If the module lacks it.
    pub fn resources(&self, kernel: &str, shape: LaunchShape) -> Result<KernelResources, GpuError> {
        let (driver, name) = (&self.gpu.driver, c_name(kernel)?);
        let (mut function, mut registers, mut local_bytes, mut blocks) = (std::ptr::null_mut(), 0, 0, 0);
        let threads: u32 = shape.block.iter().product();
        // SAFETY: the name ends in zero; the pointers are to variables of the right types.
        unsafe {
            driver.function(&raw mut function, self.handle, name.as_ptr())?;
            driver.function_attribute(&raw mut registers, REGISTERS, function)?;
            driver.function_attribute(&raw mut local_bytes, LOCAL_BYTES, function)?;
            driver.resident_blocks(&raw mut blocks, function, threads.cast_signed(), shape.shared_bytes as usize)?;
        }
        Ok(KernelResources {
            registers: registers.unsigned_abs(),
            local_bytes: local_bytes.unsigned_abs(),
            resident_blocks: blocks.unsigned_abs(),
        })
    }

    /// Runs a kernel to its end with `input` and `output` in memory of its own; `params` makes its arguments from their
    /// addresses. What the kernel leaves is in `output` afterwards.
    ///
    /// # Errors
    /// If there is not enough memory, the device refuses the launch, or the kernel fails.
    pub fn run(
        &self,
        kernel: &str,
        shape: LaunchShape,
        input: &[u8],
        output: &mut [u8],
        params: impl FnOnce(u64, u64) -> Vec<u8>,
    ) -> Result<(), GpuError> {
        let gpu = self.gpu;
        let (from, to) = (gpu.allocate(input.len() as u64)?, gpu.allocate(output.len() as u64)?);
        gpu.write(from, input)?;
        gpu.write(to, output)?;
        self.launch(kernel, shape, &params(from, to))?;
        gpu.synchronize()?;
        gpu.read(to, output)?;
        gpu.free(from)?;
        gpu.free(to)
    }
}

impl Drop for LoadedModule<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is ours. After an error that stays this fails, and the context takes the module with it.
        let _ = unsafe { self.gpu.driver.unload_module(self.handle) };
    }
}

fn c_name(name: &str) -> Result<CString, GpuError> {
    CString::new(name).map_err(|_| GpuError::Call { call: "find a name with a zero byte", name: name.to_owned() })
}
