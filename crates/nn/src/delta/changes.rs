//! The differences of a tensor from the fault-free run.

use crate::forward::channel_mean;
use crate::hit::{HitBits, LayerOperand, Place, strike};
use crate::network::{FunctionTable, Tensor};

/// The differences of a tensor.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// New byte less old one, for each element; zero except at `positions`.
    pub(super) deltas: Vec<i16>,
    /// Where something differs.
    pub(super) positions: Vec<u32>,
}

#[inline]
pub(super) fn changed(byte: u8, delta: i16) -> u8 {
    (i16::from(byte) + delta) as u8
}

impl Changes {
    pub(super) fn clear(&mut self, channels: usize) {
        for position in self.positions.drain(..) {
            self.deltas[position as usize * channels..][..channels].fill(0);
        }
    }

    /// Makes what a function makes of them again.
    pub(super) fn through(
        &self,
        table: &FunctionTable,
        (bytes, golden): (&[u8], &[u8]),
        channels: usize,
        output: &mut Self,
    ) {
        for &position in &self.positions {
            let at = position as usize * channels..(position as usize + 1) * channels;
            let read = bytes[at.clone()].iter().zip(&self.deltas[at.clone()]).zip(&golden[at.clone()]);
            let mut differs = false;
            for (made, ((&byte, &delta), &old)) in output.deltas[at].iter_mut().zip(read) {
                *made = i16::from(table.of(changed(byte, delta))) - i16::from(old);
                differs |= *made != 0;
            }
            if differs {
                output.positions.push(position);
            }
        }
    }

    /// Makes the averages of channels again.
    pub(super) fn averaged(&self, (bytes, golden): (&[u8], &[u8]), tensors: [&Tensor; 2], output: &mut Self) {
        let channels = golden.len();
        let differs = |channel: &usize| {
            self.positions.iter().any(|&position| self.deltas[position as usize * channels + channel] != 0)
        };
        for channel in (0..channels).filter(differs) {
            let byte = |at: usize| changed(bytes[at * channels + channel], self.deltas[at * channels + channel]);
            output.deltas[channel] = i16::from(channel_mean(channel, tensors, byte)) - i16::from(golden[channel]);
        }
        if output.deltas.iter().any(|&delta| delta != 0) {
            output.positions.push(0);
        }
    }

    /// Changes bytes at the places of one operand.
    pub(super) fn strike(
        &mut self,
        bytes: &[u8],
        channels: usize,
        operand: LayerOperand,
        places: &[Place],
        hit: &mut Option<HitBits>,
    ) {
        let Self { deltas, positions } = self;
        let before = positions.len();
        for place in places.iter().filter(|place| place.operand == operand && place.element < bytes.len()) {
            let (byte, delta) = (bytes[place.element], &mut deltas[place.element]);
            let after = strike(place.model, u32::from(changed(byte, *delta)), operand, hit) as u8;
            *delta = i16::from(after) - i16::from(byte);
            positions.push((place.element / channels) as u32);
        }
        if positions.len() > before {
            positions.sort_unstable();
            positions.dedup();
            positions.retain(|&at| deltas[at as usize * channels..][..channels].iter().any(|&delta| delta != 0));
        }
    }
}
