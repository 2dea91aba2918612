//! Against closed forms, against each other, and by simulated coverage.

use super::*;
use crate::draws::Draws;

const METHODS: [IntervalKind; 2] = [IntervalKind::Wilson, IntervalKind::ClopperPearson];

fn stratum(weight: f64, successes: u64, trials: u64) -> StratumSample {
    StratumSample { weight, sample: Proportion::new(successes, trials).unwrap() }
}

fn interval(strata: &[StratumSample], method: IntervalKind) -> Interval {
    Stratified::new(strata).interval(method, Confidence::PERCENT_95)
}

fn close(one: Interval, other: Interval, tolerance: f64) -> bool {
    (one.low - other.low).abs() <= tolerance && (one.high - other.high).abs() <= tolerance
}

#[test]
fn one_stratum_is_a_plain_proportion() {
    for (x, n) in [(0, 10), (1, 29), (15, 148), (81, 263), (7, 7), (3, 1_000_000), (999_999, 1_000_000)] {
        for method in METHODS {
            let plain = Proportion::new(x, n).unwrap().interval(method, Confidence::PERCENT_95);
            let found = interval(&[stratum(3.0, x, n)], method);
            assert!(close(found, plain, 1e-9), "{method:?} of {x}/{n}: {found:?} instead of {plain:?}");
        }
    }
}

#[test]
fn strata_that_are_alike_in_everything_are_one_sample() {
    // Proportional allocation and equal rates: what is known is what the joined sample says.
    for (x, n) in [(0, 50), (2, 50), (25, 50), (50, 50)] {
        let strata = [stratum(0.25, x, n); 4];
        let joined = Proportion::new(4 * x, 4 * n).unwrap().wilson(Confidence::PERCENT_95);
        let found = interval(&strata, IntervalKind::Wilson);
        assert!(close(found, joined, 1e-9), "{x}/{n}: {found:?} instead of {joined:?}");
    }
}

#[test]
fn the_estimate_and_its_variance_are_cochrans() {
    // W = (0.2, 0.8), p = (0.5, 0.1): 0.18; 0.04 × 0.25/10 + 0.64 × 0.09/20.
    let strata = Stratified::new(&[stratum(2.0, 5, 10), stratum(8.0, 2, 20)]);
    assert!((strata.rate().unwrap() - 0.18).abs() < 1e-12);
    assert!((strata.variance().unwrap() - (0.04 * 0.025 + 0.64 * 0.0045)).abs() < 1e-12);
}

#[test]
fn the_score_interval_is_where_the_test_stops_rejecting() {
    // The constrained rates found by brute force instead of by a multiplier.
    let strata = [stratum(0.3, 2, 40), stratum(0.7, 9, 30)];
    let high = interval(&strata, IntervalKind::Wilson).high;
    let likelihood = |p: f64, s: &StratumSample| {
        let (x, n) = (s.sample.successes() as f64, s.sample.trials() as f64);
        x * p.ln() + (n - x) * (1.0 - p).ln()
    };
    let other = |p: f64| (high - 0.3 * p) / 0.7;
    let grid = (1..1_000_000).map(|at| f64::from(at) / 1e6).filter(|&p| (1e-9..1.0).contains(&other(p)));
    let total = |p: f64| likelihood(p, &strata[0]) + likelihood(other(p), &strata[1]);
    let best = grid.max_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap();
    let variance = variance(&strata, [best, other(best)].into_iter());
    let z = (high - (0.3 * 0.05 + 0.7 * 0.3)) / variance.sqrt();
    assert!((z - Confidence::PERCENT_95.z()).abs() < 1e-4, "{z}");
}

#[test]
fn intervals_mirror_when_successes_and_failures_swap() {
    let strata = [stratum(0.1, 0, 20), stratum(0.5, 3, 10), stratum(0.4, 7, 50)];
    let mirror = strata.map(|s| stratum(s.weight, s.sample.trials() - s.sample.successes(), s.sample.trials()));
    for method in METHODS {
        let (one, other) = (interval(&strata, method), interval(&mirror, method));
        assert!(close(one, Interval { low: 1.0 - other.high, high: 1.0 - other.low }, 1e-12), "{method:?}");
    }
}

