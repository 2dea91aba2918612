//! The debugger, and the GPUs that its sessions run on.
//!
//! Sessions on one GPU take turns, and a kernel that hangs takes them all. So where `CUDA_VISIBLE_DEVICES` names several
//! GPUs, each session gets one of them: the one with the fewest sessions.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The variable by which the driver is told of devices.
pub(crate) const VARIABLE: &str = "CUDA_VISIBLE_DEVICES";

/// Where sessions come from.
#[derive(Debug)]
pub(crate) struct Debugger {
    program: PathBuf,
    /// Empty where the application sees what it sees.
    devices: Vec<String>,
    sessions: Mutex<Vec<u32>>,
}

/// A device, for the time of a session.
#[derive(Debug)]
pub(crate) struct Lease<'d> {
    debugger: &'d Debugger,
    at: usize,
}

impl Debugger {
    /// A debugger, with the devices of the environment.
    pub(crate) fn new(program: &Path) -> Self {
        Self::with_devices(program, &env::var(VARIABLE).unwrap_or_default())
    }

    fn with_devices(program: &Path, devices: &str) -> Self {
        let devices: Vec<String> = devices.split(',').map(|device| device.trim().to_owned()).collect();
        let devices = if devices.len() > 1 { devices } else { Vec::new() };
        let sessions = Mutex::new(vec![0; devices.len()]);
        Self { program: program.to_owned(), devices, sessions }
    }

    /// The program.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// A device for a session, if there are several.
    pub(crate) fn lease(&self) -> Option<Lease<'_>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, count) = sessions.iter_mut().enumerate().min_by_key(|(_, count)| **count)?;
        *count += 1;
        Some(Lease { debugger: self, at })
    }
}

impl Lease<'_> {
    /// The device, as the driver is told.
    pub(crate) fn device(&self) -> &str {
        &self.debugger.devices[self.at]
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut sessions = self.debugger.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions[self.at] = sessions[self.at].saturating_sub(1);
    }
}

/// How many sessions there are at once if nobody says: one for each device.
#[must_use]
pub fn sessions() -> usize {
    let devices = env::var(VARIABLE).unwrap_or_default();
    devices.split(',').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_spread_over_the_devices_that_are_named() {
        let debugger = Debugger::with_devices(Path::new("cuda-gdb"), "0, 2");
        let (one, two) = (debugger.lease().unwrap(), debugger.lease().unwrap());
        assert_eq!((one.device(), two.device()), ("0", "2"));
        drop(two);
        assert_eq!(debugger.lease().unwrap().device(), "2");
    }

    #[test]
    fn one_device_is_nobodys() {
        for devices in ["", "1", "GPU-8932f937"] {
            assert!(Debugger::with_devices(Path::new("cuda-gdb"), devices).lease().is_none(), "{devices}");
        }
    }
}
