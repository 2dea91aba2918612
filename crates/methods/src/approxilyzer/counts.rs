//! How often the sites of each class come to each outcome in truth: one pass over its units.

use fault::{Fault, Model, Scope, Target};
use inject::GoldenLaunch;
use inject::threads::Thread;
use outcome::{Class, Outcome};

use super::accuracy::ClassAccount;
use super::claims::{CLAIMS, Claim};
use super::operand::Bits;
use super::sites::{MOST_STEPS, Sites, WalkStep};
use super::truth::{Truth, refused};
use super::walks::Walks;
use crate::kit::StudyError;

/// The classes of outcomes that sites have.
pub(super) const CLASSES: [Class; 4] = [Class::Masked, Class::Sdc, Class::Due, Class::Undecided];

/// Counts of a class and bit, at most; each has a number for every outcome.
const MOST_CELLS: usize = 100_000_000;

/// Sites that are not as claimed and whose ids are kept, at most.
const MOST_EXAMPLES: usize = 20;

/// The outcomes of the sites in truth, by class. The classes beside are those of control equivalence that sites under store
/// equivalence would be in; their numbers begin behind those of the others.
pub(super) struct TruthCounts {
    /// The outcomes that there are.
    pub(super) outcomes: Vec<Outcome>,
    /// By code, the index of the outcome; that behind the last one for what failed.
    index: Vec<u8>,
    /// By class, its bits.
    bits: Vec<Bits>,
    /// The number of the first class beside.
    pub(super) beside: usize,
    /// By class, where its cells begin; behind the last one their end.
    starts: Vec<usize>,
    /// By class and bit, how often each outcome came.
    cells: Vec<u32>,
    /// By class, its dynamic instances.
    pub(super) members: Vec<u64>,
    /// By class and class of outcome, the sum over its instances of the square of how many of their bits came to it.
    pub(super) squares: Vec<[u64; 4]>,
    /// By kernel and claim, the sites by outcome.
    pub(super) claimed: Vec<[Vec<u64>; CLAIMS.len()]>,
    /// By kernel, the sites that failed: of these nothing is known.
    pub(super) failed: Vec<u64>,
    /// The first sites that are not as claimed, by their ids.
    pub(super) examples: Vec<(Claim, String)>,
}

impl TruthCounts {
    /// Counts the sites of the truth; the steps of `sites` are used up.
    pub(super) fn of(truth: &Truth<'_>, sites: &mut Sites) -> Result<Self, StudyError> {
        let golden = truth.capsule.golden_run();
        if let Some(why) = sites.refusal() {
            return Err(refused(&why));
        }
        if sites.steps.is_none() {
            return Err(refused(&format!(
                "its threads write {} destinations on different paths, and {MOST_STEPS} are the most; keep less apart, or select a launch",
                sites.step_count
            )));
        }
        let walks = Walks::of(sites);
        let mut counts = Self::empty(&truth.codes()?, sites)?;
        let kernel = |launch: &GoldenLaunch| sites.kernels.iter().position(|it| it.name == launch.program.name);
        let kernels: Vec<usize> = golden.launches().iter().map(|launch| kernel(launch).unwrap_or_default()).collect();
        let mut wrong = None;
        truth.visit(&mut |threads, outcomes| {
            let mut left = outcomes;
            for &thread in threads {
                let kernel = kernels.get(thread.0 as usize).copied().unwrap_or_default();
                for (step, class) in walks.of_thread(thread) {
                    let Some((of, behind)) = left.split_at_checked(step.bits.into()) else { break };
                    let classes = counts.classes_of(step, class, sites);
                    counts.add(kernel, step, classes, of, |bit| {
                        let launch = &golden.launches()[thread.0 as usize];
                        let size = golden.threads_per_block(launch) as u64;
                        fault_id(thread, size, launch.isa, step, bit)
                    });
                    left = behind;
                }
            }
            let expected: u64 = threads.iter().map(|thread| walks.sites(*thread)).sum();
            if expected != outcomes.len() as u64 {
                wrong = Some((expected, outcomes.len()));
            }
        })?;
        match wrong {
            Some((expected, found)) => Err(refused(&format!(
                "a warp has {expected} error sites here and {found} outcomes there; make it again with this version of Beamline"
            ))),
            None => Ok(counts),
        }
    }

    /// The class of a destination, and the one beside if loads join its members.
    fn classes_of(&self, step: &WalkStep, class: Option<u32>, sites: &Sites) -> [Option<usize>; 2] {
        let class = class.map(|class| class as usize);
        let by_stores = class.and_then(|class| sites.classes.get(class)).is_some_and(|class| class.by_stores());
        [class, step.beside.filter(|_| by_stores).map(|beside| self.beside + beside as usize)]
    }

