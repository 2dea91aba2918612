//! The instruction set as data: types, the table of pure instructions with their semantics, modules and kernels,
//! control flow and liveness, and a verifier.
//!
//! This crate knows no text format, no memory and no warp. PTX is the first guest; what the rest of Beamline
//! counts, hits and reports are the architectural instructions of [`module::Instruction`].

pub mod alu;
pub mod flow;
pub mod module;
pub mod op;
pub mod semantics;
pub mod table;
pub mod types;
pub mod verify;

pub use alu::{Alu, Form, Lane};
pub use module::{
    Base, Dst, Function, FunctionId, Guard, Inlined, Instruction, Linkage, Loc, Module, Operand, Pc, Prototype, Reg,
    Register, Relocation, Symbol, Variable,
};
pub use op::{Group, Op};
pub use types::{Space, Special, Type, Width};
