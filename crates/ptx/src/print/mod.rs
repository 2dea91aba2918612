//! The printer.
//!
//! Functions that are used before they stand get a forward declaration at the top, as PTX asks for; the parser puts
//! them back in their places. Variables of inner scopes stand at the top of the body under the unique names that
//! the parser gave them.

mod body;
mod line;
mod operand;
mod text;
mod variable;

use isa::op::CallTarget;
use isa::{Base, Function, Module, Op, Pc, Prototype, Src, Symbol};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use text::{linkage, put};
use variable::parameters;

/// Writes a module.
pub(crate) fn module(module: &Module) -> String {
    let mut out = String::new();
    let (major, minor) = module.version;
    put!(out, ".version {major}.{minor}\n.target {}\n.address_size 64\n\n", module.target);
    for id in forward(module) {
        header(&mut out, &module.functions[id]);
        out.push_str(";\n");
    }
    for variable in &module.variables {
        variable::declaration(&mut out, module, variable);
        out.push_str(";\n");
    }
    let mut strings = line::Strings::default();
    for function in &module.functions {
        out.push('\n');
        header(&mut out, function);
        if function.kernel || !function.body.is_empty() {
            out.push_str("\n{\n");
            body::body(&mut out, module, function, &mut strings);
            out.push_str("}\n");
        } else {
            out.push_str(";\n");
        }
    }
    for (number, path) in &module.files {
        put!(out, "\n.file {number} \"{path}\"");
    }
    out.push('\n');
    strings.section(&mut out);
    out
}

/// Writes an instruction without its label.
pub(crate) fn instruction(module: &Module, function: &Function, pc: Pc) -> String {
    let mut out = String::new();
    body::one(&mut out, module, function, pc);
    // What stands before it on lines of their own are the targets of a branch.
    out.lines().last().unwrap_or_default().trim().to_owned()
}

/// Functions that are used before they stand, in order.
fn forward(module: &Module) -> BTreeSet<usize> {
    let mut forward = BTreeSet::new();
    let relocations = module.variables.iter().flat_map(|variable| &variable.relocations);
    forward.extend(relocations.filter_map(|relocation| function_of(relocation.symbol)));
    for (index, function) in module.functions.iter().enumerate() {
        let prototypes = function.prototypes.values().flat_map(|prototype| match prototype {
            Prototype::Targets(targets) => targets.as_slice(),
            Prototype::Signature { .. } => &[],
        });
        let used = prototypes.map(|id| id.0 as usize).chain(function.body.iter().flat_map(uses));
        forward.extend(used.filter(|&used| used > index));
    }
    forward.retain(|&used| module.functions.get(used).is_some_and(|function| !function.kernel));
    forward
}

fn function_of(symbol: Symbol) -> Option<usize> {
    match symbol {
        Symbol::Function(id) => Some(id.0 as usize),
        _ => None,
    }
}

/// The functions that an instruction names.
fn uses(instruction: &isa::Instruction) -> impl Iterator<Item = usize> + '_ {
    let callee = match &instruction.op {
        Op::Call(call) => match call.target {
            CallTarget::Direct(id) => Some(id.0 as usize),
            CallTarget::Indirect { .. } => None,
        },
        _ => None,
    };
    let named = instruction.src.iter().filter_map(|operand| match operand {
        Src::Symbol(symbol, _) | Src::Address(Base::Symbol(symbol), _) => function_of(*symbol),
        _ => None,
    });
    callee.into_iter().chain(named)
}

/// `.visible .func (.param .b32 r) f(.param .b64 a) .noreturn`
fn header(out: &mut String, function: &Function) {
    out.push_str(linkage(function.linkage));
    out.push_str(if function.kernel { ".entry " } else { ".func " });
    if !function.returns.is_empty() {
        parameters(out, &function.returns, " ");
        out.push(' ');
    }
    out.push_str(&function.name);
    parameters(out, &function.params, "\n\t");
    for directive in &function.directives {
        put!(out, "\n{directive}");
    }
}
