//! Panics as values, with their place and without a word on standard error.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// Whether panics of this thread are caught, and are nobody else's business.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    /// The last panic that was caught.
    static CAUGHT: RefCell<String> = const { RefCell::new(String::new()) };
}

static HOOK: Once = Once::new();

/// Does `work`; if it panics, where it did and what it said.
pub(super) fn guarded<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    HOOK.call_once(install);
    GUARDED.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(false);
    done.map_err(|_| CAUGHT.take())
}

/// Panics of threads that are not guarded are reported as before.
fn install() {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if GUARDED.get() {
            CAUGHT.set(words(info));
        } else {
            previous(info);
        }
    }));
}

fn words(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref().map(String::as_str));
    format!("panicked{place}: {}", text.unwrap_or("no message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_value() {
        assert_eq!(guarded(|| 5), Ok(5));
        let caught = guarded(|| panic!("number {}", 7)).unwrap_err();
        assert!(caught.starts_with("panicked at ") && caught.ends_with(": number 7"), "{caught}");
    }
}
