//! Kernels: what they need, what the application wants of them, and how many run at a time.

use std::ffi::{CString, c_char};

use super::entry::{entry_points, explained};
use crate::abi::types::FuncAttributes;
use crate::abi::{In, Out};
use crate::code::Code;
use crate::report::fails;
use crate::runtime::launch::dynamic_shared;
use crate::runtime::modules::Kernel;
use crate::runtime::{self, occupancy, spec};

/// `cudaFuncAttributeMaxDynamicSharedMemorySize` and its neighbours.
const MAX_DYNAMIC_SHARED: i32 = 8;
const CARVEOUT: i32 = 9;
const CLUSTER_ATTRIBUTES: std::ops::RangeInclusive<i32> = 10..=15;

fn kernel(function: u64) -> Result<Kernel, Code> {
    runtime::with(|runtime| {
        runtime.check()?;
        runtime.kernel(function)
    })
}

fn attributes(kernel: &Kernel) -> FuncAttributes {
    FuncAttributes {
        shared_size_bytes: u64::from(kernel.info.static_shared_bytes),
        const_size_bytes: 0,
        local_size_bytes: u64::from(kernel.info.local_bytes),
        max_threads_per_block: occupancy::max_threads(&kernel.info) as i32,
        num_regs: occupancy::registers(&kernel.info) as i32,
        ptx_version: kernel.arch as i32,
        binary_version: spec::ARCH as i32,
        cache_mode_ca: 0,
        max_dynamic_shared_size_bytes: dynamic_shared(kernel) as i32,
        preferred_shmem_carveout: kernel.function.carveout,
        cluster_dim_must_be_set: 0,
        required_cluster_width: 0,
        required_cluster_height: 0,
        required_cluster_depth: 0,
        cluster_scheduling_policy_preference: 0,
        non_portable_cluster_size_allowed: 0,
        reserved: [0; 16],
    }
}

fn set_attribute(function: u64, attribute: i32, value: i32) -> Result<(), Code> {
    let static_shared = kernel(function)?.info.static_shared_bytes;
    let most = spec::SHARED_OPT_IN - static_shared.min(spec::SHARED_OPT_IN as u32) as i32;
    runtime::with(|runtime| {
        let function = runtime.modules.function_mut(function)?;
        match attribute {
            MAX_DYNAMIC_SHARED if !(0..=most).contains(&value) => {
                let asked = format_args!("{value} bytes of dynamic shared memory; the kernel can have {most}");
                return Err(fails(Code::INVALID_VALUE, asked));
            }
            MAX_DYNAMIC_SHARED => function.dynamic_shared = Some(value),
            CARVEOUT if (-1..=100).contains(&value) => function.carveout = value,
            attribute if CLUSTER_ATTRIBUTES.contains(&attribute) => return Err(Code::NOT_SUPPORTED),
            _ => return Err(Code::INVALID_VALUE),
        }
        Ok(())
    })
}

fn max_blocks(function: u64, threads: i32, dynamic_shared: u64) -> Result<i32, Code> {
    let kernel = kernel(function)?;
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0).ok_or(Code::INVALID_VALUE)?;
    Ok(occupancy::blocks(&kernel.info, threads, dynamic_shared) as i32)
}

/// Its errors do not become the last error, in libcudart 13.0 as here.
#[unsafe(no_mangle)]
extern "C" fn cudaFuncSetAttribute(function: u64, attribute: i32, value: i32) -> Code {
    let set = || set_attribute(function, attribute, value).err().unwrap_or(Code::SUCCESS);
    explained("cudaFuncSetAttribute", set)
}

entry_points! {
    [cudaFuncGetAttributes] (to: Out<FuncAttributes>, function: u64) {
        if to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        to.put(attributes(&kernel(function)?))
    }

    [cudaKernelSetAttributeForDevice] (function: u64, attribute: i32, value: i32, device: i32) {
        super::devices::check_device(device)?;
        set_attribute(function, attribute, value)
    }

    [cudaFuncSetCacheConfig cudaFuncSetSharedMemConfig] (function: u64, _config: i32) {
        runtime::with(|runtime| runtime.modules.function(function).map(drop))
    }

    [cudaFuncGetName] (to: Out<*const c_char>, function: u64) {
        let name = runtime::with(|runtime| Ok(runtime.modules.function(function)?.name.clone()))?;
        // The application may keep it as long as it likes, so it is never freed.
        let name = CString::new(name).map_err(|_| Code::UNKNOWN)?;
        to.put(name.into_raw().cast_const())
    }

    [cudaFuncGetParamInfo] (function: u64, index: u64, offset: Out<u64>, bytes: Out<u64>) {
        let kernel = runtime::with(|runtime| {
            runtime.check()?;
            runtime.declared(function)
        })?;
        let param = usize::try_from(index).ok().and_then(|index| kernel.info.params.get(index).copied());
        let param = param.ok_or(Code::INVALID_VALUE)?;
        offset.put(u64::from(param.offset))?;
        bytes.put_if_wanted(u64::from(param.bytes));
        Ok(())
    }

    [cudaGetFuncBySymbol cudaGetKernel __cudaGetKernel] (to: Out<u64>, function: u64) {
        runtime::with(|runtime| runtime.modules.function(function).map(drop))?;
        // A kernel's handle is the address of its stub: so all calls take either.
        to.put(function)
    }

    [cudaOccupancyMaxActiveBlocksPerMultiprocessor] (blocks: Out<i32>, function: u64, threads: i32, dynamic_shared: u64) {
        blocks.put(max_blocks(function, threads, dynamic_shared)?)
    }

    [cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags] (
        blocks: Out<i32>, function: u64, threads: i32, dynamic_shared: u64, flags: u32,
    ) {
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        blocks.put(max_blocks(function, threads, dynamic_shared)?)
    }

    [cudaOccupancyAvailableDynamicSMemPerBlock] (bytes: Out<u64>, function: u64, blocks: i32, threads: i32) {
        let kernel = kernel(function)?;
        let blocks = u32::try_from(blocks).ok().filter(|&blocks| blocks > 0).ok_or(Code::INVALID_VALUE)?;
        if threads <= 0 {
            return Err(Code::INVALID_VALUE);
        }
        bytes.put(occupancy::available_shared(&kernel.info, blocks))
    }

    [cudaOccupancyMaxPotentialClusterSize cudaOccupancyMaxActiveClusters] (number: Out<i32>, function: u64, _config: In<i32>) {
        kernel(function)?;
        number.put(0)?;
        Err(Code::NOT_SUPPORTED)
    }
}
