//! A run of bytes, as the way back reads it.

use std::collections::BTreeMap;

use super::real::RealRun;
use crate::forward::{Run, strike_byte};
use crate::hit::{Hit, LayerOperand};
use crate::network::{Network, Operator};

impl RealRun {
    /// The values that the bytes of a run store, with the hit that the run was made with.
    ///
    /// An element hands no change on if its accumulator lies beyond the bounds of its byte, or if the fault replaced it by a number; one without
    /// an accumulator, if its byte is the least or the largest. Logits are taken before they are bounded.
    #[must_use]
    pub fn of_bytes(network: &Network, run: &Run, hit: Option<&Hit>) -> Self {
        let values = network.tensors().iter().zip(&run.tensors);
        let layers = network.layers().len();
        let mut free = vec![vec![true; run.tensors[0].len()]];
        free.extend((0..layers).map(|number| within_bounds(network, number, run)));
        let mut read = BTreeMap::new();
        for place in hit.map_or(&[][..], Hit::places) {
            match place.operand {
                LayerOperand::Out if place.is_replaced() => {
                    if let Some(free) = free.get_mut(place.layer + 1).and_then(|free| free.get_mut(place.element)) {
                        *free = false;
                    }
                }
                LayerOperand::In(which) => {
                    let Some(&tensor) = network.layers()[place.layer].inputs.get(which) else { continue };
                    let bytes = read.entry((place.layer, which)).or_insert_with(|| run.tensors[tensor].clone());
                    if let Some(byte) = bytes.get_mut(place.element) {
                        strike_byte(place, byte, &mut None);
                    }
                }
                LayerOperand::Out | LayerOperand::Weight | LayerOperand::Bias => {}
            }
        }
        let of_input = |((layer, which), bytes): ((usize, usize), Vec<u8>)| {
            let tensor = network.layers()[layer].inputs[which];
            ((layer, which), network.tensors()[tensor].quantisation.values(&bytes))
        };
        Self {
            tensors: values.map(|(tensor, bytes)| tensor.quantisation.values(bytes)).collect(),
            free,
            read: read.into_iter().map(of_input).collect(),
        }
    }
}

/// Whether each element that a layer makes changes with what the layer reads.
fn within_bounds(network: &Network, number: usize, run: &Run) -> Vec<bool> {
    let (operator, bytes) = (&network.layers()[number].operator, &run.tensors[number + 1]);
    let multipliers = match operator {
        _ if number + 1 == network.layers().len() => return vec![true; bytes.len()],
        Operator::Conv(conv) | Operator::Dense(conv) => &conv.multipliers[..],
        Operator::GlobalAverage { multiplier } => std::slice::from_ref(multiplier),
        Operator::MaxPool(_) => return vec![true; bytes.len()],
        Operator::Add(_)
        | Operator::Multiply(_)
        | Operator::Function(_)
        | Operator::AveragePool(_)
        | Operator::Concat
        | Operator::Mean => {
            return bytes.iter().map(|&byte| byte > 0 && byte < u8::MAX).collect();
        }
    };
    let zero = f64::from(network.output(number).quantisation.zero);
    let sums = run.accumulators[number].iter().zip(multipliers.iter().cycle());
    let bytes = sums.map(|(&sum, &by)| f64::from(sum) * f64::from(by) + zero);
    bytes.map(|byte| byte > 0.0 && byte < f64::from(u8::MAX)).collect()
}
