//! Calls: `call (r), f, (a, b);` and `call (r), %rd1, (a, b), prototype;`

use super::body::Body;
use super::cursor::Name;
use super::operand::{self, Raw, RawKind};
use super::outline::Outline;
use super::resolve::{Meaning, Need};
use super::scope::Entity;
use crate::error::{Diagnostic, Parsed, Span};
use isa::op::{Call, CallTarget, OperandKind};
use isa::{Dst, Function, FunctionId, Op, Prototype, Reg, Space, Src, Symbol, Variable};
use std::rc::Rc;

/// A call as it is written.
struct Written<'a> {
    returns: Vec<Raw<'a>>,
    target: Name<'a>,
    arguments: Vec<Raw<'a>>,
    prototype: Option<Name<'a>>,
    /// From the target to the end.
    span: Span,
}

/// Where the parameters of the callee are declared.
enum Callee<'g> {
    Function(&'g Function),
    Prototype(Rc<Prototype>),
}

impl Callee<'_> {
    /// Return parameters and parameters.
    fn signature(&self) -> (&[Variable], &[Variable]) {
        match self {
            Self::Function(function) => (&function.returns, &function.params),
            Self::Prototype(prototype) => match &**prototype {
                Prototype::Signature { returns, params, .. } => (returns, params),
                Prototype::Targets(_) => (&[], &[]),
            },
        }
    }
}

impl<'a, 'g> Body<'a, 'g> {
    /// Reads a call, after its opcode.
    pub(super) fn call(&mut self, uni: bool) -> Parsed<(Op, Vec<Dst>, Vec<Src>)> {
        let written = self.written()?;
        let (target, callee, address) = self.callee(&written)?;
        let (returns, params) = callee.signature();
        let mut src: Vec<Src> = address.map(Src::Reg).into_iter().collect();
        count("return parameter", &written.returns, returns, &written)?;
        count("argument", &written.arguments, params, &written)?;
        for (raw, formal) in written.returns.iter().zip(returns) {
            src.push(self.returned(raw, formal)?);
        }
        for (raw, formal) in written.arguments.iter().zip(params) {
            src.push(self.argument(raw, formal, written.target)?);
        }
        let returns = written.returns.len() as u8;
        Ok((Op::Call(Call { target, uni, returns }), Vec::new(), src))
    }

