//! Several counts of events that come by chance: have they one rate?
//!
//! If they have, and their sum is given, the counts are multinomial with the shares of the exposures (J. Przyborowski & H.
//! Wilenski, *Homogeneity of results in testing samples from Poisson series*, Biometrika 31, 1940). The statistic is Pearson's. Its p-value is
//! exact where all counts of the sum can be listed: the chance of those whose statistic is at least as large. Otherwise it is that of χ².

use crate::chi_square::{ChiSquare, chi_square};

/// Lists of counts that are gone through, at most; more have the p-value of χ².
const MOST_LISTS: f64 = 1e6;

/// Shares by which two equal statistics may differ.
const ROUNDING: f64 = 1e-9;

/// The result of a test of several rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateHomogeneity {
    /// The test.
    pub test: ChiSquare,
    /// Whether the p-value is exact, and not that of χ².
    pub exact: bool,
    /// The smallest expected count; below five or so a p-value that is not exact is rough (W. G. Cochran, Biometrics 10, 1954).
    pub smallest: f64,
}

/// Tests counts of events, each with its exposure (a time, a fluence), all in one unit.
///
/// `None` if there are fewer than two counts, no events, or an exposure that is not a number above 0 or is too small beside the
/// others: then nothing can be compared.
#[must_use]
pub fn rate_homogeneity(counts: &[(u64, f64)]) -> Option<RateHomogeneity> {
    let all = counts.iter().try_fold(0_u64, |all, (count, _)| all.checked_add(*count)).filter(|all| *all > 0)?;
    let exposure: f64 = counts.iter().map(|(_, exposure)| exposure).sum();
    if !exposure.is_finite() || !counts.iter().all(|(_, exposure)| *exposure > 0.0) {
        return None;
    }
    let expected: Vec<f64> = counts.iter().map(|(_, part)| all as f64 * (part / exposure)).collect();
    let observed: Vec<u64> = counts.iter().map(|(count, _)| *count).collect();
    if expected.contains(&0.0) {
        return None;
    }
    let mut test = chi_square(&observed, &expected).ok()?;
    let exact = lists(all, counts.len()) <= MOST_LISTS;
    if exact {
        let mut tail = Tail::new(&expected, test.statistic * (1.0 - ROUNDING));
        tail.go_on(0, all, 0.0, 0.0);
        test.p = tail.chance.min(1.0);
    }
    Some(RateHomogeneity { test, exact, smallest: expected.iter().copied().fold(f64::INFINITY, f64::min) })
}

/// The number of lists of this many counts that have this sum.
fn lists(all: u64, parts: usize) -> f64 {
    let mut lists = 1.0_f64;
    // The binomial of all + parts - 1 over the lesser of both; it is large long before it has many factors.
    let lesser = all.min(parts as u64 - 1);
    let greater = all.max(parts as u64 - 1) as f64;
    for at in 1..=lesser {
        lists *= (greater + at as f64) / at as f64;
        if lists > MOST_LISTS {
            break;
        }
    }
    lists
}

/// The chance of all lists of counts whose statistic is at least a bound.
struct Tail<'a> {
    expected: &'a [f64],
    /// By place, the expected counts from there on.
    rests: Vec<f64>,
    bound: f64,
    chance: f64,
}

impl<'a> Tail<'a> {
    fn new(expected: &'a [f64], bound: f64) -> Self {
        let rests = (0..expected.len()).map(|at| expected[at..].iter().sum()).collect();
        Self { expected, rests, bound, chance: 0.0 }
    }

