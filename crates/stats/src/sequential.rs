//! Stopping as soon as the estimate is good enough, without losing the stated confidence.
//!
//! Looking at an interval again and again and stopping at the first that pleases is not allowed at the nominal
//! level: the more looks, the more likely that the stopping one is wrong. The remedy here is the plainest one that
//! is proven: the looks are fixed before the first trial, and each uses the level α / (number of looks). By
//! Bonferroni's inequality all intervals of all looks hold together at the stated confidence, so the one at which
//! the rule stops does, whichever it is. Group-sequential boundaries (P. C. O'Brien & T. R. Fleming, Biometrics 35,
//! 1979) spend α better but are made for one test of one hypothesis, not for bounding a rate of unknown size.
//!
//! The promise holds for each proportion by itself, as the stated confidence of a fixed-size campaign does. It is
//! as exact as the interval below it: Clopper–Pearson keeps its level always, Wilson nearly.

use crate::confidence::{Confidence, Margin};
use crate::proportion::{Interval, IntervalKind, Proportion};
use crate::size::sample_size;

/// The first look: fewer trials bound nothing that anyone would report.
const FIRST_LOOK: u64 = 100;

/// What to do after a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Not every proportion is bounded as tightly as asked: run on to the next look.
    Continue,
    /// Every proportion is, or this was the last look.
    Stop,
}

/// A stopping rule: numbers of trials after which to look, and the level at which to look.
///
/// Looks grow by a quarter from 100 up to the worst-case sample size at the adjusted level, so at most a fifth of
/// all trials come after the one that would have sufficed.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequential {
    margin: Margin,
    method: IntervalKind,
    level: Confidence,
    looks: Vec<u64>,
}

impl Sequential {
    /// The rule that reports proportions to within `margin` at `confidence`, with intervals by `method`.
    #[must_use]
    pub fn new(margin: Margin, confidence: Confidence, method: IntervalKind) -> Self {
        Self::ending(margin, confidence, method, |level| worst_case(margin, level, method))
    }

    /// The same after at most `most` trials, whether the margin is reached by then or not. Fewer looks cost less, so that
    /// the level is nearer to the stated confidence.
    #[must_use]
    pub fn capped(margin: Margin, confidence: Confidence, method: IntervalKind, most: u64) -> Self {
        Self::ending(margin, confidence, method, |level| worst_case(margin, level, method).min(most))
    }

    /// The rule for proportions of parts of the trials, however small: it looks until `most` trials.
    #[must_use]
    pub fn until(margin: Margin, confidence: Confidence, method: IntervalKind, most: u64) -> Self {
        Self::ending(margin, confidence, method, |_| most)
    }

    /// The trials that bound the proportions of a part to which each trial belongs with the chance `share`, whatever they
    /// are: so many that the part has its worst case, three standard deviations allowed for.
    #[must_use]
    pub fn trials_of_share(margin: Margin, confidence: Confidence, method: IntervalKind, share: f64) -> u64 {
        let of_all = |level| {
            let (own, spread) = (worst_case(margin, level, method) as f64, 9.0 * (1.0 - share));
            // The x = √(n share) for which x² - 3 x √(1 - share) is the worst case.
            let root = (spread.sqrt() + (spread + 4.0 * own).sqrt()) / 2.0;
            (root * root / share - 1e-6).ceil() as u64
        };
        Self::ending(margin, confidence, method, of_all).worst_case()
    }

    /// The rule whose last look is after the trials that `last` gives for its level.
    fn ending(margin: Margin, confidence: Confidence, method: IntervalKind, last: impl Fn(Confidence) -> u64) -> Self {
        // More looks ask for a higher level, that for more trials, and those for more looks; both only grow, and
        // the trials only with the logarithm of the looks, so a few rounds settle it.
        let mut count = 1;
        loop {
            let level = confidence.split(count);
            let looks = schedule(last(level));
            if looks.len() <= count {
                return Self { margin, method, level, looks };
            }
            count = looks.len();
        }
    }

    /// The number of trials at each look, ascending; never empty.
    #[must_use]
    pub fn looks(&self) -> &[u64] {
        &self.looks
    }

    /// What is asked for.
    #[must_use]
    pub fn margin(&self) -> Margin {
        self.margin
    }

    /// The largest distance of a bound from its observed proportion: what stands behind "±". A proportion of no trial
    /// can be anything.
    #[must_use]
    pub fn widest(&self, proportions: &[Proportion]) -> f64 {
        let reach = |it: &Proportion| it.rate().map_or(1.0, |rate| self.interval(*it).reach(rate));
        proportions.iter().map(reach).fold(0.0, f64::max)
    }

