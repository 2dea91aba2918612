//! The statements of the chapter about hardware, thread-level duplication and the automatic choice.

use methods::hardening::{ChoiceOutcome, Scheme};

use super::rules::{Claim, above, each, mean, most, statement, unmeasured};
use super::survey::{CHAPTER, SinrgSurvey, TimedWorkload};
use crate::statements::{Judged, Statement, Verdict};
use crate::words::percent;

pub(super) fn others(survey: &SinrgSurvey) -> Vec<Statement> {
    let mut all = automatic(survey);
    all.extend(hardware(survey));
    all.extend(threads(survey));
    all.push(occupancy(survey));
    all
}

/// The times of the chapter’s workloads under a scheme.
pub(super) fn times(survey: &SinrgSurvey, scheme: Scheme) -> impl Iterator<Item = &TimedWorkload> {
    survey.timed.iter().filter(move |it| it.scheme == scheme.word() && CHAPTER.contains(&it.name.as_str()))
}

pub(super) fn time_of<'s>(survey: &'s SinrgSurvey, name: &str, scheme: Scheme) -> Option<&'s TimedWorkload> {
    times(survey, scheme).find(|it| it.name == name)
}

/// More time than without protection, by workload, as shares.
pub(super) fn overheads(survey: &SinrgSurvey, scheme: Scheme) -> Vec<f64> {
    times(survey, scheme).map(|it| it.ratio - 1.0).collect()
}

/// The savings of a scheme against the time that another one takes, by workload, as shares of the time without protection.
pub(super) fn saved(survey: &SinrgSurvey, from: Scheme, to: Scheme) -> Vec<f64> {
    times(survey, from).filter_map(|it| Some(it.ratio - time_of(survey, &it.name, to)?.ratio)).collect()
}

/// The outcomes of the automatic choice for the chapter’s workloads.
pub(super) fn chosen(survey: &SinrgSurvey) -> impl Iterator<Item = &ChoiceOutcome> {
    survey.chosen.iter().filter(|it| CHAPTER.contains(&it.application.as_str()))
}

/// Whether the first time is shorter: undecided if the intervals touch.
fn shorter(one: &TimedWorkload, other: &TimedWorkload) -> Verdict {
    if one.high < other.low {
        Verdict::Holds
    } else if one.low > other.high {
        Verdict::Fails
    } else {
        Verdict::Open
    }
}

fn automatic(survey: &SinrgSurvey) -> Vec<Statement> {
    let overheads: Vec<f64> = chosen(survey).map(|it| it.automatic - 1.0).collect();
    let saved: Vec<f64> = chosen(survey).map(|it| it.drdv - it.automatic).collect();
    vec![
        mean(
            ("automatic selection lowers FastSig’s overhead to 36 % (Section 4.6.3)", "36 %"),
            0.36,
            &overheads,
            percent,
        ),
        above(
            ("automatic selection is faster than FastSig-DRDV for all kernels (Section 4.6.3)", "from 39 to 36 %"),
            "FastSig-DRDV for all takes longer than the choice of trees that have not seen the workload",
            &saved,
        ),
        unmeasured(
            ("automatic selection lowers HW-Notify to 34 % and HW-Sig to 30 % (Section 4.6.3)", "34 and 30 %"),
            "the choice is learned for FastSig alone",
        ),
    ]
}

fn hardware(survey: &SinrgSurvey) -> Vec<Statement> {
    let average = |claim: Claim<'_>, theirs: f64, scheme| mean(claim, theirs, &overheads(survey, scheme), percent);
    vec![
        average(("HW-Notify-DRDV costs 37 % (Figure 4.9)", "37 %"), 0.37, Scheme::HwNotify),
        average(("HW-Notify-SRIV costs 46 % (Figure 4.9)", "46 %"), 0.46, Scheme::HwNotifySriv),
        average(("HW-Sig-DRDV costs 33 % (Figure 4.9)", "33 %"), 0.33, Scheme::HwSig),
        average(("HW-Sig-SRIV costs 33 % (Figure 4.9)", "33 %"), 0.33, Scheme::HwSigSriv),
        above(
            ("HW-Sig makes DRDV a little faster than HW-Notify does (Section 4.6.2)", "from 35 to 33 %"),
            "HW-Notify-DRDV takes longer than HW-Sig-DRDV",
            &saved(survey, Scheme::HwNotify, Scheme::HwSig),
        ),
        unmeasured(
            ("the SEC-DED accumulator misses 1 of 3862 errors (Section 4.6.2)", "0 to 0.2 %"),
            "no circuits are modelled here",
        ),
    ]
}

fn threads(survey: &SinrgSurvey) -> Vec<Statement> {
    let fastest = |name: &str| {
        let tld = time_of(survey, name, Scheme::Tld)?;
        let others = [Scheme::FastsigDrdv, Scheme::FastsigSriv].map(|scheme| time_of(survey, name, scheme));
        let others = others.into_iter().collect::<Option<Vec<_>>>()?;
        Some((tld.name.as_str(), Verdict::all(others.into_iter().map(|it| shorter(tld, it)))))
    };
    let deferred = times(survey, Scheme::Tld)
        .filter_map(|it| Some((it.name.as_str(), shorter(time_of(survey, &it.name, Scheme::TldSig)?, it))));
    let outperformed = times(survey, Scheme::TldSig).filter_map(|it| {
        let fastsig = [Scheme::FastsigDrdv, Scheme::FastsigSriv].map(|scheme| time_of(survey, &it.name, scheme));
        let [Some(drdv), Some(sriv)] = fastsig.map(|fastsig| fastsig.map(|fastsig| shorter(fastsig, it))) else {
            return None;
        };
        Some((it.name.as_str(), either(drdv, sriv)))
    });
    vec![
        each(
            ("TLD is faster than SInRG on lavaMD and leukocyte (Figure 4.5)", "lavaMD, leukocyte"),
            "TLD’s interval is below those of both FastSig schemes on lavamd, which alone is bundled",
            fastest("lavamd"),
        ),
        most(
            ("TLD-Sig is faster than TLD for most workloads (Section 4.6.1)", "most"),
            "TLD-Sig’s interval is below that of TLD",
            deferred,
        ),
        most(
            ("one of the FastSig schemes outperforms TLD-Sig for most workloads (Section 4.6.1)", "most"),
            "the interval of one of them is below that of TLD-Sig",
            outperformed,
        ),
    ]
}

/// Whether one of two statements holds.
fn either(one: Verdict, other: Verdict) -> Verdict {
    match (one, other) {
        (Verdict::Holds, _) | (_, Verdict::Holds) => Verdict::Holds,
        (Verdict::Fails, Verdict::Fails) => Verdict::Fails,
        _ => Verdict::Open,
    }
}

/// How often the estimated occupancy is lower, which decides nothing: the chapter names no share.
fn occupancy(survey: &SinrgSurvey) -> Statement {
    let claim = ("FastSig-DRDV almost always has a lower occupancy than FastSig-SRIV (Figure 4.6)", "almost always");
    let rule = "the chapter says no share of workloads; ours are estimates from live registers, by kernel";
    if survey.occupancies.is_empty() {
        return unmeasured(claim, rule);
    }
    let count = |is: fn(&[f64; 2]) -> bool| survey.occupancies.iter().filter(|it| is(it)).count();
    let (lower, same) = (count(|[drdv, sriv]| drdv < sriv), count(|[drdv, sriv]| drdv.to_bits() == sriv.to_bits()));
    let ours = format!("lower in {lower} of {} kernels, the same in {same}", survey.occupancies.len());
    statement(claim, ours, Judged::by(rule, Verdict::Open))
}
