//! The differences of a tensor from the fault-free run.

use crate::hit::{HitBits, LayerOperand, Place, strike};

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
