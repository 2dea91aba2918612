//! The method as the target of a campaign: it chooses, another target runs.

use campaign::{Criteria, Engine, Golden, Memory, RunIndex, Selection, Site, Target, TargetError, Worker};
use fault::{Fault, Model, Pattern, Scope, draw};
use inject::CapsuleTarget;
use inject::threads::{Found, Query, find};
use stats::Draws;

use super::choose::{Chooser, Chosen};
use super::grouping::{By, Grouping};
use super::location::{Discard, locate};
use super::settings::Settings;

/// The operand that no instruction has: what a run that is given up names.
const NOTHING: fault::Target = fault::Target::Destination(u8::MAX);

/// A capsule whose sites GPU-Qin chooses.
pub struct GpuQin<'t> {
    capsule: &'t CapsuleTarget,
    /// What runs the faults: the capsule itself, or its application.
    runs: &'t dyn Target,
    settings: Settings,
    grouping: Grouping,
    chooser: Chooser,
    pattern: Pattern,
}

impl<'t> GpuQin<'t> {
    /// The method on a capsule, whose faults `runs` runs, as `words` say.
    ///
    /// # Errors
    /// If the words mean no settings, say what the method chooses itself, or select nothing.
    pub fn new(capsule: &'t CapsuleTarget, runs: &'t dyn Target, words: &Selection) -> Result<Self, TargetError> {
        let method = words.method.as_deref().unwrap_or("gpu-qin");
        let settings: Settings = method.parse().map_err(|error| TargetError::from_error(&error))?;
        check(words)?;
        let of = |error: fault::SelectionError| TargetError::from_error(&error);
        let pattern = words.model.as_deref().map_or(Ok(Pattern::default()), Pattern::parse).map_err(of)?;
        let selection = fault::Selection::default().in_kernels(&words.kernel).map_err(of)?;
        let golden = capsule.golden_run();
        let selected = |name: &str, number: u32| selection.holds_launch(name, number);
        let grouping = Grouping::of(golden, settings.coverage, By::Instructions, &selected);
        let chooser = Chooser::new(golden, &grouping, settings);
        if chooser.is_empty() {
            return Err(TargetError::new("find a thread to profile: no kernel matches; `beamline groups` lists them"));
        }
        Ok(Self { capsule, runs, settings, grouping, chooser, pattern })
    }

    /// The threads in groups.
    #[must_use]
    pub fn grouping(&self) -> &Grouping {
        &self.grouping
    }

    /// The threads in groups, when nothing more is to be chosen.
    #[must_use]
    pub fn into_grouping(self) -> Grouping {
        self.grouping
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

    /// Which group's profile a run uses: the kernel and its group. None for the unbiased choice.
    #[must_use]
    pub fn stratum_of(&self, seed: u64, run: u64) -> Option<(usize, usize)> {
        self.chooser.stratum_of(seed, run)
    }

    /// The thread of a site, linear in its launch.
    pub(crate) fn linear(&self, site: &Site) -> Option<u64> {
        let golden = self.capsule.golden_run();
        let launch = golden.launches().get(site.launch as usize)?;
        Some(site.cta * golden.threads_per_block(launch) as u64 + u64::from(site.thread))
    }

    /// The site of a run, given where its place was found.
    fn site(&self, draws: &mut Draws, chosen: &Chosen, found: Option<Found>) -> Option<Site> {
        let golden = self.capsule.golden_run();
        let Query { launch, thread, .. } = chosen.query;
        let run = golden.launches().get(launch as usize)?;
        let threads = golden.threads_per_block(run) as u64;
        let give_up = |dynamic: u64, site: u32, why: Discard| {
            let model = Model::single(0);
            let fault = fault_at(launch, thread, threads, dynamic, NOTHING, model);
            let site = self.capsule.label(&fault, site)?;
            Some(Site { target: why.word().to_owned(), ..site })
        };
        let Some(found) = found else {
            let after_its_end = u64::from(*run.counts.get(usize::try_from(thread).ok()?)?);
            return give_up(after_its_end, chosen.site?, chosen.discard.unwrap_or(Discard::NotThere));
        };
        if let Some(why) = chosen.discard {
            return give_up(found.dynamic, found.site, why);
        }
        match locate(draws, self.pattern, run.program.facts(found.site)?, found) {
            None => give_up(found.dynamic, found.site, Discard::NoRegister),
            Some((target, bits)) => {
                let model = draw::model(draws, self.pattern, bits)?;
                let fault = fault_at(launch, thread, threads, found.dynamic, target, model);
                self.capsule.label(&fault, found.site)
            }
        }
    }
}

/// A fault in one thread.
fn fault_at(launch: u32, thread: u64, threads: u64, dynamic: u64, target: fault::Target, model: Model) -> Fault {
    let (cta, thread) = (thread / threads, (thread % threads) as u32);
    Fault { launch, cta, thread, dynamic, target, model, scope: Scope::Thread }
}

/// Refuses words about what the method chooses itself.
fn check(words: &Selection) -> Result<(), TargetError> {
    let lists =
        [("group", &words.group), ("lines", &words.lines), ("threads", &words.threads), ("blocks", &words.blocks)];
    let said = lists.into_iter().find(|(_, list)| !list.is_empty()).map(|(key, _)| key);
    let target = words.target.as_ref().map(|_| "target");
    let scope = words.scope.as_deref().filter(|&scope| scope != "thread").map(|_| "scope");
    let stratify = words.stratify.map(|_| "stratify");
    match said.or(target).or(scope).or(stratify) {
        None => Ok(()),
        Some(key) => Err(TargetError::new(format!(
            "choose sites as gpu-qin does and by `{key}` too: the method chooses what is hit itself; leave `{key}` out"
        ))),
    }
}

impl Target for GpuQin<'_> {
    fn name(&self) -> &str {
        self.runs.name()
    }

    fn digest(&self) -> &str {
        self.runs.digest()
    }

    fn golden(&self) -> Golden {
        self.runs.golden()
    }

    fn plan(&self, runs: &[RunIndex], _: &Selection, seed: u64) -> Result<Vec<Site>, TargetError> {
        let mut draws: Vec<Draws> = runs.iter().map(|run| Draws::new(seed, run.0)).collect();
        let chosen: Vec<Option<Chosen>> = draws.iter_mut().map(|draws| self.chooser.choose(draws)).collect();
        let queries: Vec<Query> = chosen.iter().flatten().map(|chosen| chosen.query).collect();
        let found = find(self.capsule.golden_run(), &queries);
        let lost = || TargetError::new("repeat the golden run: an instruction that was drawn is not in its program");
        let site = |(chosen, draws): (Option<Chosen>, &mut Draws)| {
            let chosen = chosen.ok_or_else(lost)?;
            self.site(draws, &chosen, found.get(&chosen.query).copied()).ok_or_else(lost)
        };
        chosen.into_iter().zip(&mut draws).map(site).collect()
    }

    fn worker(&self, engine: Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        self.runs.worker(engine)
    }

    fn memory(&self) -> Option<Memory> {
        self.runs.memory()
    }
}
