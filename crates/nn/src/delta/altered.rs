//! The bytes that one layer reads and holds otherwise than in the fault-free run.

use super::changes::Changes;
use crate::hit::{HitBits, LayerOperand, Place, strike};
use crate::network::Conv;

/// The bytes that a layer alone reads or holds otherwise than in the fault-free run.
#[derive(Clone, Debug, Default)]
pub(super) struct Altered {
    /// Its inputs that are hit, by number.
    pub(super) inputs: Vec<(usize, Changes)>,
    /// Its weights and biases.
    pub(super) terms: Vec<Term>,
}

/// A weight or a bias that differs, and by how much.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) operand: LayerOperand,
    pub(super) element: usize,
    pub(super) by: i32,
}

/// The weights and biases that differ, each once.
pub(super) fn terms(conv: &Conv, places: &[Place], hit: &mut Option<HitBits>) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    for place in places {
        let (element, operand) = (place.element, place.operand);
        let stored = match operand {
            LayerOperand::Weight => conv.weights.get(element).map(|&weight| i32::from(weight)),
            LayerOperand::Bias => conv.bias.get(element).copied(),
            LayerOperand::In(_) | LayerOperand::Out => None,
        };
        let Some(stored) = stored else { continue };
        let known = found.iter().position(|it| it.operand == operand && it.element == element);
        let at = known.unwrap_or_else(|| {
            found.push(Term { operand, element, by: 0 });
            found.len() - 1
        });
        let now = stored.wrapping_add(found[at].by);
        let after = if operand == LayerOperand::Weight {
            i32::from(strike(place.model, u32::from(now as u8), operand, hit) as u8 as i8)
        } else {
            strike(place.model, now as u32, operand, hit) as i32
        };
        found[at].by = after.wrapping_sub(stored);
    }
    found.retain(|it| it.by != 0);
    found
}
