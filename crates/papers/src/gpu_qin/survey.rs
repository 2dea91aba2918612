//! All kernels of the paper, each measured in every way that its page speaks of.
//!
//! Every campaign of every kernel has a seed of its own ([`seed`]), so that no two kernels are hit by the same draws. The method is
//! repeated: each *realisation* draws its representatives and its runs anew. A variant of the method has the seeds of the method's
//! realisations, so that what differs between them is the variant.

use inject::{CapsuleTarget, Golden};
use methods::gpu_qin::{
    Bounded, Cause, Choice, Coverage, ENDS, GpuQin, Grouping, KernelEstimate, KernelGroups, Lost, Measured, Mix, Rates,
    Settings, StateBits, Trial, causes, choosing, estimates, measure, measure_by, mixes,
};
use methods::kit::{Campaigns, OpenedCapsule, Profile, StudyError};
use std::collections::BTreeMap;

use super::paper::{KERNELS, PaperKernel};
use crate::page::PageContext;

/// Iterations that the cap of Fig. 6 is set to, beside the method's own.
pub const CAPS: [u32; 3] = [16, 32, 128];
/// The kernels of Fig. 6.
pub const CAPPED: [&str; 2] = ["MAT", "MRI-Q"];

/// How many runs each kind of campaign has.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleSizes {
    /// The unbiased choice, against which all is held.
    pub(super) unbiased: u64,
    /// The method at the size of the paper's campaigns.
    pub(super) published: u64,
    /// How often the method is repeated.
    pub(super) realisations: u64,
    /// How often each of its variants is repeated, by the seeds of its first realisations.
    pub(super) variants: u64,
    /// The unbiased choice on kernels built for a debugger, which are slower.
    pub(super) debug: u64,
}

/// A heuristic that can be left out: the method with it is held against the method without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// No cap of loop iterations.
    Uncapped,
    /// Any number of steps from a breakpoint.
    AnySteps,
    /// Groups that hold 99 % of the threads are profiled.
    Covered,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Uncapped, Self::AnySteps, Self::Covered];

    /// The share of threads whose groups are profiled in [`Covered`](Self::Covered).
    pub const COVERAGE: f64 = 0.99;

    fn settings(self) -> Settings {
        let method = Settings::default();
        match self {
            Self::Uncapped => Settings { iterations: None, ..method },
            Self::AnySteps => Settings { steps: None, ..method },
            Self::Covered => Settings { coverage: Coverage::Share(Self::COVERAGE), ..method },
        }
    }
}

/// A kernel, measured.
pub struct MeasuredKernel {
    /// What the paper says of it.
    pub paper: &'static PaperKernel,
    /// Our kernel's threads in groups.
    pub groups: KernelGroups,
    /// The most often that a thread comes to one instruction, of a thread of each group.
    pub iterations: u32,
    /// What it executes.
    pub mix: Mix,
    /// What of its state faults can reach.
    pub state: StateBits,
    /// Blocks and threads of a block, of its first launch.
    pub scale: ([u32; 3], [u32; 3]),
    /// The unbiased choice.
    pub unbiased: KernelEstimate,
    /// The trials of the unbiased choice.
    pub trials: Vec<Trial>,
    /// The runs of the unbiased choice that no rate is made of.
    pub lost: Lost,
    /// What the crashes of the unbiased choice come from.
    pub causes: Vec<Cause>,
    /// The unbiased choice with every fault that is ever read counted as activated.
    pub endless: KernelEstimate,
    /// The method at the size of the paper's campaigns, again and again.
    pub realisations: Vec<KernelEstimate>,
    /// The runs of all realisations that no rate is made of.
    pub method_lost: Lost,
    /// Seconds of a run of the method on all workers together.
    pub seconds: f64,
    /// By [`Variant::ALL`], the realisations without a heuristic; none where its threshold is never reached, so that all sites are
    /// the method's.
    pub variants: [Option<Vec<KernelEstimate>>; 3],
    /// By [`CAPS`], the realisations with another cap; empty but for [`CAPPED`].
    pub caps: Vec<Vec<KernelEstimate>>,
    /// The unbiased choice on the same kernel built for a debugger, nothing optimised.
    pub debug: KernelEstimate,
    /// Instructions that its threads execute, divided by those of the optimised kernel.
    pub longer: f64,
}

/// The seed of a campaign of the kernel with this number, from 1: the unbiased choice is its campaign 0, a realisation its campaign of
/// that number, and the unbiased choice on the debugger's build its last.
fn seed(kernel: usize, campaign: u64) -> u64 {
    kernel as u64 * SEEDS + campaign
}

