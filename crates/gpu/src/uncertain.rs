//! What in a kernel may give other bits on another GPU, though nothing is wrong.

use isa::op::AtomOp;
use isa::{Function, Module, Op, Type};
use std::collections::BTreeSet;

/// The instructions of a kernel, and of whatever it may call, whose results the PTX ISA does not define to the bit:
/// approximate functions, and atomic additions of floats, whose order is open. Spelled as they stand there.
#[must_use]
pub fn uncertain(module: &Module, kernel: &str) -> BTreeSet<String> {
    let Some((_, entry)) = module.kernel(kernel) else { return BTreeSet::new() };
    let calls = |function: &Function| function.body.iter().any(|instruction| matches!(instruction.op, Op::Call(_)));
    // Who is called may be decided at run time, so a kernel that calls may call any function.
    let others = module.functions.iter().filter(|other| calls(entry) && !other.kernel);
    let bodies = std::iter::once(entry).chain(others).flat_map(|function| &function.body);
    bodies.map(|instruction| &instruction.op).filter(|op| is_uncertain(op)).map(ToString::to_string).collect()
}

fn is_uncertain(op: &Op) -> bool {
    match op {
        Op::Alu(form) => form.spelling().contains(".approx") || form.spelling().contains("div.full"),
        Op::Atom(atom) | Op::Red(atom) => atom.op == AtomOp::Add && is_float(atom.ty),
        // The order in which the products of a matrix multiplication are added is open.
        Op::Matrix(matrix) => {
            let spelling = matrix.to_string();
            spelling.contains("mma") && [".f16", ".f32", ".bf16", ".tf32"].iter().any(|float| spelling.contains(float))
        }
        _ => false,
    }
}

fn is_float(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64)
}
