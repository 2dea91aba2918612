//! Waiting for the golden run of an application, which may take as long as it likes: the user hears that it still runs,
//! and an interruption need not wait for it, as there is nothing to keep.

use crate::out;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// When the user hears of it first; then after twice as long, and so on.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many golden runs are waited for.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Whether a golden run is waited for.
pub(crate) fn is_golden_run() -> bool {
    WAITING.load(Ordering::SeqCst) > 0
}

/// The wait for a golden run, while it lives.
pub(crate) struct Waiting {
    /// Closed at the end, which ends the thread that tells of it.
    _over: Sender<()>,
}

impl Waiting {
    /// Begins to wait.
    pub(crate) fn of_golden_run() -> Self {
        WAITING.fetch_add(1, Ordering::SeqCst);
        let (sender, receiver) = channel();
        thread::spawn(move || tell(&receiver, PATIENCE, |waited| out::note(&still_runs(waited))));
        Self { _over: sender }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Says again and again how long has been waited, until the wait is over.
fn tell(over: &Receiver<()>, patience: Duration, mut say: impl FnMut(Duration)) {
    let (mut pause, mut waited) = (patience, Duration::ZERO);
    while over.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        waited += pause;
        say(waited);
        pause = waited;
    }
}

fn still_runs(waited: Duration) -> String {
    let seconds = waited.as_secs();
    format!("the golden run still runs after {seconds} s; Ctrl-C ends it, and `--timeout` limits every run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_hears_of_a_wait_after_twice_as_long_each_time_until_it_is_over() {
        let (sender, receiver) = channel();
        let mut sender = Some(sender);
        let mut heard = Vec::new();
        tell(&receiver, Duration::from_millis(1), |waited| {
            heard.push(waited.as_millis());
            if heard.len() == 3 {
                sender.take();
            }
        });
        assert_eq!(heard, [1, 2, 4]);
        assert_eq!(
            still_runs(Duration::from_secs(10)),
            "the golden run still runs after 10 s; Ctrl-C ends it, and `--timeout` limits every run"
        );
    }
}
