//! The profile of every error site: the class that it is in, and the outcome that its pilot speaks for.
//!
//! Sites of threads that have the same path and the same stores are told once, with how many threads these are.

use fault::{Fault, Model, Scope, Target};
use inject::GoldenLaunch;
use inject::threads::PathUse;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::heuristics::{HeuristicCounts, Pruning};
use super::instructions::PilotOutcomes;
use super::join::{At, GroupPath, OperandKeys, SiteVisitor, fresh};
use super::operand::{Bits, SiteOperand};
use super::path_walk::PathWalk;
use super::sites::{Class, ClassKey};
use super::target::Approxilyzer;
use crate::kit::StudyError;

/// The sites of a studied program.
pub(super) struct SiteProfile {
    method: Arc<Approxilyzer>,
    pilots: PilotOutcomes,
    /// By class, the run of the pilot in its first bit.
    first_runs: Vec<Option<u64>>,
}

/// Sites of one operand of one dynamic instruction, in threads with the same path and the same stores.
pub(super) struct SiteSet<'a> {
    /// The path group.
    pub(super) group: u32,
    /// The part of it, where its threads are told apart by their stores.
    pub(super) part: Option<u32>,
    /// The launches and numbers of the threads.
    pub(super) threads: &'a [(u32, u64)],
    /// The kernel, an index into those of the method.
    pub(super) kernel: u32,
    /// The operand.
    pub(super) at: At,
    /// Its bits.
    pub(super) bits: Bits,
    /// Where the sites belong.
    pub(super) place: SitePlace,
}

/// Where an error site belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SitePlace {
    /// Its outcome is known without a run.
    Known(Pruning),
    /// To a class.
    Class {
        /// Its number.
        number: usize,
        /// Whether it is the first use of a value, in the class of its definition.
        by_definition: bool,
    },
}

/// Tells of the sites of a path.
struct Telling<'a, 'b> {
    method: &'a Approxilyzer,
    path: &'a GroupPath<'b>,
    each: &'a mut dyn FnMut(SiteSet<'_>) -> bool,
    goes_on: &'a mut bool,
}

impl SiteProfile {
    /// Of a method and what its pilots came to.
    pub(super) fn new(method: Arc<Approxilyzer>, pilots: PilotOutcomes) -> Self {
        let mut first_runs = vec![None; method.sites().classes.len()];
        method.studied().for_each(|(class, run)| first_runs[class] = Some(run));
        Self { method, pilots, first_runs }
    }

    /// The method.
    pub(super) fn method(&self) -> &Approxilyzer {
        &self.method
    }

    /// The pilot of a class in a bit, if it is studied.
    pub(super) fn pilot(&self, class: usize, bit: u32) -> Option<u64> {
        let first = self.first_runs.get(class).copied().flatten()?;
        Some(first + u64::from(self.method.sites().classes.get(class)?.bits.rank(bit)?))
    }

    /// The outcome of a pilot.
    pub(super) fn outcome(&self, pilot: u64) -> Option<outcome::Outcome> {
        self.pilots.get(pilot)
    }

