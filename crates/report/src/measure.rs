//! From counts to rates with their bounds.
//!
//! A sampled campaign's rate is an estimate, bounded by the interval that the campaign is configured with. An exhaustive
//! campaign's rate is a number: its faults are all there are, each with the weight that a sampled campaign would draw it
//! by, and the bounds are the rate itself.
//!
//! Of a campaign with strata, each run weighs what its stratum does; of one whose method chose representatives, as many
//! sites as it stands for. A share of some of its runs is that of their weights ([`Weighted`]). Rates that a summary has
//! are taken from there: they are stratified estimates.

use campaign::IntervalMethod;
use campaign::summary::{Outcomes, Rate, Summary};
use outcome::{Class, Sdc};
use stats::{Confidence, Interval, IntervalKind, Weighted};

/// How rates are bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Measure {
    /// Estimates, with an interval of this kind at this level.
    Sampled(IntervalKind, Confidence),
    /// Exact numbers, by weight.
    Exact,
}

impl Measure {
    /// The measure of a summarised campaign. One that stopped by margin bounds every rate at the level of its looks.
    pub(crate) fn of(summary: &Summary) -> Self {
        if summary.exhaustive.is_some() {
            return Self::Exact;
        }
        let level = summary.stopping.as_ref().map(|stopping| stopping.level).or(summary.config.confidence);
        let level = level.and_then(|level| Confidence::new(level).ok()).unwrap_or(Confidence::PERCENT_95);
        let method = summary.config.interval.map_or(IntervalKind::Wilson, IntervalMethod::method);
        Self::Sampled(method, level)
    }

    /// The share `part` of `whole`, both as a count and a weight.
    pub(crate) fn share(self, part: Mass, whole: Mass) -> Rate {
        let count = part.count;
        match self {
            Self::Sampled(method, level) => {
                let weighted = Weighted { hit: part.weight, all: whole.weight, squares: whole.squares };
                let Interval { low, high } = weighted.interval(method, level);
                Rate { count, rate: weighted.rate(), low, high }
            }
            Self::Exact if whole.weight > 0.0 => {
                let rate = part.weight / whole.weight;
                Rate { count, rate: Some(rate), low: rate, high: rate }
            }
            Self::Exact => Rate { count, rate: None, low: 0.0, high: 1.0 },
        }
    }
}

/// A number of faults, and what they weigh together; in a sampled campaign without strata each weighs 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mass {
    pub(crate) count: u64,
    pub(crate) weight: f64,
    /// The sum of the squares of their weights.
    pub(crate) squares: f64,
}

impl Mass {
    pub(crate) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.weight += other.weight;
        self.squares += other.squares;
    }

    /// So many faults of a sampled campaign.
    pub(crate) fn of(count: u64) -> Self {
        Self { count, weight: count as f64, squares: count as f64 }
    }

    /// A fault that weighs so much.
    pub(crate) fn one(weight: f64) -> Self {
        Self { count: 1, weight, squares: weight * weight }
    }
}

/// What a fault came to, as far as rates tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FaultClass {
    pub(crate) class: Class,
    /// Whether it is a silent corruption that no criterion accepts.
    pub(crate) bad: bool,
}

impl FaultClass {
    pub(crate) fn new(class: Class, kind: Option<&str>) -> Self {
        Self { class, bad: class == Class::Sdc && kind.is_some_and(Sdc::counts_as_bad) }
    }
}

impl From<Class> for FaultClass {
    fn from(class: Class) -> Self {
        Self::new(class, None)
    }
}

/// Faults by class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ClassMasses {
    pub(crate) masked: Mass,
    pub(crate) sdc: Mass,
    /// Those of `sdc` that no criterion accepts.
    pub(crate) bad: Mass,
    pub(crate) due: Mass,
    pub(crate) undecided: Mass,
    pub(crate) not_landed: u64,
    pub(crate) failed: u64,
}

