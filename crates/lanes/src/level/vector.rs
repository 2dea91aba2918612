//! What code compiled for a level can do.

use isa::semantics::approx::interpolator::picked;

/// Proof that the host has a level, and the way to run code compiled for it.
pub trait Level: Copy + 'static {
    /// Runs `f`, compiled for this level where it is inlined.
    fn run<R>(self, f: impl FnOnce() -> R) -> R;

    /// Whether each of 16 numbers is `step` more than the one before.
    ///
    /// A compiler takes a loop that compares and the first number apart, each in its way, and puts them together again
    /// at a cost of more than both; so the levels say what they do.
    #[inline(always)]
    fn is_progression32(self, numbers: &[u32; 16], step: u32) -> bool {
        (0..16).all(|at| numbers[at] == numbers[0].wrapping_add(at as u32 * step))
    }

    /// As [`is_progression32`](Self::is_progression32), of numbers with 64 bits.
    #[inline(always)]
    fn is_progression64(self, numbers: &[u64; 16], step: u64) -> bool {
        (0..16).all(|at| numbers[at] == numbers[0].wrapping_add(at as u64 * step))
    }

    /// Whether [`pick`](Self::pick) is faster than to look one by one.
    const PICKS: bool = false;

    /// The numbers of a table at 32 indices; the last for any behind it.
    #[inline(always)]
    fn pick(self, table: &[i32], indices: &[u32; 32]) -> [i32; 32] {
        indices.map(|index| picked(table, index))
    }
}

/// The lane loops as every machine has them.
#[derive(Clone, Copy)]
pub struct Baseline;

impl Level for Baseline {
    #[inline(always)]
    fn run<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Level;
    use isa::semantics::approx::interpolator::picked;
    use std::arch::x86_64::{__m256i, __m512i};
    use std::array::from_fn;

    macro_rules! is_progression {
        ($level:expr, $numbers:expr, $step:expr, $t:ty, $vectors:literal, $set1:ident, $add:ident) => {{
            let (level, numbers, step) = ($level, $numbers, $step);
            let steps: [__m256i; $vectors] = pulp::cast::<[$t; 16], _>(from_fn(|at| step * at as $t));
            let found: [__m256i; $vectors] = pulp::cast(*numbers);
            let first = level.avx.$set1(numbers[0] as _);
            let mut different = level.avx._mm256_setzero_si256();
            for at in 0..$vectors {
                let expected = level.avx2.$add(first, steps[at]);
                different = level.avx2._mm256_or_si256(different, level.avx2._mm256_xor_si256(found[at], expected));
            }
            level.avx._mm256_testz_si256(different, different) != 0
        }};
    }

    /// The numbers of a table of 64 at 16 indices, of which higher bits are of no interest.
    #[inline(always)]
    fn pick16(level: pulp::x86::V4, table: &[i32; 64], indices: __m512i) -> __m512i {
        let avx = level.avx512f;
        let [a, b, c, d]: [__m512i; 4] = pulp::cast(*table);
        let low = avx._mm512_permutex2var_epi32(a, indices, b);
        let high = avx._mm512_permutex2var_epi32(c, indices, d);
        avx._mm512_mask_blend_epi32(avx._mm512_test_epi32_mask(indices, avx._mm512_set1_epi32(32)), low, high)
    }

    macro_rules! levels {
        ($($level:ty { $($more:tt)* })*) => { $(impl Level for $level {
            #[inline(always)]
            fn run<R>(self, f: impl FnOnce() -> R) -> R {
                self.vectorize(f)
            }

            #[inline(always)]
            fn is_progression32(self, numbers: &[u32; 16], step: u32) -> bool {
                is_progression!(self, numbers, step, u32, 2, _mm256_set1_epi32, _mm256_add_epi32)
            }

            #[inline(always)]
            fn is_progression64(self, numbers: &[u64; 16], step: u64) -> bool {
                is_progression!(self, numbers, step, u64, 4, _mm256_set1_epi64x, _mm256_add_epi64)
            }

            $($more)*
        })* };
    }
    levels! {
        pulp::x86::V3 {}
        pulp::x86::V4 {
            const PICKS: bool = true;

            #[inline(always)]
            fn pick(self, table: &[i32], indices: &[u32; 32]) -> [i32; 32] {
                let (chunks, rest) = table.as_chunks();
                let ([first, more @ ..], []) = (chunks, rest) else { return indices.map(|index| picked(table, index)) };
                let halves: [__m512i; 2] = pulp::cast(*indices);
                let mut found = [pick16(self, first, halves[0]), pick16(self, first, halves[1])];
                if let [second, ..] = more {
                    let upper = self.avx512f._mm512_set1_epi32(64);
                    for (found, half) in found.iter_mut().zip(halves) {
                        let in_second = self.avx512f._mm512_test_epi32_mask(half, upper);
                        let other = pick16(self, second, half);
                        *found = self.avx512f._mm512_mask_blend_epi32(in_second, *found, other);
                    }
                }
                pulp::cast(found)
            }
        }
    }
}
