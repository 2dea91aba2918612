//! What was seen in one run, before anyone judges it.
//!
//! An observation holds facts only. Whether a difference matters is for [`classify`](crate::classify) to say, now or
//! years later, so nothing here may depend on a criterion.

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::{hex, real, words};

/// The facts of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The value that was hit, if any was.
    pub landed: Option<Landed>,
    /// What the thread first did with it.
    pub first_use: FirstUse,
    /// How the run ended.
    pub end: End,
    /// One comparison with the golden run for each output, in the order of the outputs; empty unless
    /// [`End::Completed`].
    pub outputs: Vec<OutputDiff>,
    /// The host could have seen a difference before the end, and would perhaps have acted on it.
    pub host_visible: bool,
    /// Accesses that hit a mapped page outside every allocation.
    pub strayed: u64,
    /// Thread instructions executed for this run; faster tiers execute fewer.
    pub instructions: u64,
    /// The path that the engine took.
    pub tier: Tier,
    /// What the application did, where it ran itself; elsewhere its host acted as in the golden run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
}

impl Observation {
    /// The observation without what tells the engines apart: which it was, and how much it had to execute.
    #[must_use]
    pub fn seen(self) -> Self {
        Self { tier: Tier::Full, instructions: 0, ..self }
    }
}

/// The hit value, in the low bits of its true width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Landed {
    /// Before the fault.
    #[serde(with = "hex")]
    pub before: u128,
    /// After it; equal where a mask or a replacement happened to change nothing.
    #[serde(with = "hex")]
    pub after: u128,
    /// How many threads were hit at once: the values are those of the one that the fault names.
    pub threads: u32,
}

/// What first happened to the hit value. `after` counts the thread's instructions following the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FirstUse {
    /// An instruction read it: the fault is active.
    Read {
        /// Instructions from the fault to the read.
        after: u64,
    },
    /// An instruction replaced it unread.
    Overwritten {
        /// Instructions from the fault to the write.
        after: u64,
    },
    /// Neither, to the end of the thread.
    Never,
}

/// Loops were not told apart once.
fn always() -> bool {
    true
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum End {
    /// It ran to its end.
    Completed,
    /// The program did what no program may.
    Trapped {
        /// What it did.
        trap: TrapKind,
        /// Where.
        at: ProgramPoint,
        /// The address that was accessed, where the trap is about one and it is known.
        #[serde(default, with = "hex::optional", skip_serializing_if = "Option::is_none")]
        address: Option<u64>,
    },
    /// A thread is in a loop that never ends, or that nothing in reach ends.
    Hang {
        /// Where the loop begins.
        at: ProgramPoint,
        /// Whether it is proven that the loop never ends; if not, that it goes on for longer than anybody waits.
        #[serde(default = "always")]
        endless: bool,
    },
    /// A thread used up its instruction fuel.
    OutOfFuel {
        /// Where it then was.
        at: ProgramPoint,
    },
    /// The program, or hardening added to it, noticed the fault and said so.
    Detected {
        /// What noticed, in the words of the detector.
        by: String,
    },
    /// The application of a live run ended itself with a code other than 0, and no kernel had done anything wrong.
    Exited {
        /// The code.
        code: i32,
    },
    /// A signal that is not ours ended the application of a live run, and no kernel had done anything wrong.
    Signalled {
        /// The signal's number, as Linux has it on x86-64.
        signal: i32,
    },
    /// The application of a live run was still there when its time was over.
    TimedOut,
}

/// A point in the program where a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramPoint {
    /// The kernel.
    pub kernel: String,
    /// The static instruction in it.
    pub pc: u32,
    /// The source line, where known.
    pub line: Option<u32>,
    /// Thread instructions from the fault's first use (or from the fault, if never used) to here.
    pub after: u64,
}

words! {
    /// What a program can do that ends it, named as CUDA names it.
    pub enum TrapKind ("trap") {
        /// A global access outside every mapped page.
        IllegalAddress = "illegal_address",
        /// A shared or local access outside its window.
        OutOfRangeAddress = "out_of_range_address",
        /// An access not aligned to its size.
        MisalignedAddress = "misaligned_address",
        /// More local memory or deeper calls than the stack holds.
        StackOverflow = "stack_overflow",
        /// An illegal instruction or operand.
        IllegalInstruction = "illegal_instruction",
        /// Threads wait at a barrier that others will never reach.
        BarrierDeadlock = "barrier_deadlock",
        /// The program executed a trap instruction.
        Trap = "trap",
        /// An assertion on the device failed.
        Assert = "assert",
        /// An access to the window of another state space than the one that the instruction names.
        InvalidAddressSpace = "invalid_address_space",
    }
}

