//! Constants: literals and constant expressions, and their bits as an operand's type has them.
//!
//! Integer expressions have 64 bits (PTX ISA §4.5); a value outside both the signed and the unsigned range is a
//! mistake, as for the vendor's assembler. The bits of an integer are cut to the operand's width.

use super::cursor::{Cursor, shorten};
use crate::error::{Diagnostic, Parsed, Span};
use crate::token::Kind;
use isa::Type;

/// How deep parentheses and signs may nest.
const DEEPEST: u32 = 64;

/// The number of lanes in a warp, `WARP_SZ`.
const WARP_SIZE: i128 = 32;

/// A constant as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    /// An integer, signed or unsigned, of 64 bits.
    Integer(i128),
    /// `0f…`: the bits of a single.
    Single(u32),
    /// `0d…` or a decimal fraction.
    Double(f64),
}

impl Constant {
    /// The bits of the constant as an operand of this type.
    pub(super) fn bits(self, ty: Type, span: Span) -> Parsed<u64> {
        match (self, ty) {
            (Self::Integer(value), Type::Pred) => Ok(u64::from(value != 0)),
            (Self::Integer(_), Type::B128) => Err(Diagnostic::new(span, "constants of 128 bits are not supported")
                .help("put the halves together with `mov.b128 d, {lo, hi}`")),
            (Self::Integer(value), _) if !ty.is_float() => Ok(value as u64 & mask(ty)),
            (Self::Single(bits), Type::F32 | Type::B32) => Ok(u64::from(bits)),
            (Self::Single(bits), Type::F64) => Ok(f64::from(f32::from_bits(bits)).to_bits()),
            (Self::Double(value), Type::F32) => Ok(u64::from((value as f32).to_bits())),
            (Self::Double(value), Type::F64 | Type::B64) => Ok(value.to_bits()),
            (Self::Integer(_), _) => {
                Err(Diagnostic::new(span, format!("an integer constant stands where .{ty} is read"))
                    .help("write a floating-point constant, for example `0f3F800000` or `1.0`"))
            }
            _ => Err(Diagnostic::new(span, format!("a floating-point constant stands where .{ty} is read"))
                .help("write the bits as an integer")),
        }
    }
}

/// All ones in the width of a type.
fn mask(ty: Type) -> u64 {
    u64::MAX >> (64 - ty.bits().min(64))
}

/// Whether a constant may begin here.
pub(super) fn begins(cursor: &Cursor<'_>) -> bool {
    match cursor.peek().kind {
        Kind::Integer | Kind::Float | Kind::Mark(b'-' | b'+' | b'~' | b'(') => true,
        Kind::Word => cursor.peek_text() == "WARP_SZ",
        _ => false,
    }
}

/// Reads a constant: a literal or an expression of integers.
pub(super) fn constant(cursor: &mut Cursor<'_>) -> Parsed<Constant> {
    let start = cursor.position();
    let negative = cursor.eat(b'-');
    if cursor.peek().kind == Kind::Float {
        let span = cursor.next().span;
        return float(cursor.source(span), negative, span);
    }
    cursor.go_to(start);
    integer(cursor).map(Constant::Integer)
}

/// Reads an expression of integers.
pub(super) fn integer(cursor: &mut Cursor<'_>) -> Parsed<i128> {
    binary(cursor, 0, 0)
}

/// Reads an integer that must lie in the range of `T`.
pub(super) fn within<T: TryFrom<i128>>(cursor: &mut Cursor<'_>, what: &str) -> Parsed<T> {
    let start = cursor.peek().span;
    if !begins(cursor) {
        return Err(cursor.wrong(what));
    }
    let value = integer(cursor)?;
    let span = start.to(cursor.previous());
    T::try_from(value)
        .map_err(|_| Diagnostic::new(span, format!("{value} is out of range")).label(format!("expected {what}")))
}

/// The signed offset that may follow the base of an address: `+8`, `+-8`, `-8`, or nothing.
pub(super) fn offset(cursor: &mut Cursor<'_>) -> Parsed<i64> {
    match cursor.peek().kind {
        Kind::Mark(b'+') => {
            cursor.next();
            if !begins(cursor) {
                return Err(cursor.wrong("an integer").help("an address is a register or a name, and an integer"));
            }
        }
        Kind::Mark(b'-') => {}
        _ => return Ok(0),
    }
    integer(cursor).map(|value| value as i64)
}

/// Binary operators by how tightly they bind.
fn operator(cursor: &Cursor<'_>) -> Option<(u32, u8, usize)> {
    let Kind::Mark(mark) = cursor.peek().kind else { return None };
    let doubled = cursor.ahead(1).kind == Kind::Mark(mark);
    match mark {
        b'|' if !doubled => Some((1, mark, 1)),
        b'^' => Some((2, mark, 1)),
        b'&' if !doubled => Some((3, mark, 1)),
        b'<' | b'>' if doubled => Some((4, mark, 2)),
        b'+' | b'-' => Some((5, mark, 1)),
        b'*' | b'/' | b'%' => Some((6, mark, 1)),
        _ => None,
    }
}

