//! A capsule as the target system of a campaign: draws become sites, sites become observations.

use crate::criteria::{OutputTypes, output_types};
use crate::full::Injector;
use crate::golden::{Golden, GoldenLaunch};
use crate::index::Index;
use crate::plan::{Planned, SamplingFrame};
use crate::resources::Resources;
use crate::runner::Runner;
use crate::sample::census;
use crate::site::{Coordinates, LABELS, given_up, site_of};
use crate::strategy::{ENGINES, Strategy};
use crate::sweep::{Population, SweepEngine, Sweeping};
use crate::threads::Thread;
use campaign::config::SelectionWords;
use campaign::{
    Engine, EngineOffer, Engines, KernelRegisters, LabelColumn, Planner, RunIndex, Site, Spot, Stratum, Subject, Sweep,
    Sweeper, TargetError, Worker,
};
use device::{Guests, KernelRace, PROTECTION_PREFIX, PROTECTION_SETS};
use facts::{Facts, NamedSet, Source};
use fault::{Fault, Patterns, Selection, TargetKind};
use outcome::Criteria;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How a capsule is compared after its golden run, and what its runs may use. The machine of the golden run is no part of
/// it: a [`Golden`] has its own ([`Machine`](crate::Machine)).
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// What makes a corrupted output good or bad; by its types and within its ranges outputs are compared.
    pub criteria: Criteria,
    /// Whether the type of an output that neither the criteria nor the capsule give is read off the program; otherwise
    /// its bytes are compared.
    pub infer: bool,
    /// How many instructions a thread may execute beyond ten times its own before it is stopped, whatever is known of its
    /// loops. Where nobody says it, loops that are known to end are executed to their end, within the
    /// [bound of work](strike::loop_fuel).
    pub fuel: Option<u32>,
    /// What may be used.
    pub resources: Resources,
    /// The name by which the capsule is found again, where it is not its own.
    pub opened_as: Option<String>,
}

/// A capsule whose golden run is done. What is said of it cannot be changed any more: all that is derived from it stays
/// true.
#[derive(Debug)]
pub struct CapsuleTarget {
    pub(crate) golden: Golden,
    digest: String,
    opened_as: Option<String>,
    resources: Resources,
    output_types: OutputTypes,
    /// Made when the first worker that needs it is.
    index: OnceLock<Arc<Index>>,
    /// The faults of the exhaustive campaign that was asked for last.
    population: Mutex<Option<(SelectionWords, Arc<Population>)>>,
    /// What the runs of the sampled campaign that was planned last are drawn from.
    plan: Mutex<Option<(SelectionWords, Arc<SamplingFrame>)>>,
}

/// Whether the words of a selection mean something, as far as that can be told without a capsule.
///
/// # Errors
/// If they do not.
pub fn check_words(words: &SelectionWords) -> Result<(), TargetError> {
    selection(words, &[&Guests::default().sets()[..], PROTECTION_SETS].concat()).map(drop)
}

/// The words of a selection, understood.
fn selection(words: &SelectionWords, sets: &[NamedSet]) -> Result<Selection, TargetError> {
    let of = |error: fault::SelectionError| TargetError::from_error(&error);
    if let Some(method) = &words.method {
        return Err(TargetError::new(format!("choose sites: the method {method} does that, for sampled campaigns")));
    }
    let (model, target, scope) = (words.model.as_deref(), words.target.as_deref(), words.scope.as_deref());
    let mut selection = Selection::of_words(model, target, scope, &words.group, sets).map_err(of)?;
    selection = selection.in_kernels(&words.kernel).map_err(of)?.in_lines(&words.lines).map_err(of)?;
    selection.threads = fault::Ranges::parse("threads", &words.threads).map_err(of)?;
    selection.blocks = fault::Ranges::parse("blocks", &words.blocks).map_err(of)?;
    selection.iterations = fault::Ranges::parse("iterations", &words.iterations).map_err(of)?;
    Ok(selection)
}

