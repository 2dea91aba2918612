//! What a pool and its workers say to each other: one JSON document a line.

use capsule::Digest;
use outcome::OutputDiff;
use serde::{Deserialize, Serialize};

/// Faults of one operand of one static instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchOrder {
    /// The module in the capsule.
    pub module: u32,
    /// The function of the instruction.
    pub function: u32,
    /// The instruction.
    pub pc: u32,
    /// The register that holds the operand.
    pub register: u32,
    /// How many bits it has.
    pub bits: u32,
    /// What is added to the register to make it.
    pub offset: i64,
    /// The faults, in the order in which they are answered.
    pub faults: Vec<FaultOrder>,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultOrder {
    /// Its text id.
    pub fault: String,
    /// How often its thread has executed the instruction before.
    pub occurrence: u64,
    /// Whether it is known to write where nothing is put right again.
    pub strays: bool,
}

/// What a worker has to say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A session has begun.
    Started(MachineInfo),
    /// The module of the batch is loaded, and was run without a fault, which gave these copies to the host. The faults
    /// follow.
    Ready {
        /// The digest of each copy.
        copies: Vec<Digest>,
    },
    /// None of the batch's remaining faults can be run.
    Refused {
        /// Why not; the text follows "failed to".
        reason: String,
    },
    /// What came of the next fault.
    Fault {
        /// Its id.
        fault: String,
        /// What.
        end: HardwareEnd,
    },
    /// A session is given up for another; the batch goes on with [`Answer::Ready`].
    Renewing,
    /// The batch is done.
    Done,
    /// Nothing can be done any more.
    Lost {
        /// Why; the text follows "failed to".
        reason: String,
    },
}

/// What runs the faults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineInfo {
    /// Its name.
    pub name: String,
    /// The version of its driver, or of what takes its place.
    pub driver: String,
    /// Where it has allocations that the recording has elsewhere: addresses there and here, and bytes.
    pub moved: Vec<[u64; 3]>,
}

impl MachineInfo {
    /// By how much all allocations are shifted, if they lie to each other as in the recording.
    #[must_use]
    pub fn shift(&self) -> Option<u64> {
        let mut shifts = self.moved.iter().map(|[from, to, _]| to.wrapping_sub(*from));
        let first = shifts.next().unwrap_or(0);
        shifts.all(|shift| shift == first).then_some(first)
    }
}

/// How a run with a fault ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HardwareEnd {
    /// The program came to its end.
    Completed {
        /// One comparison with the run without a fault for each output.
        outputs: Vec<OutputDiff>,
        /// The digest of the digests of all copies to the host.
        copies: Digest,
        /// What the fault hit: the operand's bits, in hexadecimal.
        before: String,
    },
    /// The program came to its end, and its fault did not happen.
    NotFired,
    /// A kernel did what no program may.
    Failed {
        /// The machine's name for that.
        name: String,
    },
    /// It was still running when its time was over.
    Hang,
    /// The process ended.
    Died,
}
