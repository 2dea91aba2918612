//! What is known of the instructions of a program, whatever its instruction set.
//!
//! An instruction set is a *guest*: its front end knows how its instructions are written and what they compute. All that
//! others ask about an instruction (what faults can hit, where control goes next, which source line it is) it says in
//! [`Facts`], so that whoever counts, hits, compares or reports instructions reads these and knows no instruction set.
//!
//! - [`instruction`]: the facts of an instruction, its operands with their [`Role`]s;
//! - [`group`]: the groups that all guests put their instructions in, and the sets that a guest has names for;
//! - [`flow`]: control flow within a function;
//! - [`liveness`]: which of its registers are live;
//! - [`order`]: the order that an access to memory promises, and its scope;
//! - [`source`]: source positions;
//! - [`types`]: scalar types, widths of registers, state spaces.

pub mod flow;
pub mod group;
pub mod instruction;
pub mod liveness;
pub mod order;
pub mod source;
pub mod types;

pub use flow::Flow;
pub use group::{Group, NamedSet, Sets};
pub use instruction::{
    Access, Control, Effect, Facts, FunctionId, Guard, Operand, Pc, Reg, Register, ResultKind, Role,
};
pub use liveness::RegSet;
pub use order::{MemoryOrder, MemoryScope};
pub use source::{Files, Inlined, Loc, Source};
pub use types::{Space, Type, Width};
