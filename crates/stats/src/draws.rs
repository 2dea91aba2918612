//! Random numbers that are a function of (seed, run, draw) and of nothing else.
//!
//! A generator with a state would tie a run to all runs before it. A counter-based one does not: any run can be
//! repeated alone, in any order, on any machine, and its numbers never change because a library did.
//!
//! The function is Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror & D. E. Shaw, *Parallel random numbers:
//! as easy as 1, 2, 3*, SC 2011, which passes the BigCrush battery. Its 64-bit key is the seed; its 128-bit counter
//! is the run (high half) and the number of the draw (low half). Tested against the authors' published vectors.

const ROUNDS: usize = 10;
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// Added to the key between rounds: the golden ratio and √3 - 1 as fractions of 2³².
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The random numbers of one run, by index with [`draw`](Self::draw) or in succession with [`next`](Self::next).
#[derive(Clone, Debug)]
pub struct Draws {
    seed: u64,
    run: u64,
    next: u64,
}

impl Draws {
    /// The draws of run `run` of the campaign with seed `seed`, from the first.
    #[must_use]
    pub fn new(seed: u64, run: u64) -> Self {
        Self { seed, run, next: 0 }
    }

    /// Draw number `k`, uniform over all 64-bit values; does not move the succession.
    ///
    /// One evaluation of Philox yields two draws: its words 0 and 1 (low, high) for even `k`, 2 and 3 for odd.
    #[must_use]
    pub fn draw(&self, k: u64) -> u64 {
        let (block, half) = (k / 2, (k % 2) as usize);
        let counter = [low(block), high(block), low(self.run), high(self.run)];
        let words = philox(counter, [low(self.seed), high(self.seed)]);
        u64::from(words[2 * half]) | u64::from(words[2 * half + 1]) << 32
    }

    /// The next draw in succession.
    #[expect(clippy::should_implement_trait, reason = "an endless, infallible succession is not an iterator")]
    pub fn next(&mut self) -> u64 {
        let value = self.draw(self.next);
        self.next = self.next.wrapping_add(1);
        value
    }

    /// A number uniform over `0..bound`, exactly; none if the bound is 0. D. Lemire, *Fast random integer generation in an interval*, ACM
    /// TOMACS 29(1), 2019.
    ///
    /// Takes one draw, and one more for each that falls into the part of the range that would favour some values:
    /// for a bound b the chance is (2⁶⁴ mod b) / 2⁶⁴, below one half.
    pub fn below(&mut self, bound: u64) -> Option<u64> {
        let favoured = bound.wrapping_neg().checked_rem(bound)?;
        loop {
            let product = u128::from(self.next()) * u128::from(bound);
            if product as u64 >= favoured {
                return Some((product >> 64) as u64);
            }
        }
    }

    /// A number uniform over 0 to 1, without 1: a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of these, each with the same chance; none if there are none.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len() as u64)? as usize)
    }
}

fn low(value: u64) -> u32 {
    value as u32
}

fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

/// Philox4x32-10: each round multiplies two words, swaps the halves of the products, and mixes in the key.
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..ROUNDS {
        if round > 0 {
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        let a = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
        let b = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chi_square;

    #[test]
    fn philox_agrees_with_the_vectors_published_with_random123() {
        // Random123, tests/kat_vectors, lines "philox4x32 10"; the third is made of digits of pi.
        let ones = u32::MAX;
        let vectors = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([ones; 4], [ones; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, expected) in vectors {
            assert_eq!(philox(counter, key), expected);
        }
    }

    #[test]
    fn draws_are_the_words_of_philox_in_the_stated_order() {
        let draws = Draws::new(0, 0);
        assert_eq!(draws.draw(0), 0xe169_c58d_6627_e8d5);
        assert_eq!(draws.draw(1), 0x9b00_dbd8_bc57_ac4c);
    }

    #[test]
    fn seed_run_and_draw_each_change_the_number() {
        let base = Draws::new(1, 2).draw(3);
        for other in [Draws::new(2, 2).draw(3), Draws::new(1, 3).draw(3), Draws::new(1, 2).draw(4)] {
            assert_ne!(base, other);
        }
        assert_ne!(Draws::new(1 << 32, 0).draw(0), Draws::new(1, 0).draw(0));
        assert_ne!(Draws::new(0, 1 << 32).draw(0), Draws::new(0, 1).draw(0));
    }

    #[test]
    fn the_succession_is_the_draws_by_index() {
        let mut succession = Draws::new(7, 9);
        let fixed = succession.clone();
        for k in 0..100 {
            assert_eq!(succession.next(), fixed.draw(k));
        }
    }

    #[test]
    fn below_is_even_for_bounds_that_do_not_divide_the_range() {
        for bound in [1_u64, 2, 3, 7, 10, 33] {
            let mut draws = Draws::new(42, bound);
            let mut observed = vec![0_u64; bound as usize];
            for _ in 0..20_000 {
                observed[draws.below(bound).unwrap() as usize] += 1;
            }
            let expected = vec![20_000.0 / bound as f64; bound as usize];
            if bound > 1 {
                assert!(chi_square(&observed, &expected).unwrap().p > 1e-3, "bound {bound}: {observed:?}");
            }
        }
    }

    #[test]
    fn nothing_is_below_zero() {
        let mut draws = Draws::new(1, 1);
        assert_eq!((draws.below(0), draws.one_of(&[0u8; 0]), draws.one_of(&[7])), (None, None, Some(&7)));
    }

    #[test]
    fn below_rejects_by_taking_the_next_draw() {
        // A bound just above 2⁶³ rejects nearly half of all draws, so 64 results need more than 64 draws, and each
        // result is the first acceptable draw from where the last one ended.
        let bound = (1 << 63) + 1;
        let mut draws = Draws::new(5, 5);
        let results: Vec<u64> = (0..64).filter_map(|_| draws.below(bound)).collect();
        assert!(results.iter().all(|&value| value < bound));
        assert!(draws.next > 64 + 16, "{} draws", draws.next);
        let mut again = Draws::new(5, 5);
        assert!(results.iter().all(|&value| again.below(bound) == Some(value)));
    }

    #[test]
    fn every_bit_is_set_half_of_the_time() {
        let mut ones = [0_u64; 64];
        for run in 0..20_000 {
            let value = Draws::new(3, run).draw(0);
            for (bit, count) in ones.iter_mut().enumerate() {
                *count += value >> bit & 1;
            }
        }
        // Five standard deviations of a binomial(20000, 1/2) are 354.
        assert!(ones.iter().all(|&count| count.abs_diff(10_000) < 354), "{ones:?}");
    }
}
