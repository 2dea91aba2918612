//! How long a kernel takes, by the device's own clock.

use crate::driver::Handle;
use crate::error::GpuError;
use crate::gpu::Gpu;

/// Two events, between which the device measures.
#[derive(Debug)]
pub(crate) struct Stopwatch<'g> {
    gpu: &'g Gpu,
    events: [Handle; 2],
}

impl<'g> Stopwatch<'g> {
    pub(crate) fn new(gpu: &'g Gpu) -> Result<Self, GpuError> {
        let mut events = [std::ptr::null_mut(); 2];
        for event in &mut events {
            // SAFETY: the pointer is to a variable of the right type.
            unsafe { gpu.driver.create_event(&raw mut *event, 0)? };
        }
        Ok(Self { gpu, events })
    }

    /// Begins, when the device gets here.
    pub(crate) fn start(&self) -> Result<(), GpuError> {
        // SAFETY: the event is ours; no stream means the one that everything here is in.
        unsafe { self.gpu.driver.record_event(self.events[0], std::ptr::null_mut()) }
    }

    /// Waits until the device is done, and says how many seconds it took since the start.
    pub(crate) fn stop(&self) -> Result<f64, GpuError> {
        let mut milliseconds = 0.0;
        // SAFETY: as above; both events have been recorded once the device is done.
        unsafe {
            self.gpu.driver.record_event(self.events[1], std::ptr::null_mut())?;
            self.gpu.synchronize()?;
            self.gpu.driver.elapsed(&raw mut milliseconds, self.events[0], self.events[1])?;
        }
        Ok(f64::from(milliseconds) * 1e-3)
    }
}

impl Drop for Stopwatch<'_> {
    fn drop(&mut self) {
        for event in self.events {
            // SAFETY: the event is ours, and nothing uses it any more.
            let _ = unsafe { self.gpu.driver.destroy_event(event) };
        }
    }
}
