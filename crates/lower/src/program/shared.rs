//! Where the shared variables of a kernel and of the functions it calls are.

use isa::{Base, FunctionId, Linkage, Module, Space, Src, Symbol, Variable};
use simt::program::RESERVED_SHARED;
use std::collections::{BTreeMap, BTreeSet};

/// The offsets of shared variables, and how many bytes they take.
#[derive(Debug, Default)]
pub(super) struct SharedLayout {
    pub(super) offsets: BTreeMap<SharedKey, u32>,
    pub(super) bytes: u32,
    pub(super) dynamic_align: u32,
}

/// A shared variable: the function in whose scope it is, if it is in one, and its index there.
pub(super) type SharedKey = (Option<FunctionId>, u32);

/// An offset that stands for "where dynamic shared memory starts" until the size of the rest is known.
const DYNAMIC: u32 = u32::MAX;

impl SharedLayout {
    pub(super) fn of(module: &Module, reachable: &[FunctionId]) -> Self {
        let mut layout = Self { dynamic_align: 16, bytes: RESERVED_SHARED, ..Self::default() };
        let used = mentioned(module, reachable);
        for (index, variable) in module.variables.iter().enumerate() {
            if variable.space == Space::Shared && used.contains(&(index as u32)) {
                layout.place((None, index as u32), variable);
            }
        }
        for &id in reachable {
            for (index, variable) in module.function(id).variables.iter().enumerate() {
                if variable.space == Space::Shared {
                    layout.place((Some(id), index as u32), variable);
                }
            }
        }
        let dynamic = layout.bytes.next_multiple_of(layout.dynamic_align);
        for offset in layout.offsets.values_mut() {
            *offset = if *offset == DYNAMIC { dynamic } else { *offset };
        }
        layout
    }

    fn place(&mut self, key: SharedKey, variable: &Variable) {
        let align = variable.align.max(1);
        if variable.linkage == Linkage::Extern {
            self.dynamic_align = self.dynamic_align.max(align);
            self.offsets.insert(key, DYNAMIC);
            return;
        }
        let offset = self.bytes.next_multiple_of(align);
        self.bytes = offset + variable.bytes as u32;
        self.offsets.insert(key, offset);
    }
}

/// The module's variables that some of these functions name.
fn mentioned(module: &Module, functions: &[FunctionId]) -> BTreeSet<u32> {
    let instructions = functions.iter().flat_map(|&id| &module.function(id).body);
    let operands = instructions.flat_map(|instruction| &instruction.src);
    let index = |operand: &Src| match operand {
        Src::Symbol(Symbol::Module(index), _) | Src::Address(Base::Symbol(Symbol::Module(index)), _) => Some(*index),
        _ => None,
    };
    operands.filter_map(index).collect()
}
