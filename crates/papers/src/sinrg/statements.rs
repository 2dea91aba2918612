//! The statements of the chapter, each with its rule and its verdict.

use methods::hardening::Scheme;
use stats::{Confidence, spearman};

use super::applications;
use super::beam::beam;
use super::detected::detection;
use super::others::{others, overheads, saved, time_of, times};
use super::rules::{Claim, above, count, each, mean, one, statement, unmeasured, within};
use super::survey::{InjectedWorkload, ProtectedWorkload, SinrgSurvey, remaining};
use crate::statements::{Judged, Part, Statement, Verdict};
use crate::words::percent;

/// All statements.
pub(super) fn statements(survey: &SinrgSurvey) -> Vec<Part> {
    vec![
        Part { name: "statements-time", statements: time(survey) },
        Part { name: "statements-coverage", statements: coverage(survey) },
        Part { name: "statements-faults", statements: faults(survey) },
        Part { name: "statements-detection", statements: detection(survey) },
        Part { name: "statements-others", statements: others(survey) },
    ]
}

fn time(survey: &SinrgSurvey) -> Vec<Statement> {
    let average = |claim: Claim<'_>, theirs: f64, scheme| mean(claim, theirs, &overheads(survey, scheme), percent);
    let saved = |from: Scheme, to: Scheme| saved(survey, from, to);
    let of = |name: &str, scheme| time_of(survey, name, scheme).map(|it| (it.ratio - 1.0, it.low - 1.0, it.high - 1.0));
    let over_double = times(survey, Scheme::Sriv).map(|it| {
        let verdict = if it.low > 2.0 {
            Verdict::Holds
        } else if it.high <= 2.0 {
            Verdict::Fails
        } else {
            Verdict::Open
        };
        (it.name.as_str(), verdict)
    });
    let tree = [Scheme::FastsigSriv, Scheme::FastsigDrdv].map(|scheme| time_of(survey, "btree", scheme));
    let faster = match tree {
        [Some(sriv), Some(drdv)] if sriv.high < drdv.low => Some(Verdict::Holds),
        [Some(sriv), Some(drdv)] if sriv.low > drdv.high => Some(Verdict::Fails),
        [Some(_), Some(_)] => Some(Verdict::Open),
        _ => None,
    };
    let mut statements = vec![
        average(("kernels take 69 % longer with base DRDV (Figure 4.5)", "69 %"), 0.69, Scheme::Drdv),
        each(
            ("base SRIV doubles the time of every workload (Section 4.6.1)", "over 100 %"),
            "the whole interval of each of our workloads is above 100 %",
            over_double,
        ),
        average(("kernels take 39 % longer with FastSig-DRDV (Figure 4.5)", "39 %"), 0.39, Scheme::FastsigDrdv),
        average(("kernels take 49 % longer with FastSig-SRIV (Figure 4.5)", "49 %"), 0.49, Scheme::FastsigSriv),
        above(
            ("FastSig makes DRDV faster (Figure 4.5)", "from 69 to 39 %"),
            "base DRDV takes longer",
            &saved(Scheme::Drdv, Scheme::FastsigDrdv),
        ),
        above(
            ("FastSig-DRDV is faster than FastSig-SRIV in the mean (Figure 4.5)", "39 against 49 %"),
            "FastSig-SRIV takes longer",
            &saved(Scheme::FastsigSriv, Scheme::FastsigDrdv),
        ),
        one(("lud takes 18 % longer with FastSig-DRDV (Section 4.6.1)", "18 %"), 0.18, of("lud", Scheme::FastsigDrdv)),
        one(("lud takes 59 % longer with FastSig-SRIV (Section 4.6.1)", "59 %"), 0.59, of("lud", Scheme::FastsigSriv)),
        each(
            ("b+tree is faster with FastSig-SRIV than with FastSig-DRDV (Section 4.6.1)", "6 against 32 %"),
            "the intervals of the two times of ours do not overlap, and that of SRIV is lower",
            faster.map(|verdict| ("btree", verdict)),
        ),
    ];
    statements.extend(applications::times(&survey.applications));
    statements
}

