//! Rules that decide statements, each with its threshold in its words, and the intervals that they look at.

use methods::gpu_qin::KernelEstimate;
use stats::{Confidence, Interval, IntervalKind, Proportion};

use crate::gpu_qin::among::named;
use crate::gpu_qin::errors::Rate;
use crate::gpu_qin::survey::MeasuredKernel;
use crate::statements::{Judged, Verdict};
use crate::words::percent;

/// Intervals that hold at once: those of three rates and of all failures, of each kernel of the paper.
pub const INTERVALS: usize = crate::gpu_qin::paper::KERNELS.len() * 4;
/// Rates that differ by no more are similar.
const SIMILAR: f64 = 0.05;
/// What is close to a number of the paper differs from it by no more.
const CLOSE: f64 = 0.05;

/// What kernels are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ranked {
    Rate(Rate),
    Failure,
}

impl Ranked {
    /// How many of the activated faults of an estimate came to this, and of how many.
    fn counts(self, estimate: &KernelEstimate) -> Proportion {
        let [benign, sdc, crash, hang, undecided] = estimate.ends();
        let hits = match self {
            Self::Rate(Rate::Sdc) => sdc,
            Self::Rate(Rate::Crash) => crash,
            Self::Rate(Rate::Hang) => hang,
            Self::Failure => sdc + crash + hang,
        };
        Proportion::from_counts(hits, benign + sdc + crash + hang + undecided - hits)
    }

    /// The rate by the unbiased choice.
    pub(super) fn rate(self, it: &MeasuredKernel) -> f64 {
        self.counts(&it.unbiased).rate().unwrap_or(0.0)
    }

    /// An interval of it that holds together with all others of the page.
    pub(super) fn sure(self, it: &MeasuredKernel) -> Interval {
        self.counts(&it.unbiased).interval(IntervalKind::Wilson, Confidence::PERCENT_95.split(INTERVALS))
    }
}

/// A rank from the highest, as far as it is sure: so many kernels are surely above and surely below.
fn standing(kernels: &[MeasuredKernel], name: &str, by: Ranked) -> (usize, usize) {
    let Some(it) = named(kernels, name) else { return (0, 0) };
    let own = by.sure(it);
    let others = || kernels.iter().filter(|other| other.paper.name != name).map(|other| by.sure(other));
    let above = others().filter(|other| other.low > own.high).count();
    let below = others().filter(|other| other.high < own.low).count();
    (above, below)
}

/// Whether kernels are among the `most` highest.
pub(super) fn among_highest(kernels: &[MeasuredKernel], names: &[&str], by: Ranked, most: usize) -> Judged {
    let verdict = names.iter().map(|name| {
        let (above, below) = standing(kernels, name, by);
        if above >= most {
            Verdict::Fails
        } else if below + most >= kernels.len() {
            Verdict::Holds
        } else {
            Verdict::Open
        }
    });
    let rule = if most == 1 { "the highest".to_owned() } else { format!("among the {most} highest") };
    Judged::by(rule, Verdict::all(verdict))
}

/// Whether kernels are among the `most` lowest.
pub(super) fn among_lowest(kernels: &[MeasuredKernel], names: &[&str], by: Ranked, most: usize) -> Judged {
    let verdict = names.iter().map(|name| {
        let (above, below) = standing(kernels, name, by);
        if below >= most {
            Verdict::Fails
        } else if above + most >= kernels.len() {
            Verdict::Holds
        } else {
            Verdict::Open
        }
    });
    let rule = if most == 1 { "the lowest".to_owned() } else { format!("among the {most} lowest") };
    Judged::by(rule, Verdict::all(verdict))
}

/// Whether a rate is below a limit in all kernels.
pub(super) fn below(kernels: &[MeasuredKernel], by: Ranked, limit: f64) -> Judged {
    let verdict = kernels.iter().map(|it| match by.sure(it) {
        it if it.high < limit => Verdict::Holds,
        it if it.low >= limit => Verdict::Fails,
        _ => Verdict::Open,
    });
    Judged::by(format!("the interval below {} in every kernel", percent(limit)), Verdict::all(verdict))
}

/// Whether two kernels have similar rates.
pub(super) fn similar(first: Interval, second: Interval) -> Judged {
    let most = (first.high - second.low).max(second.high - first.low);
    let least = (first.low - second.high).max(second.low - first.high);
    let verdict = if most <= SIMILAR {
        Verdict::Holds
    } else if least > SIMILAR {
        Verdict::Fails
    } else {
        Verdict::Open
    };
    Judged::by(format!("they differ by {} at most", percent(SIMILAR)), verdict)
}

/// Whether a number is close to the paper's.
pub(super) fn close(ours: f64, paper: f64) -> Judged {
    Judged::plain(format!("within {} of the paper's", percent(CLOSE)), (ours - paper).abs() <= CLOSE)
}

/// Whether a share is at most what the paper has.
pub(super) fn at_most(ours: f64, limit: f64) -> Judged {
    Judged::plain(format!("{} at most", percent(limit)), ours <= limit)
}

/// Whether a number is at least what the paper has.
pub(super) fn at_least(ours: f64, limit: f64) -> Judged {
    Judged::plain(format!("{} at least", percent(limit)), ours >= limit)
}

/// A third of the kernels, rounded up.
pub(super) fn third(kernels: &[MeasuredKernel]) -> usize {
    kernels.len().div_ceil(3)
}
