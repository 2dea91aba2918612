//! Instructions that may be approximated, as both inputs find them (thesis, Section 3.6.1).

use outcome::Metric;
use serde_json::{Value, json};
use study::Table;

use super::analysis::Analysis;
use super::sdc_pcs::Division;
use super::show;
use super::terminated::EarlyEnds;
use super::time_show::Replay;

/// The approximable instructions of both inputs.
pub(super) struct Approximable<'a> {
    /// The number and the threshold above which a corruption is egregious.
    pub(super) threshold: (Metric, f64),
    /// The analyses of the small input and of the reference.
    pub(super) both: [&'a Analysis; 2],
    /// The replay of all pilots, if they were run.
    pub(super) whole: Option<Replay<'a>>,
    /// The analyses with early termination, if they were run.
    pub(super) early: Option<&'a EarlyEnds>,
    /// The analyses of all pilots, if they were run.
    pub(super) all: Option<&'a [Analysis; 2]>,
}

impl Approximable<'_> {
    fn division(&self) -> Division {
        Division::of_approximable(self.both[0], self.both[1])
    }

    /// The instructions by who finds them, and the time of the analyses.
    pub(super) fn tables(&self) -> Vec<Table> {
        let (metric, most) = self.threshold;
        let mut parts = show::parts("Instructions that may be approximated", self.division());
        parts.notes.push(format!(
            "An instruction counts where no pilot ends detected, detectable (DDC), or in a corruption of {} above {most}. An input \
             that has fewer dynamic instances of it has fewer pilots that could spoil it.",
            metric.word()
        ));
        let mut tables = vec![parts];
        tables.extend(self.whole.as_ref().map(|replay| {
            let mut times = replay.times(self.early);
            times.title = "Time of the analysis for approximation".to_owned();
            times
        }));
        tables.extend(self.early.map(|early| {
            let mut table = early.table(self.all);
            table.title = format!("{}, for approximation", table.title);
            table
        }));
        tables
    }

    /// In the document.
    pub(super) fn document(&self) -> Value {
        let division = self.division();
        let mut json = json!({
            "metric": self.threshold.0.word(),
            "most": self.threshold.1,
            "instructions": division.document(),
            "accuracy": division.accuracy(),
        });
        if let Some(replay) = &self.whole {
            json["priority"] = replay.document(self.early);
        }
        if let Some(early) = self.early {
            json["termination"] = early.document(self.all);
        }
        json
    }
}
