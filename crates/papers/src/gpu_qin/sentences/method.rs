//! Sentences about the method's own error, its intervals and its heuristics.

use super::measurements::Measurements;
use crate::gpu_qin::among::{extent, those};
use crate::gpu_qin::errors::{Bounds, Rate, bias, chance, coverage, variant};
use crate::gpu_qin::monte::monte_by_its_equations;
use crate::gpu_qin::paper::{KERNELS, MONTE_BOUNDS};
use crate::gpu_qin::questions::Question;
use crate::gpu_qin::survey::{MeasuredKernel, Variant};
use crate::statements::Verdict;
use crate::words::{listed, of, percent, points, range};
use methods::gpu_qin::{Bounded, ITERATIONS, STEPS, WINDOW};

/// How far the method is off, over all kernels.
pub(super) fn whole(it: &Measurements<'_>) -> String {
    let n = it.kernels.len();
    let one = |rate: Rate| {
        let errors: Vec<(&str, f64)> =
            it.kernels.iter().filter_map(|kernel| Some((kernel.paper.name, bias(kernel, rate)?.mean()))).collect();
        let size = errors.iter().map(|error| error.1.abs()).sum::<f64>() / n.max(1) as f64;
        let beyond = those(it.kernels, |kernel| it.questions.is_sure(&Question::Bias(kernel.paper.name, rate)));
        let largest = errors.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let largest =
            largest.map_or_else(String::new, |(name, error)| format!("the most {} of {name}, ", points(*error)));
        format!("{:.2} points of {} ({largest}beyond chance in {})", size * 100.0, rate.word(), of(beyond.len(), n))
    };
    let realisations = it.kernels.iter().map(|kernel| kernel.realisations.len()).max().unwrap_or(0);
    format!(
        "Made {realisations} times with other representatives and other runs, the method is off, on the mean over kernels, by {} and by {}.",
        one(Rate::Sdc),
        one(Rate::Crash)
    )
}

/// By how much realisations spread.
pub(super) fn spread(it: &Measurements<'_>) -> String {
    let one = |rate: Rate| {
        let wide = those(it.kernels, |kernel| it.questions.is_sure(&Question::Spread(kernel.paper.name, rate)));
        let names = if wide.is_empty() { String::new() } else { format!(" ({})", listed(&wide)) };
        format!("{} rates of {}{names}", rate.word(), of(wide.len(), it.kernels.len()))
    };
    let ratio = |rate: Rate| {
        let own = it.kernels.iter().filter_map(move |kernel| {
            let by_chance = chance(kernel, rate);
            (by_chance > 0.0).then_some(bias(kernel, rate)?.found.deviation / by_chance)
        });
        extent(own)
    };
    let (sdc, crash) = (ratio(Rate::Sdc), ratio(Rate::Crash));
    format!(
        "Which thread stands for a group is chance as well, and Eq. 2 does not know of it. Realisations spread by more than the chance that it \
         does know of in the {} and in the {}. Their spread is {:.1} to {:.1} times that chance for SDC and {:.1} to {:.1} times for crashes.",
        one(Rate::Sdc),
        one(Rate::Crash),
        sdc.0,
        sdc.1,
        crash.0,
        crash.1
    )
}

/// How often intervals hold the rate.
pub(super) fn coverages(kernels: &[MeasuredKernel]) -> String {
    let share = |bounds: Bounds, rate: Rate| {
        let (held, all) = coverage(kernels, bounds, rate);
        percent(held as f64 / all.max(1) as f64)
    };
    let all = |bounds: Bounds| {
        let said = Rate::ALL.map(|rate| format!("{} {}", rate.word(), share(bounds, rate)));
        listed(said)
    };
    format!(
        "An interval at 95 % should hold the true rate in 95 % of the realisations. Eq. 3 holds the unbiased one in: {}; a score interval of \
         the same strata in: {}.",
        all(Bounds::Published),
        all(Bounds::Score)
    )
}

