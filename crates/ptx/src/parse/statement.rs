//! Statements and scopes, one after the other until the body ends.

use super::body::{Body, Branches, Shared};
use super::cursor::{Cursor, Name};
use super::initial::Budget;
use super::line::Lines;
use super::outline::Outline;
use super::scope::{Entity, Scopes};
use super::{finish, function, line, literal, suggest, variable};
use crate::error::{Diagnostic, Parsed, Sink, Span};
use crate::token::Kind;
use isa::{Function, FunctionId, Linkage, Pc, Prototype, Space, Symbol, Type};
use std::rc::Rc;

/// Reads the body of a function. Returns the whole function, and where its instructions are.
pub(super) fn read<'a: 'g, 'g>(
    cursor: Cursor<'a>,
    outline: &'g Outline<'a>,
    index: usize,
    shared: &'g mut Shared<'a>,
    sink: &'g mut Sink,
) -> (Function, Vec<Span>) {
    let header = &outline.module.functions[index];
    let mut body = Body {
        cursor,
        outline,
        header,
        shared,
        sink,
        scopes: Scopes::new(),
        lines: Lines::default(),
        variables: Vec::new(),
        instructions: Vec::new(),
        spans: Vec::new(),
        labels: Vec::new(),
        jumps: Vec::new(),
        branches: Vec::new(),
        prototypes: Vec::new(),
        indirect: Vec::new(),
        operands: Vec::new(),
    };
    for (name, symbol) in finish::parameters(header) {
        body.scopes.parameter(name, symbol);
    }
    while body.cursor.peek().kind != Kind::End {
        let start = body.cursor.position();
        if let Err(mistake) = body.statement() {
            body.sink.report(mistake);
            body.cursor.recover(start);
            // Whatever happens, each mistake costs a token.
            if body.cursor.position() == start {
                body.cursor.next();
            }
        }
    }
    finish::finish(body)
}

impl<'a> Body<'a, '_> {
    /// The index of the next instruction.
    pub(super) fn pc(&self) -> Pc {
        Pc(self.instructions.len() as u32)
    }

    fn statement(&mut self) -> Parsed<()> {
        let token = self.cursor.peek();
        match token.kind {
            Kind::Mark(b';') => {
                self.cursor.next();
            }
            Kind::Mark(b'{') => {
                self.scopes.enter(token.span)?;
                self.cursor.next();
            }
            Kind::Mark(b'}') => {
                self.cursor.next();
                if !self.scopes.leave() {
                    return Err(Diagnostic::new(token.span, "a `}` closes nothing").help("remove it"));
                }
            }
            Kind::Dot => return self.directive(),
            Kind::Word if self.cursor.ahead(1).kind == Kind::Mark(b':') => return self.label(),
            Kind::Word | Kind::Mark(b'@') => return self.instruction(),
            _ => return Err(self.cursor.wrong("an instruction")),
        }
        Ok(())
    }

    fn label(&mut self) -> Parsed<()> {
        let name = self.cursor.take_name();
        self.cursor.next();
        match self.cursor.peek_text() {
            ".callprototype" => {
                self.cursor.next();
                let prototype = function::prototype(&mut self.cursor)?;
                self.prototype(name, prototype)
            }
            ".calltargets" => {
                self.cursor.next();
                let prototype = self.call_targets()?;
                self.prototype(name, prototype)
            }
            ".branchtargets" => {
                self.cursor.next();
                let labels = self.names("a label")?;
                self.scopes.declare(name, Entity::Branches(self.branches.len()))?;
                self.branches.push(Branches { scope: self.scopes.current(), labels });
                Ok(())
            }
            _ => {
                let pc = self.pc();
                // A label stands alone: what is wrong with it must not cost the statement after it.
                let declared = self.scopes.declare(name, Entity::Label(pc));
                self.sink.check(declared);
                self.labels.push((name.text, pc));
                Ok(())
            }
        }
    }

    fn prototype(&mut self, name: Name<'a>, prototype: Prototype) -> Parsed<()> {
        self.scopes.declare(name, Entity::Prototype(self.prototypes.len()))?;
        self.prototypes.push((name.text, Rc::new(prototype)));
        Ok(())
    }

    /// Reads `a, b, c;`.
    fn names(&mut self, what: &str) -> Parsed<Vec<Name<'a>>> {
        let mut names = Vec::new();
        loop {
            names.push(self.cursor.name(what)?);
            if !self.cursor.eat(b',') {
                self.cursor.semicolon()?;
                return Ok(names);
            }
        }
    }

    fn call_targets(&mut self) -> Parsed<Prototype> {
        let names = self.names("the name of a function")?;
        let targets: Parsed<Vec<FunctionId>> = names.into_iter().map(|name| self.function(name)).collect();
        targets.map(Prototype::Targets)
    }

    fn directive(&mut self) -> Parsed<()> {
        let name = self.cursor.take_name();
        match name.text {
            ".reg" => self.registers(),
            ".loc" => self.lines.read(&mut self.cursor, &self.outline.strings, &mut self.shared.names),
            ".shared" => self.variables(Space::Shared, Linkage::Internal),
            ".local" => self.variables(Space::Local, Linkage::Internal),
            ".param" => self.variables(Space::Param, Linkage::Internal),
            ".extern" if self.cursor.eat_text(".shared") => self.variables(Space::Shared, Linkage::Extern),
            ".pragma" => {
                line::string(&mut self.cursor)?;
                self.cursor.semicolon()
            }
            ".global" | ".const" => {
                Err(Diagnostic::new(name.span, format!("a {} variable inside a function is not supported", name.text))
                    .help("declare it outside of the function"))
            }
            text => Err(Diagnostic::new(name.span, format!("the directive `{text}` is not supported here"))
                .help(suggest::REFUSED)),
        }
    }

    /// Reads `.b32 %r<12>, %x;`, after `.reg`.
    fn registers(&mut self) -> Parsed<()> {
        let (text, span) = (self.cursor.peek_text(), self.cursor.peek().span);
        if matches!(text, ".v2" | ".v4") {
            return Err(Diagnostic::new(span, "registers of vector type are not supported")
                .help("declare one register for each element"));
        }
        let ty = if text == ".pred" { Type::Pred } else { self.declared_type(text, span)? };
        self.cursor.next();
        loop {
            let name = self.cursor.name("the name of a register")?;
            let declared = if self.cursor.eat(b'<') {
                let count = literal::within(&mut self.cursor, "a number of registers")?;
                self.cursor.expect(b'>')?;
                self.scopes.declare_range(name, ty, count)
            } else {
                self.scopes.declare_register(name, ty)
            };
            self.sink.check(declared);
            if !self.cursor.eat(b',') {
                return self.cursor.semicolon();
            }
        }
    }

    fn declared_type(&self, text: &str, span: Span) -> Parsed<Type> {
        if self.cursor.peek().kind == Kind::Dot {
            variable::element(text, span)
        } else {
            Err(self.cursor.wrong("a type"))
        }
    }

    fn variables(&mut self, space: Space, linkage: Linkage) -> Parsed<()> {
        let prefix = variable::prefix(&mut self.cursor, space, linkage)?;
        loop {
            let declared = variable::declarator(&mut self.cursor, &prefix, &mut Budget::default())?;
            let symbol = Symbol::Local(self.variables.len() as u32);
            self.variables.push(declared.variable);
            let checked = self.scopes.declare(declared.name, Entity::Symbol(symbol));
            self.sink.check(checked);
            if !self.cursor.eat(b',') {
                return self.cursor.semicolon();
            }
        }
    }
}
