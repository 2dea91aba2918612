//! What the paper says of its own choices: what is discarded and activated, the cap, the window, the bounds (§III-C, §IV-B).

use super::rules::at_most;
use crate::gpu_qin::among::{counted, extent, named, those};
use crate::gpu_qin::errors::{Rate, capped, variant};
use crate::gpu_qin::monte::monte_by_its_equations;
use crate::gpu_qin::paper::{DISCARDED, ITERATIONS, KERNELS, MONTE, MONTE_BOUNDS, OVERRUNS, PaperKernel};
use crate::gpu_qin::questions::{Question, Questions};
use crate::gpu_qin::survey::{CAPPED, CAPS, MeasuredKernel, Variant};
use crate::statements::{Judged, Statement, Verdict};
use crate::words::{listed, percent, points, range};
use methods::gpu_qin::studies::LEVEL;
use methods::gpu_qin::{Discard, ITERATIONS as ITERATIONS_KEPT};

/// A difference that would be none.
const NO_EFFECT: f64 = 0.01;
/// How much less than the paper's a rate of activation may be.
const LESS: f64 = 0.05;

pub(super) fn statements(kernels: &[MeasuredKernel], questions: &Questions) -> Vec<Statement> {
    let mut all = vec![discarded(kernels), steps(kernels), activation(kernels)];
    all.extend(["BFS", "SCAN-block"].iter().filter_map(|name| activated(named(kernels, name)?)));
    all.push(least_activated(kernels));
    all.extend(ITERATIONS.iter().filter_map(|&(name, most)| iterations(named(kernels, name)?, most)));
    all.push(beyond_the_cap(kernels));
    all.extend(CAPPED.iter().filter_map(|name| caps(named(kernels, name)?, questions)));
    all.extend([overruns(kernels), negligible(kernels)]);
    all.extend(named(kernels, "MonteCarlo").map(monte));
    all.extend(bounds());
    all
}

fn discarded(kernels: &[MeasuredKernel]) -> Statement {
    let share = |it: &MeasuredKernel| it.given_up() as f64 / it.runs().max(1) as f64;
    let shares: Vec<f64> = kernels.iter().map(share).collect();
    let (given_up, runs) =
        kernels.iter().fold((0, 0), |(given_up, runs), it| (given_up + it.given_up(), runs + it.runs()));
    let by_kernel = extent(shares);
    let ours = given_up as f64 / runs.max(1) as f64;
    Statement {
        claim: "runs that are discarded".to_owned(),
        paper: format!("under {}", percent(DISCARDED)),
        ours: format!("{} of all, {} by kernel", percent(ours), range(by_kernel)),
        judged: at_most(ours, DISCARDED),
    }
}

fn steps(kernels: &[MeasuredKernel]) -> Statement {
    let far = those(kernels, |it| it.method_lost.given_up_for(Discard::Steps) > 0);
    Statement {
        claim: "the window of steps from a breakpoint suffices".to_owned(),
        paper: "lines of a few tens of instructions".to_owned(),
        ours: format!("exceeded in {}", counted(&far, kernels.len())),
        judged: Judged::plain("no run given up for it", far.is_empty()),
    }
}

/// The activation rates of the paper.
fn published() -> (f64, f64) {
    let rates: Vec<f64> = KERNELS.iter().map(|kernel| kernel.activation).collect();
    extent(rates.iter().copied())
}

fn activation(kernels: &[MeasuredKernel]) -> Statement {
    let rates: Vec<f64> = kernels.iter().filter_map(MeasuredKernel::activation).collect();
    let inside = rates.iter().filter(|rate| (published().0..=published().1).contains(*rate)).count();
    Statement {
        claim: "injected faults that are activated (Table III)".to_owned(),
        paper: range(published()),
        ours: range(extent(rates.iter().copied())),
        judged: Judged::plain("every kernel in the paper's range", inside == kernels.len()),
    }
}