/// Counts of zero.
pub(super) fn zeros(kernels: &[MeasuredKernel]) -> String {
    let zero = |it: &MeasuredKernel| {
        let none = |rates: Option<_>| rates.is_some_and(|it: Bounded| it.rate == 0.0);
        it.realisations.iter().filter(|own| none(Rate::Hang.estimated(own))).count()
    };
    let hangs = |it: &MeasuredKernel| it.rates().hang.rate > 0.0;
    let all: usize = kernels.iter().map(|it| it.realisations.len()).sum();
    let empty: usize = kernels.iter().map(zero).sum();
    let wrong: usize = kernels.iter().filter(|it| hangs(it)).map(zero).sum();
    let high = kernels.iter().filter_map(MeasuredKernel::published).filter_map(|own| Rate::Hang.estimated(own));
    let widest = extent(high.filter(|it| it.rate == 0.0).map(|it| it.score_high));
    format!(
        "The paper's own interval, Eq. 3, is Wald's: where nothing was seen it is from zero to zero, whatever the number of runs. So it was \
         for hangs in {} realisations, {wrong} of them of kernels that do hang. The score interval of such a realisation reaches up to {}; \
         it is what the tables and plots here show.",
        of(empty, all),
        range(widest)
    )
}

/// What each heuristic changes.
pub(super) fn heuristics(it: &Measurements<'_>) -> String {
    let changed = |heuristic: Variant| those(it.kernels, |kernel| variant(kernel, heuristic, Rate::Sdc).is_some());
    let sure = |number: usize| {
        those(it.kernels, |kernel| {
            let is_sure = |&rate: &Rate| it.questions.is_sure(&Question::Heuristic(kernel.paper.name, number, rate));
            [Rate::Sdc, Rate::Crash].iter().any(is_sure)
        })
    };
    let late = those(it.kernels, |kernel| kernel.unbiased.late > 0);
    format!(
        "The cap of {ITERATIONS} iterations changes sites of {} ({}), and a rate beyond chance of {}. The window of {STEPS} steps changes those of \
         {}. Leaving out small groups, against profiles of groups that hold {:.0} % of the threads, changes those of {} ({}), and a rate beyond chance of {}. The window of {WINDOW} instructions leaves out \
         faults of {} ({}).",
        of(changed(Variant::Uncapped).len(), it.kernels.len()),
        listed(changed(Variant::Uncapped)),
        listed(sure(0)),
        of(changed(Variant::AnySteps).len(), it.kernels.len()),
        Variant::COVERAGE * 100.0,
        of(changed(Variant::Covered).len(), it.kernels.len()),
        listed(changed(Variant::Covered)),
        listed(sure(2)),
        of(late.len(), it.kernels.len()),
        listed(late)
    )
}

/// The cap of Fig. 6.
pub(super) fn caps(it: &Measurements<'_>) -> String {
    let part = it.parts.iter().flat_map(|part| &part.statements).filter(|it| it.claim.ends_with("(Fig. 6)"));
    let said = part.map(|it| {
        let kernel = it.claim.split(':').next().unwrap_or_default();
        format!("on {kernel} {}", if it.judged.verdict == Verdict::Fails { "it does" } else { "none is seen" })
    });
    format!("The paper sees no effect of the cap. Here, beyond chance: {}.", listed(said))
}

/// Equation 4.
pub(super) fn bounds() -> String {
    let Some(found) = monte_by_its_equations() else { return String::new() };
    let printed = (found.upper * 1000.0).round() / 1000.0 == MONTE_BOUNDS.1;
    format!(
        "With this reading the paper's own Table IV gives {:.2} to {:.2} %, {} it prints {}.",
        found.lower * 100.0,
        found.upper * 100.0,
        if printed { "as" } else { "where" },
        range(MONTE_BOUNDS)
    )
}

/// What a run costs.
pub(super) fn cost(kernels: &[MeasuredKernel]) -> String {
    let paper = extent(KERNELS.iter().map(|kernel| f64::from(kernel.seconds)));
    let ours = extent(kernels.iter().map(|it| it.seconds * 1000.0));
    format!(
        "A run takes {:.0} to {:.0} seconds there and {:.4} to {:.1} milliseconds here",
        paper.0, paper.1, ours.0, ours.1
    )
}
