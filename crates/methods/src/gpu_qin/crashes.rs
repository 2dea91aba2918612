//! What crashes come from, and how long after the fault was read.

use serde::Serialize;
use std::collections::BTreeMap;

use super::trials::{Trial, TrialEnd};

/// Crashes of one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// The exception, as CUDA names it; `host` for an end of the application's own.
    pub trap: String,
    /// The number of crashes.
    pub count: u64,
    /// Their share of all crashes.
    pub share: f64,
    /// Instructions of the hit thread from the first reading of the fault to the exception, ascending.
    #[serde(skip)]
    pub latencies: Vec<u64>,
}

impl Cause {
    /// The latency that this share of the crashes does not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let at = (share * self.latencies.len() as f64).ceil() as usize;
        self.latencies.get(at.saturating_sub(1)).copied()
    }
}

/// The causes of the crashes among the trials that were activated within a window, the most frequent first.
#[must_use]
pub fn causes(trials: &[Trial], window: Option<u64>) -> Vec<Cause> {
    let mut by_trap: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.is_activated(window)) {
        if let TrialEnd::Crash { trap, after, .. } = trial.end {
            by_trap.entry(trap.map_or("host", |trap| trap.word())).or_default().push(after);
        }
    }
    let all: usize = by_trap.values().map(Vec::len).sum();
    let cause = |(trap, mut latencies): (&str, Vec<u64>)| {
        latencies.sort_unstable();
        let count = latencies.len() as u64;
        Cause { trap: trap.to_owned(), count, share: count as f64 / all as f64, latencies }
    };
    let mut causes: Vec<Cause> = by_trap.into_iter().map(cause).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    causes
}
