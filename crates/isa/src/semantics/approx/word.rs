//! The parts of a single, as the special function unit looks at them: a subnormal is a zero.

pub(super) use std::hint::select_unpredictable as select;

pub(super) const SIGN: u32 = 0x8000_0000;
pub(super) const INFINITY: u32 = 0x7f80_0000;

#[derive(Clone, Copy)]
pub(super) struct Word {
    /// The sign bit, in its place.
    pub(super) sign: u32,
    /// The biased exponent.
    pub(super) biased: u32,
    /// The 23 bits behind the leading one.
    pub(super) fraction: u32,
}

impl Word {
    #[inline(always)]
    pub(super) fn of(x: f32) -> Self {
        let bits = x.to_bits();
        Self { sign: bits & SIGN, biased: bits >> 23 & 0xff, fraction: bits & 0x7f_ffff }
    }

    #[inline(always)]
    pub(super) fn exponent(self) -> i32 {
        self.biased as i32 - 127
    }

    /// The significand with its leading one.
    #[inline(always)]
    pub(super) fn significand(self) -> u32 {
        self.fraction | 0x80_0000
    }

    #[inline(always)]
    pub(super) fn is_zero(self) -> bool {
        self.biased == 0
    }

    #[inline(always)]
    pub(super) fn is_infinite(self) -> bool {
        (self.biased == 0xff) & (self.fraction == 0)
    }

    #[inline(always)]
    pub(super) fn is_nan(self) -> bool {
        (self.biased == 0xff) & (self.fraction != 0)
    }
}

/// The bits of `value`·2^`exponent`, which is positive and below 2¹²⁸; zero where that is subnormal.
#[inline(always)]
pub(super) fn scale(value: f32, exponent: i32) -> u32 {
    let bits = (value.to_bits() as i32).wrapping_add(exponent << 23);
    select(bits < 0x80_0000, 0, bits as u32)
}

/// The number with this significand, whose leading one may have moved up by one, and a biased exponent.
#[inline(always)]
pub(super) fn from_24_bits(biased: u32, significand: u32) -> f32 {
    f32::from_bits(((biased - 1) << 23) + significand)
}
