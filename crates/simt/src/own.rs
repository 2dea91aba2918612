//! Variables that the machine adds to a module: they have an address, are recorded and replayed as every variable, and
//! are part of every snapshot.

use isa::{Linkage, Module, Space, Symbol, Type, Variable};

/// Adds a variable, unless the module has it. No name of PTX has a space in it, so these do.
pub(crate) fn give(module: &mut Module, name: &str, bytes: u64, align: u32, init: Vec<u8>) {
    if find(module, name).is_none() {
        module.variables.push(Variable {
            name: name.to_owned(),
            space: Space::Global,
            element: Type::B8,
            bytes,
            align,
            linkage: Linkage::Internal,
            init,
            relocations: Vec::new(),
        });
    }
}

/// The variable of a module, if it has it, and its bytes.
pub(crate) fn find(module: &Module, name: &str) -> Option<(Symbol, u64)> {
    let index = module.variables.iter().position(|variable| variable.name == name)?;
    Some((Symbol::Module(index as u32), module.variables[index].bytes))
}

/// Whether a variable with this name is the machine's own.
#[must_use]
pub fn is_own(name: &str) -> bool {
    name.contains(' ')
}
