//! What can go wrong, as data.
//!
//! A [`Fault`] says where and when which bits change, and has a text id that prints and parses to itself. A
//! [`Selection`] says which dynamic instructions a campaign draws from, which of their [`TargetOperand`]s are aimed at
//! and the [`Patterns`] of what happens to them; a [`Census`] counts the instructions by thread, so that a uniform draw finds its site;
//! [`draw`] draws the operand and the bits. Nothing here touches a machine, or knows an instruction set.

mod bits;
mod census;
pub mod draw;
mod error;
mod fault;
mod flips;
mod groups;
mod isa;
mod model;
mod names;
mod narrowing;
mod operand;
mod pattern;
mod scope;
mod selection;
mod target;

pub use crate::isa::Isa;
pub use census::{Census, Member};
pub use error::{ParseFaultError, SelectionError};
pub use fault::Fault;
pub use flips::Flips;
pub use groups::InstructionClass;
pub use model::{Model, ModelKind};
pub use names::base_name;
pub use narrowing::{LaunchInstructions, Narrowing, RegisterCondition, Relation, is_number};
pub use operand::{TargetKind, TargetOperand, operand, operands};
pub use pattern::{Pattern, Patterns};
pub use scope::{ScopeKind, WARP};
pub use selection::{Ranges, Selection};
pub use target::{Memory, Scope, Target};