impl ClassMasses {
    pub(crate) fn add(&mut self, class: impl Into<FaultClass>, mass: Mass) {
        let FaultClass { class, bad } = class.into();
        if bad {
            self.bad.add(mass);
        }
        match class {
            Class::Masked => self.masked.add(mass),
            Class::Sdc => self.sdc.add(mass),
            Class::Due => self.due.add(mass),
            Class::Undecided => self.undecided.add(mass),
            Class::NotLanded => self.not_landed += mass.count,
            Class::Failed => self.failed += mass.count,
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.masked.add(other.masked);
        self.sdc.add(other.sdc);
        self.bad.add(other.bad);
        self.due.add(other.due);
        self.undecided.add(other.undecided);
        self.not_landed += other.not_landed;
        self.failed += other.failed;
    }

    /// What landed.
    pub(crate) fn landed(&self) -> Mass {
        let mut landed = self.masked;
        landed.add(self.sdc);
        landed.add(self.due);
        landed.add(self.undecided);
        landed
    }

    /// All of them.
    pub(crate) fn runs(&self) -> u64 {
        self.landed().count + self.not_landed + self.failed
    }

    pub(crate) fn rates(&self, measure: Measure) -> Outcomes<Rate> {
        Outcomes {
            masked: self.share(self.masked, measure),
            sdc: self.share(self.sdc, measure),
            due: self.share(self.due, measure),
            undecided: measure.share(self.undecided, self.landed()),
        }
    }

    /// The share of a part in what landed; the upper bound is that of the share if all that is undecided counted.
    pub(crate) fn share(&self, part: Mass, measure: Measure) -> Rate {
        let (landed, mut most) = (self.landed(), part);
        most.add(self.undecided);
        Rate { high: measure.share(most, landed).high, ..measure.share(part, landed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampled_share_has_the_interval_of_its_campaign_and_an_exact_one_is_its_own_bound() {
        let wilson = Measure::Sampled(IntervalKind::Wilson, Confidence::PERCENT_95);
        let rate = wilson.share(Mass::of(15), Mass::of(148));
        // R. G. Newcombe, Statistics in Medicine 17, 1998, table I.
        assert!((rate.low - 0.0624).abs() < 5e-5 && (rate.high - 0.1605).abs() < 5e-5, "{rate:?}");
        let (part, whole) =
            (Mass { count: 1, weight: 0.5, squares: 0.0 }, Mass { count: 9, weight: 2.0, squares: 0.0 });
        let exact = Measure::Exact.share(part, whole);
        assert_eq!((exact.rate, exact.low, exact.high), (Some(0.25), 0.25, 0.25));
    }

    #[test]
    fn runs_of_unequal_weight_say_less_than_as_many_of_equal_weight() {
        let wilson = Measure::Sampled(IntervalKind::Wilson, Confidence::PERCENT_95);
        let many = |count: u64, weight: f64| {
            (0..count).fold(Mass::default(), |mut mass, _| {
                mass.add(Mass::one(weight));
                mass
            })
        };
        let (mut whole, part) = (many(100, 1.9), many(20, 1.9));
        whole.add(many(100, 0.1));
        let rate = wilson.share(part, whole);
        assert!((rate.rate.unwrap() - 0.19).abs() < 1e-12, "{rate:?}");
        let even = wilson.share(Mass::of(38), Mass::of(200));
        assert!(rate.low < even.low && rate.high > even.high, "{rate:?} {even:?}");
    }

    #[test]
    fn nothing_is_known_of_nothing() {
        for measure in [Measure::Exact, Measure::Sampled(IntervalKind::Wilson, Confidence::PERCENT_95)] {
            let rate = measure.share(Mass::default(), Mass::default());
            assert_eq!((rate.rate, rate.low, rate.high), (None, 0.0, 1.0));
        }
    }

    #[test]
    fn a_cell_adds_up() {
        let mut cell = ClassMasses::default();
        for (class, count) in Class::ALL.iter().zip(1..) {
            cell.add(*class, Mass::of(count));
        }
        cell.merge(&cell.clone());
        assert_eq!((cell.landed().count, cell.runs()), (20, 42));
    }
}
