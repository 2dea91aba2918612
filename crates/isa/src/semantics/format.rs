//! Binary formats of at most 16 bits and TF32: rounding to them from a double, and their exact value.

use super::float::NAN32;

/// Where an inexact result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// `.rn`: to nearest, ties to even.
    Nearest,
    /// `.rna`: to nearest, ties away from zero.
    Away,
    /// `.rz`
    Zero,
    /// `.rm`
    Minus,
    /// `.rp`
    Plus,
}

/// A binary format; its bits fill the low end of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// Bits after the point.
    pub(super) fraction: u32,
    /// What is added to the exponent.
    pub(super) bias: i32,
    /// The sign bit.
    pub(super) sign: u32,
    /// The largest number.
    pub(super) largest: u32,
    /// Infinity, or the NaN where the format has none.
    pub(super) infinity: u32,
    /// The NaN that instructions produce.
    pub(super) nan: u32,
}

/// `.e4m3`, which has no infinity.
pub const E4M3: FloatFormat =
    FloatFormat { fraction: 3, bias: 7, sign: 0x80, largest: 0x7e, infinity: 0x7f, nan: 0x7f };
/// `.e5m2`
pub const E5M2: FloatFormat =
    FloatFormat { fraction: 2, bias: 15, sign: 0x80, largest: 0x7b, infinity: 0x7c, nan: 0x7f };
/// `.tf32`, without the 13 low bits of the single that holds it.
pub(super) const TF32: FloatFormat =
    FloatFormat { fraction: 10, bias: 127, sign: 0x4_0000, largest: 0x3_fbff, infinity: 0x3_fc00, nan: 0x3_ffff };

const HIDDEN: u64 = 1 << 52;
const INFINITY: u64 = 0x7ff << 52;

impl FloatFormat {
    /// The nearest bits to a double, in a rounding mode.
    #[inline(always)]
    pub(super) fn encode(self, rounding: Rounding, x: f64) -> u32 {
        let (bits, negative) = (x.to_bits(), x.is_sign_negative());
        let magnitude = bits & (u64::MAX >> 1);
        let exponent = (magnitude >> 52) as i32 - 1023;
        let least = 1 - self.bias;
        let significand = (magnitude & (HIDDEN - 1)) | if magnitude < HIDDEN { 0 } else { HIDDEN };
        // A subnormal loses one more bit for each step that its exponent is below the least. Beyond 60 none is left.
        let drop = (52 - self.fraction as i32 + (least - exponent).max(0)).min(60) as u32;
        let (kept, rest, half) = (significand >> drop, significand & ((1 << drop) - 1), 1u64 << (drop - 1));
        let up = match rounding {
            Rounding::Nearest => (rest > half) | ((rest == half) & (kept & 1 == 1)),
            Rounding::Away => rest >= half,
            Rounding::Zero => false,
            Rounding::Minus => (rest != 0) & negative,
            Rounding::Plus => (rest != 0) & !negative,
        };
        // The hidden bit of a normal number counts as one step of the exponent.
        let rounded = (kept as u32 + u32::from(up)) + (((exponent - least).max(0) as u32) << self.fraction);
        let beyond = match (rounding, negative) {
            (Rounding::Zero, _) | (Rounding::Minus, false) | (Rounding::Plus, true) => self.largest,
            _ => self.infinity,
        };
        let finite = if rounded > self.largest { beyond } else { rounded };
        let number = if magnitude == INFINITY { self.infinity } else { finite };
        if magnitude > INFINITY { self.nan } else { number | if negative { self.sign } else { 0 } }
    }

    /// The number, exactly.
    #[inline(always)]
    pub(super) fn decode(self, bits: u32) -> f32 {
        let magnitude = bits & (self.sign - 1);
        // As a single the exponent is too small by the difference of the biases; a multiplication mends that, and
        // normalizes a subnormal.
        let scale = f32::from_bits(((254 - self.bias) as u32) << 23);
        let number = (f32::from_bits(magnitude << (23 - self.fraction)) * scale).to_bits();
        let is_infinite = (magnitude == self.infinity) & (self.infinity != self.nan);
        let absolute = if magnitude <= self.largest { number } else { 0x7f80_0000 };
        let sign = if bits & self.sign == 0 { 0 } else { 0x8000_0000 };
        f32::from_bits(if (magnitude > self.largest) & !is_infinite { NAN32 } else { absolute | sign })
    }

    /// The format as `.satfinite` sees it: what lies beyond the largest number becomes it.
    #[inline(always)]
    #[must_use]
    pub(super) fn saturating(self) -> Self {
        Self { infinity: self.largest, ..self }
    }
}

/// A number of 16 bits.
pub trait Narrow: Copy {
    /// Its format.
    const FORMAT: FloatFormat;
    /// The number that these bits are.
    fn from_bits(bits: u32) -> Self;
    /// The bits.
    fn bits(self) -> u32;
}

/// `.f16`: half precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct F16(pub u16);

/// `.bf16`: the upper half of a single.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bf16(pub u16);

macro_rules! narrow {
    ($($t:ident $format:expr;)*) => { $(impl Narrow for $t {
        const FORMAT: FloatFormat = $format;
        #[inline(always)]
        fn from_bits(bits: u32) -> Self { Self(bits as u16) }
        #[inline(always)]
        fn bits(self) -> u32 { u32::from(self.0) }
    })* };
}
narrow! {
    F16 FloatFormat { fraction: 10, bias: 15, sign: 0x8000, largest: 0x7bff, infinity: 0x7c00, nan: 0x7fff };
    Bf16 FloatFormat { fraction: 7, bias: 127, sign: 0x8000, largest: 0x7f7f, infinity: 0x7f80, nan: 0x7fff };
}

/// Two numbers in a register of 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair<T> {
    /// The number in the low bits.
    pub low: T,
    /// The number in the high bits.
    pub high: T,
}

/// `.f16x2`
pub type F16x2 = Pair<F16>;
/// `.bf16x2`
pub type Bf16x2 = Pair<Bf16>;

impl<T: Narrow> Pair<T> {
    /// The pair that these bits are.
    #[inline(always)]
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self { low: T::from_bits(bits & 0xffff), high: T::from_bits(bits >> 16) }
    }

    /// The bits.
    #[inline(always)]
    #[must_use]
    pub fn bits(self) -> u32 {
        self.high.bits() << 16 | self.low.bits()
    }

    /// What `f` makes of each.
    #[inline(always)]
    #[must_use]
    pub fn map(self, f: impl Fn(T) -> T) -> Self {
        Self { low: f(self.low), high: f(self.high) }
    }

    /// What `f` makes of each and its like in another pair.
    #[inline(always)]
    #[must_use]
    pub fn zip(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        Self { low: f(self.low, other.low), high: f(self.high, other.high) }
    }

    /// What `f` makes of each and its likes in two other pairs.
    #[inline(always)]
    #[must_use]
    pub fn zip3(self, second: Self, third: Self, f: impl Fn(T, T, T) -> T) -> Self {
        Self { low: f(self.low, second.low, third.low), high: f(self.high, second.high, third.high) }
    }
}
