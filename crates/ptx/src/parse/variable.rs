//! Declarations of variables and parameters: space, alignment, type, name, bounds, initial value.

use super::cursor::{Cursor, Name};
use super::initial::{self, Budget, Initial};
use super::literal;
use crate::error::{Diagnostic, Parsed, Span};
use crate::token::Kind;
use isa::{Linkage, Space, Type, Variable};

/// The largest variable, in bytes: more than any device has.
const LARGEST: u64 = 1 << 48;

/// What several variables of one declaration share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefix {
    pub(super) space: Space,
    pub(super) linkage: Linkage,
    align: Option<u32>,
    element: Type,
    /// Elements of a vector type; 1 for a scalar.
    vector: u64,
}

/// A variable as declared, with the names in its initial value that are yet to be resolved.
#[derive(Debug)]
pub(super) struct Declared<'a> {
    pub(super) name: Name<'a>,
    pub(super) variable: Variable,
    /// The name behind each relocation.
    pub(super) pending: Vec<Name<'a>>,
}

/// Reads `.attribute(…) .align 4 .v2 .f32` in any order, after the space.
pub(super) fn prefix(cursor: &mut Cursor<'_>, space: Space, linkage: Linkage) -> Parsed<Prefix> {
    let mut align = None;
    let mut vector = 1;
    loop {
        let span = cursor.peek().span;
        if cursor.peek().kind != Kind::Dot {
            return Err(cursor.wrong("a type").help("a type is, for example, `.f32`"));
        }
        match cursor.peek_text() {
            ".align" => align = Some(alignment(cursor)?),
            ".attribute" => attribute(cursor)?,
            text @ (".v2" | ".v4" | ".v8") => {
                cursor.next();
                vector = text[2..].parse().unwrap_or(1);
            }
            text => {
                let element = element(text, span)?;
                cursor.next();
                return Ok(Prefix { space, linkage, align, element, vector });
            }
        }
    }
}

/// Reads `.align 8`.
fn alignment(cursor: &mut Cursor<'_>) -> Parsed<u32> {
    cursor.next();
    let span = cursor.peek().span;
    let align: u32 = literal::within(cursor, "an alignment")?;
    if align.is_power_of_two() && align <= 1 << 16 {
        return Ok(align);
    }
    Err(Diagnostic::new(span, format!("{align} is not an alignment")).help("alignments are powers of two"))
}

/// Skips `.attribute(.managed)` and the like: where memory is placed changes no result.
fn attribute(cursor: &mut Cursor<'_>) -> Parsed<()> {
    cursor.next();
    cursor.expect(b'(')?;
    let mut depth = 1;
    while depth > 0 {
        match cursor.peek().kind {
            Kind::Mark(b'(') => depth += 1,
            Kind::Mark(b')') => depth -= 1,
            Kind::Dot | Kind::Integer | Kind::Mark(b',') => {}
            _ => return Err(cursor.wrong("`)`")),
        }
        cursor.next();
    }
    Ok(())
}

/// The type of an element, from its directive.
pub(super) fn element(text: &str, span: Span) -> Parsed<Type> {
    match text {
        ".texref" | ".samplerref" | ".surfref" => {
            Err(Diagnostic::new(span, "textures, samplers and surfaces are not supported")
                .help(super::suggest::REFUSED))
        }
        ".pred" => Err(Diagnostic::new(span, "predicates have no place in memory").help("store an integer instead")),
        _ => Type::from_word(&text[1..]).ok_or_else(|| {
            Diagnostic::new(span, format!("`{text}` is not a type")).help("a type is, for example, `.f32`")
        }),
    }
}

