//! What the paper says of rates: their ranges, orders, classes, and what goes with them (§IV-C, §IV-D, appendix B).

use stats::Interval;

use super::rules::{Ranked, among_highest, among_lowest, below, close, similar, third};
use crate::gpu_qin::among::{counted, extent, named, those};
use crate::gpu_qin::errors::Rate;
use crate::gpu_qin::paper::{
    CRASH_RANGE, DWARFS, FAILURE_MEAN, FAILURE_RANGE, HANGS, INJECTABLE, LOW_SDC, REGRESSION, SDC_RANGE, SIMILAR,
    kernel_name,
};
use crate::gpu_qin::questions::{Question, Questions, mix_models};
use crate::gpu_qin::survey::MeasuredKernel;
use crate::statements::{Judged, Statement, Verdict};
use crate::words::{listed, percent, range};

const SDC: Ranked = Ranked::Rate(Rate::Sdc);
const CRASH: Ranked = Ranked::Rate(Rate::Crash);
/// Standard deviations over kernels that differ by no more are not told apart.
const ALIKE: f64 = 0.01;

pub(super) fn statements(kernels: &[MeasuredKernel], questions: &Questions) -> Vec<Statement> {
    let third = third(kernels);
    let mut all = vec![
        wide(kernels, "SDC rates vary widely", SDC, SDC_RANGE),
        wide(kernels, "crash rates vary widely", CRASH, CRASH_RANGE),
    ];
    all.extend([more(kernels, "", |it, by| by.rate(it)), more(kernels, ", built with -G as the paper's", debug)]);
    all.push(placed(
        kernels,
        &["HashGPU-md5", "HashGPU-sha1", "AES"],
        "SDC rate",
        SDC,
        class("Combinational logic").2,
        |all, names, by| among_highest(all, names, by, third),
    ));
    let low = [
        ("MonteCarlo", format!("under {}", percent(LOW_SDC.1))),
        ("MergeSort-k0", percent(LOW_SDC.0)),
        ("Stencil", class("Structured grids").2.to_owned()),
    ];
    for (name, paper) in low {
        all.push(placed(kernels, &[name], "SDC rate", SDC, &paper, |all, names, by| {
            among_lowest(all, names, by, third)
        }));
    }
    all.push(placed(
        kernels,
        &["MonteCarlo"],
        "SDC rate",
        SDC,
        &format!("under {}", percent(LOW_SDC.1)),
        |all, names, by| among_lowest(all, names, by, 1),
    ));
    all.extend(SIMILAR.iter().filter_map(|&pair| alike(kernels, pair)));
    all.push(wide(kernels, "failures of any kind", Ranked::Failure, FAILURE_RANGE));
    all.push(mean(kernels));
    all.push(placed(
        kernels,
        &["SCAN-block"],
        "failure rate",
        Ranked::Failure,
        &percent(FAILURE_RANGE.1),
        |all, names, by| among_highest(all, names, by, 1),
    ));
    all.push(placed(
        kernels,
        &["MonteCarlo"],
        "failure rate",
        Ranked::Failure,
        &percent(FAILURE_RANGE.0),
        |all, names, by| among_lowest(all, names, by, 1),
    ));
    all.push(hangs(kernels));
    all.extend(classes(kernels));
    all.push(mix(kernels, questions));
    all.extend(state(kernels));
    all
}

fn class(name: &str) -> (&'static str, &'static str, &'static str, &'static str) {
    DWARFS.iter().copied().find(|class| class.0 == name).unwrap_or(DWARFS[0])
}

fn rates(kernels: &[MeasuredKernel], by: Ranked) -> Vec<f64> {
    kernels.iter().map(|it| by.rate(it)).collect()
}

/// The standard deviation of some rates.
fn deviation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt()
}

fn wide(kernels: &[MeasuredKernel], claim: &str, by: Ranked, paper: (f64, f64)) -> Statement {
    let ours = extent(rates(kernels, by));
    Statement {
        claim: claim.to_owned(),
        paper: range(paper),
        ours: range(ours),
        judged: Judged::plain("a range as wide as the paper's", ours.1 - ours.0 >= paper.1 - paper.0),
    }
}

fn debug(it: &MeasuredKernel, by: Ranked) -> f64 {
    let rate = if by == SDC { Rate::Sdc } else { Rate::Crash };
    rate.estimated(&it.debug).map_or(0.0, |it| it.rate)
}

