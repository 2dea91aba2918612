//! Where a module's variables are in device memory.

use crate::heap::HEAP_NAME;
use crate::memory::{GlobalMemory, PlaceError};
use facts::{FunctionId, Space};
use thiserror::Error;

/// Addresses of functions start here; they are not memory.
pub const FUNCTION_BASE: u64 = 0x0000_0008_0000_0000;
/// From the address of a function to that of the next.
pub(crate) const FUNCTION_STEP: u64 = 128;

/// A variable of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name as written.
    pub name: String,
    /// Where it lives. Only global and constant variables are placed in device memory.
    pub space: Space,
    /// Size in bytes.
    pub bytes: u64,
    /// First bytes; the rest is zero.
    pub init: Vec<u8>,
    /// Addresses to be written into `init` when the module is placed.
    pub relocations: Vec<Relocation>,
    /// Whether it is only declared: another module defines it.
    pub external: bool,
    /// Whether it is the machine's own, and not one of the program.
    pub own: bool,
}

/// An address inside a variable's initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where in the initial value, in bytes.
    pub at: u64,
    /// What is pointed to; nothing that has an address in device memory gives 0.
    pub to: Option<Pointee>,
    /// Added to the address.
    pub addend: i64,
}

/// What has an address that is known when a module is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointee {
    /// A variable, by its index.
    Variable(usize),
    /// A function.
    Function(FunctionId),
}

/// Addresses of a module's variables, by their index; variables outside device memory have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The addresses.
    pub addresses: Vec<Option<u64>>,
}

/// Why a module's variables cannot be placed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlacementError {
    /// No room, or the recorded place is taken.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// There is no room for the heap of device code.
    #[error(
        "give the module a heap for `malloc`: {0}; the application asked for one as large \
         (cudaDeviceSetLimit(cudaLimitMallocHeapSize, …))"
    )]
    Heap(PlaceError),
    /// A variable is defined in another module.
    #[error("link variable {0}: it is defined in another module, and modules are not linked to each other")]
    Extern(String),
}

impl Variable {
    /// Whether it has an address in device memory.
    #[must_use]
    pub fn is_placed(&self) -> bool {
        matches!(self.space, Space::Global | Space::Const)
    }
}

impl Placement {
    /// Gives every global and constant variable an address.
    ///
    /// # Errors
    /// If there is no room, or a variable is only declared.
    pub fn new(variables: &[Variable], memory: &mut GlobalMemory) -> Result<Self, PlacementError> {
        let place = |variable: &Variable| match variable.is_placed() {
            true if variable.external => Err(PlacementError::Extern(variable.name.clone())),
            true => match memory.allocate(variable.bytes) {
                Err(error) if variable.name == HEAP_NAME => Err(PlacementError::Heap(error)),
                placed => Ok(Some(placed?)),
            },
            false => Ok(None),
        };
        Ok(Self { addresses: variables.iter().map(place).collect::<Result<_, _>>()? })
    }

    /// The address of a variable or function; none of a variable outside device memory.
    #[must_use]
    pub fn address(&self, of: Pointee) -> Option<u64> {
        match of {
            Pointee::Variable(index) => self.addresses.get(index).copied().flatten(),
            Pointee::Function(id) => Some(FUNCTION_BASE + u64::from(id.0) * FUNCTION_STEP),
        }
    }

    /// The first bytes of a placed variable, its relocations resolved, up to the last that its text gives. All
    /// behind them are zero, and as many as a text of a line can ask for.
    #[must_use]
    pub fn initial_bytes(&self, variable: &Variable) -> Vec<u8> {
        let relocated = variable.relocations.iter().map(|relocation| relocation.at + 8).max().unwrap_or(0);
        let given = variable.bytes.min(relocated.max(variable.init.len() as u64));
        let mut bytes = variable.init.clone();
        bytes.resize(given as usize, 0);
        for relocation in &variable.relocations {
            let address = relocation.to.and_then(|to| self.address(to)).unwrap_or(0);
            let at = relocation.at as usize;
            if let Some(place) = bytes.get_mut(at..at + 8) {
                place.copy_from_slice(&address.wrapping_add_signed(relocation.addend).to_le_bytes());
            }
        }
        bytes
    }
}
