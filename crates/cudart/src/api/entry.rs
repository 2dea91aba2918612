//! What every entry point does: it never unwinds into the application, and its error becomes the thread's last error.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::code::Code;
use crate::report::{self, say};

thread_local! {
    static LAST: Cell<Code> = const { Cell::new(Code::SUCCESS) };
}

/// Runs the body of an entry point.
pub(super) fn call(name: &'static str, body: impl FnOnce() -> Result<(), Code>) -> Code {
    let code = explained(name, || body().err().unwrap_or(Code::SUCCESS));
    if code != Code::SUCCESS {
        LAST.set(code);
    }
    code
}

/// Runs the body of an entry point whose error does not become the last error.
pub(super) fn explained(name: &'static str, body: impl FnOnce() -> Code) -> Code {
    report::begin();
    let code = guarded(name, body, Code::UNKNOWN);
    report::end(name, code);
    code
}

/// Runs the body of an entry point that has no error to return.
pub(super) fn guarded<T>(name: &'static str, body: impl FnOnce() -> T, otherwise: T) -> T {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| panic::set_hook(Box::new(|_| {})));
    panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        say(format_args!("internal error in {name}: {text}; please report it"));
        otherwise
    })
}

/// The last error of this thread.
pub(super) fn last_error() -> Code {
    LAST.get()
}

/// Forgets the last error of this thread.
pub(super) fn forget_error() {
    LAST.set(Code::SUCCESS);
}

/// Declares entry points: `[names] (parameters) { body }`, where the body ends in a `Result<(), Code>`. All names of
/// one do the same: those with `_ptsz` and `_ptds` are what applications compiled with per-thread default streams
/// call, and here every stream is in order.
macro_rules! entry_points {
    ($([$($name:ident)+] $params:tt $body:block)*) => {
        $($($crate::api::entry::entry_points!(@one $name $params $body);)+)*
    };
    (@one $name:ident ($($arg:ident: $type:ty),* $(,)?) $body:block) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name($($arg: $type),*) -> $crate::code::Code {
            $crate::api::entry::call(stringify!($name), || $body)
        }
    };
}

pub(super) use entry_points;
