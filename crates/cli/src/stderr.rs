//! Standard error. That nobody reads there, or that it is full, changes nothing: the exit code says how a command ended.

use campaign::names::printable;
use std::io::{Write, stderr};

/// Writes a line. What names out of files would do to a terminal is escaped.
pub(crate) fn line(text: &str) {
    let _ = writeln!(stderr().lock(), "{}", printable(text));
}
