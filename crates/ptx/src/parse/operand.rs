//! Operands as they are written, before they are given meaning.

use super::cursor::{Cursor, Name};
use super::literal::{self, Constant};
use crate::error::{Diagnostic, Parsed, Span};
use crate::token::Kind;

/// An operand and its place.
#[derive(Clone, Debug)]
pub(super) struct Raw<'a> {
    pub(super) kind: RawKind<'a>,
    pub(super) span: Span,
}

/// What an operand looks like.
#[derive(Clone, Debug)]
pub(super) enum RawKind<'a> {
    /// `%r1`, `%tid.x`, `sym`, `sym+4`
    Name(Name<'a>, i64),
    /// `!p`
    Not(Name<'a>),
    /// `5`, `0f3F800000`, `(3+4)*2`
    Constant(Constant),
    /// `[%rd1+8]`, `[sym]`, `[64]`
    Address(Option<Name<'a>>, i64),
    /// `[%rd1, {%f1, %f2}]`
    Texel(Name<'a>, Vec<Raw<'a>>),
    /// `{a, b}`
    Vector(Vec<Raw<'a>>),
    /// `d|p`
    Pair(Box<(Raw<'a>, Raw<'a>)>),
    /// `_`
    Sink,
}

/// Reads operands up to the `;`, which is taken too.
pub(super) fn list<'a>(cursor: &mut Cursor<'a>, operands: &mut Vec<Raw<'a>>) -> Parsed<()> {
    operands.clear();
    if cursor.sees(b';') || !begins(cursor) {
        return cursor.semicolon();
    }
    loop {
        operands.push(operand(cursor)?);
        if !cursor.eat(b',') {
            return cursor.semicolon().map_err(|wrong| {
                if wrong.message.starts_with("expected") {
                    cursor.wrong("`,` or `;`").help("commas separate operands, and `;` ends the instruction")
                } else {
                    wrong
                }
            });
        }
    }
}

/// Whether the next token can begin an operand and is on the line of the opcode.
fn begins(cursor: &Cursor<'_>) -> bool {
    let token = cursor.peek();
    let may = matches!(token.kind, Kind::Word | Kind::Mark(b'{' | b'[' | b'!')) || literal::begins(cursor);
    // `ret` without `;`, and the next instruction below it.
    let next_statement = token.kind == Kind::Word && cursor.at_line_start() && cursor.ahead(1).kind == Kind::Dot;
    may && !next_statement
}

/// Reads one operand.
pub(super) fn operand<'a>(cursor: &mut Cursor<'a>) -> Parsed<Raw<'a>> {
    let first = simple(cursor)?;
    if !cursor.eat(b'|') {
        return Ok(first);
    }
    let second = simple(cursor)?;
    let span = first.span.to(second.span);
    Ok(Raw { kind: RawKind::Pair(Box::new((first, second))), span })
}

fn simple<'a>(cursor: &mut Cursor<'a>) -> Parsed<Raw<'a>> {
    let start = cursor.peek().span;
    let kind = match cursor.peek().kind {
        _ if literal::begins(cursor) => constant(cursor)?,
        Kind::Word => named(cursor)?,
        Kind::Mark(b'{') => RawKind::Vector(vector(cursor)?),
        Kind::Mark(b'[') => address(cursor)?,
        Kind::Mark(b'!') if cursor.ahead(1).kind == Kind::Word => {
            cursor.next();
            RawKind::Not(cursor.take_name())
        }
        Kind::Mark(b'!') => RawKind::Constant(Constant::Integer(literal::integer(cursor)?)),
        _ => return Err(cursor.wrong("an operand")),
    };
    Ok(Raw { kind, span: start.to(cursor.previous()) })
}

fn constant<'a>(cursor: &mut Cursor<'a>) -> Parsed<RawKind<'a>> {
    if cursor.sees(b'-') && cursor.ahead(1).kind == Kind::Word && cursor.source(cursor.ahead(1).span) != "WARP_SZ" {
        return Err(Diagnostic::new(cursor.peek().span, "only constants can be negated in an operand")
            .help("use a `neg` instruction"));
    }
    literal::constant(cursor).map(RawKind::Constant)
}

fn named<'a>(cursor: &mut Cursor<'a>) -> Parsed<RawKind<'a>> {
    let mut name = cursor.take_name();
    if name.text == "_" {
        return Ok(RawKind::Sink);
    }
    while cursor.peek().kind == Kind::Dot && cursor.peek().span.start == name.span.end {
        name.span = name.span.to(cursor.next().span);
        name.text = cursor.source(name.span);
    }
    Ok(RawKind::Name(name, literal::offset(cursor)?))
}

fn vector<'a>(cursor: &mut Cursor<'a>) -> Parsed<Vec<Raw<'a>>> {
    let mut elements = Vec::with_capacity(4);
    cursor.expect(b'{')?;
    loop {
        if cursor.sees(b'{') {
            return Err(cursor.wrong("an element of a vector"));
        }
        elements.push(simple(cursor)?);
        if !cursor.eat(b',') {
            cursor.expect(b'}')?;
            return Ok(elements);
        }
    }
}

fn address<'a>(cursor: &mut Cursor<'a>) -> Parsed<RawKind<'a>> {
    cursor.expect(b'[')?;
    let kind = if literal::begins(cursor) {
        RawKind::Address(None, literal::integer(cursor)? as i64)
    } else {
        let base = cursor.name("a register or a variable")?;
        if cursor.sees(b'+') && cursor.ahead(1).kind == Kind::Word && !literal::begins(&ahead(cursor)) {
            return Err(Diagnostic::new(
                cursor.ahead(1).span,
                "a register as the offset of an address is not supported",
            )
            .help("add it to the base with an `add` instruction"));
        }
        if cursor.eat(b',') {
            let coordinates = if cursor.sees(b'{') { vector(cursor)? } else { vec![simple(cursor)?] };
            cursor.expect(b']')?;
            return Ok(RawKind::Texel(base, coordinates));
        }
        RawKind::Address(Some(base), literal::offset(cursor)?)
    };
    cursor.expect(b']')?;
    Ok(kind)
}

/// The cursor one token on.
fn ahead<'a>(cursor: &Cursor<'a>) -> Cursor<'a> {
    let mut ahead = *cursor;
    ahead.next();
    ahead
}