/// An instruction of the golden run with what is known about it.
pub(crate) struct Located<'g> {
    pub(crate) launch: &'g GoldenLaunch,
    pub(crate) facts: &'g Facts,
    pc: u32,
}

impl Setup {
    /// The [fuel](Self::fuel) where every site is injected: among all bits there are some for every length of a loop, and
    /// those that are longer would take most of the time.
    pub const FUEL_OF_ALL: u32 = 100_000;
}

impl CapsuleTarget {
    /// A target from a golden run, with nothing said of it: outputs are compared as the capsule says.
    #[must_use]
    pub fn new(golden: Golden) -> Self {
        Self::of(golden, &Setup::default(), OutputTypes::default())
    }

    /// A target from a golden run, with all that is said of it.
    ///
    /// # Errors
    /// If the criteria name an output that the capsule does not have, or a type that its bytes are no whole number of.
    pub fn set_up(mut golden: Golden, setup: &Setup) -> Result<Self, TargetError> {
        setup.fuel.inspect(|&fuel| golden.set_fuel(fuel));
        let mut output_types = output_types(&mut golden, &setup.criteria, setup.infer)?;
        let race = |race: &KernelRace| format!("data race in {race}; its warps are interleaved");
        output_types.notes.extend(golden.races().iter().map(race));
        output_types.notes.extend(golden.float_sums());
        output_types.notes.extend(golden.capsule().provenance.order_note());
        output_types.notes.extend(golden.unsearched().map(|part| format!("data races were {part}")));
        Ok(Self::of(golden, setup, output_types))
    }

    fn of(golden: Golden, setup: &Setup, output_types: OutputTypes) -> Self {
        let digest = golden.capsule().digest().to_string();
        Self {
            golden,
            digest,
            opened_as: setup.opened_as.clone(),
            resources: setup.resources,
            output_types,
            index: OnceLock::new(),
            population: Mutex::default(),
            plan: Mutex::default(),
        }
    }

    /// What the capsule says about its outputs: the error that is still good, and the types that were found out.
    #[must_use]
    pub fn criteria(&self) -> Criteria {
        self.output_types.criteria(&self.golden)
    }

    /// The name by which the capsule is found again.
    #[must_use]
    pub fn opened_as(&self) -> &str {
        self.opened_as.as_deref().unwrap_or(&self.golden.capsule().name)
    }

