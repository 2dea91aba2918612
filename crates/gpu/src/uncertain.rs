//! What in a kernel may give other bits on another GPU, though nothing is wrong.

use capsule::Capsule;
use isa::op::AtomOp;
use isa::{Function, Module, Op, Type};
use std::collections::BTreeSet;

/// The instructions of the kernels that a capsule launches, and of whatever these may call, whose results the PTX ISA does
/// not define to the bit, as they are spelled: on another GPU they may give other bits, though nothing is wrong. Of a
/// module whose PTX cannot be read nothing is known.
#[must_use]
pub fn uncertain(capsule: &Capsule) -> BTreeSet<String> {
    let mut uncertain = BTreeSet::new();
    for used in &capsule.summary().kernels {
        let text = capsule.module(used.module).and_then(|module| capsule.blobs.get(module.ptx?).ok());
        let module = text.and_then(|text| ptx::parse("module", std::str::from_utf8(&text).ok()?).ok());
        uncertain.extend(module.iter().flat_map(|module| of_kernel(module, &used.kernel)));
    }
    uncertain
}

/// Those of a kernel: atomic additions of floats and products of matrices, whose order is open.
fn of_kernel(module: &Module, kernel: &str) -> BTreeSet<String> {
    let Some((_, entry)) = module.kernel(kernel) else { return BTreeSet::new() };
    let calls = |function: &Function| function.body.iter().any(|instruction| matches!(instruction.op, Op::Call(_)));
    // Who is called may be decided at run time, so a kernel that calls may call any function.
    let others = module.functions.iter().filter(|other| calls(entry) && !other.kernel);
    let functions: Vec<&Function> = std::iter::once(entry).chain(others).collect();
    let bodies = functions.iter().flat_map(|function| &function.body);
    bodies.map(|instruction| &instruction.op).filter(|op| is_uncertain(op)).map(ToString::to_string).collect()
}

fn is_uncertain(op: &Op) -> bool {
    match op {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: &str) -> Vec<String> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{\n.reg .f32 %f<4>;\n{body}\nret;\n}}\n"
        );
        let module = ptx::parse("k.ptx", &text).expect("the module is valid");
        of_kernel(&module, "k").into_iter().collect()
    }

    #[test]
    fn special_functions_are_known_to_the_bit() {
        assert_eq!(found("ex2.approx.ftz.f32 %f2, %f1;\ndiv.full.f32 %f3, %f2, %f1;"), [""; 0]);
    }

    #[test]
    fn products_and_sums_are_known_to_the_bit() {
        assert_eq!(found("mul.f32 %f2, %f1, %f1;\nadd.f32 %f3, %f2, %f1;"), [""; 0]);
    }

    #[test]
    fn the_order_of_atomic_additions_is_open() {
        assert_eq!(found("red.global.add.f32 [0], %f1;"), ["red.global.add.f32"]);
    }
}
