//! Sentences about runs that no rate is made of.

use crate::gpu_qin::among::{extent, those};
use crate::gpu_qin::paper::{DISCARDED, KERNELS};
use crate::gpu_qin::survey::MeasuredKernel;
use crate::words::{listed, of, percent, range, shares};
use methods::gpu_qin::{Discard, Unread};
use std::collections::BTreeMap;

/// Groups of instructions that a sentence names.
const NAMED: usize = 3;
/// Kernels whose faults are activated less are explained.
const EXPLAINED: f64 = 0.95;

/// Why runs are given up.
pub(super) fn given_up(kernels: &[MeasuredKernel]) -> String {
    let runs: u64 = kernels.iter().map(MeasuredKernel::runs).sum();
    let all: u64 = kernels.iter().map(MeasuredKernel::given_up).sum();
    let part = |why: Discard| {
        let count: u64 = kernels.iter().map(|it| it.method_lost.given_up_for(why)).sum();
        percent(count as f64 / all.max(1) as f64)
    };
    let mut groups: BTreeMap<&str, u64> = BTreeMap::new();
    for ((why, group), count) in kernels.iter().flat_map(|it| &it.method_lost.given_up) {
        *groups.entry(group).or_default() += if *why == Discard::NoRegister { *count } else { 0 };
    }
    let absent = those(kernels, |it| it.method_lost.given_up_for(Discard::NotThere) * 2 > it.given_up());
    format!(
        "Of all runs of the method {} are given up, where the paper discards under {}: {} of these because the instruction has no register to \
         hit ({}), {} because the drawn thread does not come to the instruction of the profile, {} for too many steps. The second is more than \
         half of what is given up in {} kernels ({}).",
        percent(all as f64 / runs.max(1) as f64),
        percent(DISCARDED),
        part(Discard::NoRegister),
        shares(groups, NAMED),
        part(Discard::NotThere),
        part(Discard::Steps),
        of(absent.len(), kernels.len()),
        listed(absent)
    )
}

/// What share is activated.
pub(super) fn activation(kernels: &[MeasuredKernel]) -> String {
    let ours = extent(kernels.iter().filter_map(MeasuredKernel::activation));
    let paper = extent(KERNELS.iter().map(|kernel| kernel.activation));
    let most = those(kernels, |it| it.activation().is_some_and(|rate| rate >= EXPLAINED));
    format!(
        "Injected faults that are activated: {} by kernel, where the paper has {}; {} or more in {}.",
        range(ours),
        range(paper),
        percent(EXPLAINED),
        of(most.len(), kernels.len())
    )
}

/// Why the others are not, kernel by kernel, those with the least activation first.
pub(super) fn unread(kernels: &[MeasuredKernel]) -> String {
    let low = |it: &&MeasuredKernel| it.activation().is_some_and(|rate| rate < EXPLAINED);
    let mut low: Vec<&MeasuredKernel> = kernels.iter().filter(low).collect();
    low.sort_by(|a, b| a.activation().unwrap_or(1.0).total_cmp(&b.activation().unwrap_or(1.0)));
    low.iter().map(|it| format!("- {}\n", of_kernel(it))).collect()
}

fn of_kernel(it: &MeasuredKernel) -> String {
    let lost = &it.method_lost;
    let (never, over) = (lost.unread_for(Unread::Never), lost.unread_for(Unread::Overwritten));
    let mut groups: BTreeMap<&str, u64> = BTreeMap::new();
    lost.unread.iter().for_each(|((_, group), count)| *groups.entry(group).or_default() += count);
    let lengths: Vec<u32> = it.groups.groups.iter().map(|group| group.instructions).collect();
    let popular = it.groups.groups.first();
    let popular = popular.map_or_else(String::new, |group| {
        let longest = lengths.iter().max().copied().unwrap_or(0);
        format!(
            " {} of its threads come to {} instructions, the longest to {longest}.",
            percent(group.popularity),
            group.instructions
        )
    });
    format!(
        "**{}**, {} activated (paper {}): {} of the others are of threads that end before the register is read or written; hit were {}.{popular}",
        it.paper.name,
        percent(it.activation().unwrap_or(0.0)),
        percent(it.paper.activation),
        percent(never as f64 / (never + over).max(1) as f64),
        shares(groups, NAMED)
    )
}
