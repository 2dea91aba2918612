//! When a campaign that stops by margin has what it was made for.

use outcome::words;
use stats::{Confidence, IntervalKind, Margin, Proportion, Sequential};

use crate::tally::Tally;

words! {
    /// Which rates have to be within the margin.
    pub enum MarginBy ("rates within a margin") {
        /// Masked, SDC and DUE of all runs.
        Overall = "overall",
        /// Those, and the same of each kernel that has runs.
        Kernel = "kernel",
    }
}

/// A margin: how tight, which rates, and after how many runs at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginRule {
    /// How far a bound may be from its rate.
    pub margin: Margin,
    /// Which rates.
    pub by: MarginBy,
    /// The runs after which it ends, whatever is reached; the worst case of the rates of all runs, if nobody says.
    pub at_most: Option<u64>,
}

impl MarginRule {
    /// The stopping rule.
    #[must_use]
    pub fn sequential(self, confidence: Confidence, method: IntervalKind) -> Sequential {
        match (self.by, self.at_most) {
            (_, None) => Sequential::new(self.margin, confidence, method),
            (MarginBy::Overall, Some(most)) => Sequential::capped(self.margin, confidence, method, most),
            (MarginBy::Kernel, Some(most)) => Sequential::until(self.margin, confidence, method, most),
        }
    }

    /// The runs that bound the rates of a kernel within it, whatever they are, to which each run belongs with the chance
    /// `share`.
    #[must_use]
    pub fn runs_of_share(self, share: f64, confidence: Confidence, method: IntervalKind) -> u64 {
        Sequential::trials_of_share(self.margin, confidence, method, share)
    }

    /// The rates that have to be within it, of all runs and of each kernel. A kernel none of whose faults landed has no
    /// rate.
    #[must_use]
    pub fn proportions(self, all: &Tally, kernels: &[Tally]) -> Vec<Proportion> {
        let mut proportions = all.proportions().to_vec();
        if self.by == MarginBy::Kernel {
            let landed = kernels.iter().filter(|kernel| kernel.landed() > 0);
            proportions.extend(landed.flat_map(Tally::proportions));
        }
        proportions
    }

    /// The same rates with what they would be if all that is undecided counted.
    #[must_use]
    pub fn with_undecided(self, all: &Tally, kernels: &[Tally]) -> Vec<(Proportion, Proportion)> {
        let counting = |it: &Tally| {
            let (masked, sdc, due) = (it.masked + it.undecided, it.sdc + it.undecided, it.due + it.undecided);
            [masked, sdc, due].map(|count| Proportion::from_counts(count, it.landed() - count))
        };
        let most = |all: &Tally| all.proportions().into_iter().zip(counting(all)).collect::<Vec<_>>();
        let kernels = kernels.iter().filter(|kernel| self.by == MarginBy::Kernel && kernel.landed() > 0);
        std::iter::once(all).chain(kernels).flat_map(most).collect()
    }
}
