//! Cells along an axis whose length is not known beforehand.

use crate::measure::{ClassMasses, FaultClass, Mass};

/// The most bins there are.
const BINS: u64 = 32;

/// Up to 32 bins of equal width, a power of two; the width doubles whenever a number lies beyond the last. So every bin
/// is exact, whatever the order in which numbers come.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Doubling {
    width: u64,
    bins: Vec<ClassMasses>,
}

impl Default for Doubling {
    fn default() -> Self {
        Self { width: 1, bins: Vec::new() }
    }
}

impl Doubling {
    pub(crate) fn add(&mut self, at: u64, class: impl Into<FaultClass>, mass: Mass) {
        while at / self.width >= BINS {
            self.double();
        }
        let bin = (at / self.width) as usize;
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, ClassMasses::default());
        }
        self.bins[bin].add(class, mass);
    }

    /// Adds all bins of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        while self.width < other.width {
            self.double();
        }
        for (from, _, cell) in other.bins() {
            while from / self.width >= BINS {
                self.double();
            }
            let bin = (from / self.width) as usize;
            if self.bins.len() <= bin {
                self.bins.resize(bin + 1, ClassMasses::default());
            }
            self.bins[bin].merge(cell);
        }
    }

    fn double(&mut self) {
        self.width *= 2;
        let joined = self.bins.chunks(2).map(|pair| {
            let mut cell = pair[0];
            pair.iter().skip(1).for_each(|other| cell.merge(other));
            cell
        });
        self.bins = joined.collect();
    }

    /// The first number of each bin, the last, and its cell.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (u64, u64, &ClassMasses)> {
        let from = |bin: usize| bin as u64 * self.width;
        self.bins.iter().enumerate().map(move |(bin, cell)| (from(bin), from(bin) + (self.width - 1), cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcome::Class;

    #[test]
    fn bins_are_exact_whatever_the_order() {
        let numbers: Vec<u64> = (0..500).map(|n| n * 37 % 401).collect();
        let fill = |numbers: &mut dyn Iterator<Item = u64>| {
            let mut bins = Doubling::default();
            numbers.for_each(|n| bins.add(n, Class::Sdc, Mass::of(1)));
            bins
        };
        let bins = fill(&mut numbers.iter().copied());
        assert_eq!(bins, fill(&mut numbers.iter().rev().copied()));
        for (from, to, cell) in bins.bins() {
            let expected = numbers.iter().filter(|&&n| (from..=to).contains(&n)).count() as u64;
            assert_eq!(cell.sdc.count, expected, "{from} to {to}");
        }
        assert_eq!(bins.bins().count(), 26);
    }

    #[test]
    fn joined_bins_are_those_of_all_numbers() {
        let (mut all, mut parts) = (Doubling::default(), [Doubling::default(), Doubling::default()]);
        for n in 0..300_u64 {
            let at = if n % 2 == 0 { n % 20 } else { n * 11 };
            all.add(at, Class::Sdc, Mass::of(1));
            parts[n as usize % 2].add(at, Class::Sdc, Mass::of(1));
        }
        let [a, b] = parts;
        for (first, second) in [(&a, &b), (&b, &a)] {
            let mut joined = Doubling::default();
            joined.merge(first);
            joined.merge(second);
            assert_eq!(joined, all);
        }
    }

    #[test]
    fn the_largest_number_has_a_bin() {
        let mut bins = Doubling::default();
        bins.add(u64::MAX, Class::Due, Mass::of(1));
        assert_eq!(bins.bins().last().map(|(_, to, cell)| (to, cell.due.count)), Some((u64::MAX, 1)));
    }
}