fn activated(it: &MeasuredKernel) -> Option<Statement> {
    let ours = it.activation()?;
    let lower = it.paper.activation - LESS;
    Some(Statement {
        claim: format!("{}: nothing much is injected in vain", it.paper.name),
        paper: percent(it.paper.activation),
        ours: percent(ours),
        judged: Judged::plain(format!("{} at least", percent(lower)), ours >= lower),
    })
}

fn least_activated(kernels: &[MeasuredKernel]) -> Statement {
    let paper: Option<&PaperKernel> = KERNELS.iter().min_by(|a, b| a.activation.total_cmp(&b.activation));
    let own = |it: &&MeasuredKernel| it.activation().unwrap_or(1.0);
    let ours = kernels.iter().min_by(|a, b| own(a).total_cmp(&own(b)));
    let (paper_name, ours_name) = (paper.map_or("", |it| it.name), ours.map_or("", |it| it.paper.name));
    let said = |name: &str, rate: Option<f64>| format!("{name} {}", percent(rate.unwrap_or(0.0)));
    Statement {
        claim: "the kernel whose faults are activated least".to_owned(),
        paper: said(paper_name, paper.map(|it| it.activation)),
        ours: said(ours_name, ours.and_then(MeasuredKernel::activation)),
        judged: Judged::plain("the same kernel", paper_name == ours_name),
    }
}

fn iterations(it: &MeasuredKernel, most: u32) -> Option<Statement> {
    Some(Statement {
        claim: format!("{}: iterations of its longest loop (Fig. 5)", it.paper.name),
        paper: most.to_string(),
        ours: it.iterations.to_string(),
        judged: Judged::plain("the same number", it.iterations == most),
    })
}

fn beyond_the_cap(kernels: &[MeasuredKernel]) -> Statement {
    let beyond = those(kernels, |it| it.iterations > ITERATIONS_KEPT);
    let paper: Vec<&str> = ITERATIONS.iter().map(|(name, _)| *name).collect();
    Statement {
        claim: "kernels with a loop beyond the cap of iterations (Fig. 5)".to_owned(),
        paper: listed(&paper),
        ours: listed(&beyond),
        judged: Judged::plain(
            "the same kernels",
            beyond.len() == paper.len() && paper.iter().all(|it| beyond.contains(it)),
        ),
    }
}

/// Fig. 6: neither rate depends on the cap.
fn caps(it: &MeasuredKernel, questions: &Questions) -> Option<Statement> {
    let name = it.paper.name;
    let asked = [Rate::Sdc, Rate::Crash].into_iter().flat_map(|rate| {
        let own = variant(it, Variant::Uncapped, rate);
        let own = own.map(|error| (ITERATIONS_KEPT, rate, error, Question::Heuristic(name, 0, rate)));
        let others = CAPS
            .into_iter()
            .filter_map(move |cap| Some((cap, rate, capped(it, cap, rate)?, Question::Cap(name, cap, rate))));
        own.into_iter().chain(others)
    });
    let asked: Vec<_> = asked.collect();
    let largest = asked.iter().max_by(|a, b| a.2.mean().abs().total_cmp(&b.2.mean().abs()))?;
    let (cap, rate, error, _) = largest;
    let verdict = if asked.iter().any(|(.., question)| questions.is_sure(question)) {
        Verdict::Fails
    } else if asked.iter().all(|(_, _, error, _)| error.mean().abs() + error.half_width() <= NO_EFFECT) {
        Verdict::Holds
    } else {
        Verdict::Open
    };
    Some(Statement {
        claim: format!("{name}: the cap of iterations changes no rate (Fig. 6)"),
        paper: "no effect".to_owned(),
        ours: format!(
            "the largest is that of {cap}: {} {} ± {:.2} points",
            rate.word(),
            points(error.mean()),
            error.half_width() * 100.0
        ),
        judged: Judged::by(
            format!(
                "no cap has a difference with corrected p < {LEVEL}, and all intervals are within {}",
                percent(NO_EFFECT)
            ),
            verdict,
        ),
    })
}

