//! DRDV or SRIV for each kernel, with deferred notification, by a small tree over what is known before it runs (section 4.6.3 of the thesis).
//!
//! ```text
//! profiles/protection/h100.toml   kernels of applications, their features and their times with both ──▶ tree ──▶ a scheme for each kernel
//! ```
//!
//! The tree is grown when a capsule is hardened, without the kernels of the application of that name: a bundled workload is
//! treated as one that was never timed.

mod features;
mod table;
mod tree;

pub use features::KernelFeatures;
pub use table::{ChoiceOutcome, HardenedTimes, HardenedTimesOfKernel};

use crate::hardening::reading::HardenError;
use capsule::{Capsule, Event, Launch};
use isa::{FunctionId, Module};
use rewrite::{Protection, Scheme, protect};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tree::ChoiceTree;

/// The two schemes that are chosen from.
pub const CANDIDATES: [Scheme; 2] = [Scheme::FastsigDrdv, Scheme::FastsigSriv];

/// The scheme of each kernel, and how it was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AutomaticChoice {
    /// The tree, in words.
    pub tree: String,
    /// The applications that it was grown of.
    pub applications: usize,
    /// The GPU that their times are of.
    pub gpu: String,
    /// The kernels.
    pub kernels: Vec<ChosenScheme>,
}

/// The scheme of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChosenScheme {
    /// The kernel.
    pub kernel: String,
    /// The scheme.
    pub scheme: &'static str,
    /// The conditions of the tree that led to it; none where the tree has no condition, or the kernel is not launched.
    pub reasons: Vec<String>,
}

/// Chooses the schemes of the kernels of a capsule.
pub(super) struct Chooser {
    tree: ChoiceTree,
    /// The choices so far.
    pub(super) made: AutomaticChoice,
}

impl Chooser {
    /// A chooser for an application.
    pub(super) fn new(application: &str) -> Result<Self, HardenError> {
        let table = HardenedTimes::bundled().map_err(HardenError::Choice)?;
        let tree = table.without(application);
        let others = table.kernels.iter().map(|kernel| kernel.application.as_str()).filter(|name| *name != application);
        let made = AutomaticChoice {
            tree: tree.words(CANDIDATES.map(Scheme::word)),
            applications: others.collect::<BTreeSet<_>>().len(),
            gpu: table.gpu,
            kernels: Vec::new(),
        };
        Ok(Self { tree, made })
    }

    /// The scheme of each function of a module, in order. What kernels call is protected by the first candidate.
    pub(super) fn schemes(
        &mut self,
        capsule: &Capsule,
        index: usize,
        module: &Module,
    ) -> Result<Vec<Scheme>, HardenError> {
        let known = of_module(capsule, index, module)?;
        let mut schemes = Vec::new();
        for function in &module.functions {
            let (scheme, reasons) =
                known.get(&function.name).map_or((0, Vec::new()), |features| self.tree.choose(features));
            let scheme = CANDIDATES[scheme];
            if function.kernel && !function.body.is_empty() {
                let kernel = function.name.clone();
                self.made.kernels.push(ChosenScheme { kernel, scheme: scheme.word(), reasons });
            }
            schemes.push(scheme);
        }
        Ok(schemes)
    }
}

/// The features of the kernels that a capsule launches, by name.
///
/// # Errors
/// If its PTX cannot be read.
pub fn kernel_features(capsule: &Capsule) -> Result<BTreeMap<String, KernelFeatures>, HardenError> {
    let mut all = BTreeMap::new();
    for (index, reading) in crate::hardening::reading::modules(capsule) {
        all.extend(of_module(capsule, index, &reading?.module)?);
    }
    Ok(all)
}

fn of_module(
    capsule: &Capsule,
    index: usize,
    module: &Module,
) -> Result<BTreeMap<String, KernelFeatures>, HardenError> {
    let mut largest: BTreeMap<&str, &Launch> = BTreeMap::new();
    for event in &capsule.events {
        if let Event::Launch(launch) = event
            && launch.module.0 as usize == index
        {
            let known = largest.entry(&launch.kernel).or_insert(launch);
            if launch.threads() > known.threads() {
                *known = launch;
            }
        }
    }
    let everything = |_: FunctionId, _| true;
    let hardened = [protect(module, CANDIDATES[0], &everything)?, protect(module, CANDIDATES[1], &everything)?];
    let mut features = BTreeMap::new();
    for (number, function) in module.functions.iter().enumerate() {
        let Some(launch) = largest.get(function.name.as_str()) else { continue };
        let written = hardened.iter().all(|it| matches!(it.functions.get(number), Some(Protection::Written(_))));
        if written {
            let forms = [&hardened[0].module.functions[number], &hardened[1].module.functions[number]];
            features.insert(function.name.clone(), KernelFeatures::of(function, forms, launch));
        }
    }
    Ok(features)
}
