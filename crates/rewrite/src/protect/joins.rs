//! Products that an assembler joins with sums, written as what they are then.
//!
//! Which ones it joins depends on who reads the product, and a duplicate or a check reads it. So the joined sums become
//! `fma.rn`, and all other products and sums are rounded by themselves: there is no choice left.

use crate::code::Coder;
use crate::protect::place::NewBody;
use crate::protect::refused::Unprotected;
use crate::whole::rounded;
use facts::{Pc, Reg};
use isa::contraction::Join;
use isa::{Contraction, Function, Instruction, Op, Src, Type};
use std::collections::BTreeMap;

/// Leaves an assembler no choice of what to join. Returns which instruction of before each one belongs to.
pub(super) fn settle(function: &mut Function) -> Result<Vec<Pc>, Unprotected> {
    let contraction = Contraction::of(function);
    let old = std::mem::take(&mut function.body);
    let mut body = NewBody::new();
    let mut factors = BTreeMap::new();
    let mut coder = Coder::new(function, None);
    for (instruction, pc) in old.iter().zip((0..).map(Pc)) {
        body.begin();
        coder.loc.clone_from(&instruction.loc);
        if contraction.products.contains_key(&pc) {
            factors.insert(pc, keep(&mut coder, instruction).ok_or_else(|| refused(instruction, pc))??);
        }
        let mut instruction = instruction.clone();
        if let Some(join) = contraction.sums.get(&pc) {
            let of = factors.get(&join.product).cloned();
            instruction = of
                .and_then(|of| join_sum(&mut coder, &instruction, *join, of))
                .ok_or_else(|| refused(&instruction, pc))??;
        } else if let Op::Alu(form) = &mut instruction.op {
            *form = rounded(*form).unwrap_or(*form);
        }
        coder.instruction(instruction);
        body.put(pc, coder.take());
    }
    drop(coder);
    Ok(body.finish(function, Vec::new(), Pc(0)))
}

fn refused(instruction: &Instruction, pc: Pc) -> Unprotected {
    let why = "the assembler may join its product with a sum, and that cannot be written";
    Unprotected::Instruction { pc, instruction: instruction.op.to_string(), why }
}

/// Copies of the two factors of a product; none of what is no plain product.
fn keep(coder: &mut Coder<'_>, product: &Instruction) -> Option<Result<[Src; 2], Unprotected>> {
    let Op::Alu(form) = &product.op else { return None };
    let (true, [first, second]) = (form.spelling().starts_with("mul."), &product.src[..]) else { return None };
    let plain = coder.function().registers.get(product.writes().next()?.1.index())?.ty;
    let mut kept = |factor: &Src| match factor {
        Src::Reg(_) => copied(coder, plain, factor).map(Src::Reg),
        other => Ok(other.clone()),
    };
    Some(kept(first).and_then(|first| Ok([first, kept(second)?])))
}

fn copied(coder: &mut Coder<'_>, ty: Type, from: &Src) -> Result<Reg, Unprotected> {
    Ok(coder.make(ty, &format!("mov.b{}", ty.width().bits()), vec![from.clone()])?)
}

/// The sum joined with a product of these factors.
fn join_sum(
    coder: &mut Coder<'_>,
    sum: &Instruction,
    join: Join,
    [first, second]: [Src; 2],
) -> Option<Result<Instruction, Unprotected>> {
    let Op::Alu(form) = &sum.op else { return None };
    let spelling = form.spelling();
    let (head, modifiers) = spelling.split_once('.')?;
    let ty = modifiers.rsplit('.').next()?;
    let fused = isa::AluForm::from_spelling(&format!("fma.rn.{modifiers}"))?;
    let other = sum.src.get(1_usize.checked_sub(join.term)?)?.clone();
    let plain = coder.function().registers.get(sum.writes().next()?.1.index())?.ty;
    let mut negated = |source: Src| coder.make(plain, &format!("neg.{ty}"), vec![source]).map(Src::Reg);
    let subtracts = head == "sub";
    let made = (|| {
        let mut first = if join.negated { negated(first)? } else { first };
        if subtracts && join.term == 1 {
            first = negated(first)?;
        }
        let other = if subtracts && join.term == 0 { negated(other)? } else { other };
        Ok(Instruction { op: Op::Alu(fused), src: vec![first, second, other], ..sum.clone() })
    })();
    Some(made)
}
