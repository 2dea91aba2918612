//! What in a kernel may give other bits on another GPU, though nothing is wrong.

use capsule::Capsule;
use isa::op::AtomOp;
use isa::{Function, Module, Op, Reg, Type};
use std::collections::{BTreeMap, BTreeSet};

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

/// Those of a kernel: atomic additions of floats, whose order is open, and products that an assembler may join with the sum
/// that reads them.
fn of_kernel(module: &Module, kernel: &str) -> BTreeSet<String> {
    let Some((_, entry)) = module.kernel(kernel) else { return BTreeSet::new() };
    let calls = |function: &Function| function.body.iter().any(|instruction| matches!(instruction.op, Op::Call(_)));
    // Who is called may be decided at run time, so a kernel that calls may call any function.
    let others = module.functions.iter().filter(|other| calls(entry) && !other.kernel);
    let functions: Vec<&Function> = std::iter::once(entry).chain(others).collect();
    let bodies = functions.iter().flat_map(|function| &function.body);
    let alone = bodies.map(|instruction| &instruction.op).filter(|op| is_uncertain(op)).map(ToString::to_string);
    alone.chain(functions.iter().flat_map(|function| fusable(function))).collect()
}

/// Products of a function that a sum reads, both without a rounding modifier: these "may be optimized to use
/// fused-multiply-add instructions on the target device" (PTX ISA 9.0, §9.7.3, `add`).
fn fusable(function: &Function) -> BTreeSet<String> {
    let unrounded = |op: &Op, names: &[&str]| {
        let Op::Alu(form) = op else { return None };
        let spelling = form.spelling();
        let mut parts = spelling.split('.');
        let named = parts.next().is_some_and(|name| names.contains(&name));
        let rounded = spelling.split('.').any(|part| ["rn", "rz", "rm", "rp"].contains(&part));
        let float = spelling.ends_with("f32") || spelling.ends_with("f64") || spelling.ends_with("f16");
        (named && float && !rounded).then_some(spelling)
    };
    let products: BTreeMap<Reg, &str> = function
        .body
        .iter()
        .filter_map(|product| Some((product.writes().next()?.1, unrounded(&product.op, &["mul"])?)))
        .collect();
    let sums = function.body.iter().filter_map(|sum| Some((sum, unrounded(&sum.op, &["add", "sub"])?)));
    let pairs = sums.flat_map(|(sum, spelling)| {
        let read = sum.reads().filter_map(|register| products.get(&register)).collect::<Vec<_>>();
        read.into_iter().map(move |product| format!("{product} before {spelling}")).collect::<Vec<_>>()
    });
    pairs.collect()
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
    fn a_product_that_a_sum_reads_may_be_fused_unless_one_of_them_is_rounded() {
        let (product, sum) = ("mul.f32 %f2, %f1, %f1;", "add.f32 %f3, %f2, %f1;");
        assert_eq!(found(&format!("{product}\n{sum}")), ["mul.f32 before add.f32"]);
        assert_eq!(found(&format!("mul.rn.f32 %f2, %f1, %f1;\n{sum}")), [""; 0]);
        assert_eq!(found(&format!("{product}\nadd.rn.f32 %f3, %f2, %f1;")), [""; 0]);
        assert_eq!(found(&format!("{product}\nadd.f32 %f3, %f1, %f1;")), [""; 0]);
    }
}
