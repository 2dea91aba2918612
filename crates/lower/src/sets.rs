//! The sets of instructions that other tools have names for.
//!
//! They say in terms of PTX what the tools say in terms of SASS, so that campaigns can be compared. Sources: SASSIFI's
//! instruction groups (S. K. S. Hari et al., ISPASS 2017; `err_injector/error_injector.h` of its repository), NVBitFI's
//! (T. Tsai et al., DSN 2021; `common/arch.h` of its repository), and the instruction types of Table 3 of the two-level
//! model (S. K. S. Hari et al., 2020). PTX has no condition codes but the carry flag, which is no register, so that
//! SASSIFI's CC has no counterpart.

use facts::{Facts, Group, NamedSet, Sets, Space};
use isa::{AluClass, Op};
use std::ops::Range;

/// What is asked of an instruction.
struct Asked<'a> {
    op: &'a Op,
    group: Group,
    class: Option<AluClass>,
    /// Whether it writes a general-purpose register.
    general: bool,
    /// Whether it writes a predicate.
    predicates: bool,
    /// The sets before this one that it is in, a bit each.
    members: u64,
}

impl Asked<'_> {
    fn is_of(&self, groups: &[Group]) -> bool {
        groups.contains(&self.group)
    }

    /// Whether it is a load of such a space; loads through generic addresses are of the generic space.
    fn loads(&self, of: impl Fn(Space) -> bool) -> bool {
        matches!(self.op, Op::Ld(access) if of(access.space))
    }

    /// Whether it is in none of these sets, which stand before this one.
    fn is_in_none(&self, sets: Range<u32>) -> bool {
        (self.members >> sets.start) & ((1 << sets.len()) - 1) == 0
    }
}

const LOADS: [Group; 6] =
    [Group::LoadGlobal, Group::LoadShared, Group::LoadLocal, Group::LoadConst, Group::LoadParam, Group::LoadGeneric];
const FP32: [Group; 4] = [Group::Fp32Add, Group::Fp32Mul, Group::Fp32Fma, Group::SpecialFunction];

