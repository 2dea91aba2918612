//! A recorded launch as the machine wants it, checked against its kernel.

use crate::error::DeviceError;
use capsule::Launch;
use simt::Program;
use simt::program::RESERVED_SHARED;

/// Static and dynamic shared memory that a block may have, in bytes: what a compute capability 9.0 device allows.
pub const MAX_SHARED: u32 = 227 << 10;

/// A recorded launch as the machine wants it.
#[must_use]
pub fn runnable<'a>(launch: &'a Launch, program: &'a Program) -> simt::KernelLaunch<'a> {
    simt::KernelLaunch {
        program,
        grid: launch.grid,
        block: launch.block,
        dynamic_shared: launch.shared_bytes,
        params: &launch.params,
        cooperative: launch.cooperative,
        interleaving: simt::Interleaving::default(),
        waits: false,
    }
}

/// Checks what the capsule format cannot: the launch against its kernel.
///
/// # Errors
/// If arguments are missing, shared memory is too large, or more blocks have to run together than a device holds.
pub fn check_launch(launch: &Launch, program: &Program) -> Result<(), DeviceError> {
    let refuse = |what: String| Err(DeviceError::Launch { kernel: launch.kernel.clone(), what });
    if launch.params.len() < program.param_bytes as usize {
        return refuse(format!("{} bytes of arguments where {} belong", launch.params.len(), program.param_bytes));
    }
    let shared = u64::from(program.dynamic_start() - RESERVED_SHARED) + u64::from(launch.shared_bytes);
    if shared > u64::from(MAX_SHARED) {
        return refuse(format!("{shared} bytes of shared memory; a block can have {MAX_SHARED}"));
    }
    if launch.threads_per_block() == 0 || launch.threads_per_block() > 1024 || launch.blocks() == 0 {
        return refuse(format!("grid {:?} of blocks {:?}", launch.grid, launch.block));
    }
    let (blocks, most) = (launch.blocks(), runnable(launch, program).resident());
    if launch.cooperative && blocks > most {
        return refuse(format!(
            "a cooperative grid of {blocks} blocks, which all have to run at once; a device holds {most} of this size"
        ));
    }
    Ok(())
}
