//! The method as the planner of a campaign: it chooses, whatever has the engines runs.

use campaign::{LabelColumn, Planner, Results, RunIndex, SelectionWords, Site, StoreError, TargetError};
use facts::Space;
use fault::{Fault, ModelKind, Scope, draw};
use inject::site::{Coordinates, LABELS};
use inject::threads::{FoundInstruction, Query, find};
use inject::{CapsuleTarget, Golden};
use outcome::Criteria;
use stats::Draws;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::choose::{Chooser, Chosen, Profiles};
use super::estimate::estimates;
use super::grouping::{GroupBy, Grouping, KernelGroups};
use super::location::{Discard, locate};
use super::settings::Settings;
use super::show;
use super::trials::{Grouped, trials};
use crate::kit::MethodSettings;
use crate::kit::chosen::first_explicit;
use crate::method::{Applied, Estimates};

/// A capsule whose sites GPU-Qin chooses.
pub struct GpuQin {
    capsule: Arc<CapsuleTarget>,
    settings: Settings,
    grouping: Grouping,
    chooser: Chooser,
    model: ModelKind,
    /// By kernel and instruction, the state space that it accesses.
    spaces: BTreeMap<(String, u32), Space>,
}

impl GpuQin {
    /// The method on a capsule, as `words` say.
    ///
    /// # Errors
    /// If the words mean no settings, say what the method chooses itself, or select nothing.
    pub fn new(capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Self, TargetError> {
        let ParsedSettings { settings, model, selection } = ParsedSettings::of(words)?;
        let golden = capsule.golden_run();
        let selected = |name: &str, number: u32| selection.holds_launch(name, number);
        let grouping = Grouping::of(golden, settings.coverage, GroupBy::Instructions, &selected);
        let chooser = Chooser::new(golden, &grouping, settings);
        if chooser.is_empty() {
            return Err(TargetError::new("find a thread to profile: no kernel matches; `beamline groups` lists them"));
        }
        Ok(Self { capsule: Arc::clone(capsule), settings, grouping, chooser, model, spaces: spaces(golden) })
    }

    /// The threads in groups.
    #[must_use]
    pub fn grouping(&self) -> &Grouping {
        &self.grouping
    }

    /// The profiles that stand for groups in a campaign with this seed.
    fn profiles(&self, seed: u64) -> Profiles {
        self.chooser.profiles(self.capsule.golden_run(), &self.grouping, seed)
    }

    /// Whether a campaign with this seed has the same sites by other settings, none of whose thresholds is reached.
    #[must_use]
    pub fn chooses_as(&self, other: &Self, seed: u64) -> bool {
        self.chooser.is_as(&other.chooser, &self.profiles(seed))
    }

    /// The thresholds.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// What makes an output good, as the capsule says.
    #[must_use]
    pub fn criteria(&self) -> Criteria {
        self.capsule.criteria()
    }

    /// The site of a run, given where its place was found.
    fn site(&self, draws: &mut Draws, chosen: &Chosen, found: Option<FoundInstruction>) -> Option<Site> {
        let golden = self.capsule.golden_run();
        let Query { launch, thread, .. } = chosen.query;
        let run = golden.launches().get(launch as usize)?;
        let threads = golden.threads_per_block(run) as u64;
        let at = |dynamic| {
            let (cta, thread) = (thread / threads, (thread % threads) as u32);
            Coordinates { launch, cta, thread, dynamic }
        };
        let give_up = |dynamic, site, why: Discard| self.capsule.give_up(at(dynamic), site, why.word());
        let Some(found) = found else {
            let after_its_end = u64::from(run.counts().get(thread)?);
            return give_up(after_its_end, chosen.instruction?, chosen.discard.unwrap_or(Discard::NotThere));
        };
        if let Some(why) = chosen.discard {
            return give_up(found.dynamic, found.instruction, why);
        }
        match locate(draws, self.model, run.program.facts(found.instruction)?, found) {
            None => give_up(found.dynamic, found.instruction, Discard::NoRegister),
            Some((target, bits)) => {
                let model = draw::model(draws, self.model, bits)?;
                let Coordinates { launch, cta, thread, dynamic } = at(found.dynamic);
                let scope = Scope::Thread;
                let fault = Fault { isa: run.isa, launch, cta, thread, dynamic, target, model, scope };
                self.capsule.label(&fault, found.instruction)
            }
        }
    }
}

/// The state spaces that the instructions of all kernels access.
fn spaces(golden: &Golden) -> BTreeMap<(String, u32), Space> {
    let (mut seen, mut spaces) = (BTreeSet::new(), BTreeMap::new());
    for program in golden.launches().iter().map(|launch| &launch.program) {
        if !seen.insert(&program.name) {
            continue;
        }
        for instruction in &program.instructions {
            let access = instruction.facts.as_ref().and_then(|facts| facts.access);
            let Some(access) = access else { continue };
            spaces.insert((program.name.clone(), instruction.pc.0), access.space);
        }
    }
    spaces
}

/// What the words of a selection mean to the method.
pub(super) struct ParsedSettings {
    settings: Settings,
    model: ModelKind,
    /// Of its launches.
    selection: fault::Selection,
}

impl ParsedSettings {
    /// Reads the words.
    ///
    /// # Errors
    /// If they mean no settings, no model or no kernels, or say what the method chooses itself.
    pub(super) fn of(words: &SelectionWords) -> Result<Self, TargetError> {
        let settings = Settings::read(words)?;
        check(words)?;
        let of = |error: fault::SelectionError| TargetError::from_error(&error);
        let model = words.model.as_deref().map_or(Ok(ModelKind::default()), ModelKind::parse).map_err(of)?;
        let selection = fault::Selection::default().in_kernels(&words.kernel).map_err(of)?;
        Ok(Self { settings, model, selection })
    }
}

/// Refuses words about what the method chooses itself.
fn check(words: &SelectionWords) -> Result<(), TargetError> {
    // Even the usual target is not what the method hits.
    let target = words.target.as_ref().map(|_| "target");
    match first_explicit(words, &["kernel", "model"]).or(target) {
        None => Ok(()),
        Some(key) => Err(TargetError::new(format!(
            "choose sites as gpu-qin does and by `{key}` too: the method chooses what is hit itself; leave `{key}` out"
        ))),
    }
}

impl Grouped for GpuQin {
    fn kernels(&self) -> &[KernelGroups] {
        &self.grouping.kernels
    }

