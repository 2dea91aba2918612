//! The classes of the lines of the [table](crate::table): the group that faults are counted by, and what more has to be
//! told apart within a group.

use facts::Group;

macro_rules! classes {
    ($($(#[doc = $doc:literal])* $name:ident $group:ident,)*) => {
        /// The class of a pure instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum AluClass { $($(#[doc = $doc])* $name),* }

        impl AluClass {
            /// The group that its instructions are counted by.
            #[must_use]
            pub fn group(self) -> Group {
                match self { $(Self::$name => Group::$group),* }
            }
        }
    };
}

classes! {
    /// Sums, differences, minima and the like of integers.
    IntAdd IntAdd,
    /// Arithmetic with the carry flag, which is the last source; not spelled as a line, but as `Extended`.
    Carry IntAdd,
    /// Products of integers to which nothing is added.
    IntMul IntMulAdd,
    /// Products of integers with sums, quotients and remainders.
    IntMulAdd IntMulAdd,
    /// Sums, differences and the like of f32.
    Fp32Add Fp32Add,
    /// Products of f32.
    Fp32Mul Fp32Mul,
    /// Products of f32 with sums.
    Fp32Fma Fp32Fma,
    /// Sums that are joined with a product, which only the machine has.
    Joined Fp32Fma,
    /// Arithmetic of f64 but `fma`.
    Fp64 Fp64,
    /// Products of f64 with sums.
    Fp64Fma Fp64,
    /// Arithmetic of halves.
    Fp16 Fp16,
    /// Comparisons that `setp` and `set` may use.
    Setp Compare,
    /// Other questions about numbers.
    Compare Compare,
    /// Logic and shifts.
    LogicShift LogicShift,
    /// Conversions, whose operands may be in wider registers.
    Convert Convert,
    /// Moves and selections.
    Move Move,
    /// What the special function unit computes.
    SpecialFunction SpecialFunction,
}
