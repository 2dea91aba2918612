//! The rules by which statements are judged.

use stats::{Confidence, Repeated};

use crate::statements::{Judged, Statement, Verdict};
use crate::words::{listed, percent};

/// A claim of the chapter, and its numbers.
pub(super) type Claim<'c> = (&'c str, &'c str);

pub(super) fn statement((claim, paper): Claim<'_>, ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// A mean over workloads of the chapter: it holds if its number is in the 95 % interval of ours.
pub(super) fn mean(claim: Claim<'_>, theirs: f64, values: &[f64], shown: impl Fn(f64) -> String) -> Statement {
    let rule = format!("{} lies in the 95 % interval of our mean over workloads", shown(theirs));
    let Some((it, half)) = interval(values) else { return unmeasured(claim, &rule) };
    let ours =
        format!("{} ({} to {}), {} workloads", shown(it.mean), shown(it.mean - half), shown(it.mean + half), it.count);
    statement(claim, ours, Judged::plain(rule, (it.mean - theirs).abs() <= half))
}

/// A mean of differences between two workload by workload: it holds if its interval is above zero, does not if it is below.
pub(super) fn above(claim: Claim<'_>, rule: &str, differences: &[f64]) -> Statement {
    let rule = format!("{rule}: the 95 % interval of our mean difference over workloads is above zero");
    let Some((it, half)) = interval(differences) else { return unmeasured(claim, &rule) };
    let verdict = if it.mean - half > 0.0 {
        Verdict::Holds
    } else if it.mean + half < 0.0 {
        Verdict::Fails
    } else {
        Verdict::Open
    };
    let points = |share: f64| format!("{:+.1}", share * 100.0);
    let (low, high) = (points(it.mean - half), points(it.mean + half));
    let ours = format!("{} percentage points ({low} to {high}), {} workloads", points(it.mean), it.count);
    statement(claim, ours, Judged::by(rule, verdict))
}

/// The mean of values, and half the width of its 95 % interval.
pub(super) fn interval(values: &[f64]) -> Option<(Repeated, f64)> {
    let it = Repeated::of(values)?;
    let half = it.half_width(0.0, Confidence::PERCENT_95);
    half.is_finite().then_some((it, half))
}

/// Whether each of some workloads fulfils a rule; those that do not are named.
pub(super) fn each<'w>(claim: Claim<'_>, rule: &str, found: impl IntoIterator<Item = (&'w str, Verdict)>) -> Statement {
    let found: Vec<(&str, Verdict)> = found.into_iter().collect();
    if found.is_empty() {
        return unmeasured(claim, rule);
    }
    statement(claim, counted(&found), Judged::by(rule, Verdict::all(found.iter().map(|it| it.1))))
}

/// Whether more than half of some workloads fulfil a rule, whatever the undecided ones do; those that do not are named.
pub(super) fn most<'w>(claim: Claim<'_>, rule: &str, found: impl IntoIterator<Item = (&'w str, Verdict)>) -> Statement {
    let rule = format!("{rule} for more than half of our workloads, whatever the undecided ones are");
    let found: Vec<(&str, Verdict)> = found.into_iter().collect();
    if found.is_empty() {
        return unmeasured(claim, &rule);
    }
    let count = |verdict: Verdict| found.iter().filter(|it| it.1 == verdict).count();
    let verdict = Verdict::most(count(Verdict::Holds), count(Verdict::Fails), found.len());
    statement(claim, counted(&found), Judged::by(rule, verdict))
}

/// How many workloads fulfil a rule, and the names of those that do not or are undecided.
fn counted(found: &[(&str, Verdict)]) -> String {
    let named = |verdict: Verdict| found.iter().filter(move |it| it.1 == verdict).map(|it| it.0).collect::<Vec<_>>();
    let (holds, not, open) = (named(Verdict::Holds), named(Verdict::Fails), named(Verdict::Open));
    let mut ours = format!("{} of {}", holds.len(), found.len());
    for (word, names) in [("not", not), ("undecided", open)] {
        if !names.is_empty() {
            ours.push_str(&format!("; {word} {}", listed(names)));
        }
    }
    ours
}

/// Whether the least and the greatest share of ours lie within the chapter's.
pub(super) fn within(claim: Claim<'_>, (least, most): (f64, f64), values: &[f64]) -> Statement {
    let rule = format!("ours lie between {} and {}", percent(least), percent(most));
    let low = values.iter().copied().reduce(f64::min);
    let high = values.iter().copied().reduce(f64::max);
    let Some((low, high)) = low.zip(high) else { return unmeasured(claim, &rule) };
    let ours = format!("{} to {}, {} workloads", percent(low), percent(high), values.len());
    statement(claim, ours, Judged::plain(rule, low >= least && high <= most))
}

/// A number of one workload, beside the bounds of ours: it holds if the chapter's lies within these.
pub(super) fn one(claim: Claim<'_>, theirs: f64, ours: Option<(f64, f64, f64)>) -> Statement {
    let rule = format!("{} lies between the bounds of ours", percent(theirs));
    let Some((value, low, high)) = ours else { return unmeasured(claim, &rule) };
    let said = format!("{} ({} to {})", percent(value), percent(low), percent(high));
    statement(claim, said, Judged::plain(rule, (low..=high).contains(&theirs)))
}

/// A claim about a count of one program, which has no interval.
pub(super) fn count(claim: Claim<'_>, ours: Option<f64>) -> Statement {
    let rule = "both are counts, of different programs, and the chapter names no tolerance";
    statement(claim, ours.map_or_else(|| "not measured".to_owned(), percent), Judged::by(rule, Verdict::Open))
}

/// A statement without measurements.
pub(super) fn unmeasured(claim: Claim<'_>, rule: &str) -> Statement {
    statement(claim, "not measured".to_owned(), Judged::by(rule, Verdict::Open))
}
