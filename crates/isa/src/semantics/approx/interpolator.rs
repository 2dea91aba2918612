//! The one datapath of all special functions: a quadratic in what is left of the argument, for each segment of it.
//!
//! The upper bits of a significand choose a segment, the 17 bits behind them are x. The unit adds `c0`, `c1·x` and
//! `c2·x²` with integers from a table, exactly but for x², of whose partial products those below 2¹⁸ are not formed; the
//! result is the upper 24 bits of the sum. S. F. Oberman and M. Y. Siu describe such a unit ("A high-performance
//! area-efficient multifunction interpolator", ARITH-17, 2005); where its parts stand to one another is told by envytools
//! (`nvhw/sfu.c`) for older GPUs, and was found to hold for an H200 from what it answers.
//!
//! A sum has up to 41 bits. It is computed in words of 32, so that eight lanes fit into a vector: the bits from `split`
//! on, and the lower 32.

use super::word::select;

/// The coefficients of 1, x and x².
pub type Segment = [i32; 3];

/// The coefficients of a function with `N` segments. The lowest bit of `c1·x` counts as 1, that of `c0` as 2 to the power
/// `CONSTANT`, that of `c2` times [`square`] of x as 2 to the power `SQUARE`.
///
/// As they are looked up, the coefficients of x and x² share a word.
#[derive(Clone, Debug)]
pub struct Table<const N: usize, const CONSTANT: u32, const SQUARE: u32> {
    bias: i32,
    /// The least coefficient of x², from which the others are counted.
    least: i32,
    constants: [i32; N],
    slopes: [i32; N],
}

/// What is looked up, by segment: the coefficient of 1, and the word that those of x and x² share.
pub type Columns = [&'static [i32]; 2];

/// How both numbers of a segment are found: for all lanes of a vector that may be faster than for one after the other.
pub trait Look: Fn(Columns, u32) -> [i32; 2] {}

impl<F: Fn(Columns, u32) -> [i32; 2]> Look for F {}

/// Both numbers of a segment; of the last for any behind it.
#[inline(always)]
#[must_use]
pub fn at(columns: Columns, segment: u32) -> [i32; 2] {
    columns.map(|column| picked(column, segment))
}

/// The number of a table at an index; the last for any behind it.
#[inline(always)]
#[must_use]
pub fn picked(table: &[i32], index: u32) -> i32 {
    table[(index as usize).min(table.len() - 1)]
}

/// Bits that the coefficient of x has in its word, with its sign; that of x² has the others.
const SLOPE: u32 = 18;

impl<const N: usize, const CONSTANT: u32, const SQUARE: u32> Table<N, CONSTANT, SQUARE> {
    /// A table of these segments, ascending. `bias` is added to every sum: it makes of truncation the rounding that a
    /// function has, and makes up for what the squares leave out.
    pub(super) const fn new(bias: i32, segments: [Segment; N]) -> Self {
        let (mut constants, mut slopes, mut least, mut at) = ([0; N], [0; N], i32::MAX, 0);
        while at < N {
            least = if segments[at][2] < least { segments[at][2] } else { least };
            at += 1;
        }
        while at > 0 {
            at -= 1;
            let [c0, c1, c2] = segments[at];
            let above = c2 - least;
            assert!(
                c1 << (32 - SLOPE) >> (32 - SLOPE) == c1 && above >> (32 - SLOPE) == 0,
                "a coefficient is too large"
            );
            constants[at] = c0;
            slopes[at] = c1 & ((1 << SLOPE) - 1) | above << SLOPE;
        }
        Self { bias, least, constants, slopes }
    }

    /// The sum for an x of a segment; the last segment for any behind it.
    #[inline(always)]
    #[must_use]
    pub fn sum<const SPLIT: u32>(&'static self, look: impl Look, segment: u32, x: u32) -> Sum {
        let [c0, slopes] = look([&self.constants, &self.slopes], segment);
        let c1 = slopes << (32 - SLOPE) >> (32 - SLOPE);
        let c2 = (slopes as u32 >> SLOPE) as i32 + self.least;
        let squares = c2.wrapping_mul((square(x) << SQUARE) as i32).wrapping_add(self.bias);
        let (high, low) = ((x >> SPLIT) as i32, (x & ((1 << SPLIT) - 1)) as i32);
        let below = c1.wrapping_mul(low).wrapping_add(squares);
        let above = (c0 << (CONSTANT - SPLIT)).wrapping_add(c1.wrapping_mul(high));
        let lower = (c0 << CONSTANT).wrapping_add(c1.wrapping_mul(high) << SPLIT).wrapping_add(below);
        Sum { upper: above.wrapping_add(below >> SPLIT) as u32, lower: lower as u32 }
    }
}

/// A sum in two words.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    /// Its bits from the split on.
    pub upper: u32,
    /// Its lowest 32 bits.
    pub lower: u32,
}

