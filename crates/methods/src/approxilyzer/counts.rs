//! How often the sites of each class come to each outcome in truth: one pass over its units.

use fault::{Fault, Model, Scope, Target};
use inject::GoldenLaunch;
use inject::threads::Thread;
use outcome::{Class, Outcome};

use super::sites::Sites;
use super::truth::{Truth, refused};
use super::walks::{WalkStep, Walks};
use crate::kit::StudyError;

/// The classes of outcomes that sites have.
pub(super) const CLASSES: [Class; 4] = [Class::Masked, Class::Sdc, Class::Due, Class::Undecided];

/// Counts of a class and bit, at most; each has a number for every outcome.
const MOST_CELLS: usize = 100_000_000;

/// Pruned sites that are not masked and whose ids are kept, at most.
const MOST_EXAMPLES: usize = 20;

/// The outcomes of the sites in truth, by class.
pub(super) struct TruthCounts {
    /// The outcomes that there are.
    pub(super) outcomes: Vec<Outcome>,
    /// By code, the index of the outcome; that behind the last one for what failed.
    index: Vec<u8>,
    /// By class, where its cells begin; behind the last one their end.
    starts: Vec<usize>,
    /// By class and bit, how often each outcome came.
    cells: Vec<u32>,
    /// By class, its dynamic instances.
    pub(super) members: Vec<u64>,
    /// By class and class of outcome, the sum over its instances of the square of how many of their bits came to it.
    pub(super) squares: Vec<[u64; 4]>,
    /// By kernel, the pruned sites by outcome.
    pub(super) pruned: Vec<Vec<u64>>,
    /// By kernel, the sites that failed: of these nothing is known.
    pub(super) failed: Vec<u64>,
    /// The ids of the first pruned sites that are not masked.
    pub(super) examples: Vec<String>,
}

impl TruthCounts {
    /// Counts the sites of the truth.
    pub(super) fn of(truth: &Truth<'_>, sites: &Sites) -> Result<Self, StudyError> {
        let golden = truth.capsule.golden_run();
        let walks = Walks::of(golden, sites);
        let mut counts = Self::empty(&truth.codes()?, sites)?;
        let kernel = |launch: &GoldenLaunch| sites.kernels.iter().position(|it| it.name == launch.program.name);
        let kernels: Vec<usize> = golden.launches().iter().map(|launch| kernel(launch).unwrap_or_default()).collect();
        let mut wrong = None;
        truth.visit(&mut |threads, outcomes| {
            let mut left = outcomes;
            for &thread in threads {
                let kernel = kernels.get(thread.0 as usize).copied().unwrap_or_default();
                for step in walks.of_thread(thread) {
                    let Some((of, behind)) = left.split_at_checked(step.bits as usize) else { break };
                    counts.add(kernel, step, of, |bit| {
                        let launch = &golden.launches()[thread.0 as usize];
                        let size = golden.threads_per_block(launch) as u64;
                        fault_id(thread, size, launch.isa, step, bit)
                    });
                    left = behind;
                }
            }
            let sites = |thread: &Thread| walks.of_thread(*thread).iter().map(|step| u64::from(step.bits)).sum::<u64>();
            let expected: u64 = threads.iter().map(sites).sum();
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

    fn empty(codes: &[u8], sites: &Sites) -> Result<Self, StudyError> {
        let known: Vec<(u8, Outcome)> =
            codes.iter().filter_map(|&code| Some((code, Outcome::from_code(code)?))).collect();
        let mut index = vec![known.len() as u8; 256];
        (0..).zip(&known).for_each(|(at, (code, _))| index[usize::from(*code)] = at);
        let mut starts = vec![0];
        for class in &sites.classes {
            starts.push(starts.last().copied().unwrap_or_default() + class.bits.count() as usize);
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
            members: vec![0; sites.classes.len()],
            squares: vec![[0; 4]; sites.classes.len()],
            pruned: vec![vec![0; known.len()]; sites.kernels.len()],
            failed: vec![0; sites.kernels.len()],
            examples: Vec::new(),
            outcomes: known.into_iter().map(|(_, outcome)| outcome).collect(),
        })
    }

    /// Adds the sites of a destination of a thread, which came to outcomes of these codes, bit by bit.
    fn add(&mut self, kernel: usize, step: &WalkStep, codes: &[u8], id: impl Fn(u32) -> String) {
        let known = self.outcomes.len();
        let mut of_class = [0_u64; 4];
        for (bit, &code) in (0..).zip(codes) {
            let at = usize::from(self.index[usize::from(code)]);
            let Some(outcome) = self.outcomes.get(at) else {
                self.failed[kernel] += 1;
                continue;
            };
            match step.class.and_then(|class| Some((class, step.read.rank(bit)?))) {
                Some((class, rank)) => {
                    self.cells[(self.starts[class as usize] + rank as usize) * known + at] += 1;
                    if let Some(of) = position(outcome.class()) {
                        of_class[of] += 1;
                    }
                }
                None => {
                    self.pruned[kernel][at] += 1;
                    if outcome.class() != Class::Masked && self.examples.len() < MOST_EXAMPLES {
                        self.examples.push(id(bit));
                    }
                }
            }
        }
        if let Some(class) = step.class {
            self.members[class as usize] += 1;
            let squares = &mut self.squares[class as usize];
            squares.iter_mut().zip(of_class).for_each(|(sum, count)| *sum += count * count);
        }
    }

    /// How often each outcome came, by bit of a class.
    pub(super) fn of_class(&self, class: usize) -> impl Iterator<Item = &[u32]> {
        let known = self.outcomes.len();
        self.cells[self.starts[class] * known..self.starts[class + 1] * known].chunks(known.max(1))
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
