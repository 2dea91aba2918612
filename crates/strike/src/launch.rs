//! A launch on a device with a fault in it.

use crate::hit::Hit;
use crate::injected::Injected;
use capsule::Launch;
use device::{Device, DeviceError, Launched, Probe};
use fault::Fault;
use simt::Fuel;

/// Runs a launch to its end, each thread with so much fuel, and a fault in the launch if one is given. What the fault
/// hit is told with it; the instructions of [`Launched::thread_instructions`] are those of its thread.
///
/// # Errors
/// If the kernel does not exist or cannot be run, or the launch asks for what no device has.
pub fn launch(
    device: &mut Device,
    launch: &Launch,
    fuel: Fuel<'_>,
    fault: Option<&Fault>,
) -> Result<(Launched, Option<Injected>), DeviceError> {
    let Some(fault) = fault else { return Ok((device.launch_with(launch, fuel, None)?, None)) };
    let mut hit = Hit::new(fault);
    let probe = Probe { block: fault.cta, thread: fault.thread, hook: &mut hit };
    let launched = device.launch_with(launch, fuel, Some(probe))?;
    Ok((launched, Some(hit.injected)))
}
