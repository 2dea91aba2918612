//! Headers of functions, and prototypes: return parameters, name, parameters, directives.

use super::cursor::{Cursor, Name};
use super::variable::{self, Declared};
use crate::error::{Diagnostic, Parsed};
use crate::token::Kind;
use isa::{Function, Linkage, Prototype, Variable};

/// Directives that may stand between a header and its body. None changes a result.
const DIRECTIVES: &[&str] = &[
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnctapersm",
    ".maxnreg",
    ".noreturn",
    ".pragma",
    ".abi_preserve",
    ".abi_preserve_control",
    ".blocksareclusters",
    ".explicitcluster",
    ".reqnctapercluster",
    ".maxclusterrank",
];

/// A header as declared.
pub(super) struct Header<'a> {
    pub(super) name: Name<'a>,
    pub(super) function: Function,
    /// Whether a body follows; its `{` is the next token.
    pub(super) body: bool,
}

/// Reads a header, after `.entry` or `.func`, up to its `;` or `{`.
pub(super) fn header<'a>(cursor: &mut Cursor<'a>, kernel: bool, linkage: Linkage) -> Parsed<Header<'a>> {
    if cursor.eat_text(".attribute") {
        return Err(Diagnostic::new(cursor.previous(), "attributes of functions are not supported")
            .help(super::suggest::REFUSED));
    }
    let returns = if kernel { Vec::new() } else { parameters(cursor)? };
    let name = cursor.name("the name of a function")?;
    let params = parameters(cursor)?;
    let directives = directives(cursor)?;
    let body = cursor.sees(b'{');
    if !body {
        cursor.semicolon()?;
    }
    let function =
        Function { name: name.text.to_owned(), kernel, linkage, params, returns, directives, ..Function::default() };
    Ok(Header { name, function, body })
}

/// Reads `(.param .u64 a, .param .u32 b)`, or nothing. Names are unique, but for `_`.
fn parameters(cursor: &mut Cursor<'_>) -> Parsed<Vec<Variable>> {
    let mut parameters: Vec<Variable> = Vec::new();
    if !cursor.eat(b'(') || cursor.eat(b')') {
        return Ok(parameters);
    }
    let mut seen = std::collections::HashSet::new();
    loop {
        let Declared { name, variable, .. } = variable::parameter(cursor)?;
        if name.text != "_" && !seen.insert(name.text) {
            return Err(Diagnostic::new(name.span, format!("the parameter `{}` is declared twice", name.text))
                .help("rename one of them"));
        }
        parameters.push(variable);
        if !cursor.eat(b',') {
            cursor.expect(b')')?;
            return Ok(parameters);
        }
    }
}

/// Reads `.maxntid 256, 1, 1 .minnctapersm 2`, each as one string.
fn directives(cursor: &mut Cursor<'_>) -> Parsed<Vec<String>> {
    let mut directives = Vec::new();
    while cursor.peek().kind == Kind::Dot {
        let name = cursor.take_name();
        if !DIRECTIVES.contains(&name.text) {
            return Err(Diagnostic::new(name.span, format!("the directive `{}` is not supported here", name.text))
                .help(super::suggest::REFUSED));
        }
        let mut directive = name.text.to_owned();
        let mut separator = " ";
        loop {
            match cursor.peek().kind {
                Kind::Mark(b',') => separator = ", ",
                Kind::Integer | Kind::Text | Kind::Word => {
                    directive.push_str(separator);
                    directive.push_str(cursor.peek_text());
                    separator = " ";
                }
                _ => break,
            }
            cursor.next();
        }
        if name.text == ".pragma" {
            cursor.semicolon()?;
            directive.push(';');
        }
        directives.push(directive);
    }
    Ok(directives)
}

/// Reads `(.param .b32 _) _ (.param .b64 _)`, after `.callprototype`, up to its `;`.
pub(super) fn prototype(cursor: &mut Cursor<'_>) -> Parsed<Prototype> {
    let returns = parameters(cursor)?;
    cursor
        .name("`_`")
        .map_err(|wrong| wrong.help("a prototype is, for example, `(.param .b32 _) _ (.param .b64 _)`"))?;
    let params = parameters(cursor)?;
    let directives = directives(cursor)?;
    cursor.semicolon()?;
    Ok(Prototype::Signature { returns, params, directives })
}
