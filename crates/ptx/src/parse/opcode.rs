//! Opcodes: spellings to operations and the operands these take, each spelling looked up once per module.

use super::cursor::{Cursor, Name};
use crate::token::Kind;
use isa::op::{OperandKind, spelling};
use isa::{Group, Op, Type};
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

/// An operation and its operands.
#[derive(Debug)]
pub(super) struct Opcode {
    pub(super) spelling: String,
    pub(super) op: Op,
    pub(super) dst: Vec<OperandKind>,
    /// Without labels.
    pub(super) src: Vec<OperandKind>,
    pub(super) optional_src: usize,
    /// What this spelling means with a vector operand, for `mov`.
    pub(super) vector: Option<Op>,
}

/// The opcodes seen so far.
#[derive(Debug, Default)]
pub(super) struct Opcodes<'a> {
    known: HashMap<Cow<'a, str>, Option<Rc<Opcode>>>,
}

impl<'a> Opcodes<'a> {
    /// What a spelling means. `Err` if it is not supported, and whether that is news.
    pub(super) fn get(&mut self, spelling: Cow<'a, str>) -> Result<Rc<Opcode>, bool> {
        if let Some(known) = self.known.get(&spelling) {
            return known.clone().ok_or(false);
        }
        let opcode = spelling::parse(&spelling).map(|op| Rc::new(Opcode::new(&spelling, op)));
        self.known.insert(spelling, opcode.clone());
        opcode.ok_or(true)
    }
}

impl Opcode {
    /// An operation with the operands that its signature says.
    pub(super) fn new(spelling: &str, op: Op) -> Self {
        let signature = op.signature();
        let dst = signature.dst.into_iter().map(|kind| as_spelled(spelling, &op, 0, kind)).collect();
        let src = signature.src.iter().map(|source| source.kind).filter(|kind| *kind != OperandKind::Label).enumerate();
        Self {
            dst,
            src: src.map(|(index, kind)| as_spelled(spelling, &op, index, kind)).collect(),
            optional_src: signature.optional_src,
            vector: spelling::parse_vector_move(spelling),
            spelling: spelling.to_owned(),
            op,
        }
    }
}

/// The kind of an operand with the type that the spelling names: the table knows only the width of what, say,
/// `mov.f32` moves, but constants are written by type.
pub(crate) fn as_spelled(spelling: &str, op: &Op, index: usize, kind: OperandKind) -> OperandKind {
    let OperandKind::Value(ty) = kind else { return kind };
    if !matches!(op, Op::Alu(_) | Op::Setp(_) | Op::Set(..)) || op.group() == Group::Convert || ty.is_float() {
        return kind;
    }
    let mut types = spelling.split('.').filter_map(Type::from_word);
    let spelled = if spelling.starts_with("slct.") && index < 2 { types.next() } else { types.next_back() };
    OperandKind::Value(spelled.filter(|spelled| spelled.bits() == ty.bits()).unwrap_or(ty))
}

/// Reads an opcode: a word and the dot tokens after it.
pub(super) fn read<'a>(cursor: &mut Cursor<'a>) -> (Name<'a>, Cow<'a, str>) {
    let start = cursor.peek().span;
    cursor.next();
    let mut contiguous = true;
    while cursor.peek().kind == Kind::Dot {
        let gap = cursor.peek().span.start != cursor.previous().end;
        // A directive on the next line is not a part of this instruction.
        if gap && cursor.at_line_start() {
            break;
        }
        contiguous &= !gap;
        cursor.next();
    }
    let span = start.to(cursor.previous());
    let text = cursor.source(span);
    let spelling = if contiguous {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().filter(|c| !c.is_whitespace()).collect())
    };
    (Name { text, span }, spelling)
}
