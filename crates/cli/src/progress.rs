//! Progress of a campaign: a bar on a terminal, plain lines elsewhere; both on standard error.

use crate::stderr;
use campaign::CampaignEvent;
use campaign::names::{one_line, printable};
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};

/// Shows what a running campaign tells.
pub(crate) struct Progress {
    bar: ProgressBar,
    plain: bool,
    /// What is counted.
    what: &'static str,
    planned: u64,
    /// Tenths of the work that a line was printed for.
    tenths: u64,
}

impl Progress {
    /// Progress on standard error; `what` is counted, such as runs.
    pub(crate) fn new(what: &'static str) -> Self {
        let plain = !stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = format!("{{bar:32}} {{human_pos}}/{{human_len}} {what}, {{per_sec}}, {{eta}} left {{msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self { bar, plain, what, planned: 0, tenths: 0 }
    }

    /// Takes an event of the campaign.
    pub(crate) fn event(&mut self, event: &CampaignEvent<'_>) {
        let what = self.what;
        match event {
            CampaignEvent::Started { planned, tally, jobs } => {
                self.planned = *planned;
                self.bar.set_length(*planned);
                self.bar.set_position(tally.total());
                self.bar.reset_eta();
                self.tenths = self.tenths_of(tally.total());
                let there = tally.total();
                self.line(&match there {
                    0 => format!("{planned} {what}, {jobs} workers"),
                    there => format!("{planned} {what}, {there} of them done, {jobs} workers"),
                });
            }
            CampaignEvent::Prepared { memory } => {
                if let Some(coarsened) = &memory.coarsened {
                    let (all, limit) = (memory.golden + memory.index + memory.checkpoints, memory.limit);
                    let (all, limit) = (HumanBytes(all), HumanBytes(limit));
                    self.always(&format!("golden run and index: {all} of {limit} allowed: {coarsened}"));
                }
            }
            CampaignEvent::Written { tally } => {
                self.bar.set_position(tally.total());
                let tenths = self.tenths_of(tally.total());
                if tenths > self.tenths {
                    self.tenths = tenths;
                    self.line(&format!("{} of {} {what}", tally.total(), self.planned));
                }
            }
            CampaignEvent::RunFailed { run, fault, error } => {
                self.always(&format!("run {run} failed: {error} ({})", one_line(fault)));
            }
            CampaignEvent::UnitFailed { unit, faults, error } => {
                self.always(&format!("unit {unit} of {faults} faults failed: {error}"));
            }
            CampaignEvent::Looked { runs, widest, .. } => {
                let message = format!("±{:.2} % after {runs} runs", widest * 100.0);
                self.bar.set_message(message.clone());
                self.line(&message);
            }
            CampaignEvent::Compared { done, all } => {
                let message = format!("{done} of {all} corruptions compared");
                self.bar.set_message(message.clone());
                if done * 10 / all.max(&1) > done.saturating_sub(1) * 10 / all.max(&1) {
                    self.line(&message);
                }
            }
        }
    }

    /// Shows the inputs that a search has evaluated, and the best value so far.
    pub(crate) fn inputs(&mut self, done: u64, all: u64, best: Option<f64>) {
        self.planned = all;
        self.bar.set_length(all);
        self.bar.set_position(done);
        if done == 0 {
            self.bar.reset_eta();
        }
        let digits = |best: f64| if best < 100.0 { 4 } else { 0 };
        let best = best.map_or_else(String::new, |best| format!("best {best:.*}", digits(best)));
        self.bar.set_message(best.clone());
        let tenths = self.tenths_of(done);
        if tenths > self.tenths {
            self.tenths = tenths;
            self.line(&format!("{done} of {all} {}, {best}", self.what));
        }
    }

    fn tenths_of(&self, done: u64) -> u64 {
        // An exhaustive campaign may have more faults than can be multiplied.
        (u128::from(done) * 10 / u128::from(self.planned.max(1))) as u64
    }

    /// A line where there is no bar.
    fn line(&self, text: &str) {
        if self.plain {
            stderr::line(text);
        }
    }

    fn always(&self, text: &str) {
        if self.plain { self.line(text) } else { self.bar.println(printable(text)) }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