/// Seeds of a kernel.
const SEEDS: u64 = 1000;
/// The number of the campaign on the debugger's build.
const DEBUG: u64 = SEEDS - 1;

/// Measures every kernel of the paper, or those of `only` one workload.
///
/// # Errors
/// If a workload lacks its kernel, or a campaign cannot be made.
pub(super) fn survey(
    shop: &mut PageContext<'_, '_>,
    sizes: SampleSizes,
    only: Option<&str>,
) -> Result<Vec<MeasuredKernel>, StudyError> {
    let mut all = Vec::new();
    for (number, paper) in (1..).zip(&KERNELS).filter(|(_, paper)| only.is_none_or(|name| paper.workload == name)) {
        let capsule = shop.workloads.bundled(paper.workload)?;
        let unoptimised = shop.workloads.unoptimised(paper.workload)?;
        shop.campaigns.kernels = vec![paper.kernel.to_owned()];
        let place = shop.campaigns.dir.clone();
        shop.campaigns.dir.push("debug");
        shop.campaigns.seed = seed(number, DEBUG);
        let debug = measure(shop.campaigns, &unoptimised, unbiased(), sizes.debug);
        shop.campaigns.dir = place;
        let longer = instructions(&unoptimised, paper.kernel) / instructions(&capsule, paper.kernel);
        let debug = Debug { estimate: first(paper, &debug?)?, longer };
        all.push(Survey { paper, number, capsule: &capsule, sizes, campaigns: shop.campaigns }.measure(debug)?);
    }
    Ok(all)
}

fn unbiased() -> Settings {
    Settings { choice: Choice::Unbiased, ..Settings::default() }
}

/// What the debugger's build came to.
struct Debug {
    estimate: KernelEstimate,
    longer: f64,
}

/// The campaigns of one kernel.
struct Survey<'s, 'c> {
    paper: &'static PaperKernel,
    number: usize,
    capsule: &'s OpenedCapsule,
    sizes: SampleSizes,
    campaigns: &'s mut Campaigns<'c>,
}

impl Survey<'_, '_> {
    fn measure(&mut self, debug: Debug) -> Result<MeasuredKernel, StudyError> {
        self.campaigns.seed = seed(self.number, 0);
        let large = measure(self.campaigns, self.capsule, unbiased(), self.sizes.unbiased)?;
        let method = self.choosing(Settings::default())?;
        let realised = self.realise(&method, self.sizes.realisations)?;
        let mut variants = [const { None }; 3];
        for (variant, found) in Variant::ALL.into_iter().zip(&mut variants) {
            *found = self.vary(&method, variant.settings())?;
        }
        let mut caps = Vec::new();
        for cap in CAPS.into_iter().filter(|_| CAPPED.contains(&self.paper.name)) {
            let capped = self.choosing(Settings { iterations: Some(cap), ..Settings::default() })?;
            caps.push(self.realise(&capped, self.sizes.variants)?.estimates);
        }
        let golden = self.capsule.golden_run();
        let lost = || missing(self.paper);
        let estimate = first(self.paper, &large)?;
        let launch = golden.launches().iter().find(|launch| launch.program.name == estimate.kernel).ok_or_else(lost)?;
        let (mix, state) = mixes(golden).get(&estimate.kernel).copied().ok_or_else(lost)?;
        let open = Settings { window: None, ..unbiased() };
        let endless = estimates(&large.grouping, open, &large.trials);
        let recorded = golden.recorded(launch);
        Ok(MeasuredKernel {
            paper: self.paper,
            iterations: most_iterations(golden, &large.grouping, seed(self.number, 0)),
            mix,
            state,
            scale: (recorded.grid, recorded.block),
            unbiased: estimate,
            causes: causes(&large.trials, unbiased().window),
            endless: endless.kernels.into_iter().next().ok_or_else(lost)?,
            lost: large.lost,
            trials: large.trials,
            groups: large.grouping.kernels.into_iter().next().ok_or_else(lost)?,
            seconds: realised.seconds,
            realisations: realised.estimates,
            method_lost: realised.lost,
            variants,
            caps,
            debug: debug.estimate,
            longer: debug.longer,
        })
    }

    fn choosing(&self, settings: Settings) -> Result<GpuQin, StudyError> {
        choosing(self.campaigns, self.capsule, settings)
    }