fn binary(cursor: &mut Cursor<'_>, least: u32, depth: u32) -> Parsed<i128> {
    let start = cursor.peek().span;
    let mut left = unary(cursor, depth)?;
    while let Some((tightness, mark, tokens)) = operator(cursor).filter(|operator| operator.0 > least) {
        cursor.go_to(cursor.position() + tokens);
        let right = binary(cursor, tightness, depth)?;
        let span = start.to(cursor.previous());
        left = apply(mark, left, right).filter(in_range).ok_or_else(|| overflow(span))?;
    }
    Ok(left)
}

fn apply(mark: u8, left: i128, right: i128) -> Option<i128> {
    let by = || u32::try_from(right).ok().filter(|&by| by < 64);
    match mark {
        b'|' => Some(left | right),
        b'^' => Some(left ^ right),
        b'&' => Some(left & right),
        b'<' => Some(i128::from((left << by()?) as u64)),
        b'>' => Some(left >> by()?),
        b'+' => left.checked_add(right),
        b'-' => left.checked_sub(right),
        b'*' => left.checked_mul(right),
        b'/' => left.checked_div(right),
        _ => left.checked_rem(right),
    }
}

fn unary(cursor: &mut Cursor<'_>, depth: u32) -> Parsed<i128> {
    let token = cursor.peek();
    if depth > DEEPEST {
        return Err(Diagnostic::new(token.span, "the expression nests too deeply").help("write its value"));
    }
    match token.kind {
        Kind::Mark(mark @ (b'-' | b'+' | b'~' | b'!')) => {
            cursor.next();
            let value = unary(cursor, depth + 1)?;
            let value = match mark {
                b'-' => -value,
                b'+' => value,
                b'~' => !value,
                _ => i128::from(value == 0),
            };
            if in_range(&value) { Ok(value) } else { Err(overflow(token.span.to(cursor.previous()))) }
        }
        Kind::Mark(b'(') => {
            cursor.next();
            let value = binary(cursor, 0, depth + 1)?;
            cursor.expect(b')')?;
            Ok(value)
        }
        Kind::Integer => {
            cursor.next();
            literal(cursor.source(token.span))
                .filter(in_range)
                .ok_or_else(|| malformed(cursor.source(token.span), token.span))
        }
        Kind::Word if cursor.peek_text() == "WARP_SZ" => {
            cursor.next();
            Ok(WARP_SIZE)
        }
        _ => Err(cursor.wrong("an integer")),
    }
}

fn in_range(value: &i128) -> bool {
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(value)
}

fn overflow(span: Span) -> Box<Diagnostic> {
    Diagnostic::new(span, "the value of this expression does not fit 64 bits").help("integer constants have 64 bits")
}

fn malformed(text: &str, span: Span) -> Box<Diagnostic> {
    let text = shorten(text);
    Diagnostic::new(span, format!("`{text}` is not an integer of 64 bits"))
        .help("integers are decimal, `0x…`, `0b…` or octal `0…`, with an optional `U` at the end")
}

/// `12`, `0x1f`, `017`, `0b101`, each with an optional `U`.
fn literal(text: &str) -> Option<i128> {
    let text = text.strip_suffix(['U', 'u']).unwrap_or(text);
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if digits.starts_with('+') { None } else { i128::from_str_radix(digits, radix).ok() }
}

fn float(text: &str, negative: bool, span: Span) -> Parsed<Constant> {
    let bits = |digits: usize| {
        let hex = text.get(2..).filter(|hex| hex.len() == digits && !hex.starts_with('+'))?;
        u64::from_str_radix(hex, 16).ok()
    };
    let constant = match text.as_bytes() {
        [b'0', b'f' | b'F', ..] if !negative => bits(8).map(|bits| Constant::Single(bits as u32)),
        [b'0', b'd' | b'D', ..] if !negative => bits(16).map(|bits| Constant::Double(f64::from_bits(bits))),
        [b'0', b'f' | b'F' | b'd' | b'D', ..] => None,
        _ => text.parse().ok().map(|value: f64| Constant::Double(if negative { -value } else { value })),
    };
    constant.ok_or_else(|| {
        let text = shorten(text);
        let sign = if negative { "-" } else { "" };
        Diagnostic::new(span, format!("`{sign}{text}` is not a floating-point constant"))
            .help("write `0f` and 8 hexadecimal digits, `0d` and 16, or a decimal fraction")
    })
}
