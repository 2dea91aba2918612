//! The functions of the driver that we call, by the names in `cuda.h`.

use crate::error::GpuError;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// A handle of the driver: a context, module or function.
pub(crate) type Handle = *mut c_void;

/// `CUmemAllocationProp`: where memory comes from.
#[repr(C)]
pub(crate) struct AllocationProperties {
    /// `CU_MEM_ALLOCATION_TYPE_PINNED` is 1.
    pub(crate) kind: c_int,
    pub(crate) handle_types: c_int,
    pub(crate) location: Location,
    pub(crate) meta_data: *mut c_void,
    pub(crate) flags: [u8; 8],
}

/// `CUmemLocation`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Location {
    /// `CU_MEM_LOCATION_TYPE_DEVICE` is 1.
    pub(crate) kind: c_int,
    pub(crate) id: c_int,
}

/// `CUmemAccessDesc`
#[repr(C)]
pub(crate) struct AccessDescription {
    pub(crate) location: Location,
    /// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE` is 3.
    pub(crate) flags: c_int,
}

/// `CUlaunchConfig`
#[repr(C)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_bytes: c_uint,
    pub(crate) stream: Handle,
    pub(crate) attributes: *mut LaunchAttribute,
    pub(crate) attribute_count: c_uint,
}

/// `CUlaunchAttribute`
#[repr(C)]
pub(crate) struct LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE` is 2.
    pub(crate) id: c_int,
    pub(crate) padding: c_int,
    pub(crate) value: [u64; 8],
}

/// `cuGetErrorName`
type ErrorName = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;

macro_rules! driver {
    ($($name:ident = $symbol:literal ($($arg:ident: $ty:ty),*);)*) => {
        /// The driver's functions.
        pub(crate) struct Driver {
            $($name: unsafe extern "C" fn($($ty),*) -> c_int,)*
            error_name: ErrorName,
            /// Keeps the functions in memory.
            _library: Library,
        }

        impl Driver {
            /// Loads the driver.
            pub(crate) fn load() -> Result<Self, GpuError> {
                // SAFETY: the driver's library may be loaded by any process; it starts nothing until `cuInit`.
                let library = unsafe { Library::new("libcuda.so.1") }.map_err(|error| GpuError::NoDriver(error.to_string()))?;
                Ok(Self {
                    $($name: {
                        // SAFETY: the type is that of the function in `cuda.h`.
                        let found = unsafe { library.get::<unsafe extern "C" fn($($ty),*) -> c_int>($symbol) };
                        *found.map_err(|_| GpuError::Missing(stringify!($name)))?
                    },)*
                    error_name: {
                        // SAFETY: as above.
                        let found = unsafe { library.get::<ErrorName>(b"cuGetErrorName") };
                        *found.map_err(|_| GpuError::Missing("error_name"))?
                    },
                    _library: library,
                })
            }

            $(
                /// Calls the function of this name.
                ///
                /// # Safety
                /// The caller upholds what `cuda.h` asks of the arguments.
                pub(crate) unsafe fn $name(&self, $($arg: $ty),*) -> Result<(), GpuError> {
                    // SAFETY: as the caller says.
                    let code = unsafe { (self.$name)($($arg),*) };
                    if code == 0 { Ok(()) } else { Err(GpuError::Call { call: stringify!($name), name: self.name_of(code) }) }
                }
            )*
        }
    };
}

driver! {
    init = b"cuInit" (flags: c_uint);
    driver_version = b"cuDriverGetVersion" (version: *mut c_int);
    device_count = b"cuDeviceGetCount" (count: *mut c_int);
    device = b"cuDeviceGet" (device: *mut c_int, ordinal: c_int);
    device_name = b"cuDeviceGetName" (name: *mut c_char, bytes: c_int, device: c_int);
    device_attribute = b"cuDeviceGetAttribute" (value: *mut c_int, attribute: c_int, device: c_int);
    create_context = b"cuCtxCreate_v2" (context: *mut Handle, flags: c_uint, device: c_int);
    destroy_context = b"cuCtxDestroy_v2" (context: Handle);
    set_limit = b"cuCtxSetLimit" (limit: c_int, value: usize);
    synchronize = b"cuCtxSynchronize" ();
    load_module = b"cuModuleLoadDataEx" (
        module: *mut Handle, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut *mut c_void
    );
    unload_module = b"cuModuleUnload" (module: Handle);
    function = b"cuModuleGetFunction" (function: *mut Handle, module: Handle, name: *const c_char);
    global = b"cuModuleGetGlobal_v2" (address: *mut u64, bytes: *mut usize, module: Handle, name: *const c_char);
    function_attribute = b"cuFuncGetAttribute" (value: *mut c_int, attribute: c_int, function: Handle);
    resident_blocks = b"cuOccupancyMaxActiveBlocksPerMultiprocessor" (
        blocks: *mut c_int, function: Handle, threads: c_int, shared_bytes: usize
    );
    create_event = b"cuEventCreate" (event: *mut Handle, flags: c_uint);
    record_event = b"cuEventRecord" (event: Handle, stream: Handle);
    elapsed = b"cuEventElapsedTime" (milliseconds: *mut f32, start: Handle, end: Handle);
    destroy_event = b"cuEventDestroy_v2" (event: Handle);
    set_function_attribute = b"cuFuncSetAttribute" (function: Handle, attribute: c_int, value: c_int);
    launch = b"cuLaunchKernelEx" (
        config: *const LaunchConfig, function: Handle, params: *mut *mut c_void, extra: *mut *mut c_void
    );
    allocate = b"cuMemAlloc_v2" (address: *mut u64, bytes: usize);
    free = b"cuMemFree_v2" (address: u64);
    reserve = b"cuMemAddressReserve" (address: *mut u64, bytes: usize, alignment: usize, wanted: u64, flags: u64);
    release_addresses = b"cuMemAddressFree" (address: u64, bytes: usize);
    create_memory = b"cuMemCreate" (handle: *mut u64, bytes: usize, properties: *const AllocationProperties, flags: u64);
    release_memory = b"cuMemRelease" (handle: u64);
    map = b"cuMemMap" (address: u64, bytes: usize, offset: usize, handle: u64, flags: u64);
    unmap = b"cuMemUnmap" (address: u64, bytes: usize);
    set_access = b"cuMemSetAccess" (address: u64, bytes: usize, access: *const AccessDescription, count: usize);
    copy_in = b"cuMemcpyHtoD_v2" (to: u64, from: *const c_void, bytes: usize);
    copy_out = b"cuMemcpyDtoH_v2" (to: *mut c_void, from: u64, bytes: usize);
    fill_bytes = b"cuMemsetD8_v2" (to: u64, value: u8, count: usize);
}

impl Driver {
    /// The driver's name of an error code.
    fn name_of(&self, code: c_int) -> String {
        let mut name = std::ptr::null();
        // SAFETY: the driver stores a pointer to a text of its own, or none.
        if unsafe { (self.error_name)(code, &raw mut name) } != 0 || name.is_null() {
            return format!("error {code}");
        }
        // SAFETY: the driver's texts end in zero and live as long as the driver.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Driver")
    }
}
