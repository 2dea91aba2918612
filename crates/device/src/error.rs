//! Why a module cannot be used, why a device cannot do what it is asked for, and what a program did wrong, in words a
//! programmer knows.

use facts::Source;
use simt::guest::{GuestError, PlacementError};
use simt::memory::{HostMemoryError, PlaceError};
use simt::{Program, Trap};
use thiserror::Error;

/// Why a module or one of its kernels cannot be used.
#[derive(Debug, Error)]
pub enum ModuleError {
    /// Its code is not accepted, or a kernel cannot be run.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// No guest reads its code.
    #[error("load {name}: no instruction set is known that reads code of the kind `{kind}`")]
    NoGuest {
        /// The module.
        name: String,
        /// What its code is.
        kind: String,
    },
    /// Its code cannot be read from the capsule.
    #[error(transparent)]
    Capsule(#[from] capsule::Error),
    /// Its variables cannot be placed.
    #[error(transparent)]
    Place(#[from] PlacementError),
    /// The recorded places of its variables do not fit it.
    #[error("place variable {0}: the recording has no address for it")]
    Unplaced(String),
    /// There is no such module.
    #[error("find module {0}: it was not loaded")]
    Unknown(u32),
}

/// Why a device cannot do what it is asked for.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// A module or kernel cannot be used.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// Memory cannot be allocated or freed so.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The host has no memory for the bytes.
    #[error(transparent)]
    HostMemory(#[from] HostMemoryError),
    /// Some of a range is not mapped.
    #[error("access {bytes} bytes of device memory at {address:#x}: not all of the range is mapped")]
    Unmapped {
        /// Where the range starts.
        address: u64,
        /// Its size.
        bytes: u64,
    },
    /// A region and the bytes for it differ in size.
    #[error("copy {given} bytes to or from a region of {needed}")]
    Size {
        /// Bytes given.
        given: u64,
        /// Bytes of the region.
        needed: u64,
    },
    /// A launch asks for what no device has.
    #[error("launch {kernel}: {what}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        what: String,
    },
}

/// What went wrong, in words a programmer knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapReport {
    /// What and where.
    pub trap: Trap,
    /// The kernel launched.
    pub kernel: String,
    /// The function that the instruction is in.
    pub function: String,
    /// The instruction's index in the function.
    pub pc: u32,
    /// Source file and line, where known.
    pub line: Option<(String, u32)>,
}

impl TrapReport {
    /// Describes a trap of a program.
    #[must_use]
    pub fn new(trap: Trap, program: &Program) -> Self {
        let place = |source: &Source| Some((source.file()?.to_owned(), source.line()));
        Self {
            trap,
            kernel: program.name.clone(),
            function: program.function_of(trap.instruction).map_or_else(String::new, |function| function.name.clone()),
            pc: program.instructions.get(trap.instruction as usize).map_or(0, |instruction| instruction.pc.0),
            line: program.facts(trap.instruction).and_then(|facts| place(facts.source.as_ref()?)),
        }
    }
}

impl std::fmt::Display for TrapReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Trap { kind, block, thread, address, .. } = self.trap;
        write!(f, "{kind} in kernel {}, block {block}, thread {thread}, instruction {}", self.kernel, self.pc)?;
        if self.function != self.kernel {
            write!(f, " of {}", self.function)?;
        }
        if let Some((file, line)) = &self.line {
            write!(f, ", {file}:{line}")?;
        }
        address.map_or(Ok(()), |address| write!(f, ", address {address:#x}"))
    }
}
