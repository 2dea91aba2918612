//! From facts to labels: [`classify`], one total function with a version.

use crate::criteria::{Criteria, judge};
use crate::host::{Host, HostSignal, Verdict};
use crate::observation::{End, FirstUse, Observation};
use crate::outcome::{Due, Masked, Outcome, Sdc};

/// The version of [`classify`], stored with every label; raised when a label of any observation changes.
pub const CLASSIFIER_VERSION: u32 = 3;

/// Derives the outcome of an observation. Total: every observation has exactly one.
#[must_use]
pub fn classify(observation: &Observation, criteria: &Criteria) -> Outcome {
    if observation.landed.is_none() {
        return Outcome::NotLanded;
    }
    if observation.host_visible && observation.host.is_none() {
        return Outcome::Undecided;
    }
    if let Some(due) = of_end(&observation.end) {
        return Outcome::Due(due);
    }
    let differs = observation.outputs.iter().any(|output| output.differing > 0);
    let memory = differs.then(|| judge(&observation.outputs, criteria));
    let masked = Outcome::Masked(Masked::by(observation.first_use));
    observation
        .host
        .as_ref()
        .map_or_else(|| memory.map_or(masked, Outcome::Sdc), |host| with_host(host, memory).unwrap_or(masked))
}

/// What a run came to that did not come to its end.
fn of_end(end: &End) -> Option<Due> {
    Some(match end {
        End::Trapped { trap, .. } => Due::Crash(*trap),
        End::Hang { .. } | End::TimedOut => Due::Hang,
        End::OutOfFuel { .. } => Due::OutOfFuel,
        End::Detected { .. } | End::Exited { .. } => Due::Detected,
        End::Signalled { signal } => Due::Signal(HostSignal::of(*signal)),
        End::Completed => return None,
    })
}

/// What decides about an outcome before any criterion does.
#[derive(Clone, Copy, Debug)]
pub struct RunFacts<'a> {
    /// Whether a value was hit.
    pub landed: bool,
    /// What first happened to it.
    pub first_use: FirstUse,
    /// How the run ended.
    pub end: &'a End,
    /// Whether an output differs.
    pub differs: bool,
    /// Whether the application itself ran.
    pub live: bool,
    /// Whether the application saw a difference before the GPU was done.
    pub host_visible: bool,
}

impl RunFacts<'_> {
    /// Whether [`classify`] gives an outcome to such a run by some criteria.
    #[must_use]
    pub fn allow(&self, outcome: Outcome) -> bool {
        match (outcome, of_end(self.end)) {
            _ if !self.landed => outcome == Outcome::NotLanded,
            (found, _) if self.host_visible && !self.live => found == Outcome::Undecided,
            (found, Some(due)) => found == Outcome::Due(due),
            (Outcome::Masked(masked), None) => masked == Masked::by(self.first_use) && !self.differs,
            (Outcome::Sdc(_), None) => self.differs || self.live,
            (Outcome::Due(due), None) => due == Due::Detected && self.live,
            (Outcome::Undecided | Outcome::NotLanded, None) => false,
        }
    }
}

/// The outcome of an application that ended well, from what it left and from how its memory was judged, if that
/// differs; `None` if nothing that counts differs.
///
/// What a judge says goes for all that the application left. Without one, differing bytes are a corruption that nobody
/// has judged. Standard error is where programs complain: it is no output, but where it alone differs the program said
/// that something was wrong.
fn with_host(host: &Host, memory: Option<Sdc>) -> Option<Outcome> {
    let left = host.stdout || !host.files.is_empty();
    let sdc = match (host.verdict, memory) {
        (Some(Verdict::Bad), _) => Sdc::Bad,
        (Some(Verdict::Detectable), _) => Sdc::Detectable,
        (Some(Verdict::Acceptable), None) => return None,
        (Some(Verdict::Acceptable), Some(_)) => Sdc::Good,
        (None, _) if left && host.special => Sdc::Detectable,
        (None, Some(worse @ (Sdc::Bad | Sdc::Detectable))) => worse,
        (None, _) if left => Sdc::Unjudged,
        (None, Some(judged)) => judged,
        (None, None) => return host.stderr.then_some(Outcome::Due(Due::Detected)),
    };
    Some(Outcome::Sdc(sdc))
}
