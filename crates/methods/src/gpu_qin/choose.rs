//! From the number of a run to the place that it hits.

use inject::Golden;
use inject::threads::{Query, Wanted};
use stats::Draws;
use std::num::NonZeroU64;

use super::grouping::{Grouping, KernelGroups};
use super::location::Discard;
use super::profile::{Profile, ProfileStep};
use super::settings::{Choice, Settings};

/// A thread of some launches, numbered through them.
#[derive(Debug)]
struct Threads {
    /// The launch, and the threads up to and with it.
    ends: Vec<(u32, u64)>,
}

impl Threads {
    fn of(golden: &Golden, kernel: &KernelGroups) -> Self {
        let mut end = 0;
        let ends = kernel.launches.iter().map(|&launch| {
            end += golden.launches()[launch as usize].counts.len() as u64;
            (launch, end)
        });
        Self { ends: ends.collect() }
    }

    fn total(&self) -> u64 {
        self.ends.last().map_or(0, |&(_, end)| end)
    }

    /// The launch and the thread in it.
    fn at(&self, number: u64) -> Option<(u32, u64)> {
        place(&self.ends, |&(_, end)| end, number).map(|(&(launch, _), thread)| (launch, thread))
    }
}

/// A group of which one thread is profiled.
#[derive(Debug)]
struct Stratum {
    kernel: usize,
    group: usize,
    /// Threads of all such groups up to and with this one.
    end: u64,
    profile: Profile,
}

/// What sites are drawn from.
#[derive(Debug)]
pub(crate) struct Chooser {
    settings: Settings,
    threads: Vec<Threads>,
    strata: Vec<Stratum>,
    /// For the unbiased choice: launch, thread, and dynamic instructions up to and with it.
    all: Vec<(u32, u64, u64)>,
}

/// A place that was drawn.
pub(crate) struct Chosen {
    pub(crate) query: Query,
    /// The instruction of the profile; none where the dynamic instruction says it.
    pub(crate) site: Option<u32>,
    /// Why the run is given up already.
    pub(crate) discard: Option<Discard>,
}

/// The first of `all` whose end lies beyond a number, and how far into it the number is.
fn place<T>(all: &[T], end: impl Fn(&T) -> u64, number: u64) -> Option<(&T, u64)> {
    let at = all.partition_point(|it| end(it) <= number);
    let before = at.checked_sub(1).map_or(0, |before| end(&all[before]));
    Some((all.get(at)?, number - before))
}

fn below(draws: &mut Draws, bound: u64) -> Option<u64> {
    NonZeroU64::new(bound).map(|bound| draws.below(bound))
}

impl Chooser {
    pub(crate) fn new(golden: &Golden, grouping: &Grouping, settings: Settings) -> Self {
        let threads = grouping.kernels.iter().map(|kernel| Threads::of(golden, kernel)).collect();
        let (mut strata, mut all) = (Vec::new(), Vec::new());
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
        let at = below(draws, self.strata.last()?.end)?;
        place(&self.strata, |stratum| stratum.end, at).map(|(stratum, _)| stratum)
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
        let steps = &stratum.profile.steps;
        let step = steps[below(draws, steps.len() as u64)? as usize];
        let threads = &self.threads[stratum.kernel];
        let (launch, thread) = threads.at(below(draws, threads.total())?)?;
        let nth = self.iteration(draws, step)?;
        let query = Query { launch, thread, wanted: Wanted::Visit { site: step.site, nth } };
        let stepped = |limit| step.from_line.is_some_and(|steps| steps <= limit);
        let discard = self.settings.steps.filter(|&limit| !stepped(limit)).map(|_| Discard::Steps);
        Some(Chosen { query, site: Some(step.site), discard })
    }

    /// The iteration of the profile, or a random one of the first ones if it is beyond the cap.
    fn iteration(&self, draws: &mut Draws, step: ProfileStep) -> Option<u32> {
        match self.settings.iterations {
            Some(cap) if step.iteration >= cap => below(draws, cap.into()).map(|nth| nth as u32),
            _ => Some(step.iteration),
        }
    }

    fn unbiased(&self, draws: &mut Draws) -> Option<Chosen> {
        let number = below(draws, self.all.last()?.2)?;
        let (&(launch, thread, _), nth) = place(&self.all, |&(_, _, end)| end, number)?;
        let query = Query { launch, thread, wanted: Wanted::Dynamic(nth as u32) };
        Some(Chosen { query, site: None, discard: None })
    }
}

/// The profiles of all groups that are covered.
fn profiles(golden: &Golden, grouping: &Grouping) -> Vec<Stratum> {
    let mut end = 0;
    let mut strata = Vec::new();
    for (number, kernel) in grouping.kernels.iter().enumerate() {
        for (at, group) in kernel.groups.iter().enumerate().filter(|(_, group)| group.profiled) {
            end += group.threads;
            let profile = Profile::of(golden, group.representative);
            strata.push(Stratum { kernel: number, group: at, end, profile });
        }
    }
    strata
}

/// Every thread, with the dynamic instructions up to and with its own.
fn everything(golden: &Golden, grouping: &Grouping) -> Vec<(u32, u64, u64)> {
    let mut end = 0;
    let mut all = Vec::new();
    for &launch in grouping.kernels.iter().flat_map(|kernel| &kernel.launches) {
        for (thread, &count) in (0..).zip(&golden.launches()[launch as usize].counts) {
            end += u64::from(count);
            all.push((launch, thread, end));
        }
    }
    all
}
