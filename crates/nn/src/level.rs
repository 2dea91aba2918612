//! Loops compiled for several instruction-set levels, of which the best is chosen that the host has. All levels compute the same.

use pulp::bytemuck::Pod;

/// The best level of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Host {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    #[cfg(target_arch = "x86_64")]
    Avx512(pulp::x86::V4),
}

impl Host {
    pub(crate) fn best() -> Self {
        Self::all().into_iter().next_back().unwrap_or(Self::Baseline)
    }

    /// The levels that this host has, from the least.
    pub(crate) fn all() -> Vec<Self> {
        let mut found = vec![Self::Baseline];
        #[cfg(target_arch = "x86_64")]
        {
            found.extend(pulp::x86::V3::try_new().map(Self::Avx2));
            found.extend(pulp::x86::V4::try_new().map(Self::Avx512));
        }
        found
    }
}

/// Calls a method that is generic over the level, compiled for the best one.
macro_rules! at_level {
    ($host:expr, $level:ident => $call:expr) => {
        match $host {
            $crate::level::Host::Baseline => {
                let $level = $crate::level::Baseline;
                $call
            }
            #[cfg(target_arch = "x86_64")]
            $crate::level::Host::Avx2($level) => $level.vectorize(|| $call),
            #[cfg(target_arch = "x86_64")]
            $crate::level::Host::Avx512($level) => $level.vectorize(|| $call),
        }
    };
}
pub(crate) use at_level;

/// How many channels are worked on at once.
pub(crate) const WIDTH: usize = 16;

/// The loops that a level has instructions of its own for.
pub(crate) trait Level: Copy {
    /// The sums of [`WIDTH`] channels.
    type Sums: Pod;
    /// Whether [`f32::mul_add`] is one instruction.
    const FUSES: bool;
    #[inline(always)]
    fn load(self, sums: &[i32; WIDTH]) -> Self::Sums {
        pulp::cast(*sums)
    }
    #[inline(always)]
    fn store(self, sums: Self::Sums, to: &mut [i32; WIDTH]) {
        *to = pulp::cast(sums);
    }
    /// Adds the products of two inputs with their weights for each channel.
    fn products(self, sums: Self::Sums, weights: &[[i16; 2]; WIDTH], inputs: [i16; 2]) -> Self::Sums;
}

/// The loops without such instructions, for every host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Baseline;

/// The product of two pairs; its terms are those of bytes, so that nothing overflows.
#[inline(always)]
pub(crate) fn product([a, b]: [i16; 2], [x, y]: [i16; 2]) -> i32 {
    i32::from(a) * i32::from(x) + i32::from(b) * i32::from(y)
}

impl Level for Baseline {
    type Sums = [i32; WIDTH];
    const FUSES: bool = false;

    #[inline(always)]
    fn products(self, mut sums: Self::Sums, weights: &[[i16; 2]; WIDTH], inputs: [i16; 2]) -> Self::Sums {
        for (sum, &weights) in sums.iter_mut().zip(weights) {
            *sum += product(weights, inputs);
        }
        sums
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Level, WIDTH};
    use std::arch::x86_64::{__m256i, __m512i};

    impl Level for pulp::x86::V3 {
        type Sums = [__m256i; 2];
        const FUSES: bool = true;

        #[inline(always)]
        fn products(self, sums: Self::Sums, weights: &[[i16; 2]; WIDTH], inputs: [i16; 2]) -> Self::Sums {
            let inputs = self.avx._mm256_set1_epi32(pulp::cast(inputs));
            let weights: [__m256i; 2] = pulp::cast(*weights);
            [0, 1].map(|half| {
                let products = self.avx2._mm256_madd_epi16(weights[half], inputs);
                self.avx2._mm256_add_epi32(sums[half], products)
            })
        }
    }

    impl Level for pulp::x86::V4 {
        type Sums = __m512i;
        const FUSES: bool = true;

        #[inline(always)]
        fn products(self, sums: Self::Sums, weights: &[[i16; 2]; WIDTH], inputs: [i16; 2]) -> Self::Sums {
            let inputs = self.avx512f._mm512_set1_epi32(pulp::cast(inputs));
            let products = self.avx512bw._mm512_madd_epi16(pulp::cast(*weights), inputs);
            self.avx512f._mm512_add_epi32(sums, products)
        }
    }
}