    /// The largest distance of an upper bound from a proportion where the bound is that of another: of each pair, the observed one
    /// and what it would be with all that is not known.
    #[must_use]
    pub fn widest_between(&self, pairs: &[(Proportion, Proportion)]) -> f64 {
        let reach = |(known, most): &(Proportion, Proportion)| {
            known.rate().map_or(1.0, |rate| self.interval(*most).high - rate)
        };
        pairs.iter().map(reach).fold(0.0, f64::max)
    }

    /// The number of trials that is never exceeded.
    #[must_use]
    pub fn worst_case(&self) -> u64 {
        self.looks.last().copied().unwrap_or(0)
    }

    /// The level of each look; reported intervals must be at this one for the stated confidence to hold.
    #[must_use]
    pub fn level(&self) -> Confidence {
        self.level
    }

    /// The interval to report for `proportion`, at the level of a look.
    #[must_use]
    pub fn interval(&self, proportion: Proportion) -> Interval {
        proportion.interval(self.method, self.level)
    }

    /// Decides after look number `look` (from 0) on the proportions counted over exactly that many trials.
    ///
    /// Stops when the true value of each proportion lies within the margin of the observed one, and at the last
    /// look in any case: trials that counted nothing can leave it short, and more looks were not paid for.
    #[must_use]
    pub fn decide(&self, look: usize, proportions: &[Proportion]) -> Decision {
        let is_last = look + 1 >= self.looks.len();
        if is_last || self.is_reached(proportions) { Decision::Stop } else { Decision::Continue }
    }

    /// Whether every proportion is bounded as tightly as is asked for.
    #[must_use]
    pub fn is_reached(&self, proportions: &[Proportion]) -> bool {
        self.widest(proportions) <= self.margin.get()
    }
}

/// The trials after which every proportion is bounded to within `margin`, whatever it is.
///
/// Wilson's bounds are never farther than z / 2√n from the observed proportion: they are the p with
/// |p - observed| = z √(p(1-p)/n), and p(1-p) is at most 1/4. Clopper and Pearson's lie
/// about 1/2n farther, the usual continuity correction; 1/margin more trials pay for it. Both are tested below for
/// every count.
fn worst_case(margin: Margin, level: Confidence, method: IntervalKind) -> u64 {
    let correction = match method {
        IntervalKind::Wilson => 0,
        IntervalKind::ClopperPearson => (1.0 / margin.get()).ceil() as u64,
    };
    sample_size(margin, level).saturating_add(correction)
}

