//! Which instructions a campaign draws from: groups, and the unions of groups that other tools name.
//!
//! The unions say in terms of PTX what the tools say in terms of SASS, so that campaigns can be compared. Sources:
//! SASSIFI's instruction groups (S. K. S. Hari et al., ISPASS 2017; `err_injector/error_injector.h` of its repository),
//! NVBitFI's (T. Tsai et al., DSN 2021; `common/arch.h` of its repository), and the instruction types of Table 3 of the
//! two-level model (S. K. S. Hari et al., 2020). PTX has no condition codes but the carry flag, which is no register,
//! so that SASSIFI's CC has no counterpart.

use crate::error::SelectionError;
use isa::{Function, Group, Instruction, Op, Space, Width};

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A group.
    Group(Group),
    /// A named union.
    Union(Union),
}

/// A set of instructions that another tool has a name for.
#[derive(Clone, Copy, Debug)]
pub struct Union {
    /// Whose it is, and its name there.
    pub name: &'static str,
    /// What is in it.
    pub meaning: &'static str,
    holds: fn(&Function, &Instruction) -> bool,
}

impl PartialEq for Union {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Union {}

impl Class {
    /// Reads the word of a campaign.
    ///
    /// # Errors
    /// If the word means nothing.
    pub fn parse(word: &str) -> Result<Self, SelectionError> {
        let group = Group::ALL.iter().find(|group| group.word() == word).map(|&group| Self::Group(group));
        let union = || UNIONS.iter().find(|union| union.name == word).map(|&union| Self::Union(union));
        group.or_else(union).ok_or_else(|| {
            let names = Group::ALL.iter().map(|group| group.word()).chain(UNIONS.iter().map(|union| union.name));
            let expected = names.collect::<Vec<_>>().join(", ");
            SelectionError::Word { key: "group", found: word.to_owned(), expected }
        })
    }

