//! The end of a body: branch targets are resolved, registers put in the order of their declarations, and names made
//! unique, as scopes are flattened.

use super::body::{Body, Branches};
use super::instruction::{set_targets, undefined_label};
use super::outline::Global;
use crate::error::{Diagnostic, Span};
use isa::op::CallTarget;
use isa::{Base, Dst, Function, Instruction, Op, Pc, Reg, Register, Src, Symbol};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How many targets all indexed branches of a function may have together.
const MOST_TARGETS: usize = 1 << 20;

/// Makes the function of a body that has been read.
pub(super) fn finish(mut body: Body<'_, '_>) -> (Function, Vec<Span>) {
    resolve_jumps(&mut body);
    let renumbered = reorder(&mut body);
    for instruction in &mut body.instructions {
        renumber(instruction, &renumbered);
    }
    let mut function = body.header.clone();
    let mut unique = Unique::new(&body);
    function.registers =
        body.scopes.registers.iter().map(|used| Register { name: unique.name(used.name), ty: used.ty }).collect();
    function.variables = std::mem::take(&mut body.variables);
    for variable in &mut function.variables {
        variable.name = unique.name(&variable.name);
    }
    function.labels = body.labels.iter().map(|&(label, pc)| (unique.name(label), pc)).collect();
    let prototypes: Vec<String> = body.prototypes.iter().map(|(label, _)| unique.name(label)).collect();
    for &(pc, index) in &body.indirect {
        set_prototype(&mut body.instructions, pc, &prototypes[index]);
    }
    function.prototypes =
        prototypes.into_iter().zip(body.prototypes.into_iter().map(|(_, it)| Rc::unwrap_or_clone(it))).collect();
    function.body = body.instructions;
    // A function without instructions would be taken for one that is only declared.
    if function.body.is_empty() && !function.kernel {
        let op = Op::Ret { uni: false };
        function.body.push(Instruction { guard: None, op, dst: Vec::new(), src: Vec::new(), loc: None });
        body.spans.push(Span::default());
    }
    (function, body.spans)
}

fn resolve_jumps(body: &mut Body<'_, '_>) {
    let mut listed = 0;
    for jump in std::mem::take(&mut body.jumps) {
        let Some(instruction) = body.instructions.get_mut(jump.pc.index()) else { continue };
        let indexed = matches!(instruction.op, Op::BrxIdx { .. });
        let targets = if indexed {
            let Some(index) = body.scopes.find_branches(jump.scope, jump.label.text) else {
                body.sink
                    .report(undefined_label(jump.label).help("declare the list: `targets: .branchtargets L0, L1;`"));
                continue;
            };
            let Branches { scope, labels } = &body.branches[index];
            listed += labels.len();
            if listed > MOST_TARGETS {
                let mistake = Diagnostic::new(jump.label.span, "the function has too many indexed branch targets");
                body.sink.report(mistake.help("split the function"));
                return;
            }
            labels.iter().map(|label| (*label, body.scopes.find_label(*scope, label.text))).collect()
        } else {
            vec![(jump.label, body.scopes.find_label(jump.scope, jump.label.text))]
        };
        let mut found: Vec<Pc> = Vec::with_capacity(targets.len());
        for (label, target) in targets {
            match target {
                Some(pc) => found.push(pc),
                None => body.sink.report(undefined_label(label)),
            }
        }
        set_targets(&mut instruction.op, &found);
    }
}

/// Sorts the registers by declaration; tells the new index of each.
fn reorder(body: &mut Body<'_, '_>) -> Vec<Reg> {
    let registers = &mut body.scopes.registers;
    let mut order: Vec<usize> = (0..registers.len()).collect();
    order.sort_by_key(|&index| registers[index].order);
    let mut renumbered = vec![Reg(0); registers.len()];
    for (new, &old) in order.iter().enumerate() {
        renumbered[old] = Reg(new as u32);
    }
    *registers = order.iter().map(|&index| registers[index]).collect();
    renumbered
}

fn renumber(instruction: &mut Instruction, renumbered: &[Reg]) {
    let change = |reg: &mut Reg| *reg = renumbered[reg.index()];
    if let Some(guard) = &mut instruction.guard {
        change(&mut guard.pred);
    }
    for dst in &mut instruction.dst {
        if let Dst::Reg(reg) = dst {
            change(reg);
        }
    }
    for src in &mut instruction.src {
        if let Src::Reg(reg) | Src::Not(reg) | Src::Address(Base::Reg(reg), _) = src {
            change(reg);
        }
    }
}

fn set_prototype(instructions: &mut [Instruction], pc: Pc, name: &str) {
    if let Some(Instruction { op: Op::Call(call), .. }) = instructions.get_mut(pc.index())
        && let CallTarget::Indirect { prototype } = &mut call.target
    {
        name.clone_into(prototype);
    }
}

/// Gives names that nothing else in sight of the function has.
struct Unique<'b> {
    globals: &'b HashMap<&'b str, Global>,
    taken: HashSet<String>,
    /// The last suffix tried for each name.
    suffixes: HashMap<String, u32>,
}

impl<'b> Unique<'b> {
    fn new<'a: 'b>(body: &Body<'a, 'b>) -> Self {
        let parameters = body.header.params.iter().chain(&body.header.returns);
        let taken = parameters.map(|parameter| parameter.name.clone()).collect();
        Self { globals: &body.outline.names, taken, suffixes: HashMap::new() }
    }

    fn name(&mut self, wanted: &str) -> String {
        if !self.globals.contains_key(wanted) && self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let suffix = self.suffixes.entry(wanted.to_owned()).or_insert(0);
        loop {
            *suffix += 1;
            let name = format!("{wanted}_{suffix}");
            if !self.globals.contains_key(name.as_str()) && self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Parameters as scope 0 has them.
pub(super) fn parameters(function: &Function) -> impl Iterator<Item = (&str, Symbol)> {
    let params = function.params.iter().enumerate().map(|(index, param)| (&*param.name, Symbol::Param(index as u32)));
    let returns =
        function.returns.iter().enumerate().map(|(index, param)| (&*param.name, Symbol::Return(index as u32)));
    params.chain(returns)
}
