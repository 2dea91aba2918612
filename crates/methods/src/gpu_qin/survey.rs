//! All kernels of the paper, each measured in every way that its page speaks of.

use inject::CapsuleTarget;
use std::sync::Arc;

use super::crashes::{Cause, causes};
use super::estimate::{Bounded, KernelEstimate, Rates};
use super::grouping::KernelGroups;
use super::measure::{Measured, measure};
use super::mix::{Mix, StateBits, mixes};
use super::paper::{KERNELS, PaperKernel};
use super::settings::{Choice, Coverage, Settings};
use super::trials::Trial;
use crate::kit::{Campaigns, StudyError};
use crate::method::Workshop;

/// How many runs each kind of campaign has.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleSizes {
    /// The unbiased choice, against which all is held.
    pub(super) large: u64,
    /// The method and its variants, large enough that what differs is the choice and not chance.
    pub(super) variants: u64,
    /// The method at the size of the paper's campaigns.
    pub(super) published: u64,
    /// The unbiased choice on kernels built for a debugger, which are slower.
    pub(super) debug: u64,
}

/// A kernel, measured.
pub struct MeasuredKernel {
    /// What the paper says of it.
    pub paper: &'static PaperKernel,
    /// Our kernel's threads in groups.
    pub groups: KernelGroups,
    /// What it executes.
    pub mix: Mix,
    /// What of its state faults can reach.
    pub state: StateBits,
    /// Blocks and threads of a block, of its first launch.
    pub scale: ([u32; 3], [u32; 3]),
    /// The unbiased choice.
    pub unbiased: KernelEstimate,
    /// What its crashes come from.
    pub causes: Vec<Cause>,
    /// The unbiased choice with every fault that is ever read counted as activated.
    pub endless: KernelEstimate,
    /// The method at the size of the paper's campaigns, and seconds per run.
    pub published: KernelEstimate,
    /// Seconds of a run of it on all workers together.
    pub seconds: f64,
    /// The method, many runs.
    pub method: KernelEstimate,
    /// The method without the loop-iteration cap, many runs.
    pub uncapped: KernelEstimate,
    /// The method without the limit of steps, many runs.
    pub stepped: KernelEstimate,
    /// The method with profiles of groups that hold 99 % of the threads, many runs.
    pub covered: KernelEstimate,
    /// The trials of the unbiased choice, which the spread between groups and within them is computed from.
    pub trials: Vec<Trial>,
    /// The unbiased choice on the same kernel built for a debugger, nothing optimised.
    pub debug: KernelEstimate,
    /// Instructions that its threads execute, divided by those of the optimised kernel.
    pub longer: f64,
}

/// Measures every kernel of the paper, or those of `only` one workload.
///
/// # Errors
/// If a workload lacks its kernel, or a campaign cannot be made.
pub(super) fn survey(
    shop: &mut Workshop<'_, '_>,
    sizes: SampleSizes,
    only: Option<&str>,
) -> Result<Vec<MeasuredKernel>, StudyError> {
    let mut all = Vec::new();
    for paper in KERNELS.iter().filter(|paper| only.is_none_or(|name| paper.workload == name)) {
        let (capsule, debug) = (shop.workloads.bundled(paper.workload)?, shop.workloads.unoptimised(paper.workload)?);
        shop.campaigns.kernels = vec![paper.kernel.to_owned()];
        all.push(one(paper, &capsule, &debug, sizes, shop.campaigns)?);
    }
    Ok(all)
}

fn one(
    paper: &'static PaperKernel,
    capsule: &Arc<CapsuleTarget>,
    debug: &Arc<CapsuleTarget>,
    sizes: SampleSizes,
    campaigns: &mut Campaigns<'_>,
) -> Result<MeasuredKernel, StudyError> {
    let method = Settings::default();
    let unbiased = Settings { choice: Choice::Unbiased, ..method };
    let lost = || StudyError::Nothing("survey", format!("{} has no kernel {}", paper.workload, paper.kernel));
    let only = |measured: &Measured| measured.estimates.kernels.first().cloned().ok_or_else(lost);
    let large = measure(campaigns, capsule, unbiased, sizes.large)?;
    let small = measure(campaigns, capsule, method, sizes.published)?;
    let mut variant = |settings| only(&measure(campaigns, capsule, settings, sizes.variants)?);
    let (many, uncapped) = (variant(method)?, variant(Settings { iterations: None, ..method })?);
    let stepped = variant(Settings { steps: None, ..method })?;
    let covered = variant(Settings { coverage: Coverage::Share(0.99), ..method })?;
    let place = campaigns.dir.clone();
    campaigns.dir.push("debug");
    let unoptimised = measure(campaigns, debug, unbiased, sizes.debug);
    campaigns.dir = place;
    let unoptimised = only(&unoptimised?)?;
    let golden = capsule.golden_run();
    let name = only(&large)?.kernel;
    let open = Settings { window: None, ..unbiased };
    let endless = super::estimate::estimates(&large.grouping, open, &large.trials);
    let unbiased = only(&large)?;
    let groups = large.grouping.kernels.into_iter().next().ok_or_else(lost)?;
    let launch = golden.launches().iter().find(|launch| launch.program.name == name).ok_or_else(lost)?;
    let recorded = golden.recorded(launch);
    let (mix, state) = mixes(golden).get(&name).copied().ok_or_else(lost)?;
    Ok(MeasuredKernel {
        paper,
        mix,
        state,
        scale: (recorded.grid, recorded.block),
        unbiased,
        causes: causes(&large.trials, method.window),
        endless: endless.kernels.into_iter().next().ok_or_else(lost)?,
        published: only(&small)?,
        seconds: small.seconds / sizes.published as f64,
        method: many,
        uncapped,
        stepped,
        covered,
        groups,
        trials: large.trials,
        debug: unoptimised,
        longer: instructions(debug, &name) / instructions(capsule, &name),
    })
}

/// Instructions that the threads of a kernel execute, over all launches.
fn instructions(capsule: &CapsuleTarget, kernel: &str) -> f64 {
    let own = capsule.golden_run().launches().iter().filter(|launch| launch.program.name == kernel);
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

    /// Trials of the unbiased choice that were activated, by group.
    #[must_use]
    pub fn activated(&self, window: Option<u64>) -> Vec<Trial> {
        self.trials.iter().filter(|trial| trial.is_activated(window)).copied().collect()
    }
}
