//! What is declared outside of functions.
//!
//! A name may be declared several times and defined once. What counts is the definition, or the last declaration:
//! it gives the order of the module's functions and variables, so that a module with forward declarations has the
//! same order as one without.

use super::cursor::Name;
use super::function::Header;
use super::line::Strings;
use super::outline::{Global, Outline};
use super::variable::Declared;
use crate::error::{Diagnostic, Parsed, Sink};
use isa::{FunctionId, Linkage, Module, Symbol};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A name as declared so far. `rank` is the place of what counts.
struct Slot<T> {
    value: T,
    rank: u32,
    defined: bool,
}

/// A function with the tokens of its body.
struct Routine<'a> {
    header: Header<'a>,
    body: Option<Range<usize>>,
}

/// What a name was declared as, by the index of its slot.
#[derive(Clone, Copy)]
enum Entry {
    Variable(usize),
    Function(usize),
}

/// All declarations of a module.
#[derive(Default)]
pub(super) struct Table<'a> {
    names: HashMap<&'a str, Entry>,
    variables: Vec<Slot<Declared<'a>>>,
    functions: Vec<Slot<Routine<'a>>>,
    aliases: Vec<(Name<'a>, Name<'a>)>,
    rank: u32,
}

impl<'a> Table<'a> {
    /// Declares a variable of the module.
    pub(super) fn variable(&mut self, declared: Declared<'a>, sink: &mut Sink) {
        self.rank += 1;
        let defined = declared.variable.linkage != Linkage::Extern;
        let name = declared.name;
        let slot = Slot { value: declared, rank: self.rank, defined };
        match self.names.get(name.text) {
            None => {
                self.names.insert(name.text, Entry::Variable(self.variables.len()));
                self.variables.push(slot);
            }
            Some(&Entry::Variable(index)) if !(self.variables[index].defined && defined) => {
                if defined || !self.variables[index].defined {
                    self.variables[index] = slot;
                }
            }
            Some(_) => sink.report(duplicate(name)),
        }
    }

    /// Declares that a function has another name.
    pub(super) fn alias(&mut self, alias: Name<'a>, target: Name<'a>) {
        self.aliases.push((alias, target));
    }

    /// Declares a function, or defines it by the tokens of its body.
    pub(super) fn function(&mut self, header: Header<'a>, body: Option<Range<usize>>, sink: &mut Sink) {
        self.rank += 1;
        let (name, defined) = (header.name, body.is_some());
        let slot = Slot { value: Routine { header, body }, rank: self.rank, defined };
        match self.names.get(name.text) {
            None => {
                self.names.insert(name.text, Entry::Function(self.functions.len()));
                self.functions.push(slot);
            }
            Some(&Entry::Function(index)) if !(self.functions[index].defined && defined) => {
                let old = &mut self.functions[index];
                if !same_signature(&old.value.header, &slot.value.header) {
                    let message = format!("`{}` was declared with other parameters", name.text);
                    sink.report(Diagnostic::new(name.span, message).help("make the declarations agree"));
                }
                if defined || !old.defined {
                    *old = slot;
                }
            }
            Some(_) => sink.report(duplicate(name)),
        }
    }

    /// Gives every name its index, and resolves names in initial values.
    pub(super) fn finish(mut self, mut module: Module, strings: Strings<'a>, sink: &mut Sink) -> Outline<'a> {
        let mut names = HashMap::with_capacity(self.names.len());
        // Uses of an alias become uses of the function behind it; its declaration has done its service.
        let aliases: HashSet<&str> = self.aliases.iter().map(|(alias, _)| alias.text).collect();
        self.functions.retain(|slot| slot.defined || !aliases.contains(slot.value.header.name.text));
        self.functions.sort_by_key(|slot| slot.rank);
        self.variables.sort_by_key(|slot| slot.rank);
        for (index, slot) in self.functions.iter().enumerate() {
            names.insert(slot.value.header.name.text, Global::Function(FunctionId(index as u32)));
        }
        for (index, slot) in self.variables.iter().enumerate() {
            names.insert(slot.value.name.text, Global::Variable(index as u32));
        }
        self.resolve_aliases(&mut names, sink);
        let mut bodies = Vec::new();
        for (index, slot) in self.functions.into_iter().enumerate() {
            bodies.extend(slot.value.body.map(|body| (index, body)));
            module.functions.push(slot.value.header.function);
        }
        for slot in self.variables {
            let Declared { mut variable, pending, .. } = slot.value;
            for (relocation, name) in variable.relocations.iter_mut().zip(pending) {
                match resolve(&names, name, relocation.generic) {
                    Ok(symbol) => relocation.symbol = symbol,
                    Err(mistake) => sink.report(mistake),
                }
            }
            module.variables.push(variable);
        }
        Outline { module, names, strings, bodies }
    }

    /// Lets each alias name the function behind it. An alias of an alias is not PTX.
    fn resolve_aliases(&self, names: &mut HashMap<&'a str, Global>, sink: &mut Sink) {
        let functions: Vec<Option<Global>> = self
            .aliases
            .iter()
            .map(|(_, target)| names.get(target.text).copied().filter(|global| matches!(global, Global::Function(_))))
            .collect();
        for ((alias, target), function) in self.aliases.iter().zip(functions) {
            match function {
                Some(function) => {
                    names.insert(alias.text, function);
                }
                None => sink.report(
                    Diagnostic::new(target.span, format!("the function `{}` is not declared", target.text))
                        .help("an alias names a function of this module"),
                ),
            }
        }
    }
}

fn same_signature(one: &Header<'_>, other: &Header<'_>) -> bool {
    let sizes = |variables: &[isa::Variable]| variables.iter().map(|variable| variable.bytes).collect::<Vec<_>>();
    let (one, other) = (&one.function, &other.function);
    one.kernel == other.kernel
        && sizes(&one.params) == sizes(&other.params)
        && sizes(&one.returns) == sizes(&other.returns)
}

fn resolve(names: &HashMap<&str, Global>, name: Name<'_>, generic: bool) -> Parsed<Symbol> {
    match names.get(name.text) {
        Some(&Global::Variable(index)) => Ok(Symbol::Module(index)),
        Some(&Global::Function(id)) if !generic => Ok(Symbol::Function(id)),
        Some(_) => {
            Err(Diagnostic::new(name.span, format!("`{}` is a function", name.text)).help("leave out `generic`"))
        }
        None => Err(Diagnostic::new(name.span, format!("`{}` is not declared", name.text))
            .help("an initial value names a variable or a function of this module")),
    }
}

fn duplicate(name: Name<'_>) -> Box<Diagnostic> {
    Diagnostic::new(name.span, format!("`{}` is defined twice", name.text)).help("rename one of them")
}
