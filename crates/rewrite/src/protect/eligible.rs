//! What becomes of each instruction: whether it may be executed twice.
//!
//! Eligible is what gives the same result if it is executed once more in other registers, changes no control and writes no
//! memory. Loads from memory that other threads write are not, unless load duplication is asked for: between two of them the
//! value may change.

use crate::protect::loads::is_shared_load;
use isa::op::{CallTarget, LoadStore, Matrix, MemoryOrder, is_move};
use isa::{Alu, Instruction, Op, Space, Src};

/// What becomes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// It is executed once more, in the shadow registers.
    Duplicate,
    /// It puts a constant into a register: so does its duplicate, in a way that the assembler does not see through.
    Constant,
    /// It is executed once: what it reads is checked before it, what it writes is copied into the shadow registers.
    Alone,
    /// It has no effect on results, and nothing of it is checked.
    Left,
    /// Its function cannot be protected.
    Refused(&'static str),
}

/// What becomes of an instruction. `single` says whether no other one writes its destination, `loads` whether loads from memory
/// that other threads write are executed twice.
pub(super) fn treatment(instruction: &Instruction, single: bool, loads: bool) -> Treatment {
    let counter = |source: &Src| matches!(source, Src::Special(special) if special.is_counter());
    if instruction.src.iter().any(counter) {
        return Treatment::Refused("it reads a clock, which tells other times with other code");
    }
    if instruction.src.iter().any(|source| matches!(source, Src::Special(_))) {
        return Treatment::Alone;
    }
    match &instruction.op {
        Op::Alu(form) if is_move(form.alu) && !single => match (form.alu, instruction.src.first()) {
            (Alu::MovB16 | Alu::MovB32 | Alu::MovB64, Some(Src::Imm(_))) => Treatment::Constant,
            (_, Some(Src::Symbol(..))) => Treatment::Alone,
            _ => Treatment::Duplicate,
        },
        Op::Alu(_)
        | Op::Setp(_)
        | Op::Set(..)
        | Op::Lop3(_)
        | Op::Extended(_)
        | Op::MovVector(_)
        | Op::Cvta { .. }
        | Op::Isspacep(_)
        | Op::Mapa(_)
        | Op::Getctarank(_)
        | Op::CreatePolicy(_) => Treatment::Duplicate,
        Op::Ld(access) => {
            if is_constant(access) || loads && is_shared_load(instruction) {
                Treatment::Duplicate
            } else {
                Treatment::Alone
            }
        }
        Op::Matrix(matrix) => match matrix {
            Matrix::Multiply(_) => Treatment::Duplicate,
            Matrix::Load(_)
            | Matrix::Store(_)
            | Matrix::Transpose
            | Matrix::LoadFragment(_)
            | Matrix::StoreFragment(_) => Treatment::Alone,
        },
        Op::Call(call) => match call.target {
            CallTarget::Direct(_) => Treatment::Alone,
            CallTarget::Indirect { .. } => Treatment::Refused("it calls a function by its address"),
        },
        Op::St(_)
        | Op::Atom(_)
        | Op::Red(_)
        | Op::CopyAsync(_)
        | Op::Mbarrier(_)
        | Op::Fetch(_)
        | Op::Surface(_)
        | Op::Alloca(_)
        | Op::StackSave(_)
        | Op::StackRestore(_)
        | Op::Shfl(_)
        | Op::Vote(_)
        | Op::Match { .. }
        | Op::Redux(..)
        | Op::Activemask
        | Op::Elect
        | Op::Barrier(_)
        | Op::WarpSync
        | Op::Bra { .. }
        | Op::BrxIdx { .. }
        | Op::Ret { .. }
        | Op::Exit
        | Op::Trap => Treatment::Alone,
        Op::Prefetch(_) | Op::Fence(_) | Op::Brkpt | Op::Nanosleep | Op::Event(_) => Treatment::Left,
    }
}

/// Whether nobody else writes what is loaded.
fn is_constant(access: &LoadStore) -> bool {
    matches!(access.space, Space::Const | Space::Local) && matches!(access.order, None | Some(MemoryOrder::Weak))
}
