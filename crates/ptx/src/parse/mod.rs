//! The parser.
//!
//! First pass ([`top`]): everything outside of bodies, so that names may be used before they are declared. Second
//! pass ([`statement`]): the bodies. Each statement is first read to its `;` and only then given meaning, so a mistake in
//! meaning costs that statement alone, and one in syntax goes on after the next `;`.

mod body;
mod call;
mod cursor;
mod finish;
mod function;
mod initial;
mod instruction;
mod line;
mod literal;
mod opcode;
mod operand;
mod outline;
mod resolve;
mod scope;
mod statement;
mod suggest;
mod table;
mod top;
mod variable;

pub(crate) use opcode::as_spelled;

use crate::error::{Diagnostic, Errors, Sink, Span};
use crate::token::tokenize;
use isa::{Function, Module};
use std::collections::HashMap;

/// Reads a module.
pub(crate) fn module(name: &str, text: &str) -> Result<Module, Errors> {
    let mut sink = Sink::default();
    let module = read(text, &mut sink);
    match sink.into_errors(name, text) {
        None => Ok(module),
        Some(errors) => Err(errors),
    }
}

fn read(text: &str, sink: &mut Sink) -> Module {
    if u32::try_from(text.len()).is_err() {
        sink.report(Diagnostic::new(Span::default(), "the text is 4 GiB or longer").help("split the module"));
        return Module::default();
    }
    let tokens = tokenize(text, sink);
    let cursor = cursor::Cursor::new(text, &tokens);
    let mut outline = top::read(cursor, sink);
    let mut shared = body::Shared::default();
    let mut done = Vec::with_capacity(outline.bodies.len());
    for (index, range) in &outline.bodies {
        let body = cursor.slice(range.start, range.end);
        done.push((*index, statement::read(body, &outline, *index, &mut shared, sink)));
    }
    let mut spans = vec![Vec::new(); outline.module.functions.len()];
    for (index, (function, places)) in done {
        outline.module.functions[index] = function;
        spans[index] = places;
    }
    if sink.is_empty() {
        verify(&outline.module, &spans, sink);
    }
    outline.module
}

/// Reports what the verifier finds and the parser did not.
fn verify(module: &Module, spans: &[Vec<Span>], sink: &mut Sink) {
    let index: HashMap<&str, usize> = module
        .functions
        .iter()
        .enumerate()
        .map(|(index, function): (usize, &Function)| (&*function.name, index))
        .collect();
    for defect in isa::verify::verify(module) {
        let places = index.get(defect.function.as_str()).and_then(|&index| spans.get(index));
        let place = places.and_then(|places| places.get(defect.pc.index())).copied().unwrap_or_default();
        sink.report(Diagnostic::new(place, defect.what).help("the instruction does not fit its operands"));
    }
}
