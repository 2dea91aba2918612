//! Fuzzing of what reads bytes that nobody vouches for: PTX, fat binaries, capsules.
//!
//! A [`FuzzTarget`] has seeds, a mutator that knows the format, and a reader. [`run`] mutates and reads; an input on
//! which the reader panics, takes longer than [`SLOW`] or more memory than [`MEMORY`] is a [`FuzzFinding`]. An input
//! that makes the reader do what no other did (a message of a new shape, an instruction accepted for the first time) is
//! kept and mutated further. Every input is a function of the seed, the job, and the inputs before it; nothing is drawn
//! from a clock or the system.
//!
//! `cargo xtask fuzz` runs it for long, `tests/fuzz.rs` shortly. The seeds are `fuzz/corpus/` and tests that exist
//! anyway; `fuzz/found-regressions/` holds the inputs that once were findings.

mod behaviour;
mod bytes;
mod capsule;
mod dice;
mod fatbin;
mod memory;
mod ptx;
mod target;
mod text;
mod watch;

pub use behaviour::{Behaviours, ReadResult};
pub use dice::Dice;
pub use memory::MEMORY;
pub use target::{FuzzTarget, contents, folder};

use memory::Peak;
use std::time::{Duration, Instant};

/// The targets.
pub const TARGETS: [&str; 3] = ["ptx", "fatbin", "capsule"];
/// An input may take this long.
pub const SLOW: Duration = Duration::from_secs(2);
/// How many inputs are read between two looks at memory.
const BATCH: usize = 256;
/// How many inputs are kept beside the seeds, and how many bytes the longest has.
const KEPT: usize = 8192;
const KEPT_BYTES: usize = 20 << 10;
/// A run stops at this many different findings.
const FINDINGS: usize = 20;

/// The target of this name; `None` if there is none.
#[must_use]
pub fn target(name: &str) -> Option<Box<dyn FuzzTarget>> {
    match name {
        "ptx" => Some(Box::new(ptx::Ptx::new())),
        "fatbin" => Some(Box::new(fatbin::Fatbin)),
        "capsule" => Some(Box::new(capsule::CapsuleFile::new())),
        _ => None,
    }
}

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct FuzzPlan {
    /// How many inputs, the seeds not counted.
    pub inputs: u64,
    /// The key of all choices.
    pub seed: u64,
    /// Jobs with different numbers make different inputs.
    pub job: u16,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct FuzzSummary {
    /// Inputs that were read, seeds included.
    pub inputs: u64,
    /// How many of them were accepted.
    pub accepted: u64,
    /// What the reader did, each thing once.
    pub behaviours: Behaviours,
    /// What should not be.
    pub findings: Vec<FuzzFinding>,
    /// The longest that an input took, and its size in bytes.
    pub slowest: (Duration, usize),
    /// The most memory that the process held, in bytes.
    pub peak: u64,
}

/// An input that showed a defect.
#[derive(Clone, Debug)]
pub struct FuzzFinding {
    /// What happened.
    pub what: String,
    /// The input.
    pub input: Vec<u8>,
}

/// Fuzzes a target. `before` sees every input before it is read, and can leave a trace of one that ends the process.
pub fn run(target: &mut dyn FuzzTarget, plan: FuzzPlan, before: &mut dyn FnMut(&[u8])) -> FuzzSummary {
    let mut kept = target.seeds();
    let seeds = kept.len();
    let mut summary = FuzzSummary::default();
    for seed in &kept {
        before(seed);
        summary.read(target, seed);
    }
    let mut batch = Batch::new();
    for number in 0..plan.inputs {
        let mut dice = Dice::new(plan.seed, number | u64::from(plan.job) << 48);
        let (input, other) = (choose(&kept, seeds, &mut dice), choose(&kept, seeds, &mut dice));
        let input = target.mutate(input, other, &mut dice);
        before(&input);
        let new = summary.read(target, &input);
        batch.check(target, &input, &mut summary);
        if new && input.len() <= KEPT_BYTES && kept.len() < seeds + KEPT {
            kept.push(input);
        }
        if summary.findings.len() >= FINDINGS {
            break;
        }
    }
    batch.finish(target, &mut summary);
    summary
}

/// Reads one input alone; what is wrong with it, if anything.
///
/// # Errors
/// The reader panics, or takes too much time or memory.
pub fn replay(target: &dyn FuzzTarget, input: &[u8]) -> Result<ReadResult, String> {
    let peak = Peak::start();
    let mut summary = FuzzSummary::default();
    let verdict = summary.guarded(target, input);
    match (peak.excess(), summary.findings.pop()) {
        (_, Some(finding)) => Err(finding.what),
        (Some(bytes), None) => Err(format!("took {} MiB of memory", bytes >> 20)),
        (None, None) => Ok(verdict.unwrap_or_default()),
    }
}

/// A seed, an input that was kept, or one of the last that were.
fn choose<'a>(kept: &'a [Vec<u8>], seeds: usize, dice: &mut Dice) -> &'a [u8] {
    let from = match dice.below(3) {
        0 => &kept[..seeds],
        1 => kept,
        _ => &kept[kept.len().saturating_sub(64)..],
    };
    dice.pick(from).map_or(&[], Vec::as_slice)
}