    /// A line for each output whose type was looked for in vain.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.output_types.notes
    }

    /// The golden run.
    #[must_use]
    pub fn golden_run(&self) -> &Golden {
        &self.golden
    }

    /// What makes runs by a strategy.
    #[must_use]
    pub fn runner(&self, strategy: Strategy) -> Runner<'_> {
        let index = || self.index();
        let whole = self.golden.runs_whole();
        match strategy {
            Strategy::Full => Runner::full(&self.golden),
            _ if whole => Runner::full(&self.golden),
            Strategy::Auto | Strategy::Delta => Runner::delta(&self.golden, index()),
            Strategy::Lanes => Runner::lanes(&self.golden, index()),
        }
    }

    pub(crate) fn index(&self) -> &Arc<Index> {
        self.index.get_or_init(|| Arc::new(Index::of(&self.golden, &self.resources)))
    }

    pub(crate) fn selection(&self, words: &SelectionWords) -> Result<Selection, TargetError> {
        let capsule = self.golden.capsule();
        let is_protection = |word: &&str| word.trim().starts_with(PROTECTION_PREFIX);
        let mut groups = words.group.iter().flat_map(|text| text.split(','));
        if let (None, Some(word)) = (&capsule.provenance.hardening, groups.find(is_protection)) {
            return Err(TargetError::new(format!(
                "use group `{}` on {}: its kernels are not protected; write protection into them with `beamline harden` first",
                word.trim(),
                capsule.name
            )));
        }
        selection(words, &self.golden.sets())
    }

    /// What the runs of a sampled campaign are drawn from.
    fn plan_of(&self, words: &SelectionWords) -> Result<Arc<SamplingFrame>, TargetError> {
        let mut known = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = known.as_ref().filter(|(of, _)| of == words) {
            return Ok(Arc::clone(plan));
        }
        self.check_kernels(&words.kernel)?;
        let plan = Arc::new(SamplingFrame::of(&self.golden, self.selection(words)?, words.stratify));
        if plan.is_empty() {
            return Err(self.nothing_selected(words));
        }
        *known = Some((words.clone(), Arc::clone(&plan)));
        Ok(plan)
    }

    /// Every fault of a selection.
    fn population(&self, words: &SelectionWords) -> Result<Arc<Population>, TargetError> {
        let mut known = self.population.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, population)) = known.as_ref().filter(|(of, _)| of == words) {
            return Ok(Arc::clone(population));
        }
        self.check_kernels(&words.kernel)?;
        let selection = self.selection(words)?;
        if selection.patterns != Patterns::default() || !selection.target.is_operand() {
            return Err(no_such_sweep());
        }
        if !selection.iterations.is_all() {
            return Err(TargetError::new(
                "list every fault of some iterations: that is done for all of them; sample with `runs` or `margin`",
            ));
        }
        let population = Arc::new(Population::of(&self.golden, selection));
        if population.units.is_empty() {
            return Err(self.nothing_selected(words));
        }
        *known = Some((words.clone(), Arc::clone(&population)));
        Ok(population)
    }

    /// How many dynamic instructions a selection draws from.
    ///
    /// # Errors
    /// If the selection means nothing.
    pub fn members(&self, words: &SelectionWords) -> Result<u64, TargetError> {
        Ok(census(&self.golden, &self.selection(words)?).total())
    }

    /// The faults of a unit of an exhaustive campaign, in the order of its outcomes.
    ///
    /// # Errors
    /// If the selection means nothing or selects nothing, or there is no such unit.
    pub fn faults_of(&self, words: &SelectionWords, unit: u64) -> Result<Vec<Fault>, TargetError> {
        let population = self.population(words)?;
        Ok(crate::sweep::faults(&self.golden, &population, population.unit(unit)?))
    }

    /// The threads whose faults a unit of an exhaustive campaign has, in the order of its outcomes.
    ///
    /// # Errors
    /// If the selection means nothing or selects nothing, or the unit does not exist.
    pub fn threads_of(&self, words: &SelectionWords, unit: u64) -> Result<Vec<Thread>, TargetError> {
        let population = self.population(words)?;
        let at = population.unit(unit)?;
        let size = self.golden.threads_per_block(&self.golden.launches[at.launch as usize]) as u64;
        let threads = crate::sweep::threads(&self.golden, &population, at).into_iter();
        Ok(threads.map(|thread| (at.launch, at.block * size + u64::from(thread))).collect())
    }

    /// The labels of a fault at an instruction that is known, an index into the instructions of its launch's program.
    #[must_use]
    pub fn label(&self, fault: &Fault, instruction: u32) -> Option<Site> {
        Some(site_of(fault, self.located(fault.launch, instruction)?.spot()))
    }

    /// The labels of a run that is given up at a place and time, before an instruction that is an index into the
    /// instructions of its launch's program.
    #[must_use]
    pub fn give_up(&self, at: Coordinates, instruction: u32, reason: &str) -> Option<Site> {
        Some(given_up(at, self.located(at.launch, instruction)?.spot(), reason))
    }

    /// The site of a run that was drawn.
    pub(crate) fn site_planned(&self, planned: &Planned) -> Result<Site, TargetError> {
        let located = self.located(planned.fault.launch, planned.instruction);
        let gone = || TargetError::new("repeat the golden run: a drawn instruction was not found again");
        let spot = located.ok_or_else(gone)?.spot();
        Ok(Site { stratum: planned.stratum, ..site_of(&planned.fault, spot) })
    }

    pub(crate) fn located(&self, launch: u32, instruction: u32) -> Option<Located<'_>> {
        let launch = self.golden.launches().get(launch as usize)?;
        let site = launch.program.instructions.get(instruction as usize)?;
        Some(Located { launch, facts: site.facts.as_ref()?, pc: site.pc.0 })
    }
}

