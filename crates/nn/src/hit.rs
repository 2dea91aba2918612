//! What a fault does to one element of one tensor.

use std::fmt;
use std::num::NonZeroU8;

/// What happens to the stored byte of a neuron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// These bits flip.
    Flip(NonZeroU8),
    /// The byte is replaced.
    Value(u8),
    /// All bits become zero.
    Zero,
    /// These bits become zero, or one.
    Stuck {
        /// Which bits.
        mask: NonZeroU8,
        /// Whether they become one.
        ones: bool,
    },
}

impl Model {
    /// The byte afterwards.
    #[must_use]
    pub fn apply(self, byte: u8) -> u8 {
        match self {
            Self::Flip(mask) => byte ^ mask.get(),
            Self::Value(value) => value,
            Self::Zero => 0,
            Self::Stuck { mask, ones: false } => byte & !mask.get(),
            Self::Stuck { mask, ones: true } => byte | mask.get(),
        }
    }

    /// The word of ids.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flip(_) => "flip",
            Self::Value(_) => "random",
            Self::Zero => "zero",
            Self::Stuck { ones: false, .. } => "stuck0",
            Self::Stuck { ones: true, .. } => "stuck1",
        }
    }

    /// The bits as ids write them: `6`, `3+7` for several, `0x1f` for a value, `all`.
    #[must_use]
    pub fn bits(self) -> String {
        match self {
            Self::Flip(mask) | Self::Stuck { mask, .. } => {
                let bits = (0..8).filter(|bit| mask.get() >> bit & 1 == 1);
                bits.map(|bit| bit.to_string()).collect::<Vec<_>>().join("+")
            }
            Self::Value(value) => format!("{value:#x}"),
            Self::Zero => "all".to_owned(),
        }
    }

    /// Reads what [`name`](Self::name) and [`bits`](Self::bits) print.
    ///
    /// # Errors
    /// What was expected instead.
    pub fn parse(name: &str, bits: &str) -> Result<Self, String> {
        let value = || bits.strip_prefix("0x").and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let mask = || bit_list(bits).ok_or("bits: bit numbers from 0 to 7, ascending and joined by +");
        Ok(match name {
            "flip" => Self::Flip(mask()?),
            "random" => Self::Value(value().ok_or("bits: the byte that replaces the neuron's, such as 0x1f")?),
            "zero" if bits == "all" => Self::Zero,
            "zero" => return Err("bits: all, since the model zero leaves no bit out".to_owned()),
            "stuck0" | "stuck1" => Self::Stuck { mask: mask()?, ones: name == "stuck1" },
            _ => return Err("model: flip, random, zero, stuck0 or stuck1".to_owned()),
        })
    }
}

fn bit_list(bits: &str) -> Option<NonZeroU8> {
    let mut mask = 0_u8;
    for bit in bits.split('+') {
        let bit = bit.parse::<u32>().ok().filter(|&number| number < 8 && bit.len() == 1)?;
        if mask >> bit != 0 {
            return None;
        }
        mask |= 1 << bit;
    }
    NonZeroU8::new(mask)
}

/// One element of what a layer makes, and what happens to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The layer, by number.
    pub layer: usize,
    /// The element of its output, position-major.
    pub element: usize,
    /// What happens.
    pub model: Model,
}

/// The bytes of the hit element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitBytes {
    /// Before the fault.
    pub before: u8,
    /// After it.
    pub after: u8,
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "model={},bits={}", self.name(), self.bits())
    }
}
