//! From the number of a run to the place that it hits.

use inject::Golden;
use inject::threads::{Query, Wanted};
use stats::{Cumulative, Draws};

use super::grouping::{Grouping, KernelGroups};
use super::location::Discard;
use super::settings::{Choice, Settings};
use crate::kit::{Profile, ProfileStep};

/// The launches of a kernel, each with its threads.
fn threads_of(golden: &Golden, kernel: &KernelGroups) -> Cumulative<u32> {
    let threads = |&launch: &u32| (launch, golden.launches()[launch as usize].counts().threads());
    kernel.launches.iter().map(threads).collect()
}

/// A group of which one thread is profiled.
#[derive(Debug)]
struct Stratum {
    kernel: usize,
    group: usize,
    profile: Profile,
}

/// What sites are drawn from.
#[derive(Debug)]
pub(crate) struct Chooser {
    settings: Settings,
    /// By kernel, its launches with their threads.
    threads: Vec<Cumulative<u32>>,
    /// With their threads.
    strata: Cumulative<Stratum>,
    /// For the unbiased choice: launches and threads, with their dynamic instructions.
    all: Cumulative<(u32, u64)>,
}

/// A place that was drawn.
pub(crate) struct Chosen {
    pub(crate) query: Query,
    /// The instruction of the profile; none where the dynamic instruction says it.
    pub(crate) instruction: Option<u32>,
    /// Why the run is given up already.
    pub(crate) discard: Option<Discard>,
}

impl Chooser {
    pub(crate) fn new(golden: &Golden, grouping: &Grouping, settings: Settings) -> Self {
        let threads = grouping.kernels.iter().map(|kernel| threads_of(golden, kernel)).collect();
        let (mut strata, mut all) = (Cumulative::default(), Cumulative::default());
        match settings.choice {
            Choice::Published => strata = profiles(golden, grouping),
            Choice::Unbiased => all = everything(golden, grouping),
        }
        Self { settings, threads, strata, all }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.strata.iter().all(|stratum| stratum.profile.steps.is_empty()) && self.all.is_empty()
    }

    /// The profile that a run uses: of which kernel, of which of its groups. The first thing that is drawn.
    pub(crate) fn stratum_of(&self, seed: u64, run: u64) -> Option<(usize, usize)> {
        let stratum = self.stratum(&mut Draws::new(seed, run))?;
        Some((stratum.kernel, stratum.group))
    }

    fn stratum(&self, draws: &mut Draws) -> Option<&Stratum> {
        self.strata.find(draws.below(self.strata.total())?).map(|(stratum, _)| stratum)
    }

    /// Draws a place.
    pub(crate) fn choose(&self, draws: &mut Draws) -> Option<Chosen> {
        match self.settings.choice {
            Choice::Published => self.published(draws),
            Choice::Unbiased => self.unbiased(draws),
        }
    }

    fn published(&self, draws: &mut Draws) -> Option<Chosen> {
        let stratum = self.stratum(draws)?;
        let step = *draws.one_of(&stratum.profile.steps)?;
        let threads = &self.threads[stratum.kernel];
        let (&launch, thread) = threads.find(draws.below(threads.total())?)?;
        let nth = self.iteration(draws, step)?;
        let query = Query { launch, thread, wanted: Wanted::Visit { instruction: step.instruction, nth } };
        let stepped = |limit| step.from_line.is_some_and(|steps| steps <= limit);
        let discard = self.settings.steps.filter(|&limit| !stepped(limit)).map(|_| Discard::Steps);
        Some(Chosen { query, instruction: Some(step.instruction), discard })
    }

    /// The iteration of the profile, or a random one of the first ones if it is beyond the cap.
    fn iteration(&self, draws: &mut Draws, step: ProfileStep) -> Option<u32> {
        match self.settings.iterations {
            Some(cap) if step.iteration >= cap => draws.below(cap.into()).map(|nth| nth as u32),
            _ => Some(step.iteration),
        }
    }

    fn unbiased(&self, draws: &mut Draws) -> Option<Chosen> {
        let (&(launch, thread), nth) = self.all.find(draws.below(self.all.total())?)?;
        let query = Query { launch, thread, wanted: Wanted::Dynamic(nth as u32) };
        Some(Chosen { query, instruction: None, discard: None })
    }
}

/// The profiles of all groups that are covered.
fn profiles(golden: &Golden, grouping: &Grouping) -> Cumulative<Stratum> {
    let kernels = grouping.kernels.iter().enumerate();
    let groups = kernels.flat_map(|(number, kernel)| {
        let profiled = kernel.groups.iter().enumerate().filter(|(_, group)| group.profiled);
        profiled.map(move |(at, group)| {
            let profile = Profile::of(golden, group.representative);
            (Stratum { kernel: number, group: at, profile }, group.threads)
        })
    });
    groups.collect()
}

/// Every thread, with its dynamic instructions.
fn everything(golden: &Golden, grouping: &Grouping) -> Cumulative<(u32, u64)> {
    let launches = grouping.kernels.iter().flat_map(|kernel| &kernel.launches);
    let threads = launches.flat_map(|&launch| {
        let counts = (0..).zip(golden.launches()[launch as usize].counts().iter());
        counts.map(move |(thread, count)| ((launch, thread), u64::from(count)))
    });
    threads.collect()
}