    /// Visits all sites, by path, until a visit gives `false`.
    pub(super) fn visit(&self, each: &mut dyn FnMut(SiteSet<'_>) -> bool) {
        self.visit_groups(None, each);
    }

    fn visit_groups(&self, wanted: Option<&BTreeSet<u32>>, each: &mut dyn FnMut(SiteSet<'_>) -> bool) {
        let (golden, settings) = (self.method.capsule().golden_run(), self.method.settings());
        let launches: Vec<(u32, &GoldenLaunch)> = (0..).zip(golden.launches()).collect();
        let walk = PathWalk::new(golden, launches, &self.method.sites().groups, &settings);
        let walk = if let Some(wanted) = wanted { walk.only(wanted) } else { walk };
        walk.visit(|traced| {
            let mut goes_on = true;
            let (method, path) = (&*self.method, &traced.path);
            path.tell(&mut Telling { method, path, each, goes_on: &mut goes_on });
            goes_on
        });
    }

    /// The bit that a fault flips, and where its site belongs, with all its like in threads of the same path.
    ///
    /// # Errors
    /// If the fault is at no error site of the method.
    pub(super) fn find<T>(&self, fault: &Fault, found: impl Fn(&SiteSet<'_>, u32) -> T) -> Result<T, StudyError> {
        let no = |why: String| StudyError::Words(format!("find the error site {fault}: {why}"));
        let operand = match fault.target {
            Target::Destination(position) => SiteOperand::Destination(position),
            Target::Register(number) => SiteOperand::Register(number),
            _ => return Err(no("sites are `dstN`, and `regN` of a register that the instruction reads".to_owned())),
        };
        let bits = match (fault.model, fault.scope) {
            (Model::Flip(bits), Scope::Thread) if bits.get().count_ones() == 1 => bits.get(),
            _ => return Err(no("a site is one flipped bit of one thread".to_owned())),
        };
        let golden = self.method.capsule().golden_run();
        let launch = golden.launches().get(fault.launch as usize);
        let launch = launch.ok_or_else(|| no(format!("there are {} launches", golden.launches().len())))?;
        let size = golden.threads_per_block(launch) as u64;
        let linear = fault.cta.checked_mul(size).and_then(|first| first.checked_add(fault.thread.into()));
        let thread = linear.filter(|_| u64::from(fault.thread) < size).map(|thread| (fault.launch, thread));
        let groups = (0..).zip(&self.method.sites().groups);
        let group = thread.and_then(|thread| {
            groups.into_iter().find(|(_, group)| group.threads.binary_search(&thread).is_ok()).map(|it| (it.0, thread))
        });
        let Some((group, thread)) = group else {
            return Err(no("no selected launch has the thread".to_owned()));
        };
        let (bit, mut answer) = (bits.trailing_zeros(), None);
        self.visit_groups(Some(&BTreeSet::from([group])), &mut |set| {
            let is_it = set.at.dynamic == fault.dynamic && set.at.operand == operand && set.bits.rank(bit).is_some();
            if is_it && set.threads.binary_search(&thread).is_ok() {
                answer = Some(found(&set, bit));
            }
            answer.is_none()
        });
        answer.ok_or_else(|| no("the thread has no such register there, or no bit of this number".to_owned()))
    }
}

impl Telling<'_, '_> {
    fn tell(&mut self, (part, threads): (Option<u32>, &[(u32, u64)]), at: At, bits: Bits, place: SitePlace) {
        if *self.goes_on && !bits.is_empty() && !threads.is_empty() {
            let group = self.path.group;
            let kernel = self.method.sites().groups[group as usize].kernel;
            *self.goes_on = (self.each)(SiteSet { group, part, threads, kernel, at, bits, place });
        }
    }
}

impl SiteVisitor for Telling<'_, '_> {
    fn count(&mut self, _: HeuristicCounts) {}

    fn know(&mut self, at: At, bits: Bits, why: Pruning) {
        let method = self.method;
        let threads = &method.sites().groups[self.path.group as usize].threads;
        self.tell((None, threads), at, bits, SitePlace::Known(why));
    }

    fn class(&mut self, at: At, bits: Bits, first_uses: &[(u32, &PathUse)]) -> Option<u32> {
        if bits.is_empty() {
            return None;
        }
        let method = self.method;
        let group = &method.sites().groups[self.path.group as usize];
        let OperandKeys { control, parts } = self.path.keys(group, at, bits, !first_uses.is_empty());
        let mut tell = |key: ClassKey, threads: (Option<u32>, &[(u32, u64)])| {
            // The classes were found on the same paths.
            let Ok(number) = method.sites().classes.binary_search_by(|class| Class::key(class).cmp(&key)) else {
                return;
            };
            self.tell(threads, at, bits, SitePlace::Class { number, by_definition: false });
            for (_, it) in first_uses {
                let place = SitePlace::Class { number, by_definition: true };
                self.tell(threads, At::of_use(it), fresh(it).and(bits), place);
            }
        };
        if parts.iter().all(Option::is_none) {
            tell(control, (None, &group.threads));
        } else {
            for (number, (part, key)) in (0..).zip(group.parts.iter().zip(parts)) {
                tell(key.unwrap_or(control), (Some(number), &part.threads));
            }
        }
        None
    }
}
