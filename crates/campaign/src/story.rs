//! One fault as a story: what was hit, how the corruption spread, where it was masked or what it did in the end.
//!
//! Plain data, told by comparing the faulty run with the golden one, step by step in the thread that was hit and launch by
//! launch in memory. Everything in it is a difference that was seen, not one that might be.

use serde::{Deserialize, Serialize};

use crate::site::NamedSite;
use outcome::Observation;

/// The format of the document.
pub const STORY_FORMAT: &str = "beamline.story/1";

/// One fault as a story.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// [`STORY_FORMAT`].
    pub format: String,
    /// What was to be hit.
    pub site: NamedSite,
    /// Its block, as `blockIdx`.
    pub block: [u32; 3],
    /// Its thread, as `threadIdx`.
    pub thread: [u32; 3],
    /// The instruction at which it happened; absent if the thread executes no such instruction.
    pub instruction: Option<Line>,
    /// What was seen.
    pub observation: Observation,
    /// The class of the outcome.
    pub outcome: String,
    /// Its kind.
    pub kind: Option<String>,
    /// What happened in the thread, from the fault on.
    pub steps: Vec<StoryStep>,
    /// How many steps are not listed.
    pub steps_left_out: u64,
    /// What became of the thread.
    pub path: ThreadPath,
    /// Threads of the block that computed something else than in the golden run, and all its threads; absent if the block
    /// did not come to its end.
    pub threads: Option<Share>,
    /// Launches at whose end memory differs, or in which blocks read differing bytes, in order.
    pub launches: Vec<LaunchCorruption>,
    /// Copies to the host that differ, in order.
    pub copies: Vec<CopyDifference>,
}

/// A part of a number of things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The number of things in the part.
    pub count: u64,
    /// The number of all things.
    pub of: u64,
}

/// An instruction and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its index in its function.
    pub pc: u32,
    /// Its PTX.
    pub ptx: String,
    /// The file, where known.
    pub file: Option<String>,
    /// The line, where known.
    pub line: Option<u32>,
    /// The text of that line, where the capsule has it.
    pub source: Option<String>,
}

/// What an instruction of the thread did with corrupted values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoryStep {
    /// How many instructions of the thread after the one that was hit; 0 is that one.
    pub after: u64,
    /// The instruction.
    pub at: Line,
    /// What it did.
    pub what: Propagation,
    /// The corrupted registers that it read.
    pub reads: Vec<String>,
    /// The registers that it wrote other values to.
    pub writes: Vec<Change>,
}

/// What an instruction does with corrupted values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Propagation {
    /// It is the one that was hit.
    Hit,
    /// It computes another result from them.
    Spreads,
    /// It reads them, and its result is what it should be.
    Absorbs,
    /// It reads nothing corrupted from registers, and gets another value: from memory, or from another thread.
    Receives,
    /// It writes them to memory, or by them.
    Stores,
    /// It decides by them where the thread goes, and the thread goes where it should.
    Decides,
    /// It decides by them, and the thread goes another way.
    Diverges,
    /// It does with them what no program may, and the run ends.
    Dies,
    /// It replaces the last of them that was left in a register.
    Replaces,
}

/// A register with its two values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The register.
    pub register: String,
    /// The type that the instruction writes.
    pub ty: String,
    /// What it holds in the golden run.
    #[serde(with = "outcome::hex")]
    pub golden: u128,
    /// What it holds in the faulty one.
    #[serde(with = "outcome::hex")]
    pub found: u128,
}

/// What became of the thread that was hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadPath {
    /// Instructions that it executed in the golden run.
    pub golden: u64,
    /// Instructions that it executed in the faulty one.
    pub found: u64,
    /// How many instructions after the fault it first went another way; absent if it did not.
    pub left_after: Option<u64>,
    /// How many instructions after the fault nothing corrupted was left in its registers, for good; absent if something
    /// was to the end, or it went another way.
    pub clean_after: Option<u64>,
    /// The most corrupted registers at a time.
    pub most_registers: u64,
    /// Bytes of its block's shared memory that differ when the block ends.
    pub shared_bytes: u64,
}

/// A launch that the corruption is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchCorruption {
    /// The launch.
    pub launch: u32,
    /// Its kernel.
    pub kernel: String,
    /// Blocks that the fault was in or that read differing bytes, and all; absent where blocks run together.
    pub blocks: Option<Share>,
    /// Bytes of device memory that differ when it ends.
    pub bytes: u64,
    /// In which allocations, and how many in each: ascending by address.
    pub allocations: Vec<Patch>,
    /// Those that lie in none; absent if all lie in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
}

/// Differing bytes outside of every allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// The number of these bytes.
    pub bytes: u64,
    /// The address of the lowest.
    pub first: u64,
}

/// Differing bytes in one allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// Where the allocation starts.
    pub address: u64,
    /// Its name, where it is a variable or an output is copied from it.
    pub name: Option<String>,
    /// Differing bytes, and all.
    pub bytes: Share,
}

/// A copy to the host that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyDifference {
    /// The launches before it.
    pub after_launches: u32,
    /// The output that it is, if it is one.
    pub output: Option<String>,
    /// Differing bytes, and all.
    pub bytes: Share,
}
