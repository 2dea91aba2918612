//! Where a module's variables are in device memory.

use crate::memory::{GlobalMemory, PlaceError};
use isa::{Module, Space, Symbol};
use thiserror::Error;

/// Addresses of functions start here; they are not memory.
pub const FUNCTION_BASE: u64 = 0x0000_0008_0000_0000;

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
    /// A variable is defined in another module.
    #[error("link variable {0}: it is defined in another module, and modules are not linked to each other")]
    Extern(String),
}

impl Placement {
    /// Gives every global and constant variable an address.
    ///
    /// # Errors
    /// If there is no room, or a variable is only declared.
    pub fn new(module: &Module, memory: &mut GlobalMemory) -> Result<Self, PlacementError> {
        let place = |variable: &isa::Variable| match variable.space {
            Space::Global | Space::Const if variable.linkage == isa::Linkage::Extern => {
                Err(PlacementError::Extern(variable.name.clone()))
            }
            Space::Global | Space::Const => Ok(Some(memory.allocate(variable.bytes)?)),
            _ => Ok(None),
        };
        Ok(Self { addresses: module.variables.iter().map(place).collect::<Result<_, _>>()? })
    }

    /// The address of a symbol of module scope.
    #[must_use]
    pub fn address(&self, symbol: Symbol) -> Option<u64> {
        match symbol {
            Symbol::Module(index) => self.addresses.get(index as usize).copied().flatten(),
            Symbol::Function(id) => Some(FUNCTION_BASE + u64::from(id.0) * 128),
            _ => None,
        }
    }

    /// The first bytes of a placed variable, its relocations resolved, up to the last that its text gives. All
    /// behind them are zero, and as many as a text of a line can ask for.
    #[must_use]
    pub fn initial_bytes(&self, variable: &isa::Variable) -> Vec<u8> {
        let relocated = variable.relocations.iter().map(|relocation| relocation.at + 8).max().unwrap_or(0);
        let given = variable.bytes.min(relocated.max(variable.init.len() as u64));
        let mut bytes = variable.init.clone();
        bytes.resize(given as usize, 0);
        for relocation in &variable.relocations {
            let address = self.address(relocation.symbol).unwrap_or(0).wrapping_add_signed(relocation.addend);
            let at = relocation.at as usize;
            if let Some(place) = bytes.get_mut(at..at + 8) {
                place.copy_from_slice(&address.to_le_bytes());
            }
        }
        bytes
    }
}
