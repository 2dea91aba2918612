//! Ctrl-C.

use crate::failure::{Code, Coded, Failure};
use crate::{out, waiting};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that the first Ctrl-C raises; the second ends the program, as the first does where there is nothing to keep.
pub(crate) fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let handler = move || {
        let waiting = waiting::is_golden_run();
        if waiting {
            out::note("interrupted in the golden run; nothing was injected");
        }
        if raised.swap(true, Ordering::SeqCst) || waiting {
            #[expect(clippy::exit, reason = "everything written so far is durable, and what runs ends with us")]
            std::process::exit(3);
        }
    };
    ctrlc::set_handler(handler).code(Code::Bug)?;
    Ok(stop)
}
