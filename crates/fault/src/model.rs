//! What happens to the bits of an operand: models, and the kinds of models that campaigns draw from.
//!
//! A [`Model`] is a pure function of bits and stands in the id of a fault. A [`ModelKind`] is what a campaign says; for
//! an operand of a width it draws a model. Every draw is uniform: over the bits, over the pairs of bits, over the
//! values of the whole width.

use crate::bits::{all, hexadecimal};
use crate::error::{ParseFaultError, SelectionError, number, wrong};
use crate::flips::Flips;
use stats::Draws;
use std::fmt;
use std::num::NonZeroU128;

/// What happens to the bits of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// These bits flip.
    Flip(NonZeroU128),
    /// All bits are replaced by this value.
    Value(u128),
    /// All bits become zero.
    Zero,
    /// These bits become zero, or one.
    Stuck {
        /// Which bits.
        mask: NonZeroU128,
        /// Whether they become one.
        ones: bool,
    },
}

impl Model {
    /// One bit flips.
    #[must_use]
    pub fn single(bit: u32) -> Self {
        Self::Flip(bit_mask(bit))
    }

    /// The bits that the operand has afterwards.
    #[must_use]
    pub fn apply(self, bits: u128) -> u128 {
        match self {
            Self::Flip(mask) => bits ^ mask.get(),
            Self::Value(value) => value,
            Self::Zero => 0,
            Self::Stuck { mask, ones: false } => bits & !mask.get(),
            Self::Stuck { mask, ones: true } => bits | mask.get(),
        }
    }

    /// Whether an operand of so many bits has every bit that the model names.
    #[must_use]
    pub fn fits(self, width: u32) -> bool {
        let named = match self {
            Self::Flip(mask) | Self::Stuck { mask, .. } => mask.get(),
            Self::Value(value) => value,
            Self::Zero => 0,
        };
        named & !all(width) == 0
    }

    /// The name used in ids and results.
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

    /// The bits as ids write them: `12`, `3+7` for several, `0x1f` for a value, `all`.
    #[must_use]
    pub fn bits(self) -> String {
        match self {
            Self::Flip(mask) | Self::Stuck { mask, .. } => {
                let bits = (0..128).filter(|bit| (mask.get() >> bit) & 1 == 1);
                bits.map(|bit: u32| bit.to_string()).collect::<Vec<_>>().join("+")
            }
            Self::Value(value) => format!("{value:#x}"),
            Self::Zero => "all".to_owned(),
        }
    }

    /// Reads a name and the bits, as [`name`](Self::name) and [`bits`](Self::bits) print them.
    ///
    /// # Errors
    /// If either means nothing.
    pub fn parse(name: &str, bits: &str) -> Result<Self, ParseFaultError> {
        match name {
            "flip" => Ok(Self::Flip(bit_list(bits)?)),
            "random" => hexadecimal(bits)
                .map(Self::Value)
                .ok_or_else(|| wrong("bits", bits, "the value that replaces the operand's, such as 0x1f")),
            "zero" if bits == "all" => Ok(Self::Zero),
            "zero" => Err(wrong("bits", bits, "all: the model zero leaves no bit out")),
            "stuck0" | "stuck1" => Ok(Self::Stuck { mask: bit_list(bits)?, ones: name == "stuck1" }),
            _ => Err(wrong("model", name, "flip, random, zero, stuck0 or stuck1")),
        }
    }
}

/// The mask of one bit.
fn bit_mask(bit: u32) -> NonZeroU128 {
    NonZeroU128::new(1 << (bit % 128)).unwrap_or(NonZeroU128::MIN)
}

fn bit_list(bits: &str) -> Result<NonZeroU128, ParseFaultError> {
    let bad = || wrong("bits", bits, "bit numbers from 0 to 127, ascending and joined by +");
    let mut mask = 0u128;
    for bit in bits.split('+') {
        let bit: u32 = number("bits", bit).map_err(|_| bad())?;
        if bit > 127 || mask >> bit != 0 {
            return Err(bad());
        }
        mask |= 1 << bit;
    }
    NonZeroU128::new(mask).ok_or_else(bad)
}

/// The models that a campaign draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Some bits flip.
    Flip(Flips),
    /// Another value, uniform over the whole width; it may be the same.
    Random,
    /// Zero.
    Zero,
    /// The same bits every time become zero, or one.
    Stuck {
        /// Which bits, as far as an operand has them.
        mask: NonZeroU128,
        /// Whether they become one.
        ones: bool,
    },
}

