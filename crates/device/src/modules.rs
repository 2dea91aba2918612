//! Loaded modules: their PTX parsed, their variables placed, their kernels lowered when first launched.

use capsule::{ModuleId, Symbol};
use isa::{Module, Space, Variable};
use simt::memory::GlobalMemory;
use simt::{LowerError, Placement, PlacementError, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use thiserror::Error;

/// Why a module or one of its kernels cannot be used.
#[derive(Debug, Error)]
pub enum ModuleError {
    /// The PTX has mistakes, or uses what is not supported.
    #[error("read the PTX of {name}\n{errors}")]
    Ptx {
        /// The module.
        name: String,
        /// What is wrong, rendered with source lines.
        errors: ptx::Errors,
    },
    /// Its variables cannot be placed.
    #[error(transparent)]
    Place(#[from] PlacementError),
    /// The recorded places of its variables do not fit it.
    #[error("place variable {0}: the recording has no address for it")]
    Unplaced(String),
    /// A kernel cannot be run.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// There is no such module.
    #[error("find module {0}: it was not loaded")]
    Unknown(u32),
}

/// One loaded module.
#[derive(Debug)]
struct Loaded {
    module: Arc<Module>,
    placement: Placement,
    programs: BTreeMap<String, Arc<Program>>,
}

/// The modules of a device.
#[derive(Debug)]
pub struct Modules {
    loaded: BTreeMap<ModuleId, Loaded>,
    heap_bytes: u64,
}

impl Default for Modules {
    fn default() -> Self {
        Self { loaded: BTreeMap::new(), heap_bytes: simt::HEAP_BYTES }
    }
}

impl Modules {
    /// Parses a module and places its variables where there is room.
    ///
    /// # Errors
    /// If the PTX is not accepted or there is no room.
    pub fn load(
        &mut self,
        id: ModuleId,
        name: &str,
        text: &str,
        memory: &mut GlobalMemory,
    ) -> Result<Vec<Symbol>, ModuleError> {
        let module = parse(name, text, self.heap_bytes)?;
        let placement = Placement::new(&module, memory)?;
        self.finish(id, module, placement, memory)
    }

    /// How large the heap of modules that are loaded from now on is.
    pub fn set_heap_bytes(&mut self, bytes: u64) {
        self.heap_bytes = bytes;
    }

    /// Whether any module has a heap.
    #[must_use]
    pub fn have_heap(&self) -> bool {
        let is_heap = |variable: &Variable| variable.name == simt::HEAP_NAME;
        self.loaded.values().any(|loaded| loaded.module.variables.iter().any(is_heap))
    }

    /// As [`load`](Self::load), with the variables where a recording had them.
    ///
    /// # Errors
    /// If the PTX is not accepted or a place is missing or taken.
    pub fn load_at(
        &mut self,
        id: ModuleId,
        name: &str,
        text: &str,
        places: &[Symbol],
        memory: &mut GlobalMemory,
    ) -> Result<(), ModuleError> {
        let heap = places.iter().find(|symbol| symbol.name == simt::HEAP_NAME);
        let module = parse(name, text, heap.map_or(simt::HEAP_BYTES, |heap| heap.bytes))?;
        let mut addresses = Vec::with_capacity(module.variables.len());
        let places: BTreeMap<&str, u64> =
            places.iter().rev().map(|symbol| (symbol.name.as_str(), symbol.address)).collect();
        for variable in &module.variables {
            if !matches!(variable.space, Space::Global | Space::Const) {
                addresses.push(None);
                continue;
            }
            let place = places.get(variable.name.as_str()).copied();
            let address = place.ok_or_else(|| ModuleError::Unplaced(variable.name.clone()))?;
            memory.place(address, variable.bytes).map_err(PlacementError::from)?;
            addresses.push(Some(address));
        }
        self.finish(id, module, Placement { addresses }, memory)?;
        Ok(())
    }

    fn finish(
        &mut self,
        id: ModuleId,
        module: Module,
        placement: Placement,
        memory: &mut GlobalMemory,
    ) -> Result<Vec<Symbol>, ModuleError> {
        let mut symbols = Vec::new();
        for (variable, address) in module.variables.iter().zip(&placement.addresses) {
            let Some(address) = *address else { continue };
            initialise(variable, address, &placement, memory);
            symbols.push(Symbol { name: variable.name.clone(), address, bytes: variable.bytes });
        }
        self.loaded.insert(id, Loaded { module: Arc::new(module), placement, programs: BTreeMap::new() });
        Ok(symbols)
    }

    /// Loads a module again into a memory that has forgotten it: its variables are placed and initialised.
    ///
    /// # Errors
    /// If it was never loaded or a place is taken.
    pub fn reload(&self, id: ModuleId, memory: &mut GlobalMemory) -> Result<(), ModuleError> {
        let loaded = self.get(id)?;
        for (variable, address) in loaded.module.variables.iter().zip(&loaded.placement.addresses) {
            let Some(address) = *address else { continue };
            memory.place(address, variable.bytes).map_err(PlacementError::from)?;
            initialise(variable, address, &loaded.placement, memory);
        }
        Ok(())
    }

    /// The addresses and sizes of a module's variables; none of a module that was not loaded.
    pub fn variables(&self, id: ModuleId) -> impl Iterator<Item = (u64, u64)> {
        let loaded = self.loaded.get(&id).into_iter();
        let placed = loaded.flat_map(|loaded| loaded.module.variables.iter().zip(&loaded.placement.addresses));
        placed.filter_map(|(variable, address)| Some(((*address)?, variable.bytes)))
    }

    /// Where constant variables start, and where what the machine keeps for itself does.
    pub fn placed(&self) -> (BTreeSet<u64>, BTreeSet<u64>) {
        let (mut constants, mut reserved) = (BTreeSet::new(), BTreeSet::new());
        for loaded in self.loaded.values() {
            for (variable, address) in loaded.module.variables.iter().zip(&loaded.placement.addresses) {
                let Some(address) = *address else { continue };
                if simt::is_own(&variable.name) {
                    reserved.insert(address);
                } else if variable.space == Space::Const {
                    constants.insert(address);
                }
            }
        }
        (constants, reserved)
    }

    fn get(&self, id: ModuleId) -> Result<&Loaded, ModuleError> {
        self.loaded.get(&id).ok_or(ModuleError::Unknown(id.0))
    }

    /// The module as data.
    ///
    /// # Errors
    /// If it was not loaded.
    pub fn module(&self, id: ModuleId) -> Result<&Arc<Module>, ModuleError> {
        Ok(&self.get(id)?.module)
    }

    /// A kernel ready to run; lowered when first asked for.
    ///
    /// # Errors
    /// If the module or kernel does not exist, or does what the machine cannot do.
    pub fn program(&mut self, id: ModuleId, kernel: &str) -> Result<Arc<Program>, ModuleError> {
        let loaded = self.loaded.get_mut(&id).ok_or(ModuleError::Unknown(id.0))?;
        if let Some(program) = loaded.programs.get(kernel) {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(simt::lower(&loaded.module, &loaded.placement, kernel)?);
        loaded.programs.insert(kernel.to_owned(), Arc::clone(&program));
        Ok(program)
    }
}

/// Gives a variable its first value. Its range was allocated a moment ago, so it is mapped.
fn initialise(variable: &Variable, address: u64, placement: &Placement, memory: &mut GlobalMemory) {
    let given = placement.initial_bytes(variable);
    let _ = memory.copy_in(address, &given);
    let given = given.len() as u64;
    memory.clear(address + given, variable.bytes - given);
}

fn parse(name: &str, text: &str, heap_bytes: u64) -> Result<Module, ModuleError> {
    let parsed = ptx::parse(name, text).map_err(|errors| ModuleError::Ptx { name: name.to_owned(), errors });
    parsed.map(|mut module| {
        simt::give_heap(&mut module, heap_bytes);
        simt::give_workspace(&mut module);
        module
    })
}
