//! Line tables: `.file`, `.loc`, and the strings that name inlined functions.
//!
//! A `.loc` holds for the instructions up to the next. The position that `inlined_at` gives is, as nvcc writes it,
//! that of an earlier `.loc` of the same function; if that was inlined itself, the chain goes on there.

use super::cursor::Cursor;
use super::literal;
use crate::error::{Diagnostic, Parsed, Span};
use crate::token::Kind;
use isa::{Inlined, Loc};
use std::collections::HashMap;
use std::sync::Arc;

/// How many call sites a position keeps.
const DEEPEST: usize = 64;

/// How much of a function's name is kept, in bytes.
const LONGEST: usize = 4096;

/// The section `.debug_str`.
#[derive(Debug, Default)]
pub(super) struct Strings<'a> {
    bytes: Vec<u8>,
    labels: HashMap<&'a str, usize>,
}

impl<'a> Strings<'a> {
    /// Reads the section, after its `{`, up to its `}`.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        loop {
            match cursor.peek().kind {
                Kind::Mark(b'}') => {
                    cursor.next();
                    return Ok(());
                }
                Kind::Word if cursor.ahead(1).kind == Kind::Mark(b':') => {
                    let name = cursor.take_name();
                    cursor.next();
                    self.labels.insert(name.text, self.bytes.len());
                }
                Kind::Dot if cursor.peek_text() == ".b8" => {
                    cursor.next();
                    self.line(cursor)?;
                }
                _ => return Err(cursor.wrong("a label or `.b8`").help("these are the bytes of strings")),
            }
        }
    }

    fn line(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        loop {
            self.bytes.push(literal::within(cursor, "a byte")?);
            if !cursor.eat(b',') {
                return Ok(());
            }
        }
    }

    /// The string that begins at a place.
    fn at(&self, place: usize) -> Arc<str> {
        let bytes = self.bytes.get(place..).unwrap_or_default();
        let end = bytes.iter().take(LONGEST).position(|&byte| byte == 0).unwrap_or(bytes.len().min(LONGEST));
        String::from_utf8_lossy(&bytes[..end]).into()
    }
}

/// Names of inlined functions by their place in the section.
pub(super) type Names = HashMap<usize, Arc<str>>;

/// The line table of one function.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Where the next instruction comes from.
    pub(super) current: Option<Loc>,
    /// The last `.loc` of each position.
    seen: HashMap<(u32, u32, u32), Loc>,
}

impl Lines {
    /// Reads `1 46 12, function_name $L+3, inlined_at 1 46 12`, after `.loc`.
    pub(super) fn read<'a>(&mut self, cursor: &mut Cursor<'a>, strings: &Strings<'a>, names: &mut Names) -> Parsed<()> {
        let (file, line, column) = position(cursor)?;
        let mut loc = Loc { file, line, column, inlined: None };
        if cursor.eat(b',') {
            let function = function_name(cursor, strings, names)?;
            cursor.expect(b',')?;
            keyword(cursor, "inlined_at")?;
            let (file, line, column) = position(cursor)?;
            let mut at = Loc { file, line, column, inlined: None };
            if let Some(outer) = self.seen.get(&(file, line, column)).filter(|outer| depth(outer) < DEEPEST) {
                at = outer.clone();
            }
            loc.inlined = Some(Arc::new(Inlined { function, at }));
        }
        self.seen.insert((file, line, column), loc.clone());
        // Line 0 says that no line stands behind what follows.
        self.current = (line > 0).then_some(loc);
        Ok(())
    }
}

fn depth(loc: &Loc) -> usize {
    std::iter::successors(Some(loc), |loc| loc.inlined.as_ref().map(|inlined| &inlined.at)).count()
}

fn position(cursor: &mut Cursor<'_>) -> Parsed<(u32, u32, u32)> {
    let file = literal::within(cursor, "the number of a file")?;
    let line = literal::within(cursor, "a line")?;
    let column = literal::within(cursor, "a column")?;
    Ok((file, line, column))
}

fn keyword(cursor: &mut Cursor<'_>, word: &str) -> Parsed<()> {
    if cursor.eat_text(word) { Ok(()) } else { Err(cursor.wrong(&format!("`{word}`"))) }
}

fn function_name<'a>(cursor: &mut Cursor<'a>, strings: &Strings<'a>, names: &mut Names) -> Parsed<Arc<str>> {
    keyword(cursor, "function_name")?;
    let label = cursor.name("a label")?;
    let offset = literal::offset(cursor)?;
    let Some(&start) = strings.labels.get(label.text) else {
        return Err(Diagnostic::new(label.span, format!("no string is labelled `{}`", label.text))
            .help("names of inlined functions stand in `.section .debug_str`"));
    };
    let place = start.saturating_add_signed(offset as isize);
    Ok(names.entry(place).or_insert_with(|| strings.at(place)).clone())
}

/// Reads `1 "file.cu", 1234, 56`, after `.file`. Timestamp and size are dropped.
pub(super) fn file(cursor: &mut Cursor<'_>) -> Parsed<(u32, String)> {
    let number = literal::within(cursor, "the number of a file")?;
    let path = string(cursor)?;
    for _ in 0..2 {
        if cursor.eat(b',') {
            literal::integer(cursor)?;
        }
    }
    Ok((number, path))
}

/// Reads a string, escapes as written.
pub(super) fn string(cursor: &mut Cursor<'_>) -> Parsed<String> {
    if cursor.peek().kind != Kind::Text {
        return Err(cursor.wrong("a string"));
    }
    let Span { start, end } = cursor.next().span;
    Ok(cursor.source(Span { start: start + 1, end: end - 1 }).to_owned())
}
