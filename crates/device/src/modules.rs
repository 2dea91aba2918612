//! Loaded modules: read by their guests, their variables placed, their kernels made ready when first launched.

use crate::error::ModuleError;
use crate::guests::Guests;
use crate::protection;
use capsule::{HardenedFunction, ModuleId, PlacedSymbol};
use facts::Space;
use lower::Contract;
use simt::guest::{GuestModule, Image, Placement, PlacementError, Variable};
use simt::memory::GlobalMemory;
use simt::{HEAP_BYTES, HEAP_NAME, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One loaded module.
#[derive(Debug)]
struct Loaded {
    /// The name of the guest that reads it.
    guest: &'static str,
    module: Box<dyn GuestModule>,
    placement: Placement,
    programs: BTreeMap<String, Arc<Program>>,
    /// Its functions that protection was written into; none where the program is not protected.
    protected: Option<Vec<HardenedFunction>>,
}

impl Loaded {
    /// Its variables in device memory, with their addresses.
    fn placed(&self) -> impl Iterator<Item = (&Variable, u64)> {
        let variables = self.module.variables().iter().zip(&self.placement.addresses);
        variables.filter_map(|(variable, address)| Some((variable, (*address)?)))
    }
}

/// The modules of a device.
#[derive(Debug)]
pub struct Modules {
    guests: Guests,
    loaded: BTreeMap<ModuleId, Loaded>,
    heap_bytes: u64,
}

impl Default for Modules {
    fn default() -> Self {
        Self::of(Guests::default())
    }
}

impl Modules {
    /// No modules yet; these guests read them.
    #[must_use]
    pub fn of(guests: Guests) -> Self {
        Self { guests, loaded: BTreeMap::new(), heap_bytes: HEAP_BYTES }
    }

    /// Reads a module and places its variables where there is room.
    ///
    /// # Errors
    /// If the code is not accepted or there is no room.
    pub fn load(
        &mut self,
        id: ModuleId,
        name: &str,
        image: Image<'_>,
        memory: &mut GlobalMemory,
    ) -> Result<Vec<PlacedSymbol>, ModuleError> {
        let guest = self.guests.reading(name, &image)?;
        let (guest, module) = (guest.name(), guest.load(name, &image, self.heap_bytes)?);
        let placement = Placement::new(module.variables(), memory)?;
        Ok(self.finish(id, guest, module, placement, memory))
    }

    /// Says which functions of a loaded module protection was written into, before its kernels are made ready.
    pub(crate) fn protect(&mut self, id: ModuleId, functions: &[HardenedFunction]) {
        if let Some(loaded) = self.loaded.get_mut(&id) {
            loaded.protected = Some(functions.to_vec());
        }
    }

    /// The name of the guest that reads a module, if it is loaded.
    #[must_use]
    pub fn guest_of(&self, id: ModuleId) -> Option<&'static str> {
        self.loaded.get(&id).map(|loaded| loaded.guest)
    }

    /// Who reads modules.
    #[must_use]
    pub fn guests(&self) -> &Guests {
        &self.guests
    }

    /// Has modules that are loaded from now on read with products joined with sums as said.
    pub(crate) fn contract(&mut self, contract: Contract) {
        self.guests = std::mem::take(&mut self.guests).contracting(contract);
    }

    /// How large the heap of modules that are loaded from now on is.
    pub fn set_heap_bytes(&mut self, bytes: u64) {
        self.heap_bytes = bytes;
    }

    /// Whether any module has a heap.
    #[must_use]
    pub fn have_heap(&self) -> bool {
        let is_heap = |variable: &Variable| variable.name == HEAP_NAME;
        self.loaded.values().any(|loaded| loaded.module.variables().iter().any(is_heap))
    }

    /// As [`load`](Self::load), with the variables where a recording had them.
    ///
    /// # Errors
    /// If the code is not accepted or a place is missing or taken.
    pub fn load_at(
        &mut self,
        id: ModuleId,
        name: &str,
        image: Image<'_>,
        places: &[PlacedSymbol],
        memory: &mut GlobalMemory,
    ) -> Result<(), ModuleError> {
        let heap = places.iter().find(|symbol| symbol.name == HEAP_NAME);
        let heap_bytes = heap.map_or(HEAP_BYTES, |heap| heap.bytes);
        let guest = self.guests.reading(name, &image)?;
        let (guest, module) = (guest.name(), guest.load(name, &image, heap_bytes)?);
        let places: BTreeMap<&str, u64> =
            places.iter().rev().map(|symbol| (symbol.name.as_str(), symbol.address)).collect();
        let mut addresses = Vec::with_capacity(module.variables().len());
        for variable in module.variables() {
            if !variable.is_placed() {
                addresses.push(None);
                continue;
            }
            let place = places.get(variable.name.as_str()).copied();
            let address = place.ok_or_else(|| ModuleError::Unplaced(variable.name.clone()))?;
            memory.place(address, variable.bytes).map_err(PlacementError::from)?;
            addresses.push(Some(address));
        }
        self.finish(id, guest, module, Placement { addresses }, memory);
        Ok(())
    }

    fn finish(
        &mut self,
        id: ModuleId,
        guest: &'static str,
        module: Box<dyn GuestModule>,
        placement: Placement,
        memory: &mut GlobalMemory,
    ) -> Vec<PlacedSymbol> {
        let loaded = Loaded { guest, module, placement, programs: BTreeMap::new(), protected: None };
        let mut symbols = Vec::new();
        for (variable, address) in loaded.placed() {
            initialise(variable, address, &loaded.placement, memory);
            symbols.push(PlacedSymbol { name: variable.name.clone(), address, bytes: variable.bytes });
        }
        self.loaded.insert(id, loaded);
        symbols
    }

    /// Loads a module again into a memory that has forgotten it: its variables are placed and initialised.
    ///
    /// # Errors
    /// If it was never loaded or a place is taken.
    pub fn reload(&self, id: ModuleId, memory: &mut GlobalMemory) -> Result<(), ModuleError> {
        let loaded = self.get(id)?;
        for (variable, address) in loaded.placed() {
            memory.place(address, variable.bytes).map_err(PlacementError::from)?;
            initialise(variable, address, &loaded.placement, memory);
        }
        Ok(())
    }

    /// The addresses and sizes of a module's variables; none of a module that was not loaded.
    pub fn variables(&self, id: ModuleId) -> impl Iterator<Item = (u64, u64)> {
        let placed = self.loaded.get(&id).into_iter().flat_map(Loaded::placed);
        placed.map(|(variable, address)| (address, variable.bytes))
    }

    /// Where constant variables start, and where what the machine keeps for itself does.
    pub fn placed(&self) -> (BTreeSet<u64>, BTreeSet<u64>) {
        let (mut constants, mut reserved) = (BTreeSet::new(), BTreeSet::new());
        for (variable, address) in self.loaded.values().flat_map(Loaded::placed) {
            if variable.own {
                reserved.insert(address);
            } else if variable.space == Space::Const {
                constants.insert(address);
            }
        }
        (constants, reserved)
    }

    fn get(&self, id: ModuleId) -> Result<&Loaded, ModuleError> {
        self.loaded.get(&id).ok_or(ModuleError::Unknown(id.0))
    }

    /// The module as its guest reads it.
    ///
    /// # Errors
    /// If it was not loaded.
    pub fn module(&self, id: ModuleId) -> Result<&dyn GuestModule, ModuleError> {
        Ok(self.get(id)?.module.as_ref())
    }

    /// A kernel ready to run; made so when first asked for.
    ///
    /// # Errors
    /// If the module or kernel does not exist, or does what the machine cannot do.
    pub fn program(&mut self, id: ModuleId, kernel: &str) -> Result<Arc<Program>, ModuleError> {
        let loaded = self.loaded.get_mut(&id).ok_or(ModuleError::Unknown(id.0))?;
        if let Some(program) = loaded.programs.get(kernel) {
            return Ok(Arc::clone(program));
        }
        let mut program = loaded.module.program(kernel, &loaded.placement)?;
        if let Some(functions) = &loaded.protected {
            protection::mark(&mut program, functions);
        }
        let program = Arc::new(program);
        loaded.programs.insert(kernel.to_owned(), Arc::clone(&program));
        Ok(program)
    }

    /// A kernel that was launched.
    pub(crate) fn launched(&self, id: ModuleId, kernel: &str) -> Option<&Program> {
        self.loaded.get(&id)?.programs.get(kernel).map(AsRef::as_ref)
    }
}

/// Gives a variable its first value. Its range was allocated a moment ago, so it is mapped.
fn initialise(variable: &Variable, address: u64, placement: &Placement, memory: &mut GlobalMemory) {
    let given = placement.initial_bytes(variable);
    let _ = memory.copy_in(address, &given);
    let given = given.len() as u64;
    let _ = memory.fill(address + given, variable.bytes - given, [0]);
}
