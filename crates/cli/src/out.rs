//! Where results go: standard output, whose reader ends it quietly by closing the pipe, and files.

use crate::failure::{Code, Coded, Failure};
use crate::stderr;
use anyhow::Context as _;
use campaign::files;
use campaign::names::printable;
pub(crate) use campaign::names::short;
pub(crate) use report::text::table;
use serde::Serialize;
use std::io::{ErrorKind, Write, stdout};
use std::path::Path;

/// Writes text to standard output. What names out of files would do to a terminal is escaped, in a document of JSON, too.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    match stdout().lock().write_all(printable(text).as_bytes()).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("write to standard output").code(Code::Usage),
    }
}

/// Writes one JSON document to standard output.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Failure> {
    let rendered = serde_json::to_string_pretty(document).code(Code::Bug)?;
    text(&format!("{rendered}\n"))
}

/// Tells something beside the results, on standard error.
pub(crate) fn note(text: &str) {
    stderr::line(&format!("note: {text}"));
}

/// Writes a file, whole or not at all, and says so.
pub(crate) fn file(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    let written = files::write(path, |file| file.write_all(bytes.as_ref()));
    written.with_context(|| format!("write {}", path.display())).code(Code::Usage)?;
    note(&format!("wrote {}", path.display()));
    Ok(())
}

/// A number with its thousands set apart: `1 234 567`.
pub(crate) fn number(n: u64) -> String {
    report::plain(n)
}

/// A share in percent: `12.3 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Bytes in the unit that keeps the number short.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}