/// Looks at 100, 125, 157, … (a quarter more each time, rounded up) and at `last`.
fn schedule(last: u64) -> Vec<u64> {
    let next = |look: &u64| look.checked_add(look.div_ceil(4));
    let mut looks: Vec<u64> = std::iter::successors(Some(FIRST_LOOK), next).take_while(|&look| look < last).collect();
    looks.push(last);
    looks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    fn rule(margin: f64, method: IntervalKind) -> Sequential {
        Sequential::new(Margin::new(margin).unwrap(), Confidence::PERCENT_95, method)
    }

    #[test]
    fn looks_grow_by_a_quarter_up_to_the_worst_case_at_their_own_level() {
        let rule = rule(0.05, IntervalKind::Wilson);
        assert_eq!(rule.looks(), [100, 125, 157, 197, 247, 309, 387, 484, 605, 757, 806]);
        assert!((rule.level().alpha() - 0.05 / 11.0).abs() < 1e-12);
        assert_eq!(rule.worst_case(), sample_size(Margin::new(0.05).unwrap(), rule.level()));
    }

    #[test]
    fn a_wide_margin_needs_one_look_at_the_stated_level() {
        let rule = rule(0.2, IntervalKind::Wilson);
        assert_eq!(rule.looks(), [25]);
        assert_eq!(rule.level(), Confidence::PERCENT_95);
    }

    #[test]
    fn a_cap_ends_the_looks_and_cheapens_them() {
        let (margin, confidence) = (Margin::new(0.05).unwrap(), Confidence::PERCENT_95);
        let capped = |most| Sequential::capped(margin, confidence, IntervalKind::Wilson, most);
        assert_eq!(capped(300).looks(), [100, 125, 157, 197, 247, 300]);
        assert!((capped(300).level().alpha() - 0.05 / 6.0).abs() < 1e-12);
        assert_eq!(capped(50).looks(), [50]);
        assert_eq!(capped(1_000_000), rule(0.05, IntervalKind::Wilson));
        let until = Sequential::until(margin, confidence, IntervalKind::Wilson, 5000);
        assert_eq!((until.worst_case(), until.looks()[0]), (5000, 100));
        assert!((until.level().alpha() - 0.05 / until.looks().len() as f64).abs() < 1e-12);
    }

    #[test]
    fn the_trials_of_a_share_give_the_part_its_worst_case() {
        let (margin, confidence) = (Margin::new(0.05).unwrap(), Confidence::PERCENT_95);
        for share in [1.0, 0.5, 0.1, 0.01] {
            let trials = Sequential::trials_of_share(margin, confidence, IntervalKind::Wilson, share);
            let rule = Sequential::until(margin, confidence, IntervalKind::Wilson, trials);
            let n = trials as f64;
            let own = n * share - 3.0 * (n * share * (1.0 - share)).sqrt();
            let half = Proportion::new(own as u64 / 2, own as u64).unwrap();
            assert!(rule.widest(&[half]) <= 0.0501, "{share}: {trials} trials, ±{}", rule.widest(&[half]));
        }
        assert_eq!(Sequential::trials_of_share(margin, confidence, IntervalKind::Wilson, 1.0), 806);
    }

    #[test]
    fn an_absurd_margin_still_ends() {
        assert_eq!(rule(1e-300, IntervalKind::Wilson).worst_case(), u64::MAX);
    }

    #[test]
    fn the_worst_case_bounds_every_proportion_within_the_margin() {
        for method in [IntervalKind::Wilson, IntervalKind::ClopperPearson] {
            let rule = rule(0.05, method);
            let n = rule.worst_case();
            for successes in 0..=n {
                let proportion = Proportion::new(successes, n).unwrap();
                let reach = rule.interval(proportion).reach(proportion.rate().unwrap());
                assert!(reach <= 0.05 + 1e-9, "{method:?}: {successes} of {n} is bounded by ±{reach}");
            }
        }
    }

    #[test]
    fn one_loose_proportion_is_enough_to_go_on_except_at_the_last_look() {
        let rule = rule(0.05, IntervalKind::Wilson);
        let tight = Proportion::new(0, 387).unwrap();
        let loose = Proportion::new(190, 387).unwrap();
        assert_eq!(rule.decide(6, &[tight]), Decision::Stop);
        assert_eq!(rule.decide(6, &[tight, loose]), Decision::Continue);
        assert_eq!(rule.decide(6, &[Proportion::new(0, 0).unwrap()]), Decision::Continue);
        assert_eq!(rule.decide(10, &[tight, loose]), Decision::Stop);
    }

    /// Runs the rule on simulated trials of chance `p`: did the interval at the stop hold `p`, after how many trials?
    fn simulate(rule: &Sequential, p: f64, repeat: u64) -> (bool, u64) {
        let draws = Draws::new(2026, repeat);
        let threshold = (p * 2f64.powi(64)) as u64;
        let (mut successes, mut done) = (0, 0);
        for (look, &trials) in rule.looks().iter().enumerate() {
            successes += (done..trials).filter(|&k| draws.draw(k) < threshold).count() as u64;
            done = trials;
            let proportion = Proportion::new(successes, trials).unwrap();
            if rule.decide(look, &[proportion]) == Decision::Stop {
                let interval = rule.interval(proportion);
                return (interval.low <= p && p <= interval.high, trials);
            }
        }
        unreachable!("the last look stops");
    }

    #[test]
    fn simulated_coverage_at_the_stop_keeps_the_stated_confidence() {
        let rule = rule(0.05, IntervalKind::Wilson);
        for p in [0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.97] {
            let covered = (0..2000).filter(|&repeat| simulate(&rule, p, repeat).0).count();
            assert!(covered >= 1900, "p = {p}: {covered} of 2000");
        }
    }

    #[test]
    fn rare_outcomes_stop_far_before_the_worst_case() {
        let rule = rule(0.05, IntervalKind::Wilson);
        let mean = |p| (0..200).map(|repeat| simulate(&rule, p, repeat).1).sum::<u64>() / 200;
        assert!(mean(0.02) < 250, "{}", mean(0.02));
        assert!(mean(0.5) > 700, "{}", mean(0.5));
    }

    #[test]
    fn looking_at_the_nominal_level_would_break_the_promise() {
        // Why the correction is there: the same looks at 95 % each, stopped when tight, miss too often at p = 0.1.
        let honest = rule(0.05, IntervalKind::Wilson);
        let naive = Sequential { level: Confidence::PERCENT_95, ..honest };
        let covered = (0..4000).filter(|&repeat| simulate(&naive, 0.1, repeat).0).count();
        assert!(covered < 3800, "{covered} of 4000");
    }
}