    fn empty(codes: &[u8], sites: &Sites) -> Result<Self, StudyError> {
        let known: Vec<(u8, Outcome)> =
            codes.iter().filter_map(|&code| Some((code, Outcome::from_code(code)?))).collect();
        let mut index = vec![known.len() as u8; 256];
        (0..).zip(&known).for_each(|(at, (code, _))| index[usize::from(*code)] = at);
        let mut starts = vec![0];
        let beside = sites.beside.iter().map(|class| class.bits);
        let bits: Vec<Bits> = sites.classes.iter().map(|class| class.bits).chain(beside).collect();
        for bits in &bits {
            starts.push(starts.last().copied().unwrap_or_default() + bits.count() as usize);
        }
        let cells = starts.last().copied().unwrap_or_default() * known.len();
        if cells > MOST_CELLS {
            return Err(refused(&format!(
                "its classes have {cells} counts, and {MOST_CELLS} are the most; lower `decisions`, or select a launch"
            )));
        }
        Ok(Self {
            index,
            starts,
            cells: vec![0; cells],
            members: vec![0; bits.len()],
            squares: vec![[0; 4]; bits.len()],
            bits,
            beside: sites.classes.len(),
            claimed: vec![CLAIMS.map(|_| vec![0; known.len()]); sites.kernels.len()],
            failed: vec![0; sites.kernels.len()],
            examples: Vec::new(),
            outcomes: known.into_iter().map(|(_, outcome)| outcome).collect(),
        })
    }

    /// Adds the sites of a destination of a thread, which came to outcomes of these codes, bit by bit.
    fn add(
        &mut self,
        kernel: usize,
        step: &WalkStep,
        classes: [Option<usize>; 2],
        codes: &[u8],
        id: impl Fn(u32) -> String,
    ) {
        let known = self.outcomes.len();
        let mut of_class = [0_u64; 4];
        for (bit, &code) in (0..).zip(codes) {
            let at = usize::from(self.index[usize::from(code)]);
            let Some(outcome) = self.outcomes.get(at) else {
                self.failed[kernel] += 1;
                continue;
            };
            if let Some(claim) = step.claim(bit) {
                self.claimed[kernel][claim as usize][at] += 1;
                if outcome.class() != claim.class() && self.examples.len() < MOST_EXAMPLES {
                    self.examples.push((claim, id(bit)));
                }
                continue;
            }
            for class in classes.into_iter().flatten() {
                let rank = self.bits[class].rank(bit).unwrap_or_default() as usize;
                self.cells[(self.starts[class] + rank) * known + at] += 1;
            }
            if let Some(of) = position(outcome.class()) {
                of_class[of] += 1;
            }
        }
        for class in classes.into_iter().flatten() {
            self.members[class] += 1;
            let squares = &mut self.squares[class];
            squares.iter_mut().zip(of_class).for_each(|(sum, count)| *sum += count * count);
        }
    }

    /// How often each outcome came, by bit of a class.
    pub(super) fn of_class(&self, class: usize) -> impl Iterator<Item = &[u32]> {
        let known = self.outcomes.len();
        self.cells[self.starts[class] * known..self.starts[class + 1] * known].chunks(known.max(1))
    }

    /// How alike the sites of a class are, and how many came to each class of outcome.
    pub(super) fn account(&self, class: usize) -> (ClassAccount, [u64; 4]) {
        let (mut found, mut by_class) = (ClassAccount { classes: 1, ..ClassAccount::default() }, [0; 4]);
        for bit in self.of_class(class) {
            found.pilots += 1;
            found.accuracy.add_counts(&self.outcomes, bit);
            for (outcome, &count) in self.outcomes.iter().zip(bit) {
                if let Some(of) = position(outcome.class()) {
                    by_class[of] += u64::from(count);
                }
            }
        }
        (found, by_class)
    }

    /// The variance of what a random pilot says of a class, in squares of sites, by class of outcome: one member is drawn for
    /// all bits, and its share counts for all members.
    pub(super) fn variance(&self, class: usize, by_class: [u64; 4]) -> [f64; 4] {
        let members = self.members[class] as f64;
        [0, 1, 2, 3].map(|of| members * self.squares[class][of] as f64 - (by_class[of] as f64).powi(2))
    }
}

/// The position of a class of outcome among those that sites have.
pub(super) fn position(class: Class) -> Option<usize> {
    CLASSES.iter().position(|it| *it == class)
}

fn fault_id((launch, thread): Thread, size: u64, isa: fault::Isa, step: &WalkStep, bit: u32) -> String {
    let fault = Fault {
        isa,
        launch,
        cta: thread / size,
        thread: (thread % size) as u32,
        dynamic: u64::from(step.dynamic),
        target: Target::Destination(step.position),
        model: Model::single(bit),
        scope: Scope::Thread,
    };
    fault.to_string()
}
