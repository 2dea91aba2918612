//! What the method makes of a campaign, and threads in groups, as tables.

use serde::Serialize;
use study::{Cell, Study, Table, spaced};

use super::estimate::{Bounded, Estimated, KernelEstimate, Rates};
use super::grouping::{Grouping, KernelGroups};
use super::resilience::ResilienceClass;
use crate::kit::ThreadId;
use crate::method::Estimates;

/// Groups of a kernel that are shown.
const GROUPS: usize = 12;
/// Groups of a class whose instructions are shown.
const CLASS: usize = 8;

/// By kernel and group, the thread that stands for it.
pub(super) type Representatives = Vec<Vec<ThreadId>>;

/// The groups of a kernel that a pilot campaign cannot tell apart.
#[derive(Serialize)]
pub(super) struct Classes {
    pub(super) kernel: String,
    pub(super) classes: Vec<ResilienceClass>,
    /// The share of threads in groups with too few trials.
    pub(super) unknown: f64,
}

/// The estimates of a campaign, kernel by kernel.
pub(super) fn estimates(estimated: &Estimated) -> Estimates {
    let mut study = Study::new("estimates", format!("{}: rates among activated faults, 95 %", estimated.settings), "");
    let columns = [
        "kernel",
        "injected",
        "activated",
        "activation",
        "sdc",
        "crash",
        "hang",
        "benign",
        "with groups left out: sdc",
    ];
    let mut table = Table::new("", &columns);
    table.rows.extend(estimated.kernels.iter().map(estimate));
    table.notes.extend(estimated.kernels.iter().filter_map(given_up));
    table.notes.extend(estimated.kernels.iter().filter_map(endless));
    table.notes.extend(estimated.kernels.iter().filter_map(never_seen));
    study.tables.push(table);
    Estimates { json: serde_json::json!(estimated), study }
}

fn estimate(kernel: &KernelEstimate) -> Vec<Cell> {
    let rate = |pick: fn(&Rates) -> Bounded| {
        let rate = |it: Bounded| Cell::Rate { rate: it.rate, low: it.low, high: it.high };
        kernel.rates.as_ref().map(pick).map_or(Cell::None, rate)
    };
    let left_out = kernel.rates.map(|it| Cell::Bounds { low: it.sdc.lower, high: it.sdc.upper });
    vec![
        Cell::text(fault::base_name(&kernel.kernel)),
        Cell::Count(kernel.injected),
        Cell::Count(kernel.activated),
        kernel.activation().map_or(Cell::None, Cell::Share),
        rate(|rates| rates.sdc),
        rate(|rates| rates.crash),
        rate(|rates| rates.hang),
        rate(|rates| rates.benign),
        left_out.unwrap_or(Cell::None),
    ]
}

fn given_up(kernel: &KernelEstimate) -> Option<String> {
    let listed = kernel.discarded.iter().filter(|(_, count)| **count > 0);
    let listed: Vec<String> = listed.map(|(why, count)| format!("{why} {}", spaced(*count))).collect();
    let name = fault::base_name(&kernel.kernel);
    (!listed.is_empty()).then(|| format!("{name}: given up: {}", listed.join(", ")))
}

/// Why runs did not end.
fn endless(kernel: &KernelEstimate) -> Option<String> {
    let [loops, barriers, fuel] = kernel.hangs;
    let name = fault::base_name(&kernel.kernel);
    (loops + barriers + fuel > 0)
        .then(|| format!("{name}: hang: in an endless loop {loops}, at a barrier {barriers}, out of fuel {fuel}"))
}

/// Rates of which nothing was seen: equation 3 has no width there.
fn never_seen(kernel: &KernelEstimate) -> Option<String> {
    let rates = kernel.rates?;
    let all = [("sdc", rates.sdc), ("crash", rates.crash), ("hang", rates.hang)];
    let none = all.iter().filter(|(_, it)| it.rate == 0.0 && it.low == it.high);
    let said: Vec<String> = none.map(|(word, it)| format!("{word} {:.2} %", it.score_high * 100.0)).collect();
    let name = fault::base_name(&kernel.kernel);
    (!said.is_empty()).then(|| format!("{name}: none seen; a score interval reaches up to: {}", said.join(", ")))
}

/// Threads in groups, kernel by kernel.
pub(super) fn groups(grouping: &Grouping, representatives: &Representatives) -> Vec<Table> {
    grouping.kernels.iter().zip(representatives).map(|(kernel, threads)| of_kernel(kernel, threads)).collect()
}

fn of_kernel(kernel: &KernelGroups, representatives: &[ThreadId]) -> Table {
    let title = format!(
        "{}: category {}, {} groups of {} threads over {} launches; {} profiled, which stand for {:.2} %",
        fault::base_name(&kernel.kernel),
        kernel.category.numeral(),
        spaced(kernel.groups.len() as u64),
        spaced(kernel.threads),
        spaced(kernel.launches.len() as u64),
        kernel.profiled().count(),
        kernel.coverage * 100.0,
    );
    let columns = ["instructions", "executed", "threads", "share", "cumulative", "traces", "profiled", "a thread"];
    let mut table = Table::new(title, &columns);
    let groups = kernel.groups.iter().zip(kernel.cumulative()).zip(representatives);
    table.rows.extend(groups.take(GROUPS).map(|((group, sum), thread)| {
        let (least, most) = group.executed;
        vec![
            Cell::Count(group.instructions.into()),
            if least == most {
                Cell::Count(least.into())
            } else {
                Cell::text(format!("{} – {}", spaced(least.into()), spaced(most.into())))
            },
            Cell::Count(group.threads),
            Cell::Share(group.popularity),
            Cell::Share(sum),
            Cell::Count(group.traces),
            Cell::text(if group.profiled { "yes" } else { "" }),
            Cell::text(format!("launch={},cta={},thread={}", thread.launch, thread.cta, thread.thread)),
        ]
    }));
    let more = kernel.groups.len().saturating_sub(GROUPS);
    table.notes.extend((more > 0).then(|| format!("and {} groups more", spaced(more as u64))));
    table
}

/// Groups joined by how faults in them end.
pub(super) fn classes(classes: &Classes) -> Table {
    let title = format!(
        "{}: {} classes by resilience; {:.2} % of the threads are in groups with too few trials",
        fault::base_name(&classes.kernel),
        classes.classes.len(),
        classes.unknown * 100.0
    );
    let mut table = Table::new(title, &["groups", "threads", "activated", "sdc", "crash", "hang", "instructions"]);
    table.rows.extend(classes.classes.iter().map(|class| {
        let activated: u64 = class.ends.iter().sum();
        let share = |end: usize| Cell::Share(class.ends[end] as f64 / activated.max(1) as f64);
        let names: Vec<String> = class.instructions.iter().take(CLASS).map(ToString::to_string).collect();
        let more = if class.instructions.len() > CLASS { " …" } else { "" };
        vec![
            Cell::Count(class.instructions.len() as u64),
            Cell::Share(class.popularity),
            Cell::Count(activated),
            share(1),
            share(2),
            share(3),
            Cell::text(names.join(" ") + more),
        ]
    }));
    table
}
