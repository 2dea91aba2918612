//! By how much the method is off, and what each of its heuristics adds: differences of rates over all realisations.

use methods::gpu_qin::{Bounded, KernelEstimate, Rates};
use stats::{Confidence, Repeated};

use super::survey::{CAPS, MeasuredKernel, Variant};

/// A rate among activated faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rate {
    /// Silent corruption.
    Sdc,
    /// An exception.
    Crash,
    /// No end.
    Hang,
}

impl Rate {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sdc, Self::Crash, Self::Hang];

    /// As tables say it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sdc => "SDC",
            Self::Crash => "crash",
            Self::Hang => "hang",
        }
    }

    /// The rate of several.
    #[must_use]
    pub fn of(self, rates: &Rates) -> Bounded {
        match self {
            Self::Sdc => rates.sdc,
            Self::Crash => rates.crash,
            Self::Hang => rates.hang,
        }
    }

    /// The rate of an estimate, if anything was activated.
    #[must_use]
    pub fn estimated(self, estimate: &KernelEstimate) -> Option<Bounded> {
        estimate.rates.as_ref().map(|rates| self.of(rates))
    }
}

/// How far realisations are from what they are held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Error {
    /// The differences.
    pub found: Repeated,
    /// The standard error of what was subtracted, where that is one number for all.
    pub other: f64,
}

impl Error {
    fn of(differences: &[f64], other: f64) -> Option<Self> {
        Repeated::of(differences).map(|found| Self { found, other })
    }

    /// The mean difference.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.found.mean
    }

    /// The half width of its interval at 95 %.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        self.found.half_width(self.other, Confidence::PERCENT_95)
    }

    /// The p-value of no difference.
    #[must_use]
    pub fn p(&self) -> f64 {
        self.found.mean_test(self.other)
    }
}

/// The rate of each realisation.
fn each(realisations: &[KernelEstimate], rate: Rate) -> Vec<f64> {
    realisations.iter().filter_map(|it| rate.estimated(it)).map(|it| it.rate).collect()
}

/// The method less the unbiased choice.
#[must_use]
pub fn bias(it: &MeasuredKernel, rate: Rate) -> Option<Error> {
    let unbiased = rate.estimated(&it.unbiased)?;
    let differences: Vec<f64> = each(&it.realisations, rate).iter().map(|own| own - unbiased.rate).collect();
    Error::of(&differences, unbiased.error)
}

/// The spread of the realisations that chance alone makes, by equation 2.
#[must_use]
pub fn chance(it: &MeasuredKernel, rate: Rate) -> f64 {
    let squares = it.realisations.iter().filter_map(|it| rate.estimated(it)).map(|it| it.error * it.error);
    (squares.sum::<f64>() / it.realisations.len().max(1) as f64).sqrt()
}

/// The method less the same without a heuristic, realisation by realisation; `None` where the heuristic changes no site.
#[must_use]
pub fn variant(it: &MeasuredKernel, variant: Variant, rate: Rate) -> Option<Error> {
    let at = Variant::ALL.iter().position(|&other| other == variant)?;
    paired(&it.realisations, it.variants[at].as_ref()?, rate)
}

/// The method with a cap less the same without any.
#[must_use]
pub fn capped(it: &MeasuredKernel, cap: u32, rate: Rate) -> Option<Error> {
    let at = CAPS.iter().position(|&other| other == cap)?;
    paired(it.caps.get(at)?, it.variants[0].as_ref()?, rate)
}

fn paired(with: &[KernelEstimate], without: &[KernelEstimate], rate: Rate) -> Option<Error> {
    let differences: Vec<f64> =
        each(with, rate).iter().zip(each(without, rate)).map(|(with, without)| with - without).collect();
    Error::of(&differences, 0.0)
}

/// What the window of activation changes of a rate of the unbiased choice. Both rates are of the same runs.
#[must_use]
pub fn window(it: &MeasuredKernel, rate: Rate) -> Option<f64> {
    Some(rate.estimated(&it.unbiased)?.rate - rate.estimated(&it.endless)?.rate)
}

/// How an interval is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Equation 3.
    Published,
    /// Equations 4 and 5.
    WithGroupsLeftOut,
    /// The score interval of the same strata.
    Score,
}

impl Bounds {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Published, Self::WithGroupsLeftOut, Self::Score];

    fn holds(self, it: &Bounded, rate: f64) -> bool {
        let (low, high) = match self {
            Self::Published => (it.low, it.high),
            Self::WithGroupsLeftOut => (it.lower, it.upper),
            Self::Score => (it.score_low, it.score_high),
        };
        (low..=high).contains(&rate)
    }
}

/// In how many realisations of all kernels the interval holds the rate of the unbiased choice, and of how many.
#[must_use]
pub fn coverage(kernels: &[MeasuredKernel], bounds: Bounds, rate: Rate) -> (usize, usize) {
    let (mut held, mut all) = (0, 0);
    for it in kernels {
        let Some(unbiased) = rate.estimated(&it.unbiased) else { continue };
        let own: Vec<Bounded> = it.realisations.iter().filter_map(|it| rate.estimated(it)).collect();
        all += own.len();
        held += own.iter().filter(|own| bounds.holds(own, unbiased.rate)).count();
    }
    (held, all)
}
