//! What is done to a whole module, so that a GPU does with it what the simulator does, and its variables are found.

use isa::{AluForm, Linkage, Module, Op, Space};

/// Names of the instructions that an assembler may join: a product with the sum that reads it.
const JOINED: [&str; 3] = ["mul", "add", "sub"];

/// The module with every product and sum of floating-point numbers rounded by itself: those without a rounding modifier
/// "may be optimized to use fused-multiply-add instructions on the target device", those with `.rn` may not (PTX ISA 9.0,
/// §9.7.3, `add`). They mean the same otherwise.
#[must_use]
pub fn without_contraction(mut module: Module) -> Module {
    for instruction in module.functions.iter_mut().flat_map(|function| &mut function.body) {
        if let Op::Alu(form) = &mut instruction.op {
            *form = rounded(*form).unwrap_or(*form);
        }
    }
    module
}

/// The same line of the table spelled with `.rn`, where it is not.
pub(crate) fn rounded(form: AluForm) -> Option<AluForm> {
    let (name, rest) = form.spelling().split_once('.')?;
    let rounded = AluForm::from_spelling(&format!("{name}.rn.{rest}"))?;
    (JOINED.contains(&name) && rounded.alu == form.alu).then_some(rounded)
}

/// The module with all its variables in device memory seen from outside, as a driver finds them by name.
#[must_use]
pub fn with_visible_variables(mut module: Module) -> Module {
    for variable in &mut module.variables {
        if matches!(variable.space, Space::Global | Space::Const) && variable.linkage == Linkage::Internal {
            variable.linkage = Linkage::Visible;
        }
    }
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_sums_are_rounded_by_themselves_and_nothing_else_changes() {
        let spelled = |spelling: &str| {
            let form = AluForm::from_spelling(spelling).unwrap();
            rounded(form).unwrap_or(form).spelling()
        };
        let pairs = [
            ("mul.f32", "mul.rn.f32"),
            ("add.ftz.f32", "add.rn.ftz.f32"),
            ("sub.f64", "sub.rn.f64"),
            ("add.rz.f32", "add.rz.f32"),
            ("mul.rn.f64", "mul.rn.f64"),
            ("mul.lo.u32", "mul.lo.u32"),
            ("min.f32", "min.f32"),
        ];
        for (before, after) in pairs {
            assert_eq!(spelled(before), after);
        }
    }

    #[test]
    fn no_floating_point_product_or_sum_stays_without_a_rounding() {
        let floats = ["f16", "f16x2", "bf16", "bf16x2", "f32", "f64"];
        let all = isa::Alu::spelled().flat_map(|alu| isa::alu::spellings(alu.pattern()));
        for spelling in all {
            let words: Vec<&str> = spelling.split('.').collect();
            let float = words.last().is_some_and(|ty| floats.contains(ty)) && words.len() < 5;
            let bare = !words.iter().any(|word| ["rn", "rz", "rm", "rp"].contains(word));
            if float && bare && JOINED.contains(&words[0]) {
                let form = AluForm::from_spelling(&spelling).unwrap();
                assert!(rounded(form).is_some(), "{spelling}");
            }
        }
    }

    #[test]
    fn variables_of_the_module_are_seen_and_those_of_others_stay_as_they_are() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 a;\n.extern .global .u32 b;\n";
        let module = with_visible_variables(ptx::parse("m.ptx", text).unwrap());
        let linkages: Vec<Linkage> = module.variables.iter().map(|variable| variable.linkage).collect();
        assert_eq!(linkages, [Linkage::Visible, Linkage::Extern]);
    }
}
