//! The one clock of the crate.

use std::time::Instant;

/// Measures how long something takes. Seconds reach the summary's speed and the moments at which rows are written,
/// and never a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch(Instant);

/// How long the work may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    watch: Stopwatch,
    seconds: f64,
}

impl Limit {
    /// So many seconds from now on.
    pub(super) fn of(seconds: f64) -> Self {
        Self { watch: Stopwatch::start(), seconds }
    }

    pub(super) fn is_over(self) -> bool {
        self.watch.seconds() >= self.seconds
    }
}

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "speed is measured with a clock; no result depends on it")]
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}