    /// The realisations with other settings; none where they choose as the method does.
    fn vary(&mut self, method: &GpuQin, settings: Settings) -> Result<Option<Vec<KernelEstimate>>, StudyError> {
        let other = self.choosing(settings)?;
        let alike = (1..=self.sizes.variants).all(|it| method.chooses_as(&other, seed(self.number, it)));
        if alike { Ok(None) } else { Ok(Some(self.realise(&other, self.sizes.variants)?.estimates)) }
    }

    /// The method again and again.
    fn realise(&mut self, method: &GpuQin, times: u64) -> Result<Realised, StudyError> {
        let (mut estimates, mut lost, mut seconds) = (Vec::new(), Lost::default(), 0.0);
        for realisation in 1..=times {
            self.campaigns.seed = seed(self.number, realisation);
            let measured = measure_by(self.campaigns, self.capsule, method, self.sizes.published)?;
            estimates.push(first(self.paper, &measured)?);
            seconds += measured.seconds;
            lost.join(measured.lost);
        }
        let runs = self.sizes.published * times;
        Ok(Realised { estimates, lost, seconds: seconds / runs as f64 })
    }
}

/// What all realisations came to.
struct Realised {
    estimates: Vec<KernelEstimate>,
    lost: Lost,
    /// Of one run.
    seconds: f64,
}

fn missing(paper: &PaperKernel) -> StudyError {
    StudyError::Nothing("survey", format!("{} has no kernel {}", paper.workload, paper.kernel))
}

/// The estimate of the one kernel of a campaign.
fn first(paper: &PaperKernel, measured: &Measured) -> Result<KernelEstimate, StudyError> {
    measured.estimates.kernels.first().cloned().ok_or_else(|| missing(paper))
}

/// The most often that a thread comes to one instruction, of the representatives of all groups.
fn most_iterations(golden: &Golden, grouping: &Grouping, seed: u64) -> u32 {
    let groups = grouping.kernels.iter().enumerate().flat_map(|(number, kernel)| {
        let groups = 0..kernel.groups.len();
        groups.filter_map(move |group| grouping.representative(golden, seed, number, group))
    });
    let most = |thread| Profile::of(golden, thread).steps.iter().map(|step| step.iteration + 1).max();
    groups.filter_map(most).max().unwrap_or(0)
}

/// Instructions that the threads of a kernel execute, over all launches.
fn instructions(capsule: &CapsuleTarget, kernel: &str) -> f64 {
    let launches = capsule.golden_run().launches().iter();
    let own = launches.filter(|launch| fault::base_name(&launch.program.name) == kernel);
    own.map(|launch| launch.thread_instructions() as f64).sum()
}

impl MeasuredKernel {
    /// The rates of the unbiased choice; nothing where no fault was activated.
    #[must_use]
    pub fn rates(&self) -> Rates {
        self.unbiased.rates.unwrap_or_default()
    }

    /// SDC, crash and hang together.
    #[must_use]
    pub fn failure(&self) -> f64 {
        let Rates { sdc, crash, hang, .. } = self.rates();
        [sdc, crash, hang].iter().map(|Bounded { rate, .. }| rate).sum()
    }

    /// The runs of all realisations.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.realisations.iter().map(|it| it.injected + it.discarded.values().sum::<u64>()).sum()
    }

    /// Those of them that were given up.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.method_lost.given_up.values().sum()
    }

    /// The share of the faults injected by all realisations that were activated.
    #[must_use]
    pub fn activation(&self) -> Option<f64> {
        let sum = |count: fn(&KernelEstimate) -> u64| self.realisations.iter().map(count).sum::<u64>();
        let injected = sum(|it| it.injected);
        (injected > 0).then(|| sum(|it| it.activated) as f64 / injected as f64)
    }

    /// How the activated trials of all realisations ended, by the group whose profile they used.
    #[must_use]
    pub fn groups_of_realisations(&self) -> BTreeMap<usize, [u64; ENDS]> {
        let mut groups: BTreeMap<usize, [u64; ENDS]> = BTreeMap::new();
        for group in self.realisations.iter().flat_map(|it| &it.groups) {
            let ends = groups.entry(group.group).or_default();
            ends.iter_mut().zip(group.ends).for_each(|(sum, count)| *sum += count);
        }
        groups
    }

    /// The method at the size of the paper's campaigns, once.
    #[must_use]
    pub fn published(&self) -> Option<&KernelEstimate> {
        self.realisations.first()
    }

    /// Trials of the unbiased choice that were activated, by group.
    #[must_use]
    pub fn activated(&self, window: Option<u64>) -> Vec<Trial> {
        self.trials.iter().filter(|trial| trial.is_activated(window)).copied().collect()
    }
}