impl Sum {
    /// The sum as a number of at least 24 bits and what its lowest bit counts more than the sum's; `split` is at most 8,
    /// and the sum below 2³⁹.
    #[inline(always)]
    #[must_use]
    pub fn leading(self, split: i32) -> (u32, i32) {
        let large = self.upper >= 1 << 23;
        (select(large, self.upper, self.lower), select(large, split, 0))
    }
}

/// Bits of x.
pub const BITS: u32 = 17;

/// x² / 2¹⁹ for an x of 17 bits, from the partial products of 2¹⁸ and above.
///
/// Bits i and j of x make one of 2^(i+j). The upper eight bits are all far enough up to make a whole square; each of
/// them meets of the lower nine those that reach 2¹⁸ with it; two of the lower nine never do.
#[inline(always)]
#[must_use]
pub fn square(x: u32) -> u32 {
    let (high, low) = (x >> 9, x & 0x1ff);
    let meets = |bit: u32| (high >> bit & 1).wrapping_neg() & (low >> (9 - bit));
    let mixed = (meets(1) + meets(2)) + (meets(3) + meets(4)) + (meets(5) + meets(6)) + meets(7);
    ((high * high) >> 1) + mixed
}

/// A number below 2³¹ times 2 to a power, of which the upper 24 bits remain.
#[inline(always)]
#[must_use]
pub fn truncated(number: u32, exponent: i32) -> f32 {
    let spill = number >> 24;
    let spill = spill | spill >> 1;
    let spill = spill | spill >> 2;
    let spill = spill | spill >> 4;
    let exact = (number & !spill) as i32 as f32;
    exact * f32::from_bits(((127 + exponent) << 23) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_the_sum_of_the_partial_products_from_two_to_the_18() {
        let by_rows = |x: u32| {
            let rows = (0..BITS).filter(|i| x >> i & 1 == 1).map(|i| u64::from(x) << i >> 18 << 18);
            rows.sum::<u64>() >> 19
        };
        for x in 0..1 << BITS {
            assert_eq!(u64::from(square(x)), by_rows(x), "{x:#x}");
        }
    }

    #[test]
    fn a_sum_in_two_words_is_the_whole_one() {
        static TABLE: Table<2, 15, 1> = Table::new(0x7fff, [[33_554_432, 65_535, -506], [3_690_285, -29_501, -9823]]);
        for (segment, [c0, c1, c2]) in [(0, [33_554_432, 65_535, -506]), (1, [3_690_285, -29_501, -9823])] {
            for x in (0..1 << BITS).step_by(37) {
                let whole = (c0 << 15) + 0x7fff + c1 * i64::from(x) + c2 * i64::from(square(x) << 1);
                let sum = TABLE.sum::<9>(at, segment, x);
                assert_eq!((sum.upper, sum.lower), ((whole >> 9) as u32, whole as u32), "{segment} {x:#x}");
            }
        }
    }

    #[test]
    fn truncation_keeps_24_bits() {
        assert_eq!(truncated(0x7fff_ffff, 0), 2_147_483_520.0);
        assert_eq!(truncated(0x0100_0001, -1), 8_388_608.0);
        assert_eq!(truncated(5, -3), 0.625);
    }
}
