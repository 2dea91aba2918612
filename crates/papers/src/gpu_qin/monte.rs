//! The paper's equations on the paper's own numbers: its Table IV.

use methods::gpu_qin::{Bounded, Sample, strata};

use super::paper::{MONTE, MonteGroup};

/// The SDC rate of MONTE with its bounds, by equations 1 to 5 from the paper's own Table IV.
#[must_use]
pub(super) fn monte_by_its_equations() -> Option<Bounded> {
    const THREADS: f64 = 8192.0;
    let size = |group: &MonteGroup| group.share * THREADS * f64::from(group.instructions);
    let sample = |group: &MonteGroup| Some(Sample { size: size(group), trials: group.trials?, rate: group.sdc? });
    strata(&MONTE.iter().filter_map(sample).collect::<Vec<_>>(), MONTE.iter().map(size).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_qin::paper::MONTE_BOUNDS;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 5e-4, "{a} is not {b}");
    }

    /// The text beside Table IV gives 0.3 to 1.1 %; the equations give 1.17 % for the latter.
    #[test]
    fn the_lower_bound_of_monte_carlo_is_the_papers_and_the_upper_one_is_not() {
        let bounded = monte_by_its_equations().unwrap();
        let (low, high) = MONTE_BOUNDS;
        let printed = |bound: f64| (bound * 1000.0).round() / 1000.0;
        close(bounded.rate, 0.0053);
        // The small group alone moves the upper bound by its 0.4 %.
        close(bounded.upper - bounded.high, 0.004);
        assert_eq!(printed(bounded.lower), low);
        assert!((bounded.upper - 0.0117).abs() < 5e-5, "{bounded:?}");
        assert_ne!(printed(bounded.upper), high);
    }
}