    /// Goes through the counts from `at` on, which have `left` events; those before have this statistic, and this logarithm of their chance.
    fn go_on(&mut self, at: usize, left: u64, statistic: f64, logarithm: f64) {
        let (expected, rest) = (self.expected[at], self.rests[at]);
        let of = |count: u64| statistic + (count as f64 - expected).powi(2) / expected;
        let last = self.expected.len() - 1;
        if left == 0 || at == last {
            // A count of nothing adds what is expected of it.
            let whole = if left == 0 { statistic + rest } else { of(left) };
            self.chance += if whole >= self.bound { logarithm.exp() } else { 0.0 };
            return;
        }
        // Of the events that are left, each is here with this chance: a binomial, by the ratios of its terms.
        let (here, elsewhere) = ((expected / rest).ln(), (self.rests[at + 1] / rest).ln());
        let mut binomial = 0.0;
        for count in 0..=left {
            let chance = binomial + count as f64 * here + (left - count) as f64 * elsewhere;
            self.go_on(at + 1, left - count, of(count), logarithm + chance);
            binomial += ((left - count) as f64 / (count + 1) as f64).ln();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_counts_of_equal_exposure_are_a_binomial() {
        // 9 and 1 of 10: both tails of the binomial with one half, 2 · 11 / 1024.
        let found = rate_homogeneity(&[(9, 1e11), (1, 1e11)]).unwrap();
        assert!(found.exact && (found.test.p - 22.0 / 1024.0).abs() < 1e-12, "{found:?}");
        assert!((found.test.statistic - 6.4).abs() < 1e-9 && found.test.dof == 1 && found.smallest == 5.0, "{found:?}");
        let even = rate_homogeneity(&[(5, 3.0), (5, 3.0)]).unwrap();
        assert!((even.test.p - 1.0).abs() < 1e-12, "{even:?}");
    }

    #[test]
    fn few_events_on_several_boards_are_listed() {
        // Both events on one of three: 3 of 9.
        let found = rate_homogeneity(&[(2, 1.0), (0, 1.0), (0, 1.0)]).unwrap();
        assert!(found.exact && (found.test.p - 1.0 / 3.0).abs() < 1e-12, "{found:?}");
        // Both of two events on one of a thousand boards.
        let found = rate_homogeneity(&(0..1000).map(|at| (2 * u64::from(at == 7), 1.0)).collect::<Vec<_>>()).unwrap();
        assert!(found.exact && (found.test.p - 1e-3).abs() < 1e-9, "{found:?}");
        // One event where a tenth of the exposure is.
        let found = rate_homogeneity(&[(1, 1.0), (0, 9.0)]).unwrap();
        assert!((found.test.p - 0.1).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn many_events_have_the_p_value_of_chi_square_and_it_is_near_the_exact_one() {
        let many = rate_homogeneity(&[(1000, 1.0), (1100, 1.0), (1010, 1.0), (990, 1.0)]).unwrap();
        assert!(!many.exact && many.test.dof == 3, "{many:?}");
        let listed = rate_homogeneity(&[(4000, 2.0), (2100, 1.0)]).unwrap();
        let approximate = ChiSquare::of(listed.test.statistic, 1).unwrap();
        assert!(listed.exact && (listed.test.p / approximate.p - 1.0).abs() < 0.03, "{listed:?} {approximate:?}");
        assert!(rate_homogeneity(&[(u64::MAX / 2, 1.0), (1, 1.0)]).is_some_and(|found| !found.exact));
    }

    #[test]
    fn where_nothing_can_be_compared_there_is_no_test() {
        for counts in [
            &[][..],
            &[(3, 1.0)],
            &[(0, 1.0), (0, 2.0)],
            &[(3, 0.0), (1, 1.0)],
            &[(3, f64::NAN), (1, 1.0)],
            &[(3, f64::MAX), (1, f64::MAX)],
            &[(u64::MAX, 1.0), (1, 1.0)],
            &[(3, 1e-320), (1, 1e300)],
        ] {
            assert_eq!(rate_homogeneity(counts), None, "{counts:?}");
        }
    }

    #[test]
    fn a_true_hypothesis_is_rejected_as_seldom_as_it_says() {
        const WORLDS: u64 = 2000;
        let exposures = [1.0, 2.0, 3.0];
        let rejected = (0..WORLDS).filter(|&world| {
            let mut draws = crate::Draws::new(5, world);
            let mut counts = exposures.map(|exposure| (0, exposure));
            for _ in 0..20 {
                let at = draws.unit() * 6.0;
                counts[usize::from(at >= 1.0) + usize::from(at >= 3.0)].0 += 1;
            }
            rate_homogeneity(&counts).is_some_and(|found| found.test.p < 0.05)
        });
        let share = rejected.count() as f64 / WORLDS as f64;
        assert!((0.02..0.062).contains(&share), "{share}");
    }
}