/// A number of each workload under a scheme.
fn values(survey: &SinrgSurvey, scheme: Scheme, of: impl Fn(&InjectedWorkload, &ProtectedWorkload) -> f64) -> Vec<f64> {
    survey.injected.iter().filter_map(|it| Some(of(it, it.by(scheme)?))).collect()
}

fn share(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

fn coverage(survey: &SinrgSurvey) -> Vec<Statement> {
    use Scheme::{FastsigDrdv, FastsigSriv};
    let grown = |scheme| values(survey, scheme, |_, by| share(by.after, by.before) - 1.0);
    let original = |scheme| values(survey, scheme, |_, by| share(by.dynamic.original(), by.dynamic.all()));
    let verified = |scheme| values(survey, scheme, |_, by| share(by.dynamic.verification, by.dynamic.all()));
    let covered = |scheme| values(survey, scheme, |_, by| 1.0 - share(by.dynamic.uncovered, by.dynamic.all()));
    let both = || survey.injected.iter().filter_map(|it| Some((it, it.by(FastsigDrdv)?, it.by(FastsigSriv)?)));
    let more: Vec<f64> = both()
        .filter(|(_, drdv, _)| drdv.dynamic.verification > 0)
        .map(|(_, drdv, sriv)| {
            let part = |by: &ProtectedWorkload| share(by.dynamic.verification, by.dynamic.all());
            part(sriv) / part(drdv)
        })
        .collect();
    let executes_more =
        both().map(|(it, drdv, sriv)| (it.name.as_str(), Verdict::plain(sriv.dynamic.all() > drdv.dynamic.all())));
    let lud = both().find(|(it, ..)| it.name == "lud");
    let lud = lud.map(|(_, drdv, sriv)| share(sriv.dynamic.all(), drdv.dynamic.all()) - 1.0);
    let times = |value: f64| format!("{value:.2}×");
    let mut statements = vec![
        within(
            ("FastSig-DRDV adds 74 to 115 % static instructions (Section 4.6.1)", "74 to 115 %"),
            (0.74, 1.15),
            &grown(FastsigDrdv),
        ),
        within(("FastSig-SRIV adds 180 to 227 % (Section 4.6.1)", "180 to 227 %"), (1.80, 2.27), &grown(FastsigSriv)),
        mean(
            ("36 % of the dynamic instructions are originals with FastSig-DRDV (Figure 4.6)", "36 %"),
            0.36,
            &original(FastsigDrdv),
            percent,
        ),
        mean(("25 % are with FastSig-SRIV (Figure 4.6)", "25 %"), 0.25, &original(FastsigSriv), percent),
        mean(
            ("15 % of the dynamic instructions verify with FastSig-DRDV (Figure 4.6)", "15 %"),
            0.15,
            &verified(FastsigDrdv),
            percent,
        ),
        mean(("35 % do with FastSig-SRIV (Figure 4.6)", "35 %"), 0.35, &verified(FastsigSriv), percent),
        mean(
            ("the share that verifies is 2.4 times as large with FastSig-SRIV (Figure 4.6)", "2.4×"),
            2.4,
            &more,
            times,
        ),
        mean(
            ("87 % of the dynamic instructions are covered with FastSig-DRDV (Figure 4.6)", "87 %"),
            0.87,
            &covered(FastsigDrdv),
            percent,
        ),
        mean(("88 % are with FastSig-SRIV (Figure 4.6)", "88 %"), 0.88, &covered(FastsigSriv), percent),
        each(
            ("FastSig-SRIV always executes more instructions than FastSig-DRDV (Figure 4.6)", "all workloads"),
            "it does in each of our workloads",
            executes_more,
        ),
        count(("lud executes 33 % more instructions with FastSig-SRIV (Section 4.6.1)", "33 %"), lud),
    ];
    statements.extend(applications::sizes(&survey.applications));
    statements
}

fn faults(survey: &SinrgSurvey) -> Vec<Statement> {
    let below = |scheme| {
        let verdict = move |it: &InjectedWorkload| {
            let by = it.by(scheme)?;
            let (_, bounds) = by.ends.share(by.ends.sdc);
            let uncovered = share(by.dynamic.uncovered, by.dynamic.all());
            Some(if bounds.high < uncovered {
                Verdict::Holds
            } else if bounds.low >= uncovered {
                Verdict::Fails
            } else {
                Verdict::Open
            })
        };
        survey.injected.iter().filter_map(move |it| Some((it.name.as_str(), verdict(it)?))).collect::<Vec<_>>()
    };
    let fewer = |scheme| {
        let verdict = move |it: &InjectedWorkload| {
            let by = it.by(scheme)?;
            let (_, low, high) = remaining([it.ends, by.ends], [it.executed, by.dynamic.all()])?;
            Some(if high < 1.0 {
                Verdict::Holds
            } else if low >= 1.0 {
                Verdict::Fails
            } else {
                Verdict::Open
            })
        };
        survey.injected.iter().filter_map(move |it| Some((it.name.as_str(), verdict(it)?))).collect::<Vec<_>>()
    };
    let early = ["btree", "lud"].into_iter().filter_map(|name| {
        let by = survey.injected.iter().find(|it| it.name == name)?.by(Scheme::FastsigSriv)?;
        Some((name, Verdict::plain(by.ends.other > 0)))
    });
    let (rule, claim) =
        ("the whole interval of the rate is below that share in each of our workloads", "SDC < uncovered");
    let mut all = vec![];
    for scheme in [Scheme::FastsigDrdv, Scheme::FastsigSriv] {
        let named =
            format!("with {}, the SDC rate is below the uncovered share in every workload (Figure 4.7)", scheme.word());
        all.push(each((&named, claim), rule, below(scheme)));
        let named = format!("{} reduces SDC in every workload (Figure 4.7)", scheme.word());
        let rule = "SDC rate × instructions falls with all its bounds in each of our workloads";
        all.push(each((&named, "fewer"), rule, fewer(scheme)));
    }
    all.extend([
        correlated(survey),
        each(
            ("some faults crash b+tree and lud before FastSig-SRIV notices them (Figure 4.7)", "b+tree, lud"),
            "at least one run of each crashed or hung",
            early,
        ),
    ]);
    all.extend(beam(survey));
    all
}

/// The correlation of covered instructions and detection, for the scheme that compares at once.
fn correlated(survey: &SinrgSurvey) -> Statement {
    let claim = ("covered instructions correlate well with detection under FastSig-SRIV (Section 4.6.1)", "–");
    let rule = "the 95 % interval of Spearman’s rank correlation over workloads is above zero";
    let due = |it: &InjectedWorkload| {
        let by = it.by(Scheme::FastsigSriv)?;
        let detected = share(by.ends.detected + by.ends.other, by.ends.landed);
        Some((1.0 - share(by.dynamic.uncovered, by.dynamic.all()), detected))
    };
    let pairs: Vec<(f64, f64)> = survey.injected.iter().filter_map(due).collect();
    let Some(found) = spearman(&pairs) else { return unmeasured(claim, rule) };
    let bounds = found.bounds(Confidence::PERCENT_95);
    let verdict = if bounds.low > 0.0 {
        Verdict::Holds
    } else if bounds.high < 0.0 {
        Verdict::Fails
    } else {
        Verdict::Open
    };
    let ours = format!("{:.2} ({:.2} to {:.2}), {} workloads", found.coefficient, bounds.low, bounds.high, found.pairs);
    statement(claim, ours, Judged::by(rule, verdict))
}
