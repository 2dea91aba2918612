//! The method as the planner of a campaign: one pilot for each studied class and bit, of the weight of the class.

use campaign::{LabelColumn, Planner, Results, RunIndex, SelectionWords, Site, StoreError, Subject, TargetError};
use fault::{Fault, Model, Scope, Selection};
use inject::CapsuleTarget;
use inject::site::LABELS;
use stats::Draws;
use std::ops::Range;
use std::sync::Arc;

use super::coverage::largest;
use super::heuristics::HeuristicCounts;
use super::settings::{NAME, Settings};
use super::sites::{Class, KernelSites, Place, Sites};
use crate::kit::MethodSettings;
use crate::kit::chosen::first_explicit;

/// Pilots of a campaign, at most: the plan of each is kept.
pub(crate) const MOST: u64 = 5_000_000;

/// A capsule whose error sites are in classes.
pub struct Approxilyzer {
    capsule: Arc<CapsuleTarget>,
    settings: Settings,
    sites: Sites,
    /// The classes that are studied, the largest first: indices into those of `sites`.
    studied: Vec<usize>,
    /// By studied class, how many runs come before its own; behind the last one all.
    starts: Vec<u64>,
}

/// How many sites there are, and what is known of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteCounts {
    /// All: bits of registers that dynamic instructions write or read.
    pub all: u64,
    /// Those whose outcome is known without a run.
    pub pruned: u64,
    /// Those that a pilot stands for, pilots left out.
    pub represented: u64,
    /// The pilots.
    pub run: u64,
    /// Those of classes that are not studied.
    pub not_covered: u64,
}

/// What a selection with this method says.
///
/// # Errors
/// If the words mean no settings, or say what the method chooses itself.
pub(super) fn parsed(words: &SelectionWords) -> Result<(Settings, Selection), TargetError> {
    let settings = Settings::read(words)?;
    if let Some(key) = first_explicit(words, &["kernel"]) {
        return Err(TargetError::new(format!(
            "choose sites as {NAME} does and by `{key}` too: it studies every bit of every register that is named; leave `{key}` out"
        )));
    }
    let selection = Selection::default().in_kernels(&words.kernel).map_err(|error| TargetError::from_error(&error))?;
    Ok((settings, selection))
}

