//! A body that is being read: what it has come to, and what waits for its end.

use super::cursor::{Cursor, Name};
use super::line::{Lines, Names};
use super::opcode::Opcodes;
use super::operand::Raw;
use super::outline::Outline;
use super::scope::Scopes;
use crate::error::{Sink, Span};
use isa::{Function, Instruction, Pc, Prototype, Variable};
use std::rc::Rc;

/// What all bodies of a module share.
#[derive(Debug, Default)]
pub(super) struct Shared<'a> {
    pub(super) opcodes: Opcodes<'a>,
    pub(super) names: Names,
    /// How many unsupported instructions were compared with the supported ones.
    pub(super) compared: usize,
}

/// For how many unsupported instructions of a module the nearest supported one is looked for.
pub(super) const MOST_COMPARED: usize = 20;

/// A reference to a label, resolved when the body has been read.
pub(super) struct Jump<'a> {
    pub(super) pc: Pc,
    pub(super) scope: u32,
    pub(super) label: Name<'a>,
}

/// `.branchtargets`
pub(super) struct Branches<'a> {
    pub(super) scope: u32,
    pub(super) labels: Vec<Name<'a>>,
}

/// A body that is being read.
pub(super) struct Body<'a, 'g> {
    pub(super) cursor: Cursor<'a>,
    pub(super) outline: &'g Outline<'a>,
    pub(super) header: &'g Function,
    pub(super) shared: &'g mut Shared<'a>,
    pub(super) sink: &'g mut Sink,
    pub(super) scopes: Scopes<'g>,
    pub(super) lines: Lines,
    pub(super) variables: Vec<Variable>,
    pub(super) instructions: Vec<Instruction>,
    pub(super) spans: Vec<Span>,
    pub(super) labels: Vec<(&'a str, Pc)>,
    pub(super) jumps: Vec<Jump<'a>>,
    pub(super) branches: Vec<Branches<'a>>,
    pub(super) prototypes: Vec<(&'a str, Rc<Prototype>)>,
    /// Calls and the prototypes they name.
    pub(super) indirect: Vec<(Pc, usize)>,
    /// Room for the operands of the instruction that is being read.
    pub(super) operands: Vec<Raw<'a>>,
}
