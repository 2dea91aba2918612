//! What the method makes of a row: given up, injected, activated, and what came of it.

use campaign::{Finding, Results, Row, StoreError};
use facts::Space;
use inject::site::Coordinates;
use outcome::{Due, FirstUse, Outcome, Sdc, TrapKind};

use std::collections::BTreeMap;

use super::grouping::KernelGroups;
use super::location::Discard;

/// How an activated trial ended, in the paper's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialEnd {
    /// The output passes its check, or is the golden one.
    Benign,
    /// The output does not.
    Sdc,
    /// An exception, so many instructions of the hit thread after the fault was first read.
    Crash {
        /// Which one; none where the application's host crashed, or said that something was wrong.
        trap: Option<TrapKind>,
        /// The latency.
        after: u64,
        /// The state space of the access that failed, where one did.
        space: Option<Space>,
    },
    /// What a limit of time would end.
    Hang(Endless),
    /// The application saw other values on the way, and what it would have done was not found out.
    Undecided,
}

/// Why a run does not end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endless {
    /// A thread is in a loop that is proven never to end, or the application of a live run used up its time.
    Loop,
    /// Threads wait for each other for ever.
    Barrier,
    /// A thread used up its fuel.
    OutOfFuel,
}

/// How many ends there are.
pub const ENDS: usize = 5;

impl TrialEnd {
    /// Its number among the five: benign, SDC, crash, hang, undecided.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::Benign => 0,
            Self::Sdc => 1,
            Self::Crash { .. } => 2,
            Self::Hang(_) => 3,
            Self::Undecided => 4,
        }
    }
}

/// A row as the method sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The kernel, an index into the grouping.
    pub kernel: usize,
    /// The group: that of the profile, or with the unbiased choice that of the thread that was hit.
    pub group: usize,
    /// The launch.
    pub launch: u32,
    /// The block.
    pub cta: u64,
    /// The thread in its block.
    pub thread: u32,
    /// Whether something was hit; if not, why it was given up, if it was.
    pub hit: Result<(), Option<Discard>>,
    /// Instructions from the fault to its first reading; none if it is overwritten or never read.
    pub read: Option<u64>,
    /// How it ended.
    pub end: TrialEnd,
}

impl Trial {
    /// Whether the fault was read within an activation window.
    #[must_use]
    pub fn is_activated(&self, window: Option<u64>) -> bool {
        self.hit.is_ok() && self.read.is_some_and(|after| window.is_none_or(|window| after <= window))
    }
}

/// How trials ended (benign, SDC, crash, hang, undecided), by what `part` says of each.
pub fn ends_by<'t, K: Ord>(
    trials: impl Iterator<Item = &'t Trial>,
    part: impl Fn(&Trial) -> K,
) -> BTreeMap<K, [u64; ENDS]> {
    let mut parts: BTreeMap<K, [u64; ENDS]> = BTreeMap::new();
    for trial in trials {
        parts.entry(part(trial)).or_default()[trial.end.index()] += 1;
    }
    parts
}

/// Which group a run is a trial of.
pub trait Grouped {
    /// The kernels with their threads in groups.
    fn kernels(&self) -> &[KernelGroups];

    /// Which group's profile a run uses: the kernel and its group. None for the unbiased choice.
    fn profile_of(&self, seed: u64, run: u64) -> Option<(usize, usize)>;

    /// The thread of a place, linear in its launch.
    fn linear(&self, at: Coordinates) -> Option<u64>;

    /// The state space that an instruction of a kernel accesses, if it accesses one.
    fn space(&self, kernel: &str, pc: u32) -> Option<Space>;
}

/// All trials of a campaign of this method; runs that could not be made are left out.
///
/// # Errors
/// If the rows cannot be read.
pub fn trials(results: &Results, method: &dyn Grouped) -> Result<Vec<Trial>, StoreError> {
    let seed = results.config().seed;
    let mut all = Vec::new();
    results.visit(&mut |row| all.extend(trial(&row, seed, method)))?;
    Ok(all)
}

fn trial(row: &Row, seed: u64, method: &dyn Grouped) -> Option<Trial> {
    let at = Coordinates::of(&row.site)?;
    let (kernel, group) = method.profile_of(seed, row.run.0).or_else(|| group_hit(row, at, method))?;
    let Coordinates { launch, cta, thread, .. } = at;
    let trial = |hit, read, end| Trial { kernel, group, launch, cta, thread, hit, read, end };
    match &row.finding {
        Finding::Failed(_) => None,
        Finding::GivenUp => Some(trial(Err(row.site.given_up().and_then(Discard::of_word)), None, TrialEnd::Benign)),
        Finding::Seen { observation, outcome, .. } => {
            let read = match observation.first_use {
                FirstUse::Read { after } => Some(after),
                FirstUse::Overwritten { .. } | FirstUse::Never => None,
            };
            let hit = if observation.landed.is_some() { Ok(()) } else { Err(None) };
            Some(trial(hit, read, end(*outcome, &observation.end, method)))
        }
    }
}

/// The group of the thread that was hit.
fn group_hit(row: &Row, at: Coordinates, method: &dyn Grouped) -> Option<(usize, usize)> {
    let kernels = method.kernels();
    let kernel = kernels.iter().position(|kernel| kernel.kernel == row.site.spot.kernel)?;
    Some((kernel, kernels[kernel].group_of(at.launch, method.linear(at)?)?))
}

fn end(outcome: Outcome, end: &outcome::End, method: &dyn Grouped) -> TrialEnd {
    match outcome {
        Outcome::Masked(_) | Outcome::Sdc(Sdc::Good) | Outcome::NotLanded => TrialEnd::Benign,
        Outcome::Sdc(_) => TrialEnd::Sdc,
        Outcome::Undecided => TrialEnd::Undecided,
        Outcome::Due(Due::Hang) => TrialEnd::Hang(Endless::Loop),
        Outcome::Due(Due::OutOfFuel) => TrialEnd::Hang(Endless::OutOfFuel),
        Outcome::Due(Due::Crash(TrapKind::BarrierDeadlock)) => TrialEnd::Hang(Endless::Barrier),
        Outcome::Due(Due::Crash(trap)) => {
            let (after, space) = match end {
                outcome::End::Trapped { at, .. } => (at.after, method.space(&at.kernel, at.pc)),
                _ => (0, None),
            };
            TrialEnd::Crash { trap: Some(trap), after, space }
        }
        Outcome::Due(Due::Signal(_) | Due::Detected) => TrialEnd::Crash { trap: None, after: 0, space: None },
    }
}
