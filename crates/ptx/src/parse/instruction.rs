//! Instructions: guard, opcode and operands to [`Instruction`].

use super::body::{Body, Jump, MOST_COMPARED};
use super::cursor::Name;
use super::opcode::{self, Opcode};
use super::operand::{self, Raw, RawKind};
use super::resolve::{Meaning, Need, reads_special};
use super::suggest;
use crate::error::{Diagnostic, Parsed, Span};
use crate::token::Kind;
use isa::op::{Barrier, BarrierMode, CopyAsync, Fill, OperandKind};
use isa::{Dst, Guard, Instruction, Op, Pc, Src, Type};

impl<'a> Body<'a, '_> {
    /// Reads one instruction, up to its `;`.
    pub(super) fn instruction(&mut self) -> Parsed<()> {
        let (begin, start) = (self.cursor.position(), self.cursor.peek().span);
        let guard = self.guard()?;
        if self.cursor.peek().kind != Kind::Word {
            return Err(self.cursor.wrong("an instruction"));
        }
        let (name, spelling) = opcode::read(&mut self.cursor);
        let opcode = match self.shared.opcodes.get(spelling.clone()) {
            Ok(opcode) => opcode,
            Err(true) => {
                self.shared.compared += 1;
                let look = self.shared.compared <= MOST_COMPARED;
                return Err(suggest::unsupported(&spelling, name.span, look));
            }
            // Each unsupported spelling is reported once in a function: the first place stands for all.
            Err(false) => {
                self.sink.repeat(suggest::unsupported(&spelling, name.span, false));
                self.cursor.recover(begin);
                return Ok(());
            }
        };
        let (op, dst, src) = if let Op::Call(call) = &opcode.op {
            self.call(call.uni)?
        } else {
            let mut operands = std::mem::take(&mut self.operands);
            let listed = operand::list(&mut self.cursor, &mut operands);
            let built = listed.map(|()| self.build(&opcode, name.span, &operands));
            self.operands = operands;
            match built? {
                Some(built) => built,
                None => return Ok(()),
            }
        };
        let loc = self.lines.current.clone();
        self.spans.push(start.to(self.cursor.previous()));
        self.instructions.push(Instruction { guard, op, dst, src, loc });
        Ok(())
    }

    /// Reads `@p` or `@!p`, if there is one.
    fn guard(&mut self) -> Parsed<Option<Guard>> {
        if !self.cursor.eat(b'@') {
            return Ok(None);
        }
        let negated = self.cursor.eat(b'!');
        let name = self.cursor.name("a predicate")?;
        match self.meaning(name)? {
            Meaning::Register(pred) if self.register_type(pred) == Type::Pred => Ok(Some(Guard { pred, negated })),
            _ => Err(Diagnostic::new(name.span, format!("the guard `{}` is not a predicate", name.text))
                .help("a guard is a register declared `.reg .pred`")),
        }
    }

    /// Gives meaning to the operands; reports what is wrong with each.
    fn build(&mut self, opcode: &Opcode, span: Span, raw: &[Raw<'a>]) -> Option<(Op, Vec<Dst>, Vec<Src>)> {
        let built = match &opcode.op {
            Op::Bra { .. } => self.branch(opcode, span, raw),
            Op::BrxIdx { .. } => self.indexed_branch(opcode, span, raw),
            Op::CopyAsync(copy @ CopyAsync::Copy { .. }) => {
                let op = Op::CopyAsync(self.filled(copy, raw));
                return self.plain(&Opcode::new(&opcode.spelling, op), span, raw);
            }
            _ => match &opcode.vector {
                Some(op) if raw.iter().any(|raw| matches!(raw.kind, RawKind::Vector(_))) => {
                    self.vector_move(op, opcode, span, raw)
                }
                _ => return self.plain(opcode, span, raw),
            },
        };
        self.sink.check(built)
    }

    fn plain(&mut self, opcode: &Opcode, span: Span, raw: &[Raw<'a>]) -> Option<(Op, Vec<Dst>, Vec<Src>)> {
        let (results, sources) = raw.split_at(raw.len().min(usize::from(!opcode.dst.is_empty())));
        let kinds = source_kinds(opcode, sources.len());
        let most = kinds.len();
        if results.len() + sources.len() == 0 && most == 0 && opcode.dst.is_empty() {
            return Some((opcode.op.clone(), Vec::new(), Vec::new()));
        }
        let least = opcode.src.len() - opcode.optional_src;
        if sources.len() < least.min(most) || sources.len() > most || (results.is_empty() && !opcode.dst.is_empty()) {
            self.sink.report(wrong_count(opcode, span, raw));
            return None;
        }
        let dst = match results.first() {
            Some(result) => {
                let results = self.results(opcode, result);
                self.sink.check(results)
            }
            None => Some(Vec::new()),
        };
        let src = self.sources(opcode, sources, &kinds);
        Some((opcode.op.clone(), dst?, src?))
    }

    fn sources(&mut self, opcode: &Opcode, raw: &[Raw<'a>], kinds: &[OperandKind]) -> Option<Vec<Src>> {
        let mut sources = Vec::with_capacity(raw.len());
        let mut sound = true;
        for (raw, &kind) in raw.iter().zip(kinds) {
            let read = match kind {
                OperandKind::Vector(ty, count) => self.vector_source(opcode, raw, ty, count, &mut sources),
                OperandKind::Texel { .. } => self.texel(opcode, raw, kind, &mut sources),
                _ => self.source(raw, self.need(opcode, kind)).map(|source| sources.push(source)),
            };
            sound &= self.sink.check(read).is_some();
        }
        sound.then_some(sources)
    }

    /// A copy as its operands say: after the size may stand how many bytes to read, or whether to read none.
    fn filled(&mut self, copy: &CopyAsync, raw: &[Raw<'a>]) -> CopyAsync {
        let mut copy = copy.clone();
        if let CopyAsync::Copy { cache, fill, .. } = &mut copy
            && raw.len() > if cache.contains(".L2::cache_hint") { 4 } else { 3 }
        {
            let ignore = match raw[3].kind {
                RawKind::Not(_) => true,
                RawKind::Name(name, 0) => {
                    matches!(self.meaning(name), Ok(Meaning::Register(reg)) if self.register_type(reg) == Type::Pred)
                }
                _ => false,
            };
            *fill = if ignore { Fill::Ignore } else { Fill::Size };
        }
        copy
    }

    fn need<'s>(&self, opcode: &'s Opcode, kind: OperandKind) -> Need<'s> {
        Need { spelling: &opcode.spelling, kind, special: reads_special(&opcode.op) }
    }

    fn vector_source(&mut self, opcode: &Opcode, raw: &Raw<'a>, ty: Type, count: u8, out: &mut Vec<Src>) -> Parsed<()> {
        let need = self.need(opcode, OperandKind::Loose(ty));
        for element in elements(opcode, raw, count)? {
            out.push(self.source(element, need)?);
        }
        Ok(())
    }

    /// An object and coordinates.
    fn texel(&mut self, opcode: &Opcode, raw: &Raw<'a>, kind: OperandKind, out: &mut Vec<Src>) -> Parsed<()> {
        let mut kinds = kind.parts().into_iter();
        let (RawKind::Texel(object, coordinates), Some(handle)) = (&raw.kind, kinds.next()) else {
            return Err(Diagnostic::new(
                raw.span,
                format!("`{}` needs an object and coordinates here", opcode.spelling),
            )
            .help(format!("it is written `{}`", form(opcode))));
        };
        if coordinates.len() != kinds.len() {
            return Err(Diagnostic::new(raw.span, format!("`{}` takes {} coordinates", opcode.spelling, kinds.len()))
                .help(format!("it is written `{}`", form(opcode))));
        }
        out.push(self.object(*object, self.need(opcode, handle))?);
        for (raw, kind) in coordinates.iter().zip(kinds) {
            out.push(self.source(raw, self.need(opcode, kind))?);
        }
        Ok(())
    }

    /// The destinations: one register, a pair, or a vector.
    fn results(&mut self, opcode: &Opcode, raw: &Raw<'a>) -> Parsed<Vec<Dst>> {
        let first = opcode.dst.first().copied().unwrap_or(OperandKind::Value(Type::B32));
        if let OperandKind::Vector(ty, count) = first {
            let need = self.need(opcode, OperandKind::Loose(ty));
            return elements(opcode, raw, count)?.iter().map(|raw| self.destination(raw, need, true)).collect();
        }
        let need = self.need(opcode, first);
        let RawKind::Pair(pair) = &raw.kind else {
            let sink = matches!(opcode.op, Op::Atom(_) | Op::Mbarrier(_));
            return Ok(vec![self.destination(raw, need, sink)?]);
        };
        let Some(&second) = opcode.dst.get(1) else {
            return Err(Diagnostic::new(raw.span, format!("`{}` has one destination", opcode.spelling))
                .help("name one register"));
        };
        let second = self.need(opcode, second);
        Ok(vec![self.destination(&pair.0, need, true)?, self.destination(&pair.1, second, true)?])
    }

    fn branch(&mut self, opcode: &Opcode, span: Span, raw: &[Raw<'a>]) -> Parsed<(Op, Vec<Dst>, Vec<Src>)> {
        match raw {
            &[Raw { kind: RawKind::Name(label, 0), .. }] => {
                self.jumps.push(Jump { pc: self.pc(), scope: self.scopes.current(), label });
                Ok((opcode.op.clone(), Vec::new(), Vec::new()))
            }
            _ => Err(Diagnostic::new(span, format!("`{}` needs one label", opcode.spelling))
                .help("branches to addresses are not PTX; `brx.idx` chooses among labels")),
        }
    }

    fn indexed_branch(&mut self, opcode: &Opcode, span: Span, raw: &[Raw<'a>]) -> Parsed<(Op, Vec<Dst>, Vec<Src>)> {
        let [index, Raw { kind: RawKind::Name(list, 0), .. }] = raw else {
            return Err(Diagnostic::new(span, format!("`{}` needs an index and a list", opcode.spelling))
                .help("for example `brx.idx %r1, targets;` with `targets: .branchtargets L0, L1;`"));
        };
        let index = self.source(index, self.need(opcode, OperandKind::Value(Type::U32)))?;
        self.jumps.push(Jump { pc: self.pc(), scope: self.scopes.current(), label: *list });
        Ok((opcode.op.clone(), Vec::new(), vec![index]))
    }

    /// `mov.b64 {lo, hi}, d` and `mov.b64 d, {lo, hi}`
    fn vector_move(
        &mut self,
        op: &Op,
        opcode: &Opcode,
        span: Span,
        raw: &[Raw<'a>],
    ) -> Parsed<(Op, Vec<Dst>, Vec<Src>)> {
        let (&Op::MovVector(ty), [to, from]) = (op, raw) else { return Err(wrong_count(opcode, span, raw)) };
        let part = |vector: &[Raw<'a>], span: Span| {
            part(ty, vector.len()).ok_or_else(|| {
                Diagnostic::new(span, format!("`{}` has no {} parts", opcode.spelling, vector.len()))
                    .help("2 or 4 parts of equal width make up the whole")
            })
        };
        let whole = self.need(opcode, OperandKind::Value(ty));
        let (dst, src) = match (&to.kind, &from.kind) {
            (RawKind::Vector(_), RawKind::Vector(_)) => {
                return Err(
                    Diagnostic::new(from.span, "both operands are vectors").help("one side is a single register")
                );
            }
            (RawKind::Vector(parts), _) => {
                let need = self.need(opcode, OperandKind::Value(part(parts, to.span)?));
                let dst: Parsed<Vec<Dst>> = parts.iter().map(|raw| self.destination(raw, need, true)).collect();
                (dst?, vec![self.source(from, whole)?])
            }
            (_, RawKind::Vector(parts)) => {
                let need = self.need(opcode, OperandKind::Value(part(parts, from.span)?));
                let src: Parsed<Vec<Src>> = parts.iter().map(|raw| self.source(raw, need)).collect();
                (vec![self.destination(to, whole, false)?], src?)
            }
            _ => return Err(wrong_count(opcode, span, raw)),
        };
        Ok((op.clone(), dst, src))
    }
}

/// The type of each of several parts of a value.
fn part(ty: Type, parts: usize) -> Option<Type> {
    match (ty.bits(), parts) {
        (16, 2) | (32, 4) => Some(Type::B8),
        (32, 2) | (64, 4) => Some(Type::B16),
        (64, 2) | (128, 4) => Some(Type::B32),
        (128, 2) => Some(Type::B64),
        _ => None,
    }
}

fn elements<'r, 'a>(opcode: &Opcode, raw: &'r Raw<'a>, count: u8) -> Parsed<&'r [Raw<'a>]> {
    match &raw.kind {
        RawKind::Vector(elements) if elements.len() == usize::from(count) => Ok(elements),
        RawKind::Name(..) | RawKind::Constant(_) if count == 1 => Ok(std::slice::from_ref(raw)),
        _ => Err(Diagnostic::new(raw.span, format!("`{}` needs a vector of {count} here", opcode.spelling))
            .help("a vector is, for example, `{%f1, %f2}`")),
    }
}

/// The kinds of the sources when there are this many. The count of threads in the middle of a barrier reduction
/// may be left out.
fn source_kinds(opcode: &Opcode, count: usize) -> Vec<OperandKind> {
    let mut kinds = opcode.src.clone();
    if let Op::Barrier(Barrier { mode: BarrierMode::Reduce(_), .. }) = opcode.op
        && count == 2
    {
        kinds.remove(1);
    }
    kinds
}

fn wrong_count(opcode: &Opcode, span: Span, raw: &[Raw<'_>]) -> Box<Diagnostic> {
    let most = usize::from(!opcode.dst.is_empty()) + opcode.src.len();
    let least = most - opcode.optional_src;
    let takes = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let plural = if most == 1 { "" } else { "s" };
    Diagnostic::new(span, format!("`{}` takes {takes} operand{plural}, found {}", opcode.spelling, raw.len()))
        .help(format!("it is written `{}`", form(opcode)))
}

/// How an instruction is written: `add.s32 d, a, b`.
fn form(opcode: &Opcode) -> String {
    let names = |kind: OperandKind, name: char| match kind {
        OperandKind::Address => format!("[{name}]"),
        OperandKind::Texel { count, .. } => {
            let coordinates: Vec<String> = (0..count).map(|index| format!("{name}{index}")).collect();
            format!("[{name}, {{{}}}]", coordinates.join(", "))
        }
        OperandKind::Vector(_, count) => {
            let elements: Vec<String> = (0..count).map(|index| format!("{name}{index}")).collect();
            format!("{{{}}}", elements.join(", "))
        }
        _ => name.to_string(),
    };
    let pair = if opcode.dst.len() > 1 { "|p" } else { "" };
    let result = opcode.dst.first().map(|&kind| names(kind, 'd') + pair);
    let sources = opcode.src.iter().zip('a'..).map(|(&kind, name)| names(kind, name));
    let operands: Vec<String> = result.into_iter().chain(sources).collect();
    format!("{} {}", opcode.spelling, operands.join(", ")).trim_end().to_owned()
}

/// Where the targets of branches are put when the labels are known.
pub(super) fn set_targets(op: &mut Op, targets: &[Pc]) {
    match op {
        Op::Bra { target, .. } => *target = targets.first().copied().unwrap_or_default(),
        Op::BrxIdx { targets: list, .. } => *list = targets.to_vec(),
        _ => {}
    }
}

/// A name that stands where a label belongs.
pub(super) fn undefined_label(label: Name<'_>) -> Box<Diagnostic> {
    Diagnostic::new(label.span, format!("the label `{}` is not defined", label.text))
        .help("a label is seen in its own scope and in the scopes inside it")
}