words! {
    /// The engine path that produced an observation; all of them agree.
    pub enum Tier ("tier") {
        /// Everything was executed again.
        Full = "full",
        /// Only what the fault could have changed.
        Delta = "delta",
        /// The same, and the run ended before the output, since nothing differed any more.
        Stopped = "stopped",
        /// Many faults in the lanes of one warp.
        Lanes = "lanes",
        /// The application itself, its host in the loop.
        Live = "live",
    }
}

/// How one output differs from the golden run's.
///
/// The counts of special elements are of *new* ones: an element that is NaN in the golden run as well is no sign of
/// a fault. Errors are over the elements of a numeric output; an output compared as bytes has elements of one byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputDiff {
    /// The name of the output.
    pub name: String,
    /// How many elements it has.
    pub elements: u64,
    /// How many of them have other bytes.
    pub differing: u64,
    /// The largest absolute error of an element.
    #[serde(with = "real")]
    pub max_abs: f64,
    /// The sum of the absolute errors of all elements: divided by how many there are, or by how many differ, a mean absolute
    /// error. None in rows that are older than this number.
    #[serde(default, with = "real::optional", skip_serializing_if = "Option::is_none")]
    pub sum_abs: Option<f64>,
    /// The largest relative error, |found - golden| / |golden|; infinite where the golden element is zero.
    #[serde(with = "real")]
    pub max_rel: f64,
    /// The relative error of the whole: ‖found - golden‖₂ / ‖golden‖₂.
    #[serde(with = "real")]
    pub rel_l2: f64,
    /// Elements that became NaN.
    pub nan: u64,
    /// Elements that became infinite.
    pub inf: u64,
    /// Elements that left the range declared for the output.
    pub out_of_range: u64,
}

impl OutputDiff {
    /// That of an output of so many elements, none of which differs.
    #[must_use]
    pub fn equal(name: &str, elements: u64) -> Self {
        Self {
            name: name.to_owned(),
            elements,
            differing: 0,
            max_abs: 0.0,
            sum_abs: Some(0.0),
            max_rel: 0.0,
            rel_l2: 0.0,
            nan: 0,
            inf: 0,
            out_of_range: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Verdict;

    fn observation() -> Observation {
        let at = ProgramPoint { kernel: "k".into(), pc: 4, line: None, after: 9 };
        Observation {
            landed: Some(Landed { before: u128::MAX, after: 0, threads: 1 }),
            first_use: FirstUse::Read { after: 2 },
            end: End::Trapped { trap: TrapKind::IllegalAddress, at, address: Some(u64::MAX) },
            outputs: vec![OutputDiff {
                name: "out".into(),
                elements: 3,
                differing: 1,
                max_abs: f64::INFINITY,
                sum_abs: Some(f64::INFINITY),
                max_rel: 0.1 + 0.2,
                rel_l2: f64::MIN_POSITIVE,
                nan: 0,
                inf: 1,
                out_of_range: 0,
            }],
            host_visible: false,
            strayed: 1,
            instructions: 77,
            tier: Tier::Delta,
            host: None,
        }
    }

    #[test]
    fn an_observation_is_read_back_from_json_as_it_was() {
        let json = serde_json::to_string(&observation()).unwrap();
        assert_eq!(serde_json::from_str::<Observation>(&json).unwrap(), observation());
        assert!(json.contains(r#""before":"0xffffffffffffffffffffffffffffffff""#), "{json}");
        assert!(json.contains(r#""max_abs":"inf""#), "{json}");
        assert!(json.contains(r#""address":"0xffffffffffffffff""#), "{json}");
    }

    #[test]
    fn what_the_host_did_is_read_back_and_missing_where_there_was_none() {
        let without = serde_json::to_string(&observation()).unwrap();
        assert!(!without.contains("host\":"), "{without}");
        let host =
            Host { status: Some(139), files: vec!["a b".into()], verdict: Some(Verdict::Bad), ..Host::default() };
        let live = Observation { host: Some(host), end: End::Signalled { signal: 11 }, ..observation() };
        let json = serde_json::to_string(&live).unwrap();
        assert_eq!(serde_json::from_str::<Observation>(&json).unwrap(), live);
    }

    #[test]
    fn a_nan_error_survives_json() {
        let mut observation = observation();
        observation.outputs[0].max_rel = f64::NAN;
        let json = serde_json::to_string(&observation).unwrap();
        let back: Observation = serde_json::from_str(&json).unwrap();
        assert!(back.outputs[0].max_rel.is_nan());
    }
}
