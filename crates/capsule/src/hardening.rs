//! What protection was written into the modules of a capsule, and where their instructions come from.

use serde::{Deserialize, Serialize};

use crate::Digest;

/// How a capsule was made of another one, by writing protection into its kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardening {
    /// The scheme of protection, which names what detects.
    pub scheme: String,
    /// Whether loads from memory that other threads write are executed twice, too, where that is safe.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loads: bool,
    /// The digest of the capsule that it was made of.
    pub original: Digest,
}

/// The instructions of a function that protection was written into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardenedFunction {
    /// Its number among the functions of the PTX, from 0.
    pub function: u32,
    /// Its name there.
    pub name: String,
    /// Where each of its instructions comes from, in order.
    pub origins: Vec<InstructionOrigin>,
}

/// Where an instruction comes from; numbers are those of the instructions of the function as it was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionOrigin {
    /// It was there before.
    Original(u32),
    /// It does the same once more.
    Duplicate(u32),
    /// It copies a result.
    Copy(u32),
    /// It compares what an instruction is going to read.
    Check(u32),
    /// It says that a comparison failed.
    Notify,
    /// It stands at the entry of the function.
    Entry,
}
