//! What the runtime says on the application's stderr: nothing but explained problems, each one line that begins with
//! `beamline: `.
//!
//! What a kernel did wrong and what we cannot do is always said. Where the application's user asks for it, so is every
//! error that a call returns, with the reason that the code that found it has left.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::code::Code;
use crate::runner::EXPLAIN;

thread_local! {
    /// Why the call that this thread is in will fail.
    static REASON: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Whether the call has said something.
    static SAID: Cell<bool> = const { Cell::new(false) };
}

/// Says one line.
pub(crate) fn say(what: impl Display) {
    let text = what.to_string();
    let line: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // In one piece, so that lines of several threads do not mix. If stderr is closed there is nobody to tell.
    let _ = std::io::stderr().write_all(format!("beamline: {}\n", line.join("; ")).as_bytes());
    let _ = SAID.try_with(|said| said.set(true));
}

/// Says that a call, or what is asked for with one, is not supported, the first time.
pub(crate) fn say_unsupported(call: &'static str) {
    static NAMED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    if named.insert(call) {
        // What is no name of a call is said in words, of several things.
        let (are, it) = if call.contains(' ') { ("are", "the call") } else { ("is", "it") };
        say(format_args!("{call} {are} not supported; {it} returned cudaErrorNotSupported"));
    }
}

/// Whether errors are explained.
pub(crate) fn explaining() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    *ASKED.get_or_init(|| std::env::var_os(EXPLAIN).is_some_and(|value| !value.is_empty() && value != "0"))
}

/// Notes why the call that this thread is in will fail.
pub(crate) fn because(reason: impl Display) {
    if explaining() {
        let _ = REASON.try_with(|noted| noted.replace(Some(reason.to_string())));
    }
}

/// An error code with its reason.
pub(crate) fn fails(code: Code, reason: impl Display) -> Code {
    because(reason);
    code
}

/// A call begins.
pub(crate) fn begin() {
    if explaining() {
        let _ = REASON.try_with(RefCell::take);
        let _ = SAID.try_with(|said| said.set(false));
    }
}

/// A call ends: its error is explained, unless it said something itself, or the code is no more than an answer.
pub(crate) fn end(call: &'static str, code: Code) {
    if !explaining() || matches!(code, Code::SUCCESS | Code::NOT_READY) {
        return;
    }
    let reason = REASON.try_with(RefCell::take).ok().flatten();
    if reason.is_none() && SAID.try_with(Cell::get).unwrap_or(false) {
        return;
    }
    let reason = reason.unwrap_or_else(|| code.text().to_string_lossy().into_owned());
    // What nvcc makes of `<<<…>>>` has the name of a call with underscores before it.
    let call = call.trim_start_matches('_');
    say(format_args!("{call} returned {}: {reason}", code.name().to_string_lossy()));
}
