//! What an instruction is to contraction.

use crate::alu::AluForm;
use crate::class::AluClass;
use crate::module::{Dst, Function, Instruction, Src};
use crate::op::{MbarrierOp, Op};
use facts::Reg;

/// Floating-point types that are added and multiplied.
const FLOATS: [&str; 6] = ["f16", "f16x2", "bf16", "bf16x2", "f32", "f64"];

/// The numbers that an instruction computes with; what it joins with has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    ty: &'static str,
    pub(super) flushed: bool,
}

impl Numbers {
    /// Whether products that are read once are joined before any other.
    pub(super) fn single_use_first(self) -> bool {
        !self.ty.ends_with("x2")
    }
}

/// What an instruction is to contraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It ends in a multiplication that may be joined with what reads it.
    Product(Numbers),
    /// It adds, and may be joined with what it reads.
    Sum(Numbers),
    /// It makes the same value again.
    Copy(Reg),
    /// It makes the negative value, which who reads it can do as well.
    Negation {
        /// Of this.
        from: Reg,
        /// Flushed.
        flushed: bool,
    },
    /// Anything else.
    Other,
}

/// Whether a function has both products and sums.
pub(super) fn may_join(function: &Function) -> bool {
    let parts = || function.body.iter().map(|instruction| of(function, instruction));
    parts().any(|part| matches!(part, Part::Product(_))) && parts().any(|part| matches!(part, Part::Sum(_)))
}

/// What an instruction of a function is.
pub(super) fn of(function: &Function, instruction: &Instruction) -> Part {
    let (Op::Alu(form), Some(Dst::Reg(register))) = (&instruction.op, instruction.dst.first()) else {
        return Part::Other;
    };
    let spelled = spelled(*form);
    let whole = function.register(*register).width() == form.destination().width();
    match (spelled, instruction.src.first()) {
        // What a guarded product leaves is a choice between it and what was there.
        (Some(Part::Product(_)), _) if instruction.guard.is_some() || !whole => Part::Other,
        (Some(Part::Copy(_) | Part::Negation { .. }), _) if instruction.guard.is_some() || !whole => Part::Other,
        (Some(Part::Copy(_)), Some(Src::Reg(from))) => Part::Copy(*from),
        (Some(Part::Negation { flushed, .. }), Some(Src::Reg(from))) => Part::Negation { from: *from, flushed },
        (Some(part @ (Part::Product(_) | Part::Sum(_))), _) => part,
        _ => Part::Other,
    }
}

/// What a spelling says; the register of a copy or negation stands in its instruction.
fn spelled(form: AluForm) -> Option<Part> {
    let (head, rest) = form.spelling().split_once('.')?;
    if head == "mov" {
        return Some(Part::Copy(Reg(0)));
    }
    let (modifiers, ty) = rest.rsplit_once('.').unwrap_or(("", rest));
    let ty = FLOATS.into_iter().find(|float| *float == ty)?;
    let (mut flushed, mut saturated, mut approximate) = (false, false, false);
    for modifier in modifiers.split('.').filter(|modifier| !modifier.is_empty()) {
        match modifier {
            "ftz" => flushed = true,
            "sat" => saturated = true,
            "approx" | "full" => approximate = true,
            _ => return None,
        }
    }
    let numbers = Numbers { ty, flushed };
    match (head, approximate, saturated) {
        ("mul", false, false) | ("div", true, false) => Some(Part::Product(numbers)),
        // Only without `.ftz` the reciprocal is scaled, by a multiplication, behind the unit.
        ("rcp", true, false) if !flushed => Some(Part::Product(numbers)),
        ("add" | "sub", false, _) => Some(Part::Sum(numbers)),
        // The machine has no operand of this type that is negated.
        ("neg", false, false) if ty != "bf16x2" => Some(Part::Negation { from: Reg(0), flushed }),
        _ => None,
    }
}

/// Whether the assembler makes a block of its own of what follows an instruction though control goes on there.
pub(super) fn parts_code(instruction: &Instruction) -> bool {
    match &instruction.op {
        Op::Call(_) | Op::Brkpt | Op::Event(_) => true,
        Op::Fence(spelling) => is_fence(spelling),
        Op::Alu(form) => has_subroutine(*form),
        op => instruction.guard.is_some() && !is_value(op),
    }
}

/// Fences of memory; those of proxies and waiting for another grid are single instructions.
fn is_fence(spelling: &str) -> bool {
    let single = ["fence.proxy", "fence.mbarrier_init", "griddepcontrol.wait"];
    !single.iter().any(|head| spelling.starts_with(head))
}

/// What the assembler computes by code with branches.
fn has_subroutine(form: AluForm) -> bool {
    let spelling = form.spelling();
    let words: Vec<&str> = spelling.split('.').collect();
    let (head, ty) = (words[0], words[words.len() - 1]);
    match head {
        "div" | "rem" if form.alu.class() == AluClass::IntMulAdd => ty != "u32",
        "div" | "rcp" | "sqrt" => words[1..].iter().any(|word| matches!(*word, "rn" | "rz" | "rm" | "rp")),
        "rsqrt" => ty == "f64",
        "bfind" => matches!(ty, "u64" | "s64"),
        _ => false,
    }
}

/// Whether an operation only makes a value, which the assembler makes whatever the guard is, and chooses afterwards.
fn is_value(op: &Op) -> bool {
    match op {
        Op::Extended(extended) => !extended.writes,
        Op::Mbarrier(mbarrier) => mbarrier.op == MbarrierOp::PendingCount,
        Op::Alu(_)
        | Op::Setp(_)
        | Op::Set(..)
        | Op::MovVector(_)
        | Op::CreatePolicy(_)
        | Op::Alloca(_)
        | Op::StackSave(_)
        | Op::Mapa(_)
        | Op::Getctarank(_)
        | Op::Cvta { .. }
        | Op::Isspacep(_) => true,
        _ => false,
    }
}