    fn profile_of(&self, seed: u64, run: u64) -> Option<(usize, usize)> {
        self.chooser.stratum_of(seed, run)
    }

    fn linear(&self, at: Coordinates) -> Option<u64> {
        let golden = self.capsule.golden_run();
        let launch = golden.launches().get(at.launch as usize)?;
        Some(at.cta * golden.threads_per_block(launch) as u64 + u64::from(at.thread))
    }

    fn space(&self, kernel: &str, pc: u32) -> Option<Space> {
        self.spaces.get(&(kernel.to_owned(), pc)).copied()
    }
}

impl Planner for GpuQin {
    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], _: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let mut draws: Vec<Draws> = runs.iter().map(|run| Draws::new(seed, run.0)).collect();
        let profiles = self.profiles(seed);
        let chosen: Vec<Option<Chosen>> = draws.iter_mut().map(|draws| self.chooser.choose(&profiles, draws)).collect();
        let queries: Vec<Query> = chosen.iter().flatten().map(|chosen| chosen.query).collect();
        let found = find(self.capsule.golden_run(), &queries);
        let lost = || TargetError::new("repeat the golden run: an instruction that was drawn is not in its program");
        let site = |(chosen, draws): (Option<Chosen>, &mut Draws)| {
            let chosen = chosen.ok_or_else(lost)?;
            self.site(draws, &chosen, found.get(&chosen.query).copied()).ok_or_else(lost)
        };
        chosen.into_iter().zip(&mut draws).map(site).collect()
    }
}

impl Applied for GpuQin {
    fn estimates(&self, results: &Results) -> Result<Estimates, StoreError> {
        let estimated = estimates(&self.grouping, self.settings, &trials(results, self)?);
        Ok(show::estimates(&estimated))
    }
}
