//! Launching kernels.

use std::cell::RefCell;

use super::entry::{call, entry_points};
use crate::abi::types::{Dim3, LaunchAttribute, LaunchConfig};
use crate::abi::{Args, In, Out, pointer};
use crate::code::Code;
use crate::report::say;
use crate::runtime;
use crate::runtime::work::LaunchShape;

/// `cudaLaunchAttributeID`: the ones that mean something here.
const COOPERATIVE: i32 = 2;
const CLUSTER: i32 = 4;
const PROGRAMMATIC_EVENT: i32 = 7;
const COMPLETION_EVENT: i32 = 12;
const DEVICE_UPDATABLE: i32 = 13;
/// No launch has so many attributes.
const MOST_ATTRIBUTES: u32 = 64;

/// What `<<<…>>>` says, on its way to the stub that launches.
#[derive(Debug, Clone, Copy)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: u64,
    stream: u64,
}

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

fn launch(function: u64, shape: LaunchShape, args: Args, stream: u64) -> Result<(), Code> {
    runtime::with(|runtime| runtime.launch(function, shape, args, stream))
}

/// The attributes of a launch: whether it is cooperative, and the events that happen with it.
fn attributes(config: &LaunchConfig) -> Result<(bool, Vec<u64>), Code> {
    let (mut cooperative, mut events) = (false, Vec::new());
    if config.num_attrs > MOST_ATTRIBUTES {
        return Err(Code::INVALID_VALUE);
    }
    for index in 0..u64::from(config.num_attrs) {
        let place = config.attrs.wrapping_add(index * size_of::<LaunchAttribute>() as u64);
        let place = if config.attrs == 0 { 0 } else { place };
        // SAFETY: the application says that so many attributes stand there.
        let attribute: LaunchAttribute = unsafe { pointer::value_at(place)? };
        let [first, second, ..] = attribute.val;
        match attribute.id {
            COOPERATIVE => cooperative = first as u32 != 0,
            // x and y are 1 in the first word, z in the second.
            CLUSTER if first != 1 << 32 | 1 || second as u32 != 1 => {
                say("launches in clusters of blocks are not supported: the device has compute capability 8.0");
                return Err(Code::NOT_SUPPORTED);
            }
            PROGRAMMATIC_EVENT | COMPLETION_EVENT => events.push(first),
            DEVICE_UPDATABLE => return Err(Code::NOT_SUPPORTED),
            // Priorities, policies, preferences: they change no result.
            _ => {}
        }
    }
    Ok((cooperative, events))
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: u64, stream: u64) -> u32 {
    let code = call("__cudaPushCallConfiguration", || {
        let configuration = Configuration { grid, block, shared, stream };
        let pushed = CONFIGURATIONS.try_with(|stack| stack.borrow_mut().push(configuration));
        pushed.map_err(|_| Code::CUDART_UNLOADING)
    });
    code.0.unsigned_abs()
}

entry_points! {
    [__cudaPopCallConfiguration] (grid: Out<Dim3>, block: Out<Dim3>, shared: Out<u64>, stream: Out<u64>) {
        let popped = CONFIGURATIONS.try_with(|stack| stack.borrow_mut().pop());
        let popped = popped.ok().flatten().ok_or(Code::MISSING_CONFIGURATION)?;
        grid.put(popped.grid)?;
        block.put(popped.block)?;
        shared.put(popped.shared)?;
        stream.put(popped.stream)
    }

    [cudaLaunchKernel cudaLaunchKernel_ptsz __cudaLaunchKernel __cudaLaunchKernel_ptsz] (
        function: u64, grid: Dim3, block: Dim3, args: Args, shared: u64, stream: u64,
    ) {
        launch(function, LaunchShape { grid, block, shared, cooperative: false }, args, stream)
    }

    [cudaLaunchCooperativeKernel cudaLaunchCooperativeKernel_ptsz] (
        function: u64, grid: Dim3, block: Dim3, args: Args, shared: u64, stream: u64,
    ) {
        launch(function, LaunchShape { grid, block, shared, cooperative: true }, args, stream)
    }

    [cudaLaunchKernelExC cudaLaunchKernelExC_ptsz] (config: In<LaunchConfig>, function: u64, args: Args) {
        let config = config.get()?;
        let (cooperative, events) = attributes(&config)?;
        let LaunchConfig { grid, block, dynamic_smem_bytes: shared, stream, .. } = config;
        launch(function, LaunchShape { grid, block, shared, cooperative }, args, stream)?;
        runtime::with(|runtime| {
            let now = runtime.gpu.nanoseconds();
            events.iter().try_for_each(|&event| runtime.streams.record(event, now))
        })
    }
}
