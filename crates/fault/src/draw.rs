//! The one place where operands and bits are drawn.
//!
//! A kind of model cannot hit every operand: two bits flip in no predicate, and the bits of a stuck mask may lie beyond
//! a register. Those that it cannot hit are never drawn.

use crate::model::{Model, ModelKind};
use crate::operand::TargetOperand;
use stats::Draws;

/// One of the operands that a kind of model can hit, each with the same chance; none where there is none.
#[must_use]
pub fn operand(draws: &mut Draws, kind: ModelKind, operands: &[TargetOperand]) -> Option<TargetOperand> {
    let hit: Vec<&TargetOperand> = operands.iter().filter(|operand| kind.hits(operand.bits)).collect();
    draws.one_of(&hit).map(|operand| **operand)
}

/// What happens to an operand of so many bits; none if the kind of model cannot hit it.
#[must_use]
pub fn model(draws: &mut Draws, kind: ModelKind, bits: u32) -> Option<Model> {
    kind.draw(draws, bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::Reg;

    #[test]
    fn an_operand_that_the_kind_of_model_cannot_hit_is_not_drawn() {
        let operands = [1, 32, 64].map(|bits| TargetOperand::of_register(Reg(bits), bits));
        let high = ModelKind::parse("stuck1:0x100000000").unwrap();
        for run in 0..100 {
            let drawn = operand(&mut Draws::new(1, run), high, &operands).map(|operand| operand.bits);
            assert_eq!(drawn, Some(64));
        }
        assert_eq!(operand(&mut Draws::new(1, 0), high, &operands[..2]), None);
        assert_eq!(model(&mut Draws::new(1, 0), high, 32), None);
    }
}