    fn written(&mut self) -> Parsed<Written<'a>> {
        let mut returns = Vec::new();
        if self.cursor.sees(b'(') {
            returns = self.parenthesized()?;
            self.cursor.expect(b',')?;
        }
        let target = self.cursor.name("the function to call")?;
        let (mut arguments, mut prototype) = (Vec::new(), None);
        let mut comma = self.cursor.eat(b',');
        if comma && self.cursor.sees(b'(') {
            arguments = self.parenthesized()?;
            comma = self.cursor.eat(b',');
        }
        if comma {
            prototype = Some(self.cursor.name("the label of a prototype")?);
        }
        let span = target.span.to(self.cursor.previous());
        self.cursor.semicolon()?;
        Ok(Written { returns, target, arguments, prototype, span })
    }

    /// Reads `(a, b)`.
    fn parenthesized(&mut self) -> Parsed<Vec<Raw<'a>>> {
        let mut list = Vec::new();
        self.cursor.expect(b'(')?;
        if self.cursor.eat(b')') {
            return Ok(list);
        }
        loop {
            list.push(operand::operand(&mut self.cursor)?);
            if !self.cursor.eat(b',') {
                self.cursor.expect(b')')?;
                return Ok(list);
            }
        }
    }

    /// Whom the call calls, with which parameters, and the register that holds the address.
    fn callee(&mut self, written: &Written<'a>) -> Parsed<(CallTarget, Callee<'g>, Option<Reg>)> {
        let target = written.target;
        if let Some(Entity::Register(reg)) = self.scopes.find(target.text) {
            if self.register_type(reg).bits() != 64 {
                return Err(Diagnostic::new(
                    target.span,
                    format!("`{}` is too narrow for a function's address", target.text),
                )
                .help("addresses have 64 bits"));
            }
            let Some(label) = written.prototype else {
                return Err(Diagnostic::new(target.span, "an indirect call needs a prototype")
                    .help("end it with the label of a `.callprototype` or `.calltargets`"));
            };
            let (index, callee) = self.prototype_of(label)?;
            self.indirect.push((self.pc(), index));
            return Ok((CallTarget::Indirect { prototype: String::new() }, callee, Some(reg)));
        }
        let id = self.function(target)?;
        Ok((CallTarget::Direct(id), self.declared(id), None))
    }

    fn declared(&self, id: FunctionId) -> Callee<'g> {
        let outline: &'g Outline<'a> = self.outline;
        Callee::Function(&outline.module.functions[id.0 as usize])
    }

    fn prototype_of(&mut self, label: Name<'a>) -> Parsed<(usize, Callee<'g>)> {
        let Some(Entity::Prototype(index)) = self.scopes.find(label.text) else {
            return Err(Diagnostic::new(label.span, format!("the prototype `{}` is not declared", label.text))
                .help("declare it before the call, for example `p: .callprototype _ (.param .b32 _);`"));
        };
        let prototype = &self.prototypes[index].1;
        let callee = match &**prototype {
            Prototype::Targets(targets) if !targets.is_empty() => self.declared(targets[0]),
            _ => Callee::Prototype(Rc::clone(prototype)),
        };
        Ok((index, callee))
    }

    fn returned(&mut self, raw: &Raw<'a>, formal: &Variable) -> Parsed<Src> {
        let &RawKind::Name(name, 0) = &raw.kind else {
            return Err(Diagnostic::new(raw.span, "a call returns into a `.param` variable"));
        };
        match self.meaning(name)? {
            Meaning::Symbol(symbol) => self.passed(symbol, name, formal),
            _ => Err(Diagnostic::new(raw.span, "a call that returns into a register is not supported")
                .help("return into a `.param` variable, and load it after the call")),
        }
    }

    fn argument(&mut self, raw: &Raw<'a>, formal: &Variable, callee: Name<'a>) -> Parsed<Src> {
        if let &RawKind::Name(name, 0) = &raw.kind
            && let Meaning::Symbol(symbol) = self.meaning(name)?
        {
            return self.passed(symbol, name, formal);
        }
        if formal.bytes != u64::from(formal.element.bytes()) {
            return Err(Diagnostic::new(raw.span, format!("this argument has {} bytes", formal.bytes))
                .help("pass it in a `.param` variable"));
        }
        let kind = OperandKind::Value(formal.element);
        self.source(raw, Need { spelling: callee.text, kind, special: false })
    }

    /// A `.param` variable as an argument or return parameter.
    fn passed(&self, symbol: Symbol, name: Name<'_>, formal: &Variable) -> Parsed<Src> {
        let variable = match symbol {
            Symbol::Local(index) => self.variables.get(index as usize),
            Symbol::Param(index) => self.header.params.get(index as usize),
            Symbol::Return(index) => self.header.returns.get(index as usize),
            Symbol::Module(_) | Symbol::Function(_) => None,
        };
        let Some(variable) = variable.filter(|variable| variable.space == Space::Param) else {
            return Err(Diagnostic::new(name.span, format!("`{}` is not a `.param` variable", name.text))
                .help("arguments are `.param` variables, registers or constants"));
        };
        if variable.bytes != formal.bytes {
            let message =
                format!("`{}` has {} bytes where the callee takes {}", name.text, variable.bytes, formal.bytes);
            return Err(Diagnostic::new(name.span, message).help("declare it as the callee does"));
        }
        Ok(Src::Symbol(symbol, 0))
    }
}

fn count(what: &str, found: &[Raw<'_>], expected: &[Variable], written: &Written<'_>) -> Parsed<()> {
    if found.len() == expected.len() && found.len() <= usize::from(u8::MAX) {
        return Ok(());
    }
    let plural = if expected.len() == 1 { "" } else { "s" };
    let message = format!("`{}` takes {} {what}{plural}, found {}", written.target.text, expected.len(), found.len());
    Err(Diagnostic::new(written.span, message).help("the call must agree with the declaration of the callee"))
}
