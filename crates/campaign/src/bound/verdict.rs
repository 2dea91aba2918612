//! What became of a bound.

use std::fmt;

use super::{Bound, Comparison};
use crate::summary::Rate;

/// A bound, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundVerdict {
    /// The bound.
    pub bound: Bound,
    /// The rate that it is about, with its interval.
    pub rate: Rate,
    /// How many runs landed where it is about.
    pub landed: u64,
    /// The confidence of the interval; `None` where the rate is exact.
    pub confidence: Option<f64>,
    /// What follows.
    pub judgement: Judgement,
}

/// On which side of its limit a rate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// On the side that fails, with its whole interval.
    Exceeded,
    /// On the other, with its whole interval.
    Kept,
    /// The interval has both.
    Undecided(More),
}

/// What would decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum More {
    /// About so many runs more, if the observed rate stays.
    Runs(u64),
    /// Every fault: no sample could.
    Everything,
    /// A run that lands: there is none.
    Anything,
    /// The rest of an exhaustive campaign, whose rate is exact when all of it is there.
    Rest,
    /// The application, which so many undecided runs were not asked of: while their share stays, no more runs would.
    Application(u64),
    /// A sample with the application: so many faults of an exhaustive campaign, which does not ask it, are undecided.
    Sample(u64),
    /// Criteria of outputs: without them no corruption is good or bad.
    Criteria,
    /// Nothing short of other faults: the observed rate is the limit itself.
    Nothing,
}

impl Bound {
    /// Where an interval lies: `Some(true)` if the bound is exceeded anywhere in it, `Some(false)` if it is kept
    /// everywhere.
    pub(super) fn side(&self, low: f64, high: f64) -> Option<bool> {
        let (exceeded, kept) = match self.comparison {
            Comparison::Above => (low > self.limit, high <= self.limit),
            Comparison::AtLeast => (low >= self.limit, high < self.limit),
            Comparison::Below => (high < self.limit, low >= self.limit),
            Comparison::AtMost => (high <= self.limit, low > self.limit),
        };
        (exceeded || kept).then_some(exceeded)
    }
}

impl fmt::Display for BoundVerdict {
    /// The rate, the interval, and what would decide, if nothing does yet; for a line that begins with the bound.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rate { count, rate, low, high } = self.rate;
        match (rate, self.confidence) {
            (None, _) => f.write_str("nothing landed there")?,
            (Some(rate), None) => write!(f, "the rate is exactly {}", Percent(rate))?,
            (Some(rate), Some(confidence)) => {
                let (rate, low, high, confidence) = (Percent(rate), Percent(low), Percent(high), Percent(confidence));
                write!(f, "the rate is {rate}, from {low} to {high} at {confidence} confidence")?;
            }
        }
        write!(f, " ({count} of {} that landed)", self.landed)?;
        let Judgement::Undecided(more) = self.judgement else { return Ok(()) };
        match more {
            More::Runs(runs) => write!(f, "; about {runs} more runs would decide if the rate stays"),
            More::Everything => f.write_str("; no sample can decide that, `--exhaustive` would"),
            More::Anything => f.write_str("; it takes runs that land"),
            More::Rest => f.write_str("; the rest of the campaign decides: finish it, and merge its shards"),
            More::Application(undecided) => write!(
                f,
                "; {undecided} of them are undecided, and no more runs decide while their share stays: `--app 'APP ARGS'` asks \
                 the application"
            ),
            More::Sample(undecided) => write!(
                f,
                "; {undecided} of them are undecided, and an exhaustive campaign asks no application: a sample (`--runs N`) with \
                 `--app 'APP ARGS'` does"
            ),
            More::Criteria => f.write_str("; nothing says which outputs are good or bad: say it with `--quality`"),
            More::Nothing => f.write_str("; no number of runs would decide if the rate stays"),
        }
    }
}

/// A share in percent, with two digits at least that are not zero.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.0;
        let zeros = if percent > 0.0 && percent < 1.0 { (-percent.log10()).floor() as usize } else { 0 };
        let text = format!("{percent:.*}", (zeros + 2).min(12));
        let short = text.trim_end_matches('0').trim_end_matches('.');
        write!(f, "{} %", if short.is_empty() { "0" } else { short })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_short_and_never_round_to_nothing() {
        let texts = [
            (0.0, "0 %"),
            (0.05, "5 %"),
            (0.0714, "7.14 %"),
            (1.0, "100 %"),
            (0.000_012_34, "0.0012 %"),
            (0.95, "95 %"),
        ];
        for (share, text) in texts {
            assert_eq!(Percent(share).to_string(), text);
        }
    }

    #[test]
    fn the_limit_itself_is_on_the_side_that_the_comparison_says() {
        let side = |text: &str, low, high| text.parse::<Bound>().unwrap().side(low, high);
        assert_eq!(side("sdc>0.1", 0.1, 0.1), Some(false));
        assert_eq!(side("sdc>=0.1", 0.1, 0.1), Some(true));
        assert_eq!(side("sdc<0.1", 0.1, 0.1), Some(false));
        assert_eq!(side("sdc<=0.1", 0.1, 0.1), Some(true));
        assert_eq!(side("sdc>0.1", 0.05, 0.1), Some(false));
        assert_eq!(side("sdc>0.1", 0.05, 0.11), None);
        assert_eq!(side("sdc>0.1", 0.100_001, 0.2), Some(true));
        assert_eq!(side("masked<0.9", 0.5, 0.89), Some(true));
        assert_eq!(side("masked<0.9", 0.5, 0.9), None);
    }
}
