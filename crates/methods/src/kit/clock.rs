//! The clock, for durations that are shown.

use std::time::Instant;

/// The time on a clock, for durations that are shown.
#[expect(clippy::disallowed_methods, reason = "times are shown as times, and nothing else depends on them")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
