//! Bodies: registers, variables, prototypes, then the instructions with their labels and positions.

use super::line::{Lines, Strings};
use super::operand::{self, Names};
use super::text::put;
use super::variable::{self, parameters};
use isa::op::{Call, CallTarget};
use isa::{Function, Instruction, Module, Op, Pc, Prototype, Register, Type};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// How many registers stand on a line.
const PER_LINE: usize = 8;

/// Everything between the braces of a function.
pub(super) fn body(out: &mut String, module: &Module, function: &Function, strings: &mut Strings) {
    registers(out, &function.registers);
    for it in &function.variables {
        out.push('\t');
        variable::declaration(out, module, it);
        out.push_str(";\n");
    }
    for (label, it) in &function.prototypes {
        prototype(out, module, label, it);
    }
    let labels = Labels::of(function);
    let names = Names { module, function };
    let mut lines = Lines::default();
    for (pc, instruction) in function.body.iter().enumerate() {
        let pc = Pc(pc as u32);
        labels.place(out, pc);
        lines.go_to(out, instruction.loc.as_ref(), strings);
        write_instruction(out, names, &labels, pc, instruction);
    }
    labels.place(out, Pc(function.body.len() as u32));
}

/// One instruction.
pub(super) fn one(out: &mut String, module: &Module, function: &Function, pc: Pc) {
    if let Some(instruction) = function.body.get(pc.0 as usize) {
        write_instruction(out, Names { module, function }, &Labels::of(function), pc, instruction);
    }
}

/// Labels by instruction, and the names of lists of targets.
struct Labels {
    at: BTreeMap<Pc, Vec<String>>,
    lists: String,
}

impl Labels {
    /// The labels of a function. A target that has none gets one.
    fn of(function: &Function) -> Self {
        let mut at: BTreeMap<Pc, Vec<String>> = BTreeMap::new();
        for (label, &pc) in &function.labels {
            at.entry(pc).or_default().push(label.clone());
        }
        let prefix = unused(function, "$L__pc_");
        for pc in function.body.iter().flat_map(|instruction| targets(&instruction.op)) {
            at.entry(*pc).or_insert_with(|| vec![format!("{prefix}{}", pc.0)]);
        }
        Self { at, lists: unused(function, "$L__targets_") }
    }

    /// Writes the labels of an instruction.
    fn place(&self, out: &mut String, pc: Pc) {
        for label in self.at.get(&pc).into_iter().flatten() {
            put!(out, "{label}:\n");
        }
    }

    /// The name of a branch target.
    fn target(&self, pc: Pc) -> &str {
        self.at.get(&pc).and_then(|labels| labels.first()).map_or("_", String::as_str)
    }

    /// The name of the list of targets of an indexed branch.
    fn list(&self, pc: Pc) -> String {
        format!("{}{}", self.lists, pc.0)
    }
}

fn targets(op: &Op) -> &[Pc] {
    match op {
        Op::Bra { target, .. } => std::slice::from_ref(target),
        Op::BrxIdx { targets, .. } => targets,
        _ => &[],
    }
}

/// Declares registers in order: `%r<12>` where the names count up, else one by one.
fn registers(out: &mut String, registers: &[Register]) {
    let runs = runs(registers);
    let mut of_prefix: HashMap<&str, usize> = HashMap::new();
    for run in &runs {
        *of_prefix.entry(run.prefix).or_default() += 1;
    }
    let mut singles: Vec<&Register> = Vec::new();
    for run in &runs {
        let whole = run.registers.len() > 1 && of_prefix.get(run.prefix) == Some(&1);
        match run.last.filter(|_| whole).and_then(|last| last.checked_add(1)) {
            Some(count) => {
                flush(out, &mut singles);
                put!(out, "\t.reg .{} {}<{count}>;\n", run.registers[0].ty, run.prefix);
            }
            None => run.registers.iter().for_each(|register| {
                if singles.last().is_some_and(|last| last.ty != register.ty) || singles.len() == PER_LINE {
                    flush(out, &mut singles);
                }
                singles.push(register);
            }),
        }
    }
    flush(out, &mut singles);
}

fn flush(out: &mut String, singles: &mut Vec<&Register>) {
    if let Some(first) = singles.first() {
        let names: Vec<&str> = singles.iter().map(|register| register.name.as_str()).collect();
        put!(out, "\t.reg .{} {};\n", first.ty, names.join(", "));
        singles.clear();
    }
}

/// Registers of one type whose names are one prefix and ascending numbers.
struct Run<'m> {
    prefix: &'m str,
    last: Option<u32>,
    registers: &'m [Register],
}

fn runs(registers: &[Register]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut start = 0;
    for (index, register) in registers.iter().enumerate() {
        let (prefix, number) = numbered(&register.name);
        match runs.last_mut() {
            Some(run)
                if run.prefix == prefix
                    && run.registers[0].ty == register.ty
                    && run.last < number
                    && run.last.is_some() =>
            {
                run.last = number;
                run.registers = &registers[start..=index];
            }
            _ => {
                start = index;
                runs.push(Run { prefix, last: number, registers: &registers[start..=index] });
            }
        }
    }
    runs
}

