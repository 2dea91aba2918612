//! What GPU-Qin makes of a campaign, and threads in groups, for a terminal.

use crate::number::{bounded, bounds, plain, rate};
use crate::text::table;
use methods::gpu_qin::{Bounded, Estimates, Grouping, KernelEstimate, KernelGroups};

/// Groups of a kernel that are shown.
const GROUPS: usize = 12;

/// The estimates of a campaign, kernel by kernel.
#[must_use]
pub fn estimates(estimates: &Estimates, short_name: fn(&str) -> &str) -> String {
    let mut text = format!("{}: rates among activated faults, 95 %\n", estimates.settings);
    let header = ["kernel", "injected", "activated", "sdc", "crash", "hang", "benign", "with groups left out: sdc"];
    let row = |kernel: &KernelEstimate| {
        let rates = kernel.rates;
        let cell = |pick: fn(&methods::gpu_qin::Rates) -> Bounded| {
            rates.as_ref().map(pick).map_or_else(|| "–".to_owned(), |it| bounded(it.rate, it.low, it.high))
        };
        let left_out = rates.map_or_else(|| "–".to_owned(), |it| format!("{} %", bounds(it.sdc.lower, it.sdc.upper)));
        vec![
            short_name(&kernel.kernel).to_owned(),
            plain(kernel.injected),
            format!("{} ({})", plain(kernel.activated), rate(kernel.activation())),
            cell(|rates| rates.sdc),
            cell(|rates| rates.crash),
            cell(|rates| rates.hang),
            cell(|rates| rates.benign),
            left_out,
        ]
    };
    text += &table(&header, "<>", &estimates.kernels.iter().map(row).collect::<Vec<_>>());
    for kernel in &estimates.kernels {
        let listed = kernel.discarded.iter().filter(|(_, count)| **count > 0);
        let listed: Vec<String> = listed.map(|(why, count)| format!("{why} {}", plain(*count))).collect();
        if !listed.is_empty() {
            text += &format!("{}: given up: {}\n", short_name(&kernel.kernel), listed.join(", "));
        }
    }
    text
}

/// Threads in groups, kernel by kernel.
#[must_use]
pub fn groups(grouping: &Grouping, short_name: fn(&str) -> &str) -> String {
    grouping.kernels.iter().map(|kernel| of_kernel(kernel, short_name)).collect::<Vec<_>>().join("\n")
}

fn of_kernel(kernel: &KernelGroups, short_name: fn(&str) -> &str) -> String {
    let mut text = format!(
        "{}: category {}, {} groups of {} threads over {} launches; {} profiled, which stand for {}\n",
        short_name(&kernel.kernel),
        kernel.category.numeral(),
        plain(kernel.groups.len() as u64),
        plain(kernel.threads),
        plain(kernel.launches.len() as u64),
        plain(kernel.profiled().count() as u64),
        rate(Some(kernel.coverage)),
    );
    let header = ["instructions", "executed", "threads", "share", "cumulative", "traces", "profiled", "a thread"];
    let rows = kernel.groups.iter().zip(kernel.cumulative()).take(GROUPS).map(|(group, sum)| {
        let (least, most) = group.executed;
        let thread = group.representative;
        vec![
            plain(group.instructions.into()),
            if least == most {
                plain(least.into())
            } else {
                format!("{} – {}", plain(least.into()), plain(most.into()))
            },
            plain(group.threads),
            rate(Some(group.popularity)),
            rate(Some(sum)),
            plain(group.traces),
            if group.profiled { "yes" } else { "" }.to_owned(),
            format!("launch={},cta={},thread={}", thread.launch, thread.cta, thread.thread),
        ]
    });
    text += &table(&header, ">>>>>><<", &rows.collect::<Vec<_>>());
    if kernel.groups.len() > GROUPS {
        text += &format!("and {} groups more\n", plain((kernel.groups.len() - GROUPS) as u64));
    }
    text
}
