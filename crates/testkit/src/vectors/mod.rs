//! Instruction vectors: one execution of one instruction in a line.
//!
//! `add.s32 0x7fffffff 0x00000001 = 0x80000000`: the spelling, the bits of the sources in order, `=`, the bits of the
//! result. Predicates are `0` and `1`; `setp` may have two results, `p q`, and
//! the carry flag is the last source of `addc` and the last result of `.cc`. A result that is not exact has `~` and a
//! bound: `ex2.approx.f32 0x3f800000 ~ 0x40000000 2ulp`. `#` begins a comment.
//!
//! [`check`] runs every row through the text form, the parser and the machine: all rows of one form are the threads of
//! one launch, in several blocks with a partial last warp, plainly, under a guard that is true in odd lanes only, with
//! the result over the first operand, and with constants as operands. [`missing`] says which lines of the instruction
//! table have no vectors. [`random`] has many more rows, with the results of a real GPU.

mod check;
mod coverage;
mod experiment;
mod form;
mod kernel;
pub mod random;
pub mod random_operand;
mod read;
mod tolerance;

pub use check::check;
pub use coverage::{ENOUGH, missing};
pub use experiment::Experiment;
pub use form::Form;
pub use kernel::{KernelVariant, module_text};
pub use read::{ScriptError, TestVector, read, read_all};
pub use tolerance::Tolerance;