fn overruns(kernels: &[MeasuredKernel]) -> Statement {
    let late = those(kernels, |it| it.unbiased.late > 0);
    let said = kernels.iter().filter(|it| it.unbiased.late > 0);
    let said = said.map(|it| format!("{} {} of {}", it.paper.name, it.unbiased.late, it.unbiased.injected));
    let paper = OVERRUNS.iter().filter_map(|(name, late)| {
        let injected = KERNELS.iter().find(|kernel| kernel.name == *name)?.injected;
        Some(format!("{name} {late} of {injected}"))
    });
    let same = OVERRUNS.iter().all(|(name, _)| late.contains(name)) && late.len() == OVERRUNS.len();
    Statement {
        claim: "kernels in which faults are read after the activation window".to_owned(),
        paper: listed(paper),
        ours: listed(said),
        judged: Judged::plain("the same kernels", same),
    }
}

fn negligible(kernels: &[MeasuredKernel]) -> Statement {
    let injected = |name: &str| KERNELS.iter().find(|kernel| kernel.name == name).map_or(1, |kernel| kernel.injected);
    let paper: Vec<f64> = OVERRUNS.iter().map(|(name, late)| *late as f64 / injected(name) as f64).collect();
    let ours: Vec<f64> =
        kernels.iter().map(|it| it.unbiased.late as f64 / it.unbiased.injected.max(1) as f64).collect();
    Statement {
        claim: "share of injected faults that are read after the window".to_owned(),
        paper: format!("{} at most", percent(most(&paper))),
        ours: format!("{} at most", percent(most(&ours))),
        judged: at_most(most(&ours), most(&paper)),
    }
}

/// Table IV: the groups of Monte Carlo are alike.
fn monte(it: &MeasuredKernel) -> Statement {
    let rates = |end: usize| -> Vec<f64> {
        let groups = it.groups_of_realisations().into_values();
        groups.map(|ends| ends[end] as f64 / ends.iter().sum::<u64>().max(1) as f64).collect()
    };
    let spread = |rates: &[f64]| most(rates) - extent(rates.iter().copied()).0;
    let paper = |rate: fn(&crate::gpu_qin::paper::MonteGroup) -> Option<f64>| -> Vec<f64> {
        MONTE.iter().filter_map(rate).collect()
    };
    let (sdc, crash) = (paper(|group| group.sdc), paper(|group| group.crash));
    Statement {
        claim: "MonteCarlo: rates of its groups differ by little (Table IV)".to_owned(),
        paper: format!("SDC by {}, crash by {}", percent(spread(&sdc)), percent(spread(&crash))),
        ours: format!("SDC by {}, crash by {}", percent(spread(&rates(1))), percent(spread(&rates(2)))),
        judged: Judged::plain(
            format!("both by {} at most", percent(spread(&crash))),
            spread(&rates(1)).max(spread(&rates(2))) <= spread(&crash),
        ),
    }
}

fn bounds() -> Option<Statement> {
    let found = monte_by_its_equations()?;
    let printed = |bound: f64| (bound * 1000.0).round() / 1000.0;
    let (low, high) = MONTE_BOUNDS;
    Some(Statement {
        claim: "MONTE: bounds of its SDC rate by Eq. 4 and 5".to_owned(),
        paper: range(MONTE_BOUNDS),
        ours: format!("{:.2}–{:.2} % from the paper's own Table IV", found.lower * 100.0, found.upper * 100.0),
        judged: Judged::plain(
            "the same when rounded as the paper's",
            (printed(found.lower), printed(found.upper)) == (low, high),
        ),
    })
}

fn most(values: &[f64]) -> f64 {
    extent(values.iter().copied()).1
}
