//! Sentences about rates, groups, crashes, and what goes with them.

use super::measurements::Measurements;
use crate::gpu_qin::among::{extent, those};
use crate::gpu_qin::errors::Rate;
use crate::gpu_qin::paper::{DWARFS, EXCEPTIONS, MISALIGNED, MONTE, kernel_name};
use crate::gpu_qin::questions::{Question, mix_models};
use crate::gpu_qin::survey::MeasuredKernel;
use crate::words::{listed, many, of, percent};
use facts::Space;
use methods::gpu_qin::studies::LEVEL;
use methods::gpu_qin::{Bounded, Cause, TrialEnd, WINDOW};

/// What does not end, and why.
pub(super) fn hangs(kernels: &[MeasuredKernel]) -> String {
    let mut sums = [0; 3];
    for it in kernels {
        sums.iter_mut().zip(it.unbiased.hangs).for_each(|(sum, count)| *sum += count);
    }
    let [loops, barriers, fuel] = sums;
    let none = those(kernels, |it| it.unbiased.hangs == [0; 3]);
    let without = if none.is_empty() {
        "every kernel has some".to_owned()
    } else {
        format!("{} have none", of(none.len(), kernels.len()))
    };
    format!(
        "What a limit of time would end, {} of the activated faults, is counted as a hang: {loops} are in loops proven to have no end in reach, {barriers} \
         wait at a barrier that others never reach, {fuel} were stopped out of fuel, and nobody says that these would not have ended. Of the \
         kernels {without}.",
        loops + barriers + fuel
    )
}

/// What optimisation changes.
pub(super) fn compiler(kernels: &[MeasuredKernel]) -> String {
    let compare = |rate: Rate, is: fn(Bounded, Bounded) -> bool| {
        those(kernels, |it| match (rate.estimated(&it.unbiased), rate.estimated(&it.debug)) {
            (Some(optimised), Some(debug)) => is(optimised, debug),
            _ => false,
        })
    };
    let higher = |optimised: Bounded, debug: Bounded| debug.low > optimised.high;
    let lower = |optimised: Bounded, debug: Bounded| debug.high < optimised.low;
    let n = kernels.len();
    let longer = extent(kernels.iter().map(|it| it.longer));
    format!(
        "Built with `-G`, kernels execute {:.1} to {:.1} times as many instructions. By their intervals, crash rates are higher in {} ({}) and \
         lower in {} ({}); SDC rates are lower in {} ({}) and higher in {} ({}).",
        longer.0,
        longer.1,
        of(compare(Rate::Crash, higher).len(), n),
        listed(compare(Rate::Crash, higher)),
        of(compare(Rate::Crash, lower).len(), n),
        listed(compare(Rate::Crash, lower)),
        of(compare(Rate::Sdc, lower).len(), n),
        listed(compare(Rate::Sdc, lower)),
        of(compare(Rate::Sdc, higher).len(), n),
        listed(compare(Rate::Sdc, higher))
    )
}

/// What stands at the ends of the order by SDC rate, and what it executes.
pub(super) fn highest(kernels: &[MeasuredKernel]) -> String {
    let mut order: Vec<&MeasuredKernel> = kernels.iter().collect();
    order.sort_by(|a, b| b.rates().sdc.rate.total_cmp(&a.rates().sdc.rate));
    let said = |it: &&MeasuredKernel| {
        let [_, _, memory, control] = it.mix.shares();
        format!(
            "{} ({}; {} memory instructions, {} control flow)",
            it.paper.name,
            percent(it.rates().sdc.rate),
            percent(memory),
            percent(control)
        )
    };
    let (first, last) = (order.iter().take(3).map(said), order.iter().rev().take(3).map(said));
    format!("The highest SDC rates are those of {}; the lowest those of {}.", listed(first), listed(last))
}

/// What grouping tells apart.
pub(super) fn groups(it: &Measurements<'_>) -> String {
    let several = those(it.kernels, |kernel| it.questions.p(&Question::Between(kernel.paper.name)).is_some());
    let differ = those(it.kernels, |kernel| it.questions.is_sure(&Question::Between(kernel.paper.name)));
    let within = those(it.kernels, |kernel| it.questions.is_sure(&Question::Within(kernel.paper.name)));
    let traces = those(it.kernels, |kernel| kernel.groups.groups.iter().any(|group| group.traces > 1));
    format!(
        "Groups differ in {} kernels with several that can be compared ({}). Threads of one group differ as well in {} kernels ({}): where in \
         the data a thread stands does not show in its count. In {} ({}) threads with the same count go different ways.",
        of(differ.len(), several.len()),
        listed(&differ),
        of(within.len(), it.kernels.len()),
        listed(&within),
        of(traces.len(), it.kernels.len()),
        listed(&traces)
    )
}

