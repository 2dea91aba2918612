//! Progress of a campaign: a bar on a terminal, plain lines elsewhere; both on standard error.

use campaign::Event;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write, stderr};

/// Shows what a running campaign tells.
pub(crate) struct Progress {
    bar: ProgressBar,
    plain: bool,
    planned: u64,
    /// Tenths of the work that a line was printed for.
    tenths: u64,
}

impl Progress {
    /// Progress on standard error.
    pub(crate) fn new() -> Self {
        let plain = !stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = "{bar:32} {human_pos}/{human_len} runs, {per_sec}, {eta} left {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, plain, planned: 0, tenths: 0 }
    }

    /// Takes an event of the campaign.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { planned, tally, jobs } => {
                self.planned = *planned;
                self.bar.set_length(*planned);
                self.bar.set_position(tally.total());
                self.bar.reset_eta();
                self.tenths = self.tenths_of(tally.total());
                let there = tally.total();
                self.line(&match there {
                    0 => format!("{planned} runs, {jobs} workers"),
                    there => format!("{planned} runs, {there} of them done, {jobs} workers"),
                });
            }
            Event::Prepared { memory } => {
                if let Some(coarsened) = &memory.coarsened {
                    let (all, limit) = (memory.golden + memory.index + memory.checkpoints, memory.limit);
                    let (all, limit) = (HumanBytes(all), HumanBytes(limit));
                    self.always(&format!("golden run and index: {all} of {limit} allowed: {coarsened}"));
                }
            }
            Event::Written { tally } => {
                self.bar.set_position(tally.total());
                let tenths = self.tenths_of(tally.total());
                if tenths > self.tenths {
                    self.tenths = tenths;
                    self.line(&format!("{} of {} runs", tally.total(), self.planned));
                }
            }
            Event::RunFailed { run, fault, error } => {
                self.always(&format!("run {run} failed: {error} ({fault})"));
            }
            Event::Looked { runs, widest, .. } => {
                let message = format!("±{:.2} % after {runs} runs", widest * 100.0);
                self.bar.set_message(message.clone());
                self.line(&message);
            }
        }
    }

    fn tenths_of(&self, done: u64) -> u64 {
        done * 10 / self.planned.max(1)
    }

    /// A line where there is no bar.
    fn line(&self, text: &str) {
        if self.plain {
            // Progress that cannot be shown is no reason to stop.
            let _ = writeln!(stderr(), "{text}");
        }
    }

    fn always(&self, text: &str) {
        if self.plain { self.line(text) } else { self.bar.println(text) }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
