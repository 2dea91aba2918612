//! From the number of a run to the place that it hits.

use inject::Golden;
use inject::threads::{Query, Wanted};
use stats::{Cumulative, Draws};
use std::collections::BTreeMap;

use super::grouping::{Grouping, KernelGroups};
use super::location::Discard;
use super::settings::{Choice, Settings};
use crate::kit::{Profile, ProfileStep};

/// The launches of a kernel, each with its threads.
fn threads_of(golden: &Golden, kernel: &KernelGroups) -> Cumulative<u32> {
    let threads = |&launch: &u32| (launch, golden.launches()[launch as usize].counts().threads());
    kernel.launches.iter().map(threads).collect()
}

/// A group of which one thread is profiled: its kernel, and its number there.
type Stratum = (usize, usize);

/// The profiles that stand for groups in the campaigns of one seed.
pub(crate) type Profiles = BTreeMap<Stratum, Profile>;

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
            Choice::Published => strata = profiled(grouping),
            Choice::Unbiased => all = everything(golden, grouping),
        }
        Self { settings, threads, strata, all }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.strata.total() == 0 && self.all.is_empty()
    }

    /// The profile that a run uses: of which kernel, of which of its groups. The first thing that is drawn.
    pub(crate) fn stratum_of(&self, seed: u64, run: u64) -> Option<Stratum> {
        self.stratum(&mut Draws::new(seed, run))
    }

    fn stratum(&self, draws: &mut Draws) -> Option<Stratum> {
        self.strata.find(draws.below(self.strata.total())?).map(|(stratum, _)| *stratum)
    }

    /// The profiles that stand for its groups in the campaigns of a seed.
    pub(crate) fn profiles(&self, golden: &Golden, grouping: &Grouping, seed: u64) -> Profiles {
        let of = |&(kernel, group): &Stratum| {
            let thread = grouping.representative(golden, seed, kernel, group)?;
            Some(((kernel, group), Profile::of(golden, thread)))
        };
        self.strata.iter().filter_map(of).collect()
    }

    /// Draws a place.
    pub(crate) fn choose(&self, profiles: &Profiles, draws: &mut Draws) -> Option<Chosen> {
        match self.settings.choice {
            Choice::Published => self.published(profiles, draws),
            Choice::Unbiased => self.unbiased(draws),
        }
    }

    fn published(&self, profiles: &Profiles, draws: &mut Draws) -> Option<Chosen> {
        let stratum = self.stratum(draws)?;
        let step = *draws.one_of(&profiles.get(&stratum)?.steps)?;
        let threads = &self.threads[stratum.0];
        let (&launch, thread) = threads.find(draws.below(threads.total())?)?;
        let nth =
            if self.is_capped(step) { draws.below(self.settings.iterations?.into())? as u32 } else { step.iteration };
        let query = Query { launch, thread, wanted: Wanted::Visit { instruction: step.instruction, nth } };
        let discard = self.is_too_far(step).then_some(Discard::Steps);
        Some(Chosen { query, instruction: Some(step.instruction), discard })
    }

    /// Whether the iteration of the profile is beyond the cap: a random one of the first ones stands for it.
    fn is_capped(&self, step: ProfileStep) -> bool {
        self.settings.iterations.is_some_and(|cap| step.iteration >= cap)
    }

    /// Whether a debugger does not step from the breakpoint to the instruction.
    fn is_too_far(&self, step: ProfileStep) -> bool {
        let beyond = |limit| step.from_line.is_none_or(|steps| steps > limit);
        self.settings.steps.is_some_and(beyond)
    }

    /// Whether another choice from the same profiles is the same choice: the same groups, and no step that a threshold of either
    /// changes in one of them and not in the other.
    pub(crate) fn is_as(&self, other: &Self, profiles: &Profiles) -> bool {
        let capped = |of: &Self, step| of.is_capped(step).then_some(of.settings.iterations);
        let alike = |&step: &ProfileStep| {
            capped(self, step) == capped(other, step) && self.is_too_far(step) == other.is_too_far(step)
        };
        self.settings.choice == other.settings.choice
            && self.strata.iter().eq(other.strata.iter())
            && profiles.values().flat_map(|profile| &profile.steps).all(alike)
    }

    fn unbiased(&self, draws: &mut Draws) -> Option<Chosen> {
        let (&(launch, thread), nth) = self.all.find(draws.below(self.all.total())?)?;
        let query = Query { launch, thread, wanted: Wanted::Dynamic(nth as u32) };
        Some(Chosen { query, instruction: None, discard: None })
    }
}

/// The groups that are profiled, each with its threads.
fn profiled(grouping: &Grouping) -> Cumulative<Stratum> {
    let kernels = grouping.kernels.iter().enumerate();
    let groups = kernels.flat_map(|(number, kernel)| {
        let profiled = kernel.groups.iter().enumerate().filter(|(_, group)| group.profiled && group.instructions > 0);
        profiled.map(move |(at, group)| ((number, at), group.threads))
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
