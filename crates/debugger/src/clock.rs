//! The one place that reads the time: how long there is to wait, and how long something took. What a real GPU did in a
//! run is observed, seconds among it, and never used for anything else.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "limits of time, and latencies as they are observed")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
