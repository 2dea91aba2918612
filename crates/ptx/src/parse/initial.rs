//! Initial values: `= 5`, `= {1, 2}`, `= {{1}, {2, 3}}`, `= generic(sym)+4`, to bytes and relocations.

use super::cursor::{Cursor, Name};
use super::literal;
use crate::error::{Diagnostic, Parsed, Span};
use crate::token::Kind;
use isa::{FunctionId, Relocation, Symbol, Type};

/// Bytes of zeros that all initial values of a module may leave between their rows.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Default for Budget {
    fn default() -> Self {
        Self(64 << 20)
    }
}

/// An initial value.
#[derive(Debug, Default)]
pub(super) struct Initial<'a> {
    pub(super) bytes: Vec<u8>,
    /// The symbols are placeholders until the names are resolved.
    pub(super) relocations: Vec<Relocation>,
    pub(super) names: Vec<Name<'a>>,
}

/// Reads the initial value of a variable. A missing first bound becomes the number of rows.
pub(super) fn value<'a>(
    cursor: &mut Cursor<'a>,
    element: Type,
    bounds: &mut [Option<u64>],
    budget: &mut Budget,
) -> Parsed<Initial<'a>> {
    let mut reader = Reader { element, initial: Initial::default(), mask: None, budget };
    if bounds.is_empty() {
        reader.item(cursor, 0)?;
    } else {
        let mut stride = u64::from(element.bytes());
        let mut strides = vec![0; bounds.len()];
        for (level, bound) in bounds.iter().enumerate().rev() {
            strides[level] = stride;
            stride = stride.saturating_mul(bound.unwrap_or(1));
        }
        let rows = reader.row(cursor, bounds, &strides, 0)?;
        if let Some(first @ None) = bounds.first_mut() {
            *first = Some(rows);
        }
    }
    match reader.mask {
        Some(mask) => Err(partial(mask.name.span)),
        None => Ok(reader.initial),
    }
}

/// An address that is written byte by byte: `0xFF(sym), 0xFF00(sym), …`
#[derive(Clone, Copy)]
struct Mask<'a> {
    name: Name<'a>,
    addend: i64,
    generic: bool,
    /// Where its next byte belongs, and how many it has.
    at: u64,
    bytes: u32,
}

struct Reader<'a, 'b> {
    element: Type,
    initial: Initial<'a>,
    mask: Option<Mask<'a>>,
    budget: &'b mut Budget,
}

impl<'a> Reader<'a, '_> {
    /// Reads `{…}` at `at`; tells how many items it has. The depth of the recursion is that of the bounds.
    fn row(&mut self, cursor: &mut Cursor<'a>, bounds: &[Option<u64>], strides: &[u64], at: u64) -> Parsed<u64> {
        let (Some((bound, inner_bounds)), Some((&stride, inner_strides))) =
            (bounds.split_first(), strides.split_first())
        else {
            return self.item(cursor, at).map(|()| 1);
        };
        cursor.expect(b'{').map_err(|wrong| wrong.help("each dimension of an array has its own braces"))?;
        let mut count = 0;
        while !cursor.sees(b'}') {
            let span = cursor.peek().span;
            if bound.is_some_and(|bound| count >= bound) {
                return Err(Diagnostic::new(span, "the initial value has more elements than the array")
                    .help("give the array a larger bound"));
            }
            self.row(cursor, inner_bounds, inner_strides, at.saturating_add(count.saturating_mul(stride)))?;
            count += 1;
            if !cursor.eat(b',') {
                break;
            }
        }
        cursor.expect(b'}')?;
        Ok(count)
    }

    /// Reads one element, to be placed at `at`.
    fn item(&mut self, cursor: &mut Cursor<'a>, at: u64) -> Parsed<()> {
        let start = cursor.peek().span;
        self.pad(at, start)?;
        let bytes = match cursor.peek().kind {
            Kind::Word if cursor.peek_text() != "WARP_SZ" => {
                let (name, addend, generic) = address(cursor)?;
                self.relocate(at, name, addend, generic)?;
                0
            }
            Kind::Integer if cursor.ahead(1).kind == Kind::Mark(b'(') => {
                self.masked(cursor, at)?;
                self.initial.bytes.push(0);
                return Ok(());
            }
            _ => {
                let constant = literal::constant(cursor)?;
                constant.bits(self.element, start.to(cursor.previous()))?
            }
        };
        if let Some(mask) = self.mask {
            return Err(partial(mask.name.span));
        }
        let width = self.element.bytes() as usize;
        self.initial.bytes.extend_from_slice(&bytes.to_le_bytes()[..width.min(8)]);
        Ok(())
    }

    fn pad(&mut self, at: u64, span: Span) -> Parsed<()> {
        let gap = at.saturating_sub(self.initial.bytes.len() as u64);
        if gap > self.budget.0 {
            return Err(Diagnostic::new(span, "the initial value leaves too much empty").help("initialize by code"));
        }
        self.budget.0 -= gap;
        self.initial.bytes.resize(self.initial.bytes.len() + gap as usize, 0);
        Ok(())
    }

    fn relocate(&mut self, at: u64, name: Name<'a>, addend: i64, generic: bool) -> Parsed<()> {
        if !matches!(self.element, Type::U64 | Type::S64 | Type::B64) {
            return Err(Diagnostic::new(name.span, format!("an address does not fit a .{} element", self.element))
                .help("addresses have 64 bits: declare the variable `.u64`"));
        }
        self.push(at, name, addend, generic);
        Ok(())
    }

    fn push(&mut self, at: u64, name: Name<'a>, addend: i64, generic: bool) {
        let symbol = Symbol::Function(FunctionId(0));
        self.initial.relocations.push(Relocation { at, symbol, addend, generic });
        self.initial.names.push(name);
    }

    /// Reads `0xFF00(generic(sym)+8)`: one byte of an address. All eight in a row are an address.
    fn masked(&mut self, cursor: &mut Cursor<'a>, at: u64) -> Parsed<()> {
        let span = cursor.next().span;
        let digits = cursor.source(span);
        let mask = u64::from_str_radix(digits.trim_start_matches(['0', 'x', 'X']), 16).unwrap_or(0);
        cursor.expect(b'(')?;
        let (name, addend, generic) = address(cursor)?;
        cursor.expect(b')')?;
        let next = self.mask.take().unwrap_or(Mask { name, addend, generic, at, bytes: 0 });
        let same = next.name.text == name.text && next.addend == addend && next.generic == generic && next.at == at;
        if !same || mask != 0xff << (8 * next.bytes) || self.element.bytes() != 1 {
            return Err(partial(span));
        }
        if next.bytes == 7 {
            self.push(at - 7, name, addend, generic);
        } else {
            self.mask = Some(Mask { at: at + 1, bytes: next.bytes + 1, ..next });
        }
        Ok(())
    }
}

/// Reads `sym`, `sym+4`, `generic(sym)+4`.
fn address<'a>(cursor: &mut Cursor<'a>) -> Parsed<(Name<'a>, i64, bool)> {
    let mut name = cursor.name("a name")?;
    let generic = name.text == "generic" && cursor.eat(b'(');
    if generic {
        name = cursor.name("the name of a variable")?;
        cursor.expect(b')')?;
    }
    Ok((name, literal::offset(cursor)?, generic))
}

fn partial(span: Span) -> Box<Diagnostic> {
    Diagnostic::new(span, "parts of an address in an initial value are not supported")
        .help("all eight bytes of the address must stand in a row")
}