fn more(kernels: &[MeasuredKernel], built: &str, rate: fn(&MeasuredKernel, Ranked) -> f64) -> Statement {
    let of = |by: Ranked| deviation(&kernels.iter().map(|it| rate(it, by)).collect::<Vec<_>>());
    let (crash, sdc) = (of(CRASH), of(SDC));
    let verdict = if (crash - sdc).abs() <= ALIKE { Verdict::Open } else { Verdict::plain(crash > sdc) };
    Statement {
        claim: format!("crash rates vary more than SDC rates{built}"),
        paper: format!("{} against {}", range(CRASH_RANGE), range(SDC_RANGE)),
        ours: format!("standard deviation {} against {}", percent(crash), percent(sdc)),
        judged: Judged::by(format!("the deviation over kernels is larger by {}", percent(ALIKE)), verdict),
    }
}

/// Where kernels stand in an order.
fn placed(
    kernels: &[MeasuredKernel],
    names: &[&str],
    what: &str,
    by: Ranked,
    paper: &str,
    judge: impl Fn(&[MeasuredKernel], &[&str], Ranked) -> Judged,
) -> Statement {
    let mut order: Vec<&MeasuredKernel> = kernels.iter().collect();
    order.sort_by(|a, b| by.rate(b).total_cmp(&by.rate(a)));
    let place = |name: &&str| {
        let at = order.iter().position(|it| it.paper.name == *name)?;
        Some(format!("{name} {} ({})", at + 1, percent(by.rate(order[at]))))
    };
    let judged = judge(kernels, names, by);
    Statement {
        claim: format!("{what} of {}: {}", listed(names), judged.rule),
        paper: paper.to_owned(),
        ours: listed(names.iter().filter_map(place)),
        judged: Judged { rule: format!("{}, by intervals", judged.rule), ..judged },
    }
}

fn alike(kernels: &[MeasuredKernel], (first, second): (&str, &str)) -> Option<Statement> {
    let (a, b) = (named(kernels, first)?, named(kernels, second)?);
    Some(Statement {
        claim: format!("SDC rates of {first} and {second} are similar"),
        paper: "similar".to_owned(),
        ours: format!("{} and {}", percent(SDC.rate(a)), percent(SDC.rate(b))),
        judged: similar(SDC.sure(a), SDC.sure(b)),
    })
}

fn mean(kernels: &[MeasuredKernel]) -> Statement {
    let all = rates(kernels, Ranked::Failure);
    let ours = all.iter().sum::<f64>() / all.len().max(1) as f64;
    Statement {
        claim: "mean failure rate".to_owned(),
        paper: percent(FAILURE_MEAN),
        ours: percent(ours),
        judged: close(ours, FAILURE_MEAN),
    }
}

fn hangs(kernels: &[MeasuredKernel]) -> Statement {
    let by = Ranked::Rate(Rate::Hang);
    let above = those(kernels, |it| by.rate(it) >= HANGS);
    let most = kernels.iter().max_by(|a, b| by.rate(a).total_cmp(&by.rate(b)));
    let most = most.map_or_else(String::new, |it| format!("{} ({})", percent(by.rate(it)), it.paper.name));
    Statement {
        claim: "hang rates are low".to_owned(),
        paper: format!("uniformly under {}", percent(HANGS)),
        ours: format!("most {most}; {} or more in {}", percent(HANGS), counted(&above, kernels.len())),
        judged: below(kernels, by, HANGS),
    }
}

/// The mean SDC rate of a class of Table V, with bounds that hold for all its kernels at once.
fn mean_of(kernels: &[MeasuredKernel], class: &str) -> Option<(f64, Interval)> {
    let (_, names, ..) = DWARFS.iter().find(|it| it.0 == class)?;
    let own: Vec<&MeasuredKernel> = names.split(", ").filter_map(|name| named(kernels, kernel_name(name))).collect();
    let n = own.len() as f64;
    let mean = |value: &dyn Fn(&MeasuredKernel) -> f64| own.iter().map(|it| value(it)).sum::<f64>() / n;
    let bounds = Interval { low: mean(&|it| SDC.sure(it).low), high: mean(&|it| SDC.sure(it).high) };
    (n > 0.0).then(|| (mean(&|it| SDC.rate(it)), bounds))
}

