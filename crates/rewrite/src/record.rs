//! The variable that holds a fault as data: its layout, what is written there and what is read from it.
//!
//! All models are two masks: the bits that an operand keeps, and those that are toggled afterwards.

use crate::refusal::Refusal;
use fault::Model;

/// The name of the variable.
pub const VARIABLE: &str = "__beamline_fault";

/// Its size in bytes.
pub const BYTES: u64 = 96;

/// Its alignment in bytes.
pub(crate) const ALIGN: u32 = 16;

/// Where its fields are, in bytes. Those of 128 bits have their low half first.
pub(crate) mod at {
    /// 32 bits, not zero if a fault waits.
    pub(crate) const ARMED: i64 = 0;
    /// 32 bits: the thread, linear in its block.
    pub(crate) const THREAD: i64 = 4;
    /// 64 bits: the block, linear in its grid.
    pub(crate) const BLOCK: i64 = 8;
    /// 64 bits: the execution of the instruction that is hit, from 0.
    pub(crate) const OCCURRENCE: i64 = 16;
    /// 64 bits: how often the thread has executed the instruction.
    pub(crate) const COUNT: i64 = 24;
    /// 128 bits: those that stay.
    pub(crate) const KEEP: i64 = 32;
    /// 128 bits: those that flip afterwards.
    pub(crate) const TOGGLE: i64 = 48;
    /// 128 bits: what was hit.
    pub(crate) const BEFORE: i64 = 64;
    /// 32 bits, not zero if the fault has happened.
    pub(crate) const FIRED: i64 = 80;
}

/// A fault that waits for its thread and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arming {
    block: u64,
    thread: u32,
    occurrence: u64,
    keep: u128,
    toggle: u128,
}

impl Arming {
    /// A fault in an operand of so many bits, at an execution of its instruction by a thread; everything counts from 0
    /// and is linear, as in ids.
    ///
    /// # Errors
    /// If the operand does not have all bits that the model names.
    pub fn new(block: u64, thread: u32, occurrence: u64, model: Model, bits: u32) -> Result<Self, Refusal> {
        if !model.fits(bits) {
            return Err(Refusal::Width(bits));
        }
        let low = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        let (kept, toggle) = match model {
            Model::Flip(mask) => (u128::MAX, mask.get()),
            Model::Value(value) => (0, value),
            Model::Zero => (0, 0),
            Model::Stuck { mask, ones } => (!mask.get(), if ones { mask.get() } else { 0 }),
        };
        Ok(Self { block, thread, occurrence, keep: kept | !low, toggle: toggle & low })
    }

    /// The bytes of the variable that say this.
    #[must_use]
    pub fn bytes(&self) -> [u8; BYTES as usize] {
        let mut bytes = [0; BYTES as usize];
        let mut put = |at: i64, value: &[u8]| bytes[at as usize..][..value.len()].copy_from_slice(value);
        put(at::ARMED, &1u32.to_le_bytes());
        put(at::THREAD, &self.thread.to_le_bytes());
        put(at::BLOCK, &self.block.to_le_bytes());
        put(at::OCCURRENCE, &self.occurrence.to_le_bytes());
        put(at::KEEP, &self.keep.to_le_bytes());
        put(at::TOGGLE, &self.toggle.to_le_bytes());
        bytes
    }
}

/// What the variable says after a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// Whether the fault has happened.
    pub fired: bool,
    /// What it hit, in the low bits; the rest of the register above the operand is there, too.
    pub before: u128,
}

impl Fired {
    /// Reads the variable's bytes; of fewer than [`BYTES`], nothing has happened.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let field = |at: i64| bytes.get(at as usize..at as usize + 16).and_then(|bytes| bytes.try_into().ok());
        let wide = |at| field(at).map_or(0, u128::from_le_bytes);
        Self { fired: wide(at::FIRED) as u32 != 0, before: wide(at::BEFORE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU128;

    #[test]
    fn the_masks_of_every_model_do_what_the_model_does_and_leave_the_bits_above_the_operand() {
        let mask = NonZeroU128::new(0x81).unwrap();
        let stuck = [true, false].map(|ones| Model::Stuck { mask, ones });
        for model in [Model::Flip(mask), Model::Value(0x5a), Model::Zero, stuck[0], stuck[1]] {
            for bits in [8, 16, 64, 128] {
                let arming = Arming::new(1, 2, 3, model, bits).unwrap();
                for value in [0, 0xff, 0x1234_5678_9abc_def0_u128 << 64 | 0xa5] {
                    let low = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
                    let expected = (value & !low) | (model.apply(value & low) & low);
                    assert_eq!((value & arming.keep) ^ arming.toggle, expected, "{model:?} on {bits} bits");
                }
            }
        }
    }

    #[test]
    fn a_model_that_names_bits_beyond_the_operand_is_refused() {
        assert_eq!(Arming::new(0, 0, 0, Model::single(1), 1), Err(Refusal::Width(1)));
    }

    #[test]
    fn what_is_written_has_not_happened_yet() {
        let bytes = Arming::new(7, 5, 9, Model::Zero, 32).unwrap().bytes();
        assert_eq!(Fired::read(&bytes), Fired { fired: false, before: 0 });
        assert!(!Fired::read(&[]).fired);
    }
}
