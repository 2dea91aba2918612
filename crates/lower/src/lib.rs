//! PTX as a guest of the machine.
//!
//! ```text
//! text ──▶ module (ptx) ──▶ variables ──▶ placed by whoever loads it ──▶ program: micro-operations and facts
//! ```
//!
//! [`Ptx`] reads modules and makes programs of their kernels. Everything that the machine could not execute is refused
//! here, by name and source line, before anything runs. What is known of each instruction is made into
//! [facts](facts::Facts) on the way; behind this crate nobody matches an instruction of PTX.

mod contract;
mod facts_builder;
mod guest;
mod program;
mod refused;
mod runtime_symbols;
mod sets;

pub use contract::Contract;
pub use guest::Ptx;
pub use sets::sets;

use isa::Symbol;
use simt::guest::{Placement, Pointee};

/// The address of a symbol of module scope.
fn place(placement: &Placement, symbol: Symbol) -> Option<u64> {
    pointee(symbol).and_then(|pointee| placement.address(pointee))
}

/// What a symbol of module scope names.
fn pointee(symbol: Symbol) -> Option<Pointee> {
    match symbol {
        Symbol::Module(index) => Some(Pointee::Variable(index as usize)),
        Symbol::Function(id) => Some(Pointee::Function(id)),
        Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) => None,
    }
}
