//! What the runtime says on the application's stderr: nothing but explained problems, each one line that begins with
//! `beamline: `.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Says one line.
pub(crate) fn say(what: impl Display) {
    let text = what.to_string();
    let line: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // In one piece, so that lines of several threads do not mix. If stderr is closed there is nobody to tell.
    let _ = std::io::stderr().write_all(format!("beamline: {}\n", line.join("; ")).as_bytes());
}

/// Says that a call is not supported, the first time it is made.
pub(crate) fn say_unsupported(call: &'static str) {
    static NAMED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    if named.insert(call) {
        say(format_args!("{call} is not supported; it returned cudaErrorNotSupported"));
    }
}
