//! Sums and products of doubles, and what is left of a comparison of two of them where they are no numbers.
//!
//! Of two operands that are NaN, the machine hands on the bits of one, by their order in the machine instruction. An assembler
//! swaps operands as it likes, and so a duplicate may have the other one's bits without a fault. The results are therefore compared
//! where the duplicate is a number: a fault in a value that should be NaN is missed, one that makes a NaN of a number is not.

use crate::code::Coder;
use crate::refusal::Refusal;
use facts::{Group, Guard, Reg};
use isa::{Instruction, Op, Src};
use std::collections::BTreeSet;

/// Whether the result may have the bits of either of two operands that are NaN.
pub(super) fn hands_on_either_nan(instruction: &Instruction) -> bool {
    let Op::Alu(form) = &instruction.op else { return false };
    let registers: BTreeSet<Reg> = instruction.src.iter().filter_map(Src::register).collect();
    let head = form.spelling().split('.').next().unwrap_or_default();
    let swapped = matches!(head, "add" | "sub" | "mul" | "mad" | "fma" | "min" | "max");
    instruction.op.group() == Group::Fp64 && swapped && registers.len() > 1
}

/// Makes a predicate, which says that a value and its duplicate differ, false where the duplicate is NaN, where the guard holds.
pub(super) fn only_numbers(
    coder: &mut Coder<'_>,
    guard: Option<Guard>,
    differ: Reg,
    duplicate: Reg,
) -> Result<(), Refusal> {
    coder.guard = guard;
    let made = coder.push("setp.num.and.f64", &[differ], [duplicate, duplicate, differ].map(Src::Reg).to_vec());
    coder.guard = None;
    made
}

#[cfg(test)]
mod tests {
    use crate::{Scheme, protect};

    /// The lines of a kernel whose third instruction is protected by a scheme.
    fn lines(scheme: Scheme, instruction: &str) -> Vec<String> {
        let head = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n";
        let body = format!(
            "{{\n.reg .b64 %a;\n.reg .f64 %x, %y, %z;\nld.param.u64 %a, [p];\nld.global.v2.f64 {{%x, %y}}, [%a];\n{instruction}\n\
             st.global.f64 [%a], %z;\nret;\n}}\n"
        );
        let module = ptx::parse("k.ptx", &format!("{head}{body}")).unwrap();
        let made = protect(&module, scheme, &|_, pc| pc.0 == 2).unwrap();
        ptx::print(&made.module).lines().map(|line| line.trim().to_owned()).collect()
    }

    #[test]
    fn two_doubles_that_may_be_nan_are_compared_where_the_twin_is_a_number() {
        for scheme in [Scheme::Sriv, Scheme::FastsigSriv, Scheme::XorsigSriv] {
            let compared =
                |instruction| lines(scheme, instruction).iter().any(|line| line.starts_with("setp.num.and.f64"));
            for instruction in ["mul.rn.f64 %z, %x, %y;", "fma.rn.f64 %z, %x, %x, %y;", "min.f64 %z, %x, %y;"] {
                assert!(compared(instruction), "{}: {instruction}", scheme.word());
            }
            for instruction in
                ["add.rn.f64 %z, %x, %x;", "neg.f64 %z, %x;", "div.rn.f64 %z, %x, %y;", "mov.f64 %z, %x;"]
            {
                assert!(!compared(instruction), "{}: {instruction}", scheme.word());
            }
        }
    }
}
