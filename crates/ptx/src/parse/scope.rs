//! Names inside a function: nested scopes, in which a name may be declared again.
//!
//! Scope 0 holds the parameters, scope 1 is the body. A register gets its [`Reg`] when an instruction first names
//! it, so `%r<1000000>` costs nothing.

use super::cursor::Name;
use crate::error::{Diagnostic, Parsed, Span};
use isa::{Pc, Reg, Symbol, Type};
use std::collections::HashMap;

/// How deep scopes may nest.
const DEEPEST: usize = 64;

/// What a name means inside a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entity {
    /// A register that no instruction has named yet.
    Declared(Declaration),
    /// A register.
    Register(Reg),
    /// A parameter or a variable.
    Symbol(Symbol),
    /// An instruction.
    Label(Pc),
    /// A prototype or list of targets, by index.
    Prototype(usize),
    /// A list of branch targets, by index.
    Branches(usize),
}

/// A declaration of registers: one, or a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declaration {
    /// Its place among the declarations of the function.
    order: u32,
    ty: Type,
    /// How many registers, for a range.
    count: u32,
}

/// A register that instructions name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used<'a> {
    /// As written.
    pub(super) name: &'a str,
    pub(super) ty: Type,
    /// Its place among all registers: the declaration's, then that within a range.
    pub(super) order: (u32, u32),
}

/// The names of a function.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    names: HashMap<(u32, &'a str), Entity>,
    /// Ranges of registers by their common prefix.
    ranges: HashMap<(u32, &'a str), Declaration>,
    /// The scope around each scope, and whether it declares ranges.
    around: Vec<(u32, bool)>,
    current: u32,
    depth: usize,
    declarations: u32,
    pub(super) registers: Vec<Used<'a>>,
}

impl<'a> Scopes<'a> {
    /// Scopes 0 and 1.
    pub(super) fn new() -> Self {
        Self {
            names: HashMap::new(),
            ranges: HashMap::new(),
            around: vec![(0, false), (0, false)],
            current: 1,
            depth: 1,
            declarations: 0,
            registers: Vec::new(),
        }
    }

    /// The scope that is being read.
    pub(super) fn current(&self) -> u32 {
        self.current
    }

    /// Enters a scope, at its `{`.
    pub(super) fn enter(&mut self, brace: Span) -> Parsed<()> {
        if self.depth == DEEPEST {
            return Err(Diagnostic::new(brace, format!("scopes nest deeper than {DEEPEST}")).help("use fewer braces"));
        }
        self.depth += 1;
        self.around.push((self.current, false));
        self.current = self.around.len() as u32 - 1;
        Ok(())
    }

    /// Leaves a scope; false if it is the body.
    pub(super) fn leave(&mut self) -> bool {
        if self.current == 1 {
            return false;
        }
        self.depth -= 1;
        self.current = self.around[self.current as usize].0;
        true
    }

    /// Declares a parameter.
    pub(super) fn parameter(&mut self, name: &'a str, symbol: Symbol) {
        self.names.insert((0, name), Entity::Symbol(symbol));
    }

    /// Declares a name in the current scope.
    pub(super) fn declare(&mut self, name: Name<'a>, entity: Entity) -> Parsed<()> {
        let taken =
            self.names.contains_key(&(self.current, name.text)) || self.in_range(self.current, name.text).is_some();
        if taken {
            return Err(duplicate(name));
        }
        self.names.insert((self.current, name.text), entity);
        Ok(())
    }

    fn declaration(&mut self, ty: Type, count: u32) -> Declaration {
        self.declarations += 1;
        Declaration { order: self.declarations, ty, count }
    }

    /// Declares a register.
    pub(super) fn declare_register(&mut self, name: Name<'a>, ty: Type) -> Parsed<()> {
        let declaration = self.declaration(ty, 1);
        self.declare(name, Entity::Declared(declaration))
    }

    /// Declares the registers `prefix0` to `prefix(count - 1)`.
    pub(super) fn declare_range(&mut self, prefix: Name<'a>, ty: Type, count: u32) -> Parsed<()> {
        let declaration = self.declaration(ty, count);
        if self.ranges.insert((self.current, prefix.text), declaration).is_some() {
            return Err(duplicate(prefix));
        }
        self.around[self.current as usize].1 = true;
        Ok(())
    }

    /// The range of a scope that a name belongs to, and its number there.
    fn in_range(&self, scope: u32, name: &str) -> Option<(Declaration, u32)> {
        if !self.around[scope as usize].1 {
            return None;
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count().min(10);
        (1..=digits).rev().find_map(|digits| {
            let (prefix, number) = name.split_at(name.len() - digits);
            let canonical = number == "0" || !number.starts_with('0');
            let number: u32 = number.parse().ok().filter(|_| canonical)?;
            let range = self.ranges.get(&(scope, prefix)).filter(|range| number < range.count)?;
            Some((*range, number))
        })
    }

    /// What a name means here.
    pub(super) fn find(&mut self, name: &'a str) -> Option<Entity> {
        let mut scope = self.current;
        loop {
            match self.names.get(&(scope, name)) {
                Some(&Entity::Declared(declaration)) => return Some(self.take(scope, name, declaration, 0)),
                Some(&entity) => return Some(entity),
                None => {}
            }
            if let Some((declaration, number)) = self.in_range(scope, name) {
                return Some(self.take(scope, name, declaration, number));
            }
            if scope == 0 {
                return None;
            }
            scope = self.around[scope as usize].0;
        }
    }

    /// Gives a register its index.
    fn take(&mut self, scope: u32, name: &'a str, declaration: Declaration, number: u32) -> Entity {
        let entity = Entity::Register(Reg(self.registers.len() as u32));
        self.registers.push(Used { name, ty: declaration.ty, order: (declaration.order, number) });
        self.names.insert((scope, name), entity);
        entity
    }

    /// What a name means in a scope that may have been left, where only labels count.
    pub(super) fn find_label(&self, mut scope: u32, name: &'a str) -> Option<Pc> {
        loop {
            if let Some(&Entity::Label(pc)) = self.names.get(&(scope, name)) {
                return Some(pc);
            }
            if scope == 0 {
                return None;
            }
            scope = self.around[scope as usize].0;
        }
    }

    /// The list of branch targets with this name.
    pub(super) fn find_branches(&self, mut scope: u32, name: &'a str) -> Option<usize> {
        loop {
            if let Some(&Entity::Branches(index)) = self.names.get(&(scope, name)) {
                return Some(index);
            }
            if scope == 0 {
                return None;
            }
            scope = self.around[scope as usize].0;
        }
    }

    /// The range in sight whose prefix a name has, for help.
    pub(super) fn near_range(&self, name: &'a str) -> Option<String> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let mut scope = self.current;
        loop {
            if let Some(range) = self.ranges.get(&(scope, prefix)) {
                let last = range.count.checked_sub(1)?;
                return Some(format!("`{prefix}<{}>` declares `{prefix}0` to `{prefix}{last}`", range.count));
            }
            if scope == 0 {
                return None;
            }
            scope = self.around[scope as usize].0;
        }
    }
}

fn duplicate(name: Name<'_>) -> Box<Diagnostic> {
    Diagnostic::new(name.span, format!("`{}` is declared twice in this scope", name.text)).help("rename one of them")
}