macro_rules! sets {
    ($($name:literal, $meaning:literal, |$it:ident| $holds:expr;)*) => {
        /// The sets, in the order of their tools.
        pub const SETS: &[NamedSet] = &[$(NamedSet { name: $name, meaning: $meaning }),*];

        const HOLDS: &[fn(&Asked<'_>) -> bool] = &[$(|$it| $holds),*];
    };
}

sets! {
    "sassifi:gpr", "writes a general-purpose register", |it| it.general;
    "sassifi:pr", "writes a predicate", |it| it.predicates;
    "sassifi:store_op", "stores; aim at `store`", |it| matches!(it.op, Op::St(_));
    "sassifi:iadd_imul_op", "integer additions and products",
        |it| it.is_of(&[Group::IntAdd]) || it.class == Some(AluClass::IntMul);
    "sassifi:fadd_fmul_op", "fp32 additions and products", |it| it.is_of(&[Group::Fp32Add, Group::Fp32Mul]);
    "sassifi:dadd_dmul_op", "fp64 additions and products", |it| it.is_of(&[Group::Fp64]) && it.class != Some(AluClass::Fp64Fma);
    "sassifi:mad_op", "integer multiply-add", |it| it.is_of(&[Group::IntMulAdd]) && it.class != Some(AluClass::IntMul);
    "sassifi:ffma_op", "fp32 multiply-add", |it| it.is_of(&[Group::Fp32Fma]);
    "sassifi:dfma_op", "fp64 multiply-add", |it| it.class == Some(AluClass::Fp64Fma);
    "sassifi:setp_op", "comparisons that write predicates", |it| it.is_of(&[Group::Compare]) && it.predicates;
    "sassifi:lds_op", "loads from shared memory", |it| it.loads(|space| space == Space::Shared);
    "sassifi:ld_op", "other loads from memory",
        |it| it.loads(|space| !matches!(space, Space::Shared | Space::Param));
    "sassifi:misc_op", "what is in no other group of operations",
        |it| it.is_in_none(2..12);
    "nvbitfi:fp64", "fp64 arithmetic", |it| it.is_of(&[Group::Fp64]) && it.general;
    "nvbitfi:fp32", "fp32 arithmetic, special functions too", |it| it.is_of(&FP32) && it.general;
    "nvbitfi:ld", "reads memory", |it| it.is_of(&LOADS) || matches!(it.op, Op::Atom(_));
    "nvbitfi:pr", "writes predicates only", |it| it.predicates && !it.general;
    "nvbitfi:nodest", "writes no register", |it| !it.predicates && !it.general;
    "nvbitfi:others", "what is in none of the groups before",
        |it| it.is_in_none(13..18);
    "nvbitfi:gppr", "writes a register or a predicate", |it| it.predicates || it.general;
    "nvbitfi:gp", "writes a general-purpose register", |it| it.general;
    "two-level:iadd", "integer additions", |it| it.is_of(&[Group::IntAdd]);
    "two-level:fadd", "fp32 additions", |it| it.is_of(&[Group::Fp32Add]);
    "two-level:imad", "integer products and multiply-add", |it| it.is_of(&[Group::IntMulAdd]);
    "two-level:ffma", "fp32 products and multiply-add", |it| it.is_of(&[Group::Fp32Mul, Group::Fp32Fma]);
    "two-level:lds", "loads from shared memory", |it| it.loads(|space| space == Space::Shared);
    "two-level:isetp", "comparisons that write predicates", |it| it.is_of(&[Group::Compare]) && it.predicates;
    "two-level:bra", "branches", |it| it.is_of(&[Group::Branch]);
}

/// The sets that an instruction is in, of which all else is known.
pub(crate) fn of(op: &Op, facts: &Facts) -> Sets {
    let (general, predicates) = facts.writes_general_and_predicates();
    let mut asked = Asked { op, group: facts.group, class: op.class(), general, predicates, members: 0 };
    for (at, holds) in HOLDS.iter().enumerate() {
        asked.members |= u64::from(holds(&asked)) << at;
    }
    Sets::new(SETS, asked.members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::{Operand, Reg, Role};
    use isa::op::spelling;

    /// The sets of an instruction that writes a register of 32 bits, or a predicate.
    fn sets(text: &str, predicate: bool) -> Vec<&'static str> {
        let op = spelling::parse(text).unwrap();
        let bits = if predicate { 1 } else { 32 };
        let written = Operand { role: Role::Destination, position: 0, register: Reg(0), bits, offset: 0, ty: None };
        let facts = Facts { operands: vec![written], ..Facts::new(op.spelling(), op.group()) };
        of(&op, &facts).names().collect()
    }

    #[test]
    fn instructions_are_in_the_sets_that_their_tools_put_them_in() {
        let check = |text: &str, predicate: bool, expected: &str| {
            assert_eq!(sets(text, predicate).join(" "), expected, "{text}");
        };
        let gpr = |rest: &str| format!("sassifi:gpr {rest}");
        let gp = "nvbitfi:gppr nvbitfi:gp";
        check("add.s32", false, &gpr(&format!("sassifi:iadd_imul_op nvbitfi:others {gp} two-level:iadd")));
        check("mul.lo.s32", false, &gpr(&format!("sassifi:iadd_imul_op nvbitfi:others {gp} two-level:imad")));
        check("mad.lo.s32", false, &gpr(&format!("sassifi:mad_op nvbitfi:others {gp} two-level:imad")));
        check("madc.hi.u32", false, &gpr(&format!("sassifi:mad_op nvbitfi:others {gp} two-level:imad")));
        check("add.f32", false, &gpr(&format!("sassifi:fadd_fmul_op nvbitfi:fp32 {gp} two-level:fadd")));
        check("fma.rn.f32", false, &gpr(&format!("sassifi:ffma_op nvbitfi:fp32 {gp} two-level:ffma")));
        check("fma.rn.f64", false, &gpr(&format!("sassifi:dfma_op nvbitfi:fp64 {gp}")));
        check("ld.shared.u32", false, &gpr(&format!("sassifi:lds_op nvbitfi:ld {gp} two-level:lds")));
        check("xor.b32", false, &gpr(&format!("sassifi:misc_op nvbitfi:others {gp}")));
        let compare = "sassifi:pr sassifi:setp_op nvbitfi:pr nvbitfi:gppr two-level:isetp";
        check("setp.eq.s32", true, compare);
    }

    #[test]
    fn the_sets_that_divide_all_instructions_hold_each_once() {
        for text in ["add.s32", "mul.lo.s32", "mad.lo.s32", "add.f32", "fma.rn.f64", "add.f64", "xor.b32", "ld.u32"] {
            for range in [2..13, 13..19] {
                let held = SETS[range.clone()].iter().filter(|set| sets(text, false).contains(&set.name));
                assert_eq!(held.count(), 1, "{text} in {range:?}");
            }
        }
    }
}