/// The inputs since the last look at memory.
struct Batch {
    inputs: Vec<Vec<u8>>,
    peak: Peak,
}

impl Batch {
    fn new() -> Self {
        Self { inputs: Vec::with_capacity(BATCH), peak: Peak::start() }
    }

    fn check(&mut self, target: &dyn FuzzTarget, input: &[u8], summary: &mut FuzzSummary) {
        self.inputs.push(input.to_vec());
        if self.inputs.len() == BATCH {
            self.finish(target, summary);
            *self = Self::new();
        }
    }

    /// If the batch took too much memory, finds the inputs that do so alone.
    fn finish(&mut self, target: &dyn FuzzTarget, summary: &mut FuzzSummary) {
        summary.peak = summary.peak.max(memory::peak());
        if self.peak.excess().is_none() {
            return;
        }
        for input in self.inputs.drain(..) {
            if let Err(what) = replay(target, &input) {
                summary.report(what, &input);
            }
        }
    }
}

impl FuzzSummary {
    /// Reads an input; whether the reader did something new.
    fn read(&mut self, target: &dyn FuzzTarget, input: &[u8]) -> bool {
        self.inputs += 1;
        let Some(verdict) = self.guarded(target, input) else { return false };
        self.accepted += u64::from(verdict.is_accepted());
        self.behaviours.extend(verdict)
    }

    /// Reads an input; a panic or a long time become findings.
    fn guarded(&mut self, target: &dyn FuzzTarget, input: &[u8]) -> Option<ReadResult> {
        #[expect(clippy::disallowed_methods, reason = "that a reader takes long is what is to be found")]
        let start = Instant::now();
        let verdict = watch::guarded(|| target.read(input));
        let took = start.elapsed();
        self.slowest = self.slowest.max((took, input.len()));
        if took > SLOW {
            self.report(format!("took {:.1} s", took.as_secs_f64()), input);
        }
        verdict.map_err(|panic| self.report(panic, input)).ok()
    }

    /// Keeps a finding, unless one like it is there.
    fn report(&mut self, what: String, input: &[u8]) {
        let shape = behaviour::shape(&what);
        if self.findings.iter().all(|finding| behaviour::shape(&finding.what) != shape) {
            self.findings.push(FuzzFinding { what, input: input.to_vec() });
        }
    }

    /// Adds what another job found.
    pub fn merge(&mut self, other: Self) {
        self.inputs += other.inputs;
        self.accepted += other.accepted;
        self.behaviours.merge(other.behaviours);
        self.slowest = self.slowest.max(other.slowest);
        self.peak = self.peak.max(other.peak);
        other.findings.into_iter().for_each(|finding| self.report(finding.what, &finding.input));
    }
}
