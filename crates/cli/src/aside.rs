//! Standard error. That nobody reads there, or that it is full, changes nothing: the exit code says how a command ended.

use std::io::{Write, stderr};

/// Writes a line.
pub(crate) fn line(text: &str) {
    let _ = writeln!(stderr().lock(), "{text}");
}
