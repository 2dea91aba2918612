//! A command line as the method takes it, read before anything runs.

use outcome::Metric;

use super::coverage::Criterion;
use super::minimise::{Evaluated, Target};
use super::pilots::Judges;
use super::priority::Order;
use crate::approxilyzer::{Settings, judge};
use crate::kit::{MethodSettings, StudyError};
use crate::method::Options;

/// A request of a user.
pub(super) struct Request {
    /// The quality that the input has to keep.
    pub(super) target: Target,
    /// The error sites and their classes.
    pub(super) settings: Settings,
    /// Pilots of each input, at most.
    pub(super) limit: u64,
    /// The order of early termination, if it is to be run.
    pub(super) terminate: Option<Order>,
    /// Whether all pilots are run.
    pub(super) replay: bool,
    /// The number and its threshold above which a corruption is egregious.
    pub(super) approximate: Option<(Metric, f64)>,
    /// The share of dynamic instructions that is studied.
    pub(super) hot: Option<f64>,
    /// How outputs are judged.
    pub(super) judging: judge::Judging,
}

impl Request {
    /// Of the options, and of what a bundled workload declares.
    ///
    /// # Errors
    /// If one means nothing.
    pub(super) fn of(options: &Options, declared: Option<&str>) -> Result<Self, StudyError> {
        let words = |text: String| Err(StudyError::Words(text));
        let share: f64 = options.get("coverage")?.unwrap_or(1.0);
        if !(share > 0.0 && share <= 1.0) {
            return words(format!("reach the coverage {share}: expected a share above 0, at most 1"));
        }
        let hot: Option<f64> = options.get("hot")?;
        if let Some(share) = hot.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
            return words(format!("study the hottest {share}: expected a share above 0, at most 1"));
        }
        let limit: u64 = options.get("pilots")?.unwrap_or(u64::MAX);
        if limit == 0 {
            return words("run 0 pilots: expected a number above 0".to_owned());
        }
        let (terminate, replay) = (options.get("terminate")?, options.get("replay")?.unwrap_or(true));
        if terminate.is_none() && !replay {
            return words("leave the replay out: name an order with --terminate, which runs instead".to_owned());
        }
        let sites = options.get::<String>("sites")?.map(|share| ("coverage", share));
        let keys = sites.into_iter().chain(options.of(&["operands"]));
        Ok(Self {
            target: Target { criterion: options.get("quality-of")?.unwrap_or(Criterion::Pc), share },
            settings: Settings { addresses: false, stores: false, ..Settings::of_options(keys)? },
            limit,
            terminate,
            replay,
            approximate: options.get::<String>("approximate")?.map(|text| threshold(&text)).transpose()?,
            hot,
            judging: judge::Judging::of(options, declared)?,
        })
    }

    /// The order that times are of: the one that is run, or random as the thesis has it.
    pub(super) fn order(&self) -> Order {
        self.terminate.clone().unwrap_or_else(Order::random)
    }

    /// The criteria for the runs of an input.
    ///
    /// # Errors
    /// If they name an output that it does not have.
    pub(super) fn judges(&self, input: &Evaluated) -> Result<Judges, StudyError> {
        let own = input.capsule.criteria();
        let corrupting = self.judging.criteria(&input.capsule)?.unwrap_or_default().or(own);
        let outputs = input.capsule.golden_run().outputs();
        let names: Vec<String> = outputs.iter().map(|output| output.name.clone()).collect();
        let egregious = self.approximate.map(|(metric, most)| Judges::threshold(&corrupting, &names, metric, most));
        Ok(Judges { corrupting, egregious })
    }
}

/// `max-rel=0.05`
fn threshold(text: &str) -> Result<(Metric, f64), StudyError> {
    let read = || {
        let (metric, most) = text.split_once('=')?;
        Some((metric.parse().ok()?, most.parse().ok().filter(|most: &f64| *most >= 0.0 && most.is_finite())?))
    };
    read().ok_or_else(|| {
        StudyError::Words(format!(
            "read `{text}` for --approximate: expected METRIC=MOST, such as max-rel=0.05 or max-abs=0.01; metrics are {}",
            Metric::ALL.iter().map(|it| it.word()).collect::<Vec<_>>().join(", ")
        ))
    })
}
