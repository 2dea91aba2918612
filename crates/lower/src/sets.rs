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

/// The properties of an instruction that decide in which sets it is.
struct SetQuery<'a> {
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

impl SetQuery<'_> {
    fn is_of(&self, groups: &[Group]) -> bool {
        groups.contains(&self.group)
    }

    /// Whether it is a load of such a space; loads through generic addresses are of the generic space.
    fn loads(&self, of: impl Fn(Space) -> bool) -> bool {
        matches!(self.op, Op::Ld(access) if of(access.space))
    }

    /// Whether it computes a floating-point value.
    fn is_float(&self) -> bool {
        matches!(self.op, Op::Alu(form) if form.destination().is_float())
    }

    /// Whether it is spelled for floating-point operands.
    fn is_of_floats(&self) -> bool {
        self.op.spelling().rsplit('.').next().is_some_and(|last| last.starts_with('f') || last.starts_with("bf"))
    }

    /// Whether its name is one of these, whatever follows it.
    fn is_named(&self, names: &[&str]) -> bool {
        let spelling = self.op.spelling();
        names.contains(&spelling.split_once('.').map_or(&*spelling, |(name, _)| name))
    }

    /// Whether it is in none of these sets, which stand before this one.
    fn is_in_none(&self, sets: Range<u32>) -> bool {
        (self.members >> sets.start) & ((1 << sets.len()) - 1) == 0
    }
}

const LOADS: [Group; 6] =
    [Group::LoadGlobal, Group::LoadShared, Group::LoadLocal, Group::LoadConst, Group::LoadParam, Group::LoadGeneric];
/// What does no more with integers than an adder, a shifter or a multiplexer do, and comparisons.
const SIMPLE: [Group; 5] = [Group::IntAdd, Group::LogicShift, Group::Move, Group::Convert, Group::Compare];
/// Sums and the like, by the names that they have for all widths.
const SUMS: [&str; 7] = ["add", "sub", "min", "max", "abs", "neg", "cvt"];
const ADDITIONS: [&str; 4] = ["add", "sub", "addc", "subc"];
const MULTIPLY_ADD: [&str; 3] = ["mad", "madc", "mad24"];
const PRODUCTS: [&str; 3] = ["mul", "fma", "mad"];
const QUOTIENTS: [&str; 2] = ["div", "rem"];
const FP32: [Group; 4] = [Group::Fp32Add, Group::Fp32Mul, Group::Fp32Fma, Group::SpecialFunction];

macro_rules! sets {
    ($($name:literal, $meaning:literal, |$it:ident| $holds:expr;)*) => {
        /// The sets, in the order of their tools.
        pub const SETS: &[NamedSet] = &[$(NamedSet { name: $name, meaning: $meaning }),*];

        const HOLDS: &[fn(&SetQuery<'_>) -> bool] = &[$(|$it| $holds),*];
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
    "two-level:iadd", "integer additions and subtractions", |it| it.is_of(&[Group::IntAdd]) && it.is_named(&ADDITIONS);
    "two-level:fadd", "fp32 additions and subtractions", |it| it.is_of(&[Group::Fp32Add]) && it.is_named(&ADDITIONS);
    "two-level:imad", "integer multiply-add", |it| it.is_of(&[Group::IntMulAdd]) && it.is_named(&MULTIPLY_ADD);
    "two-level:ffma", "fp32 multiply-add", |it| it.is_of(&[Group::Fp32Fma]);
    "two-level:lds", "loads from shared memory", |it| it.loads(|space| space == Space::Shared);
    "two-level:isetp", "comparisons of integers that write predicates",
        |it| it.is_of(&[Group::Compare]) && it.predicates && it.is_named(&["setp"]) && !it.is_of_floats();
    "two-level:bra", "branches", |it| it.is_of(&[Group::Branch]) && it.is_named(&["bra"]);
    "two-level:like-iadd", "what is like integer additions: logic, shifts, moves, selections, conversions to integers",
        |it| it.general && !it.is_float() && it.is_of(&SIMPLE);
    "two-level:like-fadd", "what is like fp additions, of any width: minima, maxima, signs, conversions to fp",
        |it| it.is_float() && (it.is_named(&SUMS) || it.is_of(&[Group::Fp32Add]));
    "two-level:like-imad", "what is like integer multiply-add: all products of integers",
        |it| it.general && it.is_of(&[Group::IntMulAdd]) && !it.is_named(&QUOTIENTS);
    "two-level:like-ffma", "what is like fp multiply-add: products of fp, of any width",
        |it| it.is_float() && it.is_named(&PRODUCTS);
    "two-level:like-lds", "loads from shared memory", |it| it.loads(|space| space == Space::Shared);
    "two-level:like-isetp", "what is like comparisons: all that writes predicates only, from registers",
        |it| it.predicates && !it.general && it.is_of(&SIMPLE);
    "two-level:like-bra", "what is like branches: calls, returns, ends", |it| it.is_of(&[Group::Branch]);
}

/// The sets that an instruction is in, of which all else is known.
pub(crate) fn of(op: &Op, facts: &Facts) -> Sets {
    let (general, predicates) = facts.writes_general_and_predicates();
    let mut asked = SetQuery { op, group: facts.group, class: op.class(), general, predicates, members: 0 };
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
        let imad = "two-level:imad two-level:like-imad";
        check(
            "add.s32",
            false,
            &gpr(&format!("sassifi:iadd_imul_op nvbitfi:others {gp} two-level:iadd two-level:like-iadd")),
        );
        check("mul.lo.s32", false, &gpr(&format!("sassifi:iadd_imul_op nvbitfi:others {gp} two-level:like-imad")));
        check("mad.lo.s32", false, &gpr(&format!("sassifi:mad_op nvbitfi:others {gp} {imad}")));
        check("madc.hi.u32", false, &gpr(&format!("sassifi:mad_op nvbitfi:others {gp} {imad}")));
        check(
            "add.f32",
            false,
            &gpr(&format!("sassifi:fadd_fmul_op nvbitfi:fp32 {gp} two-level:fadd two-level:like-fadd")),
        );
        check(
            "fma.rn.f32",
            false,
            &gpr(&format!("sassifi:ffma_op nvbitfi:fp32 {gp} two-level:ffma two-level:like-ffma")),
        );
        check("fma.rn.f64", false, &gpr(&format!("sassifi:dfma_op nvbitfi:fp64 {gp} two-level:like-ffma")));
        check(
            "ld.shared.u32",
            false,
            &gpr(&format!("sassifi:lds_op nvbitfi:ld {gp} two-level:lds two-level:like-lds")),
        );
        check("xor.b32", false, &gpr(&format!("sassifi:misc_op nvbitfi:others {gp} two-level:like-iadd")));
        check("max.f64", false, &gpr(&format!("sassifi:dadd_dmul_op nvbitfi:fp64 {gp} two-level:like-fadd")));
        check("cvt.rn.f32.s32", false, &gpr(&format!("sassifi:misc_op nvbitfi:others {gp} two-level:like-fadd")));
        check("cvt.rzi.s32.f32", false, &gpr(&format!("sassifi:misc_op nvbitfi:others {gp} two-level:like-iadd")));
        check("div.s32", false, &gpr(&format!("sassifi:mad_op nvbitfi:others {gp}")));
        check("sqrt.approx.f32", false, &gpr(&format!("sassifi:misc_op nvbitfi:fp32 {gp}")));
        let compare = "sassifi:pr sassifi:setp_op nvbitfi:pr nvbitfi:gppr two-level:isetp two-level:like-isetp";
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