/// The order of the classes of Table V.
fn classes(kernels: &[MeasuredKernel]) -> Vec<Statement> {
    let all: Vec<(&str, &str, f64, Interval)> = DWARFS
        .iter()
        .filter_map(|&(name, _, paper, _)| mean_of(kernels, name).map(|(mean, bounds)| (name, paper, mean, bounds)))
        .collect();
    let statement = |class: &str, below: &[&str], claim: &str| {
        let own = all.iter().find(|it| it.0 == class)?;
        let others: Vec<_> = all.iter().filter(|it| it.0 != class && !below.contains(&it.0)).collect();
        let verdict = others.iter().map(|other| match () {
            () if other.3.high < own.3.low => Verdict::Holds,
            () if other.3.low > own.3.high => Verdict::Fails,
            () => Verdict::Open,
        });
        let largest = others.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
        Some(Statement {
            claim: format!("{} {claim} SDC rate of the classes of Table V", class.to_lowercase()),
            paper: own.1.to_owned(),
            ours: format!(
                "mean {}; of the others {} has {}",
                percent(own.2),
                largest.0.to_lowercase(),
                percent(largest.2)
            ),
            judged: Judged::by("its mean above the others', by intervals", Verdict::all(verdict)),
        })
    };
    let lowest = || {
        let own = all.iter().find(|it| it.0 == "Monte Carlo")?;
        let others = all.iter().filter(|it| it.0 != own.0);
        let verdict = others.clone().map(|other| match () {
            () if other.3.low > own.3.high => Verdict::Holds,
            () if other.3.high < own.3.low => Verdict::Fails,
            () => Verdict::Open,
        });
        let least = others.clone().min_by(|a, b| a.2.total_cmp(&b.2))?;
        Some(Statement {
            claim: "monte carlo has the lowest SDC rate of the classes of Table V".to_owned(),
            paper: own.1.to_owned(),
            ours: format!("mean {}; of the others {} has {}", percent(own.2), least.0.to_lowercase(), percent(least.2)),
            judged: Judged::by("its mean below the others', by intervals", Verdict::all(verdict)),
        })
    };
    let found = [
        statement("Combinational logic", &[], "has the highest"),
        statement("Linear algebra", &["Combinational logic"], "has the second highest"),
        lowest(),
    ];
    found.into_iter().flatten().collect()
}

/// §IV-D: no linear model of SDC rates explains much.
fn mix(kernels: &[MeasuredKernel], questions: &Questions) -> Statement {
    let models = mix_models(kernels);
    let sdc = models.iter().filter(|model| model.rate == "SDC");
    let best = sdc.filter_map(|model| Some((model, model.fit.as_ref()?.r_squared))).max_by(|a, b| a.1.total_cmp(&b.1));
    let (r_squared, p) = REGRESSION;
    let ours = best.map_or_else(String::new, |(model, found)| {
        let corrected = questions.p(&Question::Model(model.rate, model.variables)).unwrap_or(1.0);
        format!("R² {found:.2} by {}, p {corrected:.2} corrected", model.variables)
    });
    Statement {
        claim: "the instruction mix explains SDC rates weakly (best linear model)".to_owned(),
        paper: format!("R² {r_squared}, p {p}"),
        ours,
        judged: Judged::plain(format!("R² {r_squared} at most"), best.is_none_or(|(_, found)| found <= r_squared)),
    }
}

/// Appendix B.
fn state(kernels: &[MeasuredKernel]) -> Vec<Statement> {
    let share = |it: &MeasuredKernel| it.state.injectable();
    let (mean, most, least) = INJECTABLE;
    let ours = kernels.iter().map(share).sum::<f64>() / kernels.len().max(1) as f64;
    let end = |highest: bool| {
        let order = |a: &&MeasuredKernel, b: &&MeasuredKernel| share(a).total_cmp(&share(b));
        if highest { kernels.iter().max_by(order) } else { kernels.iter().min_by(order) }
    };
    let ended = |highest: bool, paper: &str, value: f64| {
        let it = end(highest);
        let word = if highest { "most" } else { "least" };
        Statement {
            claim: format!("kernel whose state faults can reach {word} (appendix B)"),
            paper: format!("{paper} {}", percent(value)),
            ours: it.map_or_else(String::new, |it| format!("{} {}", it.paper.name, percent(share(it)))),
            judged: Judged::plain("the same kernel", it.is_some_and(|it| it.paper.name == paper)),
        }
    };
    vec![
        Statement {
            claim: "mean share of the state that faults can reach (appendix B)".to_owned(),
            paper: percent(mean),
            ours: percent(ours),
            judged: close(ours, mean),
        },
        ended(true, "MAT", most),
        ended(false, "SCAN-block", least),
    ]
}
