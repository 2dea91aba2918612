//! Groups of instructions: those that every guest has, and the sets that a guest has names for.

use crate::types::words;
use std::fmt;

words! {
    /// The classes of instructions that faults are chosen and reported by.
    Group {
        IntAdd = "int_add", IntMulAdd = "int_mul_add",
        Fp32Add = "fp32_add", Fp32Mul = "fp32_mul", Fp32Fma = "fp32_fma",
        Fp64 = "fp64", Fp16 = "fp16",
        Compare = "compare", LogicShift = "logic_shift", Convert = "convert", Move = "move",
        LoadGlobal = "load_global", LoadShared = "load_shared", LoadLocal = "load_local",
        LoadConst = "load_const", LoadParam = "load_param", LoadGeneric = "load_generic",
        Store = "store", Atomic = "atomic", Branch = "branch",
        SpecialFunction = "special_function", Tensor = "tensor", Other = "other",
    }
}

/// A set of instructions that a guest has a name for, such as the instruction groups of another tool, or that protection makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NamedSet {
    /// Whose it is, and its name there: `sassifi:fadd_fmul_op`.
    pub name: &'static str,
    /// What is in it.
    pub meaning: &'static str,
}

/// Which of the named sets of its guest an instruction is in.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Sets {
    table: &'static [NamedSet],
    members: u64,
}

impl Sets {
    /// The sets of a table whose bit is one, the first set's the lowest. A table has at most 64.
    #[must_use]
    pub fn new(table: &'static [NamedSet], members: u64) -> Self {
        Self { table, members }
    }

    /// The names of the sets that the instruction is in, in the order of their table.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let members = self.members;
        self.table.iter().zip(0..64).filter(move |(_, at)| members >> at & 1 == 1).map(|(set, _)| set.name)
    }

    /// Whether the instruction is in the set of this name.
    #[must_use]
    pub fn contains(self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }
}

impl fmt::Debug for Sets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_in_the_sets_whose_bits_are_one() {
        const TABLE: &[NamedSet] = &[NamedSet { name: "a:x", meaning: "" }, NamedSet { name: "a:y", meaning: "" }];
        let sets = Sets::new(TABLE, 0b10);
        assert!(sets.contains("a:y") && !sets.contains("a:x") && !sets.contains("y"));
        assert_eq!(Sets::default().names().count(), 0);
    }
}
