//! The end of the process: the recording is written.
//!
//! It is written when the last fat binary is unregistered, as happens in every ordinary exit, and once more from our
//! own destructor if anything came after that, for example destructors of the application that free memory. An
//! application that leaves by `_exit`, `_Exit` or `quick_exit` comes by here, too. After `abort`, a signal or the system
//! call itself there is no recording.

use std::sync::TryLockError;
use std::thread;
use std::time::Duration;

use super::state::{Inside, RUNTIME};
use crate::report::say;

/// How often and how long to wait for another thread that is in the middle of a call.
const ATTEMPTS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

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