/// The words that stand for kinds of models, for messages.
const WORDS: &str = "flip, double, double-any, flip:N or burst:N (any N bits, or N adjacent ones), flip:N:MASK, random, zero, \
                     stuck0:MASK, stuck1:MASK (such as stuck1:0x80)";

impl Default for ModelKind {
    fn default() -> Self {
        Self::SINGLE
    }
}

impl ModelKind {
    /// One bit flips.
    pub const SINGLE: Self = Self::Flip(Flips::ONE);

    /// Reads the word of a campaign.
    ///
    /// # Errors
    /// If the word means nothing.
    pub fn parse(word: &str) -> Result<Self, SelectionError> {
        let unknown = || SelectionError::Word { key: "model", found: word.to_owned(), expected: WORDS.to_owned() };
        Ok(match word {
            "flip" => Self::SINGLE,
            "double" => Self::Flip(Flips::ADJACENT),
            "double-any" => Self::Flip(Flips::TWO),
            "random" => Self::Random,
            "zero" => Self::Zero,
            _ => {
                let (name, mask) = word.split_once(':').ok_or_else(unknown)?;
                if matches!(name, "flip" | "burst") {
                    return Flips::parse(mask, name == "burst").map(Self::Flip).ok_or_else(unknown);
                }
                let mask = hexadecimal(mask).and_then(NonZeroU128::new).ok_or_else(unknown)?;
                match name {
                    "stuck0" => Self::Stuck { mask, ones: false },
                    "stuck1" => Self::Stuck { mask, ones: true },
                    _ => return Err(unknown()),
                }
            }
        })
    }

    /// Whether an operand of so many bits can be hit: two bits flip in none that has one.
    #[must_use]
    pub fn hits(self, width: u32) -> bool {
        match self {
            Self::Flip(flips) => flips.hits(width),
            Self::Random | Self::Zero => width >= 1,
            Self::Stuck { mask, .. } => mask.get() & all(width) != 0,
        }
    }

