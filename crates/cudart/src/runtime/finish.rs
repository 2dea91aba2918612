//! The end of the process: the recording is written.
//!
//! It is written when the last fat binary is unregistered, as happens in every ordinary exit, and once more from our
//! own destructor if anything came after that, for example destructors of the application that free memory. An
//! application that leaves by `_exit`, `_Exit` or `quick_exit` comes by here, too. After `abort`, a signal or the system
//! call itself there is no recording.

use std::process;
use std::sync::TryLockError;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use super::state::{Inside, RUNTIME};
use crate::report::say;

/// How often and how long to wait for another thread that is in the middle of a call.
const ATTEMPTS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// The process that records; 0 if none does.
static RECORDING: AtomicU32 = AtomicU32::new(0);

// As glibc declares it.
unsafe extern "C" {
    fn at_quick_exit(handler: extern "C" fn()) -> i32;
}

/// What `quick_exit` calls, which runs no destructors.
extern "C" fn quick_exit_handler() {
    if is_recording() {
        // What panics has been said; the process ends in any case.
        let _ = std::panic::catch_unwind(write_recording);
    }
}

/// This process has begun to record.
pub(super) fn begin_recording() {
    RECORDING.store(process::id(), Ordering::Relaxed);
    // SAFETY: the handler takes nothing, returns nothing and does not unwind. Where there is no room for it, what
    // `quick_exit` ends is not recorded, which the runner says.
    let _ = unsafe { at_quick_exit(quick_exit_handler) };
}

/// Whether this very process records: a child that it forks does not.
pub(crate) fn is_recording() -> bool {
    RECORDING.load(Ordering::Relaxed) == process::id()
}

/// Writes the recording, if there is one and it has grown.
pub(crate) fn write_recording() {
    let Some(_inside) = Inside::enter() else {
        return say("failed to record: the application ended in the middle of a CUDA call");
    };
    for _ in 0..ATTEMPTS {
        let mut runtime = match RUNTIME.try_lock() {
            Ok(runtime) => runtime,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                thread::sleep(PAUSE);
                continue;
            }
        };
        if let Some(recorder) = runtime.as_mut().and_then(|runtime| runtime.gpu.recorder()) {
            recorder.write();
        }
        return;
    }
    say("failed to record: the application ended while a thread was in a CUDA call");
}
