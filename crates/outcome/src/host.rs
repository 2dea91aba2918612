//! What was seen of the application in a run that had its host in the loop.

use serde::{Deserialize, Serialize};

use crate::words;

/// How an application ended, and what it left that is not as in its golden run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// Its exit status as a shell shows it: the code, or 128 and the number of the signal that ended it. Nothing where
    /// it was ended from outside, because its time or its instructions were used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// Its standard output differs.
    pub stdout: bool,
    /// Its standard error differs.
    pub stderr: bool,
    /// The named files that differ or are missing, in the order in which they were named.
    pub files: Vec<String>,
    /// What differs of standard output and files has the words `nan` or `inf` more often than in the golden run.
    pub special: bool,
    /// What the user's judge said of the difference, where there are both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What a debugger saw of the GPU, where the application ran in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debugged: Option<Debugged>,
}

/// What a debugger saw in a run on a real GPU, and what it took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Debugged {
    /// What the hardware or the driver called what went wrong, such as `CUDA_EXCEPTION_5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// Microseconds from the fault's first use (or from the fault, if it was not waited for) to the end of the run; none
    /// if the run ended before that use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<u64>,
    /// The hit value was still there when the instruction that uses it first was about to execute.
    pub activated: bool,
    /// Instructions that were stepped through one by one.
    pub steps: u64,
    /// Breakpoints that the hit thread came to.
    pub stops: u64,
    /// Sessions of the debugger that it took: one, unless the debugger itself failed.
    pub sessions: u64,
    /// Microseconds of the session.
    pub took: u64,
}

impl Host {
    /// Whether anything differs that the application left.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.stdout || self.stderr || !self.files.is_empty()
    }
}

words! {
    /// What a judge says of what an application left.
    pub enum Verdict ("verdict") {
        /// As good as the golden run's.
        Acceptable = "acceptable",
        /// Wrong.
        Bad = "bad",
        /// Wrong, and a plain check would notice.
        Detectable = "detectable",
    }
}

words! {
    /// The signals that end programs that go wrong, by their names.
    pub enum HostSignal ("signal") {
        /// It gave up, as by `abort` or an exception that nobody caught.
        Abort = "sigabrt",
        /// It accessed memory that its mapping does not have.
        Bus = "sigbus",
        /// It divided by zero, or the like.
        FloatingPoint = "sigfpe",
        /// It executed an illegal instruction.
        Illegal = "sigill",
        /// It accessed memory that is not mapped.
        Segment = "sigsegv",
        /// Another one; the observation has its number.
        Other = "signal",
    }
}

impl HostSignal {
    /// The signal with a number, as Linux has it on x86-64.
    #[must_use]
    pub fn of(number: i32) -> Self {
        match number {
            4 => Self::Illegal,
            6 => Self::Abort,
            7 => Self::Bus,
            8 => Self::FloatingPoint,
            11 => Self::Segment,
            _ => Self::Other,
        }
    }
}