impl Located<'_> {
    /// What a fault in a register or in memory hits has no instruction of its own: the spot is that of the one before
    /// which it happens.
    pub(crate) fn spot(&self) -> Spot {
        let source = self.facts.source.as_ref();
        Spot {
            kernel: self.launch.program.name.clone(),
            pc: self.pc,
            target: String::new(),
            group: self.facts.group.to_string(),
            opcode: self.facts.mnemonic.to_string(),
            file: source.and_then(Source::file).map(str::to_owned),
            line: source.map(Source::line),
        }
    }
}

fn no_such_sweep() -> TargetError {
    TargetError::new(format!(
        "list every fault: that is done for single bits (model flip) of operands (target {}) of one thread (scope \
         thread); sample with `runs` or `margin`",
        TargetKind::WORDS[..5].join(", ")
    ))
}

impl Subject for CapsuleTarget {
    fn name(&self) -> &str {
        &self.golden.capsule().name
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    fn golden(&self) -> campaign::GoldenSummary {
        campaign::GoldenSummary {
            launches: self.golden.launches().len() as u64,
            threads: self.golden.threads(),
            thread_instructions: self.golden.thread_instructions(),
            seconds: self.golden.seconds(),
        }
    }

    fn races(&self) -> Vec<campaign::DataRace> {
        crate::races::of(&self.golden)
    }

    fn races_unsearched(&self) -> Option<String> {
        self.golden.unsearched()
    }
}

impl Planner for CapsuleTarget {
    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], words: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let planned = self.plan_of(words)?.draw(&self.golden, runs, seed)?;
        planned.iter().map(|planned| self.site_planned(planned)).collect()
    }

    fn strata(&self, words: &SelectionWords) -> Result<Vec<Stratum>, TargetError> {
        Ok(self.plan_of(words)?.strata())
    }

    fn registers(&self, words: &SelectionWords) -> Vec<KernelRegisters> {
        let selection = self.selection(words).ok().filter(|selection| selection.target == TargetKind::Register(None));
        selection.map_or_else(Vec::new, |selection| crate::registers::registers(&self.golden, &selection))
    }

    fn sweep(&self, words: &SelectionWords) -> Result<Sweep, TargetError> {
        Ok(self.population(words)?.sweep.clone())
    }
}

impl Engines for CapsuleTarget {
    fn offered(&self) -> &[EngineOffer] {
        &ENGINES
    }

    fn worker(&self, engine: &Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        Ok(Box::new(self.runner(engine.try_into()?)))
    }

    fn sweeper(
        &self,
        engine: &Engine,
        words: &SelectionWords,
        criteria: &Criteria,
    ) -> Result<Box<dyn Sweeper + '_>, TargetError> {
        let (population, strategy) = (self.population(words)?, Strategy::try_from(engine)?);
        let indexed = |in_lanes| SweepEngine::indexed(&self.golden, self.index(), in_lanes);
        let engine = match strategy {
            _ if self.golden.runs_whole() => SweepEngine::Full(Box::new(Injector::new(&self.golden))),
            Strategy::Full => SweepEngine::Full(Box::new(Injector::new(&self.golden))),
            Strategy::Delta => indexed(false),
            Strategy::Auto | Strategy::Lanes => indexed(true),
        };
        Ok(Box::new(Sweeping::new(&self.golden, &population, criteria, engine)))
    }

    fn memory(&self) -> Option<campaign::MemoryUse> {
        self.index.get().map(|index| index.memory())
    }
}