    /// A model for an operand of so many bits; none if the kind of model [cannot hit](Self::hits) it.
    #[must_use]
    pub fn draw(self, draws: &mut Draws, width: u32) -> Option<Model> {
        if !self.hits(width) {
            return None;
        }
        let mut below = |bound: usize| draws.below(bound as u64).map(|number| number as usize);
        Some(match self {
            Self::Flip(flips) => Model::Flip(NonZeroU128::new(flips.draw(width, &mut below)?)?),
            Self::Random => {
                let words = (0..width.div_ceil(32)).filter_map(|_| draws.below(1 << 32));
                let value = words.fold(0, |value, word| value << 32 | u128::from(word));
                Model::Value(value & all(width))
            }
            Self::Zero => Model::Zero,
            Self::Stuck { mask, ones } => Model::Stuck { mask: NonZeroU128::new(mask.get() & all(width))?, ones },
        })
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flip(flips) => flips.fmt(f),
            Self::Random => f.write_str("random"),
            Self::Zero => f.write_str("zero"),
            Self::Stuck { mask, ones } => write!(f, "stuck{}:{mask:#x}", u8::from(*ones)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WIDTHS: [u32; 6] = [1, 8, 16, 32, 64, 128];

    fn mask() -> impl Strategy<Value = NonZeroU128> {
        (1u128..).prop_map(|mask| NonZeroU128::new(mask).unwrap())
    }

    fn kind() -> impl Strategy<Value = ModelKind> {
        let flips = [Flips::ONE, Flips::ADJACENT, Flips::TWO].map(ModelKind::Flip);
        let plain = [&flips[..], &[ModelKind::Random, ModelKind::Zero]].concat();
        let stuck = (mask(), any::<bool>()).prop_map(|(mask, ones)| ModelKind::Stuck { mask, ones });
        prop_oneof![prop::sample::select(plain), stuck]
    }

    proptest! {
        #[test]
        fn a_single_bit_model_flips_one_bit_of_any_value(bit in 0u32..128, value: u128) {
            prop_assert_eq!((Model::single(bit).apply(value) ^ value).count_ones(), 1);
            prop_assert_eq!(Model::single(bit).apply(Model::single(bit).apply(value)), value);
            prop_assert!(Model::single(bit).fits(bit + 1) && !Model::single(bit).fits(bit));
        }

        #[test]
        fn zero_gives_zero_for_every_value(value: u128) {
            prop_assert_eq!(Model::Zero.apply(value), 0);
        }

        #[test]
        fn what_is_drawn_fits_the_width_and_changes_as_many_bits_as_it_says(
            kind in kind(), width in prop::sample::select(&WIDTHS[..]), value: u128, seed: u64,
        ) {
            let value = value & all(width);
            let drawn = kind.draw(&mut Draws::new(seed, 0), width);
            prop_assert_eq!(drawn.is_some(), kind.hits(width));
            if let Some(model) = drawn {
                prop_assert!(model.fits(width));
                let changed = model.apply(value) ^ value;
                prop_assert_eq!(changed & !all(width), 0);
                match kind {
                    ModelKind::Flip(flips) => {
                        prop_assert_eq!(changed.count_ones(), flips.count);
                        prop_assert_eq!(changed & !flips.among, 0);
                        let run = changed >> changed.trailing_zeros();
                        prop_assert!(!flips.adjacent || run == all(flips.count));
                    }
                    ModelKind::Zero => prop_assert_eq!(changed, value),
                    ModelKind::Stuck { mask, ones } => {
                        let stuck = if ones { !value } else { value };
                        prop_assert_eq!(changed, stuck & mask.get() & all(width));
                    }
                    ModelKind::Random => {}
                }
            }
        }

        #[test]
        fn a_kind_of_model_and_a_model_parse_to_what_printed_them(kind in kind(), seed: u64) {
            prop_assert_eq!(ModelKind::parse(&kind.to_string()), Ok(kind));
            for width in WIDTHS {
                if let Some(model) = kind.draw(&mut Draws::new(seed, 0), width) {
                    prop_assert_eq!(Model::parse(model.name(), &model.bits()), Ok(model));
                }
            }
        }
    }

    #[test]
    fn a_random_value_covers_every_bit_evenly() {
        let mut draws = Draws::new(7, 0);
        for width in WIDTHS {
            let mut ones = vec![0u32; width as usize];
            for _ in 0..4000 {
                let value = ModelKind::Random.draw(&mut draws, width).unwrap().apply(0);
                ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += (value >> bit) as u32 & 1);
            }
            // Six standard deviations of a fair coin thrown 4000 times.
            assert!(ones.iter().all(|ones| ones.abs_diff(2000) < 190), "width {width}: {ones:?}");
        }
    }

    #[test]
    fn every_bit_and_every_pair_is_drawn() {
        let mut draws = Draws::new(3, 0);
        for (kind, count) in [
            ("flip", 8),
            ("double", 7),
            ("double-any", 28),
            ("flip:3", 56),
            ("burst:6", 3),
            ("flip:2:0x8f", 10),
            ("burst:2:0x77", 4),
        ] {
            let kind = ModelKind::parse(kind).unwrap();
            let drawn: std::collections::BTreeSet<u128> =
                (0..2000).map(|_| kind.draw(&mut draws, 8).unwrap().apply(0)).collect();
            assert_eq!(drawn.len(), count, "{kind}");
        }
    }

    #[test]
    fn two_bits_hit_no_predicate() {
        assert!(
            !ModelKind::Flip(Flips::ADJACENT).hits(1)
                && !ModelKind::Flip(Flips::TWO).hits(1)
                && ModelKind::SINGLE.hits(1)
        );
        assert!(!ModelKind::parse("stuck1:0x100").unwrap().hits(8) && ModelKind::parse("stuck1:0x80").unwrap().hits(8));
        let hits = |word: &str, width: u32| ModelKind::parse(word).unwrap().hits(width);
        assert!(!hits("flip:5", 4) && hits("flip:4", 4) && hits("flip:2:0x5", 3) && !hits("flip:2:0x5", 2));
    }

    #[test]
    fn words_that_mean_nothing_are_refused() {
        for word in [
            "flip:0",
            "flip:129",
            "flip:",
            "flip:2:0x1",
            "burst:2:0x5",
            "flip:+1",
            "twist",
            "stuck1",
            "stuck1:12",
            "stuck0:0x0",
            "stuck2:0x1",
            "stuck1:0x",
        ] {
            assert!(ModelKind::parse(word).unwrap_err().to_string().contains("double-any"), "{word}");
        }
    }
}