/// The groups of Monte Carlo.
pub(super) fn monte(kernels: &[MeasuredKernel]) -> String {
    let Some(it) = kernels.iter().find(|it| it.paper.name == "MonteCarlo") else { return String::new() };
    let pairs = it.groups.groups.iter().zip(&MONTE);
    let apart = extent(pairs.map(|(ours, paper)| (ours.popularity - paper.share).abs())).1;
    let ours = extent(it.groups.groups.iter().map(|group| f64::from(group.instructions)));
    let paper = extent(MONTE.iter().map(|group| f64::from(group.instructions)));
    format!(
        "Shares of the groups differ from the paper's by {} at most: the reduction tree decides them. Threads come to {:.0} to {:.0} instructions, \
         the paper's to {:.0} to {:.0}.",
        percent(apart),
        ours.0,
        ours.1,
        paper.0,
        paper.1
    )
}

/// The classes of Table V in order.
pub(super) fn classes(kernels: &[MeasuredKernel]) -> String {
    let mean = |names: &str| {
        let own = || kernels.iter().filter(|it| names.split(", ").any(|name| kernel_name(name) == it.paper.name));
        own().map(|it| it.rates().sdc.rate).sum::<f64>() / own().count().max(1) as f64
    };
    let mut order: Vec<(String, f64)> =
        DWARFS.iter().map(|(class, names, ..)| (class.to_lowercase(), mean(names))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let said = order.iter().map(|(class, mean)| format!("{class} ({})", percent(*mean)));
    format!("By their means the order is {}.", listed(said))
}

/// What Table VI does not speak of.
pub(super) fn exceptions(kernels: &[MeasuredKernel]) -> String {
    let trials = || kernels.iter().flat_map(|it| &it.trials).filter(|trial| trial.is_activated(Some(WINDOW)));
    let crash = |end: TrialEnd| match end {
        TrialEnd::Crash { trap: Some(trap), space, .. } => Some((trap.word(), space)),
        _ => None,
    };
    let all: Vec<(&str, Option<Space>)> = trials().filter_map(|trial| crash(trial.end)).collect();
    let misaligned: Vec<Option<Space>> = all.iter().filter(|it| it.0 == MISALIGNED).map(|it| it.1).collect();
    let close = misaligned.iter().filter(|space| matches!(space, Some(Space::Local | Space::Shared))).count();
    let unknown = all.iter().filter(|it| EXCEPTIONS.iter().all(|exception| exception.word != it.0)).count();
    format!(
        "The paper speaks of misaligned local and shared addresses: of our {} misaligned accesses {close} are such, the others are of global \
         memory. {} of the crashes are exceptions that the paper has not.",
        misaligned.len(),
        percent(unknown as f64 / all.len().max(1) as f64)
    )
}

/// How soon crashes follow.
pub(super) fn latencies(it: &Measurements<'_>) -> String {
    let mut all: Vec<u64> =
        it.kernels.iter().flat_map(|kernel| &kernel.causes).flat_map(|cause| cause.latencies.iter().copied()).collect();
    all.sort_unstable();
    let all = Cause { trap: String::new(), count: all.len() as u64, share: 1.0, latencies: all };
    let quantile = |share: f64| all.quantile(share).unwrap_or(0);
    format!(
        "Of all crashes half follow within {} of the fault's reading, 90 % within {}, 99 % within {}: the tail is that of addresses which a loop \
         carries on until they leave what is mapped.",
        many(quantile(0.5) as usize, "instruction"),
        quantile(0.9),
        quantile(0.99)
    )
}

/// What the mix of instructions explains.
pub(super) fn mix(it: &Measurements<'_>) -> String {
    let models = mix_models(it.kernels);
    let raw = models.iter().filter(|model| model.fit.as_ref().is_some_and(|fit| fit.p < LEVEL)).count();
    let sure =
        models.iter().filter(|model| it.questions.is_sure(&Question::Model(model.rate, model.variables))).count();
    format!("By themselves {} models have p under {LEVEL}; corrected, {sure}.", of(raw, models.len()))
}

/// Where faults reach least.
pub(super) fn state(kernels: &[MeasuredKernel]) -> String {
    let mut order: Vec<&MeasuredKernel> = kernels.iter().collect();
    order.sort_by(|a, b| a.state.injectable().total_cmp(&b.state.injectable()));
    let said = order.iter().take(3).map(|it| format!("{} ({})", it.paper.name, percent(it.state.injectable())));
    format!("The least shares are those of {}.", listed(said))
}