#[test]
fn a_stratum_without_trials_widens_the_bounds_by_its_weight() {
    for method in METHODS {
        let sampled = interval(&[stratum(0.3, 3, 100), stratum(0.6, 10, 100)], method);
        let found = interval(&[stratum(0.3, 3, 100), stratum(0.6, 10, 100), stratum(0.1, 0, 0)], method);
        let expected = Interval { low: 0.9 * sampled.low, high: 0.9 * sampled.high + 0.1 };
        assert!(close(found, expected, 1e-12), "{method:?}: {found:?}");
    }
    let unknown = Stratified::new(&[stratum(1.0, 0, 0)]);
    assert_eq!((unknown.rate(), unknown.known()), (None, 0.0));
    assert_eq!(unknown.interval(IntervalKind::Wilson, Confidence::PERCENT_95), Interval::UNKNOWN);
    assert_eq!(interval(&[], IntervalKind::Wilson), Interval::UNKNOWN);
}

#[test]
fn a_stratum_without_weight_changes_nothing() {
    let two = [stratum(0.3, 3, 100), stratum(0.6, 10, 100)];
    for method in METHODS {
        assert!(close(interval(&two, method), interval(&[two[0], two[1], stratum(0.0, 5, 9)], method), 1e-12));
    }
}

#[test]
fn strata_that_differ_are_known_better_than_a_plain_sample_of_the_size() {
    let strata = [stratum(0.5, 5, 100), stratum(0.5, 95, 100)];
    let (stratified, plain) =
        (interval(&strata, IntervalKind::Wilson), interval(&[stratum(1.0, 100, 200)], IntervalKind::Wilson));
    assert!(stratified.half_width() < 0.5 * plain.half_width(), "{stratified:?} {plain:?}");
}

/// A population: weight, rate and trials of each stratum.
type Population = &'static [(f64, f64, u64)];

/// Rare events, unequal strata, strata where nothing ever happens, many strata of few trials.
const POPULATIONS: [(&str, Population); 7] = [
    ("equal", &[(0.5, 0.2, 100), (0.5, 0.2, 100)]),
    ("unequal weights", &[(0.9, 0.05, 100), (0.09, 0.3, 100), (0.01, 0.9, 100)]),
    ("rare everywhere", &[(0.6, 0.004, 250), (0.3, 0.01, 250), (0.1, 0.02, 250)]),
    ("rare in the large one", &[(0.95, 0.003, 300), (0.05, 0.5, 300)]),
    ("only in the small one", &[(0.97, 0.0, 100), (0.03, 0.4, 100)]),
    ("unequal samples", &[(0.2, 0.1, 20), (0.5, 0.02, 200), (0.3, 0.3, 40)]),
    (
        "many of few",
        &[
            (0.3, 0.05, 20),
            (0.2, 0.1, 20),
            (0.1, 0.0, 20),
            (0.1, 0.02, 20),
            (0.1, 0.3, 20),
            (0.1, 0.05, 20),
            (0.05, 0.6, 20),
            (0.05, 0.9, 20),
        ],
    ),
];

/// The share of repeated samples whose interval holds the true rate.
fn coverage(population: Population, method: IntervalKind, repeats: u64) -> f64 {
    let truth: f64 = population.iter().map(|(weight, rate, _)| weight * rate).sum();
    let covered = (0..repeats).filter(|&repeat| {
        let draws = Draws::new(1927, repeat);
        let mut next = 0;
        let sample = population.iter().map(|&(weight, rate, trials)| {
            let threshold = (rate * 2f64.powi(64)) as u64;
            let successes = (next..next + trials).filter(|&k| draws.draw(k) < threshold).count() as u64;
            next += trials;
            stratum(weight, successes, trials)
        });
        let found = interval(&sample.collect::<Vec<_>>(), method);
        found.low <= truth && truth <= found.high
    });
    covered.count() as f64 / repeats as f64
}

#[test]
fn simulated_coverage_is_near_the_level_for_rare_events_and_unequal_strata() {
    for (name, population) in POPULATIONS {
        // Two thousand repetitions have a standard error of 0.5 %.
        let score = coverage(population, IntervalKind::Wilson, 2000);
        assert!((0.925..=1.0).contains(&score), "{name}, score: {score}");
        let exact = coverage(population, IntervalKind::ClopperPearson, 500);
        assert!(exact >= 0.94, "{name}, mover of clopper-pearson: {exact}");
    }
}