/// A name as prefix and number, if a range can declare it.
fn numbered(name: &str) -> (&str, Option<u32>) {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[prefix.len()..];
    let number = digits.parse().ok().filter(|_| digits == "0" || !digits.starts_with('0'));
    (prefix, number)
}

/// `p: .callprototype (.param .b32 _) _ (.param .b64 _);`
fn prototype(out: &mut String, module: &Module, label: &str, prototype: &Prototype) {
    match prototype {
        Prototype::Signature { returns, params, directives } => {
            put!(out, "\t{label}: .callprototype ");
            if !returns.is_empty() {
                parameters(out, returns, " ");
                out.push(' ');
            }
            out.push_str("_ ");
            parameters(out, params, " ");
            directives.iter().for_each(|directive| put!(out, " {directive}"));
        }
        Prototype::Targets(targets) => {
            let names: Vec<&str> = targets
                .iter()
                .filter_map(|id| module.functions.get(id.0 as usize))
                .map(|function| function.name.as_str())
                .collect();
            put!(out, "\t{label}: .calltargets {}", names.join(", "));
        }
    }
    out.push_str(";\n");
}

fn write_instruction(out: &mut String, names: Names<'_>, labels: &Labels, pc: Pc, instruction: &Instruction) {
    if let Op::BrxIdx { targets, .. } = &instruction.op {
        let list: Vec<&str> = targets.iter().map(|&target| labels.target(target)).collect();
        put!(out, "\t{}: .branchtargets {};\n", labels.list(pc), list.join(", "));
    }
    out.push('\t');
    if let Some(guard) = instruction.guard {
        put!(out, "@{}{} ", if guard.negated { "!" } else { "" }, names.register(guard.pred));
    }
    let spelling = instruction.op.to_string();
    out.push_str(&spelling);
    match &instruction.op {
        op if operand::has_signature(op) => operand::by_signature(out, names, instruction, &spelling),
        Op::MovVector(ty) => operand::vector_move(out, names, instruction, *ty),
        Op::Bra { target, .. } => put!(out, " {}", labels.target(*target)),
        Op::Call(it) => call(out, names, it, instruction),
        Op::BrxIdx { .. } => {
            operands(out, names, instruction);
            put!(out, ", {}", labels.list(pc));
        }
        _ => operands(out, names, instruction),
    }
    out.push_str(";\n");
}

/// A beginning for made-up labels that no label of the function has.
fn unused(function: &Function, wanted: &str) -> String {
    let mut prefix = wanted.to_owned();
    while function.labels.range(prefix.clone()..).next().is_some_and(|(label, _)| label.starts_with(&prefix)) {
        prefix.push('_');
    }
    prefix
}

/// Operands of 32 bits and predicates, destination first.
fn operands(out: &mut String, names: Names<'_>, instruction: &Instruction) {
    let mut separator = " ";
    for &dst in &instruction.dst {
        put!(out, "{separator}{}", names.dst(dst));
        separator = ", ";
    }
    for src in &instruction.src {
        out.push_str(separator);
        names.source(out, src, Type::U32);
        separator = ", ";
    }
}

/// ` (r), f, (a, b), prototype`
fn call(out: &mut String, names: Names<'_>, call: &Call, instruction: &Instruction) {
    let indirect = usize::from(matches!(call.target, CallTarget::Indirect { .. }));
    let (address, rest) = instruction.src.split_at(indirect.min(instruction.src.len()));
    let (returns, arguments) = rest.split_at(usize::from(call.returns).min(rest.len()));
    let (formal, prototype) = formal(names, call);
    let list = |out: &mut String, operands: &[isa::Src]| {
        out.push('(');
        for (index, operand) in operands.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            names.source(out, operand, formal.get(index).copied().unwrap_or(Type::B64));
        }
        out.push(')');
    };
    out.push(' ');
    if !returns.is_empty() {
        list(out, returns);
        out.push_str(", ");
    }
    match (&call.target, address) {
        (CallTarget::Direct(id), _) => out.push_str(names.symbol(isa::Symbol::Function(*id))),
        (_, [address]) => names.source(out, address, Type::B64),
        _ => out.push('_'),
    }
    if !arguments.is_empty() || prototype.is_some() {
        out.push_str(", ");
        list(out, arguments);
    }
    if let Some(prototype) = prototype {
        put!(out, ", {prototype}");
    }
}

/// The types of the parameters of a callee, and the label of its prototype.
fn formal<'m>(names: Names<'m>, call: &'m Call) -> (Vec<Type>, Option<&'m str>) {
    let elements = |id: &isa::FunctionId| {
        let function = names.module.functions.get(id.0 as usize);
        function.map(|function| function.params.iter().map(|param| param.element).collect()).unwrap_or_default()
    };
    match &call.target {
        CallTarget::Direct(id) => (elements(id), None),
        CallTarget::Indirect { prototype } => {
            let types = match names.function.prototypes.get(prototype) {
                Some(Prototype::Signature { params, .. }) => params.iter().map(|param| param.element).collect(),
                Some(Prototype::Targets(targets)) => targets.first().map(elements).unwrap_or_default(),
                None => Vec::new(),
            };
            (types, Some(prototype))
        }
    }
}