    /// Whether an instruction is in it.
    #[must_use]
    pub fn holds(self, function: &Function, instruction: &Instruction) -> bool {
        match self {
            Self::Group(group) => instruction.op.group() == group,
            Self::Union(union) => (union.holds)(function, instruction),
        }
    }
}

/// What an instruction writes, as the tools tell it.
fn writes(function: &Function, instruction: &Instruction) -> (bool, bool) {
    let predicate = |register| function.register(register).width() == Width::Pred;
    let mut general = false;
    let mut predicates = false;
    for (_, register) in instruction.writes() {
        if predicate(register) { predicates = true } else { general = true }
    }
    (general, predicates)
}

fn in_group(instruction: &Instruction, groups: &[Group]) -> bool {
    groups.contains(&instruction.op.group())
}

/// Loads of a space; `None` for those through generic addresses.
fn loads(instruction: &Instruction, space: Space) -> bool {
    matches!(&instruction.op, Op::Ld(access) if access.space == space)
}

/// Whether an instruction of group fp64 multiplies and adds.
fn is_fma(instruction: &Instruction) -> bool {
    let name = instruction.op.to_string();
    name.starts_with("fma") || name.starts_with("mad")
}

/// Whether an instruction of group int_mul_add adds nothing.
fn is_mul(instruction: &Instruction) -> bool {
    instruction.op.to_string().starts_with("mul")
}

const LOADS: [Group; 6] =
    [Group::LoadGlobal, Group::LoadShared, Group::LoadLocal, Group::LoadConst, Group::LoadParam, Group::LoadGeneric];
const FP32: [Group; 4] = [Group::Fp32Add, Group::Fp32Mul, Group::Fp32Fma, Group::SpecialFunction];

macro_rules! unions {
    ($($name:literal, $meaning:literal, |$f:ident, $i:ident| $holds:expr;)*) => {
        /// The unions, in the order of their tools.
        pub const UNIONS: &[Union] = &[$(Union { name: $name, meaning: $meaning, holds: |$f, $i| $holds }),*];
    };
}

unions! {
    "sassifi:gpr", "writes a general-purpose register", |f, i| writes(f, i).0;
    "sassifi:pr", "writes a predicate", |f, i| writes(f, i).1;
    "sassifi:store_op", "stores; aim at `store`", |_f, i| matches!(i.op, Op::St(_));
    "sassifi:iadd_imul_op", "integer additions and products",
        |_f, i| in_group(i, &[Group::IntAdd]) || (in_group(i, &[Group::IntMulAdd]) && is_mul(i));
    "sassifi:fadd_fmul_op", "fp32 additions and products", |_f, i| in_group(i, &[Group::Fp32Add, Group::Fp32Mul]);
    "sassifi:dadd_dmul_op", "fp64 additions and products", |_f, i| in_group(i, &[Group::Fp64]) && !is_fma(i);
    "sassifi:mad_op", "integer multiply-add", |_f, i| in_group(i, &[Group::IntMulAdd]) && !is_mul(i);
    "sassifi:ffma_op", "fp32 multiply-add", |_f, i| in_group(i, &[Group::Fp32Fma]);
    "sassifi:dfma_op", "fp64 multiply-add", |_f, i| in_group(i, &[Group::Fp64]) && is_fma(i);
    "sassifi:setp_op", "comparisons that write predicates", |f, i| in_group(i, &[Group::Compare]) && writes(f, i).1;
    "sassifi:lds_op", "loads from shared memory", |_f, i| loads(i, Space::Shared);
    "sassifi:ld_op", "other loads from memory",
        |_f, i| matches!(&i.op, Op::Ld(it) if !matches!(it.space, Space::Shared | Space::Param));
    "sassifi:misc_op", "what is in no other group of operations",
        |f, i| !UNIONS[2..12].iter().any(|union| (union.holds)(f, i));
    "nvbitfi:fp64", "fp64 arithmetic", |f, i| in_group(i, &[Group::Fp64]) && writes(f, i).0;
    "nvbitfi:fp32", "fp32 arithmetic, special functions too", |f, i| in_group(i, &FP32) && writes(f, i).0;
    "nvbitfi:ld", "reads memory", |_f, i| in_group(i, &LOADS) || matches!(i.op, Op::Atom(_));
    "nvbitfi:pr", "writes predicates only", |f, i| writes(f, i) == (false, true);
    "nvbitfi:nodest", "writes no register", |f, i| writes(f, i) == (false, false);
    "nvbitfi:others", "what is in none of the groups before",
        |f, i| !UNIONS[13..18].iter().any(|union| (union.holds)(f, i));
    "nvbitfi:gppr", "writes a register or a predicate", |f, i| writes(f, i) != (false, false);
    "nvbitfi:gp", "writes a general-purpose register", |f, i| writes(f, i).0;
    "two-level:iadd", "integer additions", |_f, i| in_group(i, &[Group::IntAdd]);
    "two-level:fadd", "fp32 additions", |_f, i| in_group(i, &[Group::Fp32Add]);
    "two-level:imad", "integer products and multiply-add", |_f, i| in_group(i, &[Group::IntMulAdd]);
    "two-level:ffma", "fp32 products and multiply-add", |_f, i| in_group(i, &[Group::Fp32Mul, Group::Fp32Fma]);
    "two-level:lds", "loads from shared memory", |_f, i| loads(i, Space::Shared);
    "two-level:isetp", "comparisons that write predicates", |f, i| in_group(i, &[Group::Compare]) && writes(f, i).1;
    "two-level:bra", "branches", |_f, i| in_group(i, &[Group::Branch]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use isa::{Dst, Form, Reg, Register, Type};

    /// A function with a 32-bit register and a predicate, and an instruction that writes one of them.
    fn instruction(spelling: &str, predicate: bool) -> (Function, Instruction) {
        let registers = [Type::B32, Type::Pred].map(|ty| Register { name: format!("%{ty}"), ty });
        let form = Form::from_spelling(spelling).unwrap();
        let op = if form.is_compare() { Op::Setp(isa::op::Comparison::of(form)) } else { Op::Alu(form) };
        let dst = vec![Dst::Reg(Reg(u32::from(predicate)))];
        let instruction = Instruction { guard: None, op, dst, src: vec![], loc: None };
        (Function { registers: registers.into(), ..Function::default() }, instruction)
    }

    /// The unions that an instruction is in.
    fn unions(spelling: &str, predicate: bool) -> String {
        let (function, instruction) = instruction(spelling, predicate);
        let held = UNIONS.iter().filter(|union| (union.holds)(&function, &instruction));
        held.map(|union| union.name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn instructions_are_in_the_unions_that_their_tools_put_them_in() {
        let gpr = |rest: &str| format!("sassifi:gpr {rest}");
        let gp = "nvbitfi:gppr nvbitfi:gp";
        assert_eq!(unions("add.s32", false), gpr(&format!("sassifi:iadd_imul_op nvbitfi:others {gp} two-level:iadd")));
        assert_eq!(
            unions("mul.lo.s32", false),
            gpr(&format!("sassifi:iadd_imul_op nvbitfi:others {gp} two-level:imad"))
        );
        assert_eq!(unions("mad.lo.s32", false), gpr(&format!("sassifi:mad_op nvbitfi:others {gp} two-level:imad")));
        assert_eq!(unions("add.f32", false), gpr(&format!("sassifi:fadd_fmul_op nvbitfi:fp32 {gp} two-level:fadd")));
        assert_eq!(unions("fma.rn.f32", false), gpr(&format!("sassifi:ffma_op nvbitfi:fp32 {gp} two-level:ffma")));
        assert_eq!(unions("fma.rn.f64", false), gpr(&format!("sassifi:dfma_op nvbitfi:fp64 {gp}")));
        assert_eq!(unions("xor.b32", false), gpr(&format!("sassifi:misc_op nvbitfi:others {gp}")));
        let compare = "sassifi:pr sassifi:setp_op nvbitfi:pr nvbitfi:gppr two-level:isetp";
        assert_eq!(unions("setp.eq.s32", true), compare);
    }

    #[test]
    fn the_groups_that_divide_all_instructions_hold_each_once() {
        let spellings = ["add.s32", "mul.lo.s32", "mad.lo.s32", "add.f32", "fma.rn.f64", "add.f64", "xor.b32"];
        for spelling in spellings {
            let (function, instruction) = instruction(spelling, false);
            for range in [2..13, 13..19] {
                let held = UNIONS[range.clone()].iter().filter(|union| (union.holds)(&function, &instruction));
                assert_eq!(held.count(), 1, "{spelling} in {range:?}");
            }
        }
    }

    #[test]
    fn unknown_words_are_answered_with_all_that_are_known() {
        let message = Class::parse("nvbitfi:fp16").unwrap_err().to_string();
        assert!(message.contains("int_add") && message.contains("nvbitfi:fp64"), "{message}");
        assert_eq!(Class::parse("fp32_fma"), Ok(Class::Group(Group::Fp32Fma)));
    }
}