/// Reads `name[2][3] = {…}`.
pub(super) fn declarator<'a>(cursor: &mut Cursor<'a>, prefix: &Prefix, budget: &mut Budget) -> Parsed<Declared<'a>> {
    let name = cursor.name("the name of a variable")?;
    let mut bounds = bounds(cursor)?;
    if prefix.vector > 1 {
        bounds.push(Some(prefix.vector));
    }
    let equals = cursor.peek().span;
    let initial = if cursor.eat(b'=') {
        if !matches!(prefix.space, Space::Global | Space::Const) {
            return Err(Diagnostic::new(equals, format!("a .{} variable has no initial value", prefix.space))
                .help("store the value when the kernel starts"));
        }
        initial::value(cursor, prefix.element, &mut bounds, budget)?
    } else {
        Initial::default()
    };
    let bytes = size(prefix.element, &bounds).ok_or_else(|| {
        Diagnostic::new(name.span, format!("`{}` is larger than any memory", name.text)).help("use smaller bounds")
    })?;
    if bytes == 0 && prefix.linkage != Linkage::Extern {
        return Err(Diagnostic::new(name.span, format!("`{}` has no size", name.text))
            .help("only an `.extern` array may leave out its bound"));
    }
    let natural = prefix.element.bytes() * prefix.vector as u32;
    let variable = Variable {
        name: name.text.to_owned(),
        space: prefix.space,
        element: prefix.element,
        bytes,
        align: prefix.align.unwrap_or(natural),
        linkage: prefix.linkage,
        init: initial.bytes,
        relocations: initial.relocations,
    };
    Ok(Declared { name, variable, pending: initial.names })
}

/// Reads `[2][3]`; a bound may be left out.
fn bounds(cursor: &mut Cursor<'_>) -> Parsed<Vec<Option<u64>>> {
    let mut bounds = Vec::new();
    while cursor.sees(b'[') {
        let open = cursor.next().span;
        if cursor.eat(b']') {
            if !bounds.is_empty() {
                return Err(Diagnostic::new(open.to(cursor.previous()), "a bound is missing")
                    .help("only the first bound may be left out"));
            }
            bounds.push(None);
            continue;
        }
        bounds.push(Some(literal::within(cursor, "the bound of an array")?));
        cursor.expect(b']')?;
        if bounds.len() > 16 {
            return Err(Diagnostic::new(open, "the array has more than 16 dimensions").help("use fewer"));
        }
    }
    Ok(bounds)
}

/// Bytes of an array; 0 where a bound is not known.
fn size(element: Type, bounds: &[Option<u64>]) -> Option<u64> {
    let size = bounds.iter().try_fold(u64::from(element.bytes()), |size, bound| size.checked_mul(bound.unwrap_or(0)));
    size.filter(|&size| size <= LARGEST)
}

/// Reads one parameter of a function, an entry or a prototype.
pub(super) fn parameter<'a>(cursor: &mut Cursor<'a>) -> Parsed<Declared<'a>> {
    let span = cursor.peek().span;
    if cursor.eat_text(".reg") {
        return Err(Diagnostic::new(span, "parameters in registers are not supported").help("declare them `.param`"));
    }
    if !cursor.eat_text(".param") {
        return Err(cursor.wrong("`.param`").help("a parameter is, for example, `.param .u64 p`"));
    }
    let mut prefix = prefix(cursor, Space::Param, Linkage::Internal)?;
    pointer(cursor)?;
    // An unbounded array stands for a variable number of arguments.
    prefix.linkage = Linkage::Extern;
    let mut declared = declarator(cursor, &prefix, &mut Budget::default())?;
    if declared.variable.bytes == 0 {
        return Err(Diagnostic::new(declared.name.span, "a variable number of arguments is not supported")
            .help("give the array a bound"));
    }
    declared.variable.linkage = Linkage::Internal;
    Ok(declared)
}

/// Skips `.ptr .global .align 8`, which says where a pointer points.
fn pointer(cursor: &mut Cursor<'_>) -> Parsed<()> {
    if !cursor.eat_text(".ptr") {
        return Ok(());
    }
    for space in [".global", ".const", ".shared", ".local", ".generic"] {
        if cursor.eat_text(space) {
            break;
        }
    }
    if cursor.peek_text() == ".align" {
        alignment(cursor)?;
    }
    Ok(())
}
