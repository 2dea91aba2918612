//! Counts of numbers over many orders of magnitude, in bounded memory.

/// Numbers below this have a bin each.
const EXACT: u64 = 16;
/// Bins of each doubling above.
const PER_DOUBLING: u64 = 8;

/// Counts of whole numbers: each below 16 by itself, above in bins of an eighth of a doubling (at most 12.5 % wide).
///
/// The last number of a bin bounds it, so that "so many are at most x" is exact at every bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Logarithmic {
    bins: Vec<u64>,
    total: u64,
    largest: u64,
}

impl Logarithmic {
    pub(crate) fn add(&mut self, value: u64) {
        let bin = bin_of(value);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
        self.total += 1;
        self.largest = self.largest.max(value);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Each bound below which a number lies that lies below none before, and how many are at most there.
    pub(crate) fn cumulative(&self) -> Vec<(u64, u64)> {
        let mut sum = 0;
        let filled = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
        let points = filled.map(|(bin, count)| {
            sum += count;
            (last_of(bin).min(self.largest), sum)
        });
        points.collect()
    }
}

fn bin_of(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    let doubling = u64::from(value.ilog2());
    let within = (value >> (doubling - 3)) & (PER_DOUBLING - 1);
    (EXACT + (doubling - 4) * PER_DOUBLING + within) as usize
}

/// The largest number of a bin.
fn last_of(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < EXACT {
        return bin;
    }
    let (doubling, within) = ((bin - EXACT) / PER_DOUBLING + 4, (bin - EXACT) % PER_DOUBLING);
    // The next bin's first number less one; written so that the last of all does not overflow.
    (1 << doubling) + (within << (doubling - 3)) + ((1 << (doubling - 3)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_in_the_bin_that_ends_at_or_after_it() {
        let numbers = (0..5000).chain((0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit])).chain([u64::MAX]);
        for number in numbers {
            let bin = bin_of(number);
            assert!(last_of(bin) >= number, "{number}");
            assert!(bin == 0 || last_of(bin - 1) < number, "{number}");
        }
    }

    #[test]
    fn the_counts_at_the_bounds_are_exact() {
        let mut counts = Logarithmic::default();
        let numbers: Vec<u64> = (0..1000).map(|n| n * n % 977).collect();
        numbers.iter().for_each(|&n| counts.add(n));
        for (bound, count) in counts.cumulative() {
            assert_eq!(count, numbers.iter().filter(|&&n| n <= bound).count() as u64, "at most {bound}");
        }
        assert_eq!(counts.cumulative().last(), Some(&(976, 1000)));
        assert_eq!(Logarithmic::default().cumulative(), []);
    }
}
