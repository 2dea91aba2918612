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
use isa::{Function, FunctionId, Module};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A module of which some functions may have been refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The module. Refused functions have an empty body.
    pub module: Module,
    /// What is wrong with the bodies of the functions that are refused.
    pub refused: BTreeMap<FunctionId, Errors>,
}

/// What is wrong with the bodies of functions, by their index.
type Mistakes = Vec<(usize, Sink)>;

/// Reads a module.
pub(crate) fn module(name: &str, text: &str) -> Result<Module, Errors> {
    let mut sink = Sink::default();
    let (module, mistakes) = read(text, &mut sink);
    mistakes.into_iter().for_each(|(_, of_body)| sink.join(of_body));
    if sink.is_empty() { Ok(module) } else { Err(sink.into_errors(name, &text.into())) }
}

/// Reads a module; functions whose bodies have mistakes are refused, and the rest of it is read.
pub(crate) fn parts(name: &str, text: &str) -> Result<Reading, Errors> {
    let mut sink = Sink::default();
    let (mut module, mistakes) = read(text, &mut sink);
    if !sink.is_empty() {
        mistakes.into_iter().for_each(|(_, of_body)| sink.join(of_body));
        return Err(sink.into_errors(name, &text.into()));
    }
    let mut refused = BTreeMap::new();
    if !mistakes.is_empty() {
        let text: Arc<str> = text.into();
        for (index, of_body) in mistakes {
            let function = &mut module.functions[index];
            (function.body, function.labels) = Default::default();
            refused.insert(FunctionId(index as u32), of_body.into_errors(name, &text));
        }
    }
    Ok(Reading { module, refused })
}

/// Reads a module as far as that is possible. What is wrong outside of bodies goes to the sink.
fn read(text: &str, sink: &mut Sink) -> (Module, Mistakes) {
    if u32::try_from(text.len()).is_err() {
        sink.report(Diagnostic::new(Span::default(), "the text is 4 GiB or longer").help("split the module"));
        return <(Module, Mistakes)>::default();
    }
    let tokens = tokenize(text, sink);
    let cursor = cursor::Cursor::new(text, &tokens);
    let mut outline = top::read(cursor, sink);
    let mut shared = body::Shared::default();
    let mut done = Vec::with_capacity(outline.bodies.len());
    let mut mistakes = Mistakes::new();
    for (index, range) in &outline.bodies {
        let body = cursor.slice(range.start, range.end);
        let mut of_body = sink.within(&cursor.bytes(range));
        done.push((*index, statement::read(body, &outline, *index, &mut shared, &mut of_body)));
        if !of_body.is_empty() {
            mistakes.push((*index, of_body));
        }
    }
    let mut spans = vec![Vec::new(); outline.module.functions.len()];
    for (index, (function, places)) in done {
        outline.module.functions[index] = function;
        spans[index] = places;
    }
    if sink.is_empty() {
        verify(&outline.module, &spans, &mut mistakes);
    }
    (outline.module, mistakes)
}

/// Reports what the verifier finds of functions in which the parser found nothing.
fn verify(module: &Module, spans: &[Vec<Span>], mistakes: &mut Mistakes) {
    let mut found: BTreeMap<usize, Sink> = BTreeMap::new();
    let index: HashMap<&str, usize> = module
        .functions
        .iter()
        .enumerate()
        .map(|(index, function): (usize, &Function)| (&*function.name, index))
        .collect();
    for defect in isa::verify::verify(module) {
        let Some(&index) = index.get(defect.function.as_str()) else { continue };
        let place = spans.get(index).and_then(|places| places.get(defect.pc.index())).copied().unwrap_or_default();
        let mistake = Diagnostic::new(place, defect.what).help("the instruction does not fit its operands");
        found.entry(index).or_default().report(mistake);
    }
    for &(index, _) in &*mistakes {
        found.remove(&index);
    }
    mistakes.extend(found);
}
