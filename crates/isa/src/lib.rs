//! The instruction set PTX as data: types, the table of pure instructions with their semantics, modules and kernels, and
//! a verifier.
//!
//! This crate knows no text format, no memory and no warp. What the rest of Beamline counts, hits and reports are the
//! architectural instructions of [`module::Instruction`]; what it knows of them are their [`facts`].

pub mod alu;
pub mod class;
pub mod contraction;
pub mod module;
pub mod op;
pub mod semantics;
pub mod table;
pub mod types;
pub mod verify;

pub use alu::{Alu, AluForm, Lane};
pub use class::AluClass;
pub use contraction::Contraction;
pub use facts::{FunctionId, Group, Guard, Inlined, Loc, Pc, Reg, Register};
pub use module::{Base, Dst, Function, Instruction, Linkage, Module, Prototype, Relocation, Src, Symbol, Variable};
pub use op::Op;
pub use types::{Space, Special, Type, Width};