impl Approxilyzer {
    /// The method on a capsule, as `words` say.
    ///
    /// # Errors
    /// If the words mean no settings, select nothing, or leave more pilots than can be run.
    pub fn new(capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Self, TargetError> {
        let method = Self::of_any_size(capsule, words)?;
        let runs = method.runs();
        if runs > MOST {
            return Err(TargetError::new(format!(
                "study {} of the error sites: that takes {runs} pilots, and {MOST} are the most; lower `coverage` or `decisions`, \
                 or select kernels",
                method.settings.coverage
            )));
        }
        Ok(method)
    }

    /// The same with any number of pilots, for a planner that takes some of them.
    ///
    /// # Errors
    /// If the words mean no settings, or select nothing.
    pub(crate) fn of_any_size(capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Self, TargetError> {
        let (settings, selection) = parsed(words)?;
        let sites = Sites::of(capsule.golden_run(), &selection, &settings);
        if let Some(why) = sites.refusal() {
            return Err(TargetError::new(why));
        }
        let HeuristicCounts { all, .. } = totals(&sites.kernels);
        if all == 0 {
            return Err(TargetError::new(
                "find an error site: no launch matches that writes a register; `beamline profile` lists kernels",
            ));
        }
        let sizes: Vec<u64> = sites.classes.iter().map(Class::sites).collect();
        let studied = largest(&sizes, totals(&sites.kernels).pruned(), settings.coverage);
        let (mut runs, mut starts) = (0, vec![0]);
        for &class in &studied {
            runs += u64::from(sites.classes[class].bits.count());
            starts.push(runs);
        }
        Ok(Self { capsule: Arc::clone(capsule), settings, sites, studied, starts })
    }

    /// The name of the capsule.
    #[must_use]
    pub fn name(&self) -> &str {
        self.capsule.name()
    }

    /// Its parameters.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// How many pilots there are: the runs of a campaign.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    /// The kernel of the pilot of a run, and its instruction: an index into those of the kernel's program.
    pub(crate) fn instruction(&self, run: u64) -> Option<(&str, u32)> {
        let at = self.starts.partition_point(|&start| start <= run).checked_sub(1)?;
        let class = &self.sites.classes[*self.studied.get(at)?];
        Some((self.kernels().get(class.kernel as usize)?.name.as_str(), class.instruction))
    }

    /// By class that is studied, its kernel and instruction, and the runs of its pilots.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = ((&str, u32), Range<u64>)> {
        let name = move |kernel: u32| self.kernels().get(kernel as usize).map_or("", |it| it.name.as_str());
        let of = move |class: usize| (name(self.sites.classes[class].kernel), self.sites.classes[class].instruction);
        self.studied.iter().zip(self.starts.windows(2)).map(move |(&class, run)| (of(class), run[0]..run[1]))
    }

    /// By kernel and instruction, how many dynamic instances the golden run executed.
    pub(crate) fn executed(&self) -> impl Iterator<Item = ((&str, u32), u64)> {
        let name = |kernel: u32| self.kernels().get(kernel as usize).map(|it| it.name.as_str());
        let all = self.sites.executed.iter();
        all.filter_map(move |(&(kernel, instruction), &executed)| Some(((name(kernel)?, instruction), executed)))
    }

    /// How many classes there are, and how many of them are studied.
    #[must_use]
    pub fn classes(&self) -> (u64, u64) {
        (self.sites.classes.len() as u64, self.studied.len() as u64)
    }

    /// The capsule.
    pub(super) fn capsule(&self) -> &CapsuleTarget {
        &self.capsule
    }

    /// All sites, in their classes.
    pub(super) fn sites(&self) -> &Sites {
        &self.sites
    }

    /// The classes that are studied, the largest first: an index into those of the sites, and the run of its first bit.
    pub(super) fn studied(&self) -> impl Iterator<Item = (usize, u64)> {
        self.studied.iter().copied().zip(self.starts.iter().copied())
    }

    /// The kernels.
    pub(super) fn kernels(&self) -> &[KernelSites] {
        &self.sites.kernels
    }

    /// How many classes a kernel has, and how many of them are studied.
    pub(super) fn classes_of(&self, kernel: usize) -> (u64, u64) {
        let of = |class: &&Class| class.kernel as usize == kernel;
        let studied = self.studied.iter().map(|&class| &self.sites.classes[class]);
        (self.sites.classes.iter().filter(of).count() as u64, studied.filter(of).count() as u64)
    }

    /// The account of all sites, if every pilot comes to an outcome.
    #[must_use]
    pub fn counts(&self) -> SiteCounts {
        let counts = totals(&self.sites.kernels);
        let (all, pruned) = (counts.all, counts.pruned());
        let covered: u64 = self.studied.iter().map(|&class| self.sites.classes[class].sites()).sum();
        let run = self.runs();
        SiteCounts { all, pruned, represented: covered - run, run, not_covered: all - pruned - covered }
    }

    /// How many sites each heuristic takes away, as the document has it.
    #[must_use]
    pub fn heuristics(&self) -> serde_json::Value {
        totals(&self.sites.kernels).document()
    }

    /// The pilot of a run.
    fn site(&self, run: u64, seed: u64) -> Option<Site> {
        let at = self.starts.partition_point(|&start| start <= run).checked_sub(1)?;
        let number = *self.studied.get(at)?;
        let class = &self.sites.classes[number];
        let mut left = self.pilot(number, seed)?;
        for place in &class.places {
            let threads = self.sites.threads(place).len() as u64;
            if left < threads {
                let bit = class.bits.iter().nth((run - self.starts[at]) as usize)?;
                let site = self.site_at(class, place, left, bit)?;
                return Some(Site { weight: class.members * class.weight, ..site });
            }
            left -= threads;
        }
        None
    }

    /// The member of a class that is the pilot in all its bits, as a number among all members, each equally likely.
    pub(super) fn pilot(&self, class: usize, seed: u64) -> Option<u64> {
        Draws::new(seed, class as u64).below(self.sites.classes.get(class)?.members)
    }

    /// By place of a class, how many of its members are there or before.
    pub(super) fn place_ends(&self, class: usize) -> Vec<u64> {
        let mut members = 0;
        let end = |place| {
            members += self.sites.threads(place).len() as u64;
            members
        };
        self.sites.classes[class].places.iter().map(end).collect()
    }

    /// A member of a class, by its number among all; `ends` are those of [`place_ends`](Self::place_ends).
    pub(super) fn member(&self, class: usize, ends: &[u64], number: u64, bit: u32) -> Option<Site> {
        let class = self.sites.classes.get(class)?;
        let at = ends.partition_point(|&end| end <= number);
        let before = at.checked_sub(1).and_then(|at| ends.get(at)).copied().unwrap_or_default();
        self.site_at(class, class.places.get(at)?, number - before, bit)
    }

    /// The site in a bit of a class, in one of the threads at a place.
    fn site_at(&self, class: &Class, place: &Place, thread: u64, bit: u32) -> Option<Site> {
        let &(launch, thread) = self.sites.threads(place).get(usize::try_from(thread).ok()?)?;
        let golden = self.capsule.golden_run();
        let run_of = golden.launches().get(launch as usize)?;
        let size = golden.threads_per_block(run_of) as u64;
        let fault = Fault {
            isa: run_of.isa,
            launch,
            cta: thread / size,
            thread: (thread % size) as u32,
            dynamic: place.dynamic,
            target: class.operand.target(),
            model: Model::single(bit),
            scope: Scope::Thread,
        };
        self.capsule.label(&fault, class.instruction)
    }
}

impl Class {
    /// How many sites it has: its members for each bit, and their first uses.
    pub(super) fn sites(&self) -> u64 {
        self.members * self.weight * u64::from(self.bits.count())
    }
}

fn totals(kernels: &[KernelSites]) -> HeuristicCounts {
    let mut all = HeuristicCounts::default();
    kernels.iter().for_each(|kernel| all += kernel.counts);
    all
}

impl Approxilyzer {
    /// Checks that the rows are of these pilots: another version may have found other classes.
    ///
    /// # Errors
    /// If a row is of another fault, or the rows cannot be read.
    pub(super) fn check_pilots(&self, results: &Results) -> Result<(), StoreError> {
        let (seed, mut other) = (results.config().seed, None);
        results.visit(&mut |row| {
            let is_same = || self.site(row.run.0, seed).is_some_and(|site| site.fault() == row.site.fault());
            if other.is_none() && !is_same() {
                other = Some(row.run);
            }
        })?;
        match other {
            None => Ok(()),
            Some(run) => Err(StoreError::Method(format!(
                "read the rows as pilots: run {run} is not a pilot of the classes that this version finds with {}; make the campaign \
                 again",
                self.settings().choice()
            ))),
        }
    }
}

impl Planner for Approxilyzer {
    fn runs(&self) -> Option<u64> {
        Some(Self::runs(self))
    }

    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], _: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let site = |run: &RunIndex| {
            self.site(run.0, seed).ok_or_else(|| {
                TargetError::new(format!("plan run {run}: there are {} pilots; leave `runs` out", Self::runs(self)))
            })
        };
        runs.iter().map(site).collect()
    }
}
