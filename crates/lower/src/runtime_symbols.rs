//! Variables of the machine's own that a module is given: they have an address, are recorded and replayed as every
//! variable, and are part of every snapshot.

use isa::{Linkage, Module, Space, Special, Src, Symbol, Type, Variable};
use simt::{HEAP_ALIGN, HEAP_NAME, WORKSPACE_BYTES, WORKSPACE_NAME};

/// Adds a variable, unless the module has it. No name of PTX has a space in it, so these do.
fn give(module: &mut Module, name: &str, bytes: u64, align: u32, init: Vec<u8>) {
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
pub(crate) fn is_own(name: &str) -> bool {
    name.contains(' ')
}

/// Gives a heap of about so many bytes to a module that asks for memory.
pub(crate) fn give_heap(module: &mut Module, bytes: u64) {
    let asks = |name: &str| module.functions.iter().any(|function| function.name == name && function.body.is_empty());
    if asks("malloc") {
        let bytes = simt::heap_size(bytes);
        give(module, HEAP_NAME, bytes, HEAP_ALIGN, Vec::new());
    }
}

/// Gives a workspace for cooperative launches to a module that asks where it is.
pub(crate) fn give_workspace(module: &mut Module) {
    let asks = |operand: &Src| matches!(operand, Src::Special(Special::Envreg1 | Special::Envreg2));
    let mut instructions = module.functions.iter().flat_map(|function| &function.body);
    if instructions.any(|instruction| instruction.src.iter().any(asks)) {
        let size = (WORKSPACE_BYTES as u32).to_le_bytes();
        give(module, WORKSPACE_NAME, WORKSPACE_BYTES, WORKSPACE_BYTES as u32, size.to_vec());
    }
}
