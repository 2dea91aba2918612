//! Instruction sets as guests of the machine.
//!
//! A [`Guest`] reads modules of its instruction set and makes [`Program`]s of their kernels: micro-operations, and the
//! facts of the architectural instructions that these come from. Whoever loads modules holds a `dyn Guest`, and knows no
//! instruction set.

use crate::program::Program;
use facts::{FunctionId, NamedSet, Pc};
use std::fmt::Debug;
use thiserror::Error;

pub use crate::placement::{FUNCTION_BASE, Placement, PlacementError, Pointee, Relocation, Variable};

/// Device code as an application brings it.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// What it is: `ptx`, `cubin`, …; the words of capsules.
    pub kind: &'a str,
    /// The architecture that it is for, as in `sm_90`: 90; 0 where that is not said.
    pub arch: u32,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl<'a> Image<'a> {
    /// PTX text.
    #[must_use]
    pub fn ptx(text: &'a str) -> Self {
        Self { kind: "ptx", arch: 0, bytes: text.as_bytes() }
    }
}

/// What launches of kernels by kernels are called.
pub const DEVICE_LAUNCH: &str = "dynamic parallelism";

/// Why a module or a kernel of it cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum GuestError {
    /// The image is not text.
    #[error("read {name}: its {what} is not UTF-8 text")]
    NotText {
        /// The module.
        name: String,
        /// What the guest's code is called.
        what: &'static str,
    },
    /// The image has mistakes, or uses what is not supported.
    #[error("read the {what} of {name}\n{mistakes}")]
    Mistakes {
        /// The module.
        name: String,
        /// What the guest's code is called.
        what: &'static str,
        /// All that is wrong, over several lines.
        mistakes: String,
        /// The first of them in one line.
        first: String,
    },
    /// A kernel has mistakes, or it uses what is not supported; other kernels of its module may run.
    #[error("read the code of kernel {kernel}{}\n{mistakes}", of(callee.as_deref()))]
    Refused {
        /// The kernel.
        kernel: String,
        /// The function that holds what is wrong, if that is another one, which the kernel may call.
        callee: Option<String>,
        /// All that is wrong, over several lines.
        mistakes: String,
        /// The first of them in one line.
        first: String,
    },
    /// There is no such kernel.
    #[error("find kernel {0} in the module")]
    NoKernel(String),
    /// An instruction, or the way it is used, is not supported.
    #[error("execute {what} (instruction {} of {function}{})", pc.0, at(*line))]
    Unsupported {
        /// What.
        what: String,
        /// The function.
        function: String,
        /// The instruction.
        pc: Pc,
        /// Its source line, in the function that was not inlined.
        line: Option<u32>,
    },
    /// The kernel needs more registers than the machine has rows.
    #[error("hold the registers of {0}: more than 65535 of one width")]
    TooManyRegisters(String),
}

fn of(callee: Option<&str>) -> String {
    callee.map_or_else(String::new, |callee| format!(", which may call {callee}"))
}

impl GuestError {
    /// The error in one line: of several mistakes, the first.
    #[must_use]
    pub fn first_in_a_line(&self) -> String {
        match self {
            Self::Mistakes { first, .. } | Self::Refused { callee: None, first, .. } => first.clone(),
            Self::Refused { callee: Some(callee), first, .. } => format!("it may call {callee}, {first}"),
            other => other.to_string(),
        }
    }
}

fn at(line: Option<u32>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

/// What a launch needs to know about a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Parameters in order.
    pub params: Vec<ParamInfo>,
    /// Bytes of all parameters.
    pub param_bytes: u32,
    /// Bytes of static shared memory.
    pub static_shared_bytes: u32,
    /// Bytes of a thread's frame in local memory.
    pub local_bytes: u32,
    /// How many registers it names.
    pub registers: u32,
    /// These in 32-bit words; not what a hardware compiler would allocate.
    pub register_words: u32,
    /// Threads that a block may have, where the kernel says so.
    pub max_threads: Option<u32>,
    /// How many instructions it has.
    pub instructions: u32,
}

/// Where a parameter lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Its first byte among all parameters.
    pub offset: u32,
    /// Its bytes.
    pub bytes: u32,
}

/// An instruction as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name of its function.
    pub function: String,
    /// Its index there.
    pub pc: Pc,
    /// What it is called, with all its modifiers.
    pub mnemonic: String,
    /// Its source file.
    pub file: Option<String>,
    /// Its source line.
    pub line: Option<u32>,
    /// As it is written.
    pub text: String,
}

/// An instruction set that the machine runs.
pub trait Guest: Debug + Send + Sync {
    /// The word for it.
    fn name(&self) -> &'static str;

    /// The sets of instructions that it has names for.
    fn sets(&self) -> &'static [NamedSet];

    /// Whether an image is code of this instruction set, by its kind and architecture.
    fn reads(&self, image: &Image<'_>) -> bool;

    /// Reads a module that is called `name` in messages, with a heap of about so many bytes if it asks for one.
    ///
    /// # Errors
    /// If the image is not accepted.
    fn load(&self, name: &str, image: &Image<'_>, heap_bytes: u64) -> Result<Box<dyn GuestModule>, GuestError>;
}

/// A module of a guest.
pub trait GuestModule: Debug + Send + Sync {
    /// Its variables. Their order is that of the addresses of a [`Placement`].
    fn variables(&self) -> &[Variable];

    /// The names of its kernels, in order.
    fn kernels(&self) -> Vec<String>;

    /// What a launch needs to know about a kernel, if there is one of this name.
    fn kernel(&self, name: &str) -> Option<KernelInfo>;

    /// Why a kernel cannot run, as far as its code alone says.
    fn refusal(&self, _kernel: &str) -> Option<GuestError> {
        None
    }

    /// Makes a kernel ready to run.
    ///
    /// # Errors
    /// If the kernel does not exist, or does what the machine cannot do.
    fn program(&self, kernel: &str, placement: &Placement) -> Result<Program, GuestError>;

    /// An instruction as it is written; nothing where there is none.
    fn text(&self, function: FunctionId, pc: Pc) -> String;

    /// All its instructions, function by function.
    fn listing(&self) -> Vec<Listed>;
}
