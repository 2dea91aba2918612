//! Ctrl-C and SIGTERM: every command ends within two seconds.

use crate::failure::{Code, Coded, Failure};
use crate::{out, waiting};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// The time that a command has to end by itself, with the batch in hand written. What is written is durable at any time, as
/// batches are transactions, so that a command that needs longer can be ended.
const GRACE: Duration = Duration::from_millis(1500);

/// What becomes of the work of a command that makes one campaign, before it makes it.
pub(crate) const NOTHING_YET: &str = "nothing was run yet";
/// What becomes of the work of a command that keeps no runs.
pub(crate) const NOTHING_KEPT: &str = "no runs of this command are kept";
/// What becomes of the work of a command that makes several campaigns.
pub(crate) const SAME_COMMAND: &str = "campaigns that were begun are kept, and the same command goes on with them";

/// The campaign that can be gone on with.
static RESUMABLE: OnceLock<PathBuf> = OnceLock::new();

/// A flag that the first Ctrl-C raises. A command that does not end in its time then is ended, and so is one that gets a
/// second, or that waits for the golden run of an application, where there is nothing to keep. `otherwise` says what becomes of
/// its work where no single campaign can be gone on with.
pub(crate) fn stop_on_interrupt(otherwise: &'static str) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let handler = move || {
        let waiting = waiting::is_golden_run();
        if waiting {
            out::note("interrupted in the golden run; nothing was injected");
        }
        if raised.swap(true, Ordering::SeqCst) || waiting {
            end();
        }
        thread::spawn(move || {
            thread::sleep(GRACE);
            let kept = RESUMABLE.get().map(|dir| resume_line(dir));
            out::note(&format!("interrupted; {}", kept.as_deref().unwrap_or(otherwise)));
            end();
        });
    };
    ctrlc::set_handler(handler).code(Code::Bug)?;
    Ok(stop)
}

/// Ends the program at the first Ctrl-C, after some last work.
pub(crate) fn end_on_interrupt(last: impl Fn() + Send + 'static) -> Result<(), Failure> {
    let handler = move || {
        last();
        out::note("interrupted; the log is kept, and the same command adds to it");
        end();
    };
    ctrlc::set_handler(handler).code(Code::Bug)
}

/// Says that from now on an interrupted command can be gone on with.
pub(crate) fn can_resume(dir: &Path) {
    // A command that makes several campaigns says so of the first.
    let _ = RESUMABLE.set(dir.to_owned());
}

/// The line of help that says how to go on.
pub(crate) fn resume_line(dir: &Path) -> String {
    format!("what was run is kept; go on with `beamline resume {}`", dir.display())
}

fn end() -> ! {
    #[expect(clippy::exit, reason = "everything written so far is durable, and what runs ends with us")]
    std::process::exit(3)
}
