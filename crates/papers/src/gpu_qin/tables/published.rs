//! Tables I to VI.

use super::{scored, share};
use crate::gpu_qin::paper::{CATEGORIES, DWARFS, EXCEPTIONS, MONTE, MONTE_BOUNDS, kernel_name};
use crate::gpu_qin::survey::MeasuredKernel;
use facts::Space;
use methods::gpu_qin::{Bounded, KernelEstimate, TrialEnd, WINDOW, of_ends};
use std::collections::BTreeMap;
use study::{Cell, Table};

/// Table I: kernels by category.
#[must_use]
pub fn categories(kernels: &[MeasuredKernel]) -> Table {
    let columns = [
        "kernel",
        "category",
        "ours",
        "groups",
        "ours",
        "profiled",
        "ours",
        "coverage",
        "ours",
        "different traces, ours",
    ];
    let mut table = Table::new("Table I: groups of threads", &columns);
    for it in kernels {
        let of = |&(category, ..): &&(&str, &str, &str, &str)| *category == it.paper.category;
        let Some((category, groups, profiled, coverage)) = CATEGORIES.iter().find(of) else { continue };
        table.rows.push(vec![
            Cell::text(it.paper.name),
            Cell::text(*category),
            Cell::text(it.groups.category.numeral()),
            Cell::text(*groups),
            Cell::Count(it.groups.groups.len() as u64),
            Cell::text(*profiled),
            Cell::Count(it.groups.profiled().count() as u64),
            Cell::text(*coverage),
            Cell::Share(it.groups.coverage),
            Cell::Count(it.groups.groups.iter().map(|group| group.traces).sum()),
        ]);
    }
    table
}

/// Table II: what the kernels are and how they are launched.
#[must_use]
pub fn kernels(kernels: &[MeasuredKernel]) -> Table {
    let columns = [
        "kernel",
        "function",
        "ours",
        "lines",
        "grid",
        "block",
        "ours: grid",
        "block",
        "threads",
        "ours",
        "launches",
        "ours",
    ];
    let mut table = Table::new("Table II: kernels", &columns);
    for it in kernels {
        let extent = |[x, y, z]: [u32; 3]| Cell::text(format!("{x}×{y}×{z}"));
        let launches = it.groups.launches.len() as u64;
        table.rows.push(vec![
            Cell::text(it.paper.name),
            Cell::text(it.paper.function),
            Cell::text(format!("{}: {}", it.paper.workload, it.paper.kernel)),
            Cell::Count(it.paper.lines.into()),
            Cell::text(it.paper.scale.0),
            Cell::text(it.paper.scale.1),
            extent(it.scale.0),
            extent(it.scale.1),
            Cell::Count(it.paper.threads),
            Cell::Count(it.groups.threads / launches.max(1)),
            Cell::Count(it.paper.launches.into()),
            Cell::Count(launches),
        ]);
    }
    table
}

/// Table III: campaigns of the method, the paper's and one realisation of ours.
#[must_use]
pub fn campaigns(kernels: &[MeasuredKernel]) -> Table {
    let columns = ["kernel", "injected", "ours", "activated", "ours", "activation", "ours", "seconds a run", "ours"];
    let mut table = Table::new("Table III: fault-injection campaigns", &columns);
    for it in kernels {
        let count =
            |value: fn(&KernelEstimate) -> u64| it.published().map_or(Cell::None, |own| Cell::Count(value(own)));
        table.rows.push(vec![
            Cell::text(it.paper.name),
            Cell::Count(it.paper.injected),
            count(|own| own.injected),
            Cell::Count(it.paper.activated),
            count(|own| own.activated),
            Cell::Share(it.paper.activation),
            share(it.published().and_then(KernelEstimate::activation)),
            Cell::Count(it.paper.seconds.into()),
            Cell::Number(it.seconds),
        ]);
    }
    table
}

/// Table IV: the groups of the Monte Carlo kernel, over all realisations; and the whole kernel, of one.
#[must_use]
pub fn monte(kernels: &[MeasuredKernel]) -> Table {
    let columns = [
        "group",
        "threads",
        "ours",
        "instructions",
        "ours",
        "activated",
        "ours",
        "SDC rate",
        "ours",
        "crash rate",
        "ours",
    ];
    let mut table = Table::new("Table IV: groups of Monte Carlo", &columns);
    let Some(ours) = kernels.iter().find(|it| it.paper.name == "MonteCarlo") else { return table };
    let realised = ours.groups_of_realisations();
    for (number, paper) in MONTE.iter().enumerate() {
        let group = ours.groups.groups.get(number);
        let ends = realised.get(&number);
        let activated = ends.map(|ends| ends.iter().sum::<u64>());
        let count = |count: Option<u64>| count.map_or(Cell::None, Cell::Count);
        let own = |end: usize| of_ends(*ends?, end);
        table.rows.push(vec![
            Cell::Count(number as u64 + 1),
            Cell::Share(paper.share),
            share(group.map(|group| group.popularity)),
            Cell::Count(paper.instructions.into()),
            count(group.map(|group| group.instructions.into())),
            count(paper.trials),
            count(activated),
            share(paper.sdc),
            own(1).map_or(Cell::None, scored),
            share(paper.crash),
            own(2).map_or(Cell::None, scored),
        ]);
    }
    table.rows.extend(ours.published().map(whole));
    table
}

/// The whole kernel, with the bounds of equations 4 and 5.
fn whole(own: &KernelEstimate) -> Vec<Cell> {
    let rates = own.rates.unwrap_or_default();
    let (low, high) = MONTE_BOUNDS;
    let left_out = |it: Bounded| Cell::Rate { rate: it.rate, low: it.lower, high: it.upper };
    let mut row = vec![Cell::text("all, Eq. 1 to 5")];
    row.extend(std::iter::repeat_n(Cell::None, 5));
    row.push(Cell::Count(own.activated));
    row.push(Cell::text(format!("{:.1}–{:.1} %", low * 100.0, high * 100.0)));
    row.extend([left_out(rates.sdc), Cell::None, left_out(rates.crash)]);
    row
}

/// Table V: algorithm classes.
#[must_use]
pub fn dwarfs(kernels: &[MeasuredKernel]) -> Table {
    let columns =
        ["class", "kernels of the paper", "SDC rate", "ours: mean", "least", "most", "operation that explains it"];
    let mut table = Table::new("Table V: SDC rates by algorithm class", &columns);
    for (class, names, rate, operation) in DWARFS {
        let named: Vec<&str> = names.split(", ").map(kernel_name).collect();
        let is_of = |it: &&MeasuredKernel| named.contains(&it.paper.name);
        let rates: Vec<f64> = kernels.iter().filter(is_of).map(|it| it.rates().sdc.rate).collect();
        let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
        table.rows.push(vec![
            Cell::text(class),
            Cell::text(names),
            Cell::text(rate),
            Cell::Share(mean),
            Cell::Share(rates.iter().copied().fold(1.0, f64::min)),
            Cell::Share(rates.iter().copied().fold(0.0, f64::max)),
            Cell::text(operation),
        ]);
    }
    table
}

/// The state spaces of a crash, as columns: those that the paper's warp exceptions speak of, global memory, all else.
const SPACES: [&[Space]; 2] = [&[Space::Local, Space::Shared], &[Space::Global]];

/// Table VI: exceptions, each by the memory that was accessed.
#[must_use]
pub fn exceptions(kernels: &[MeasuredKernel]) -> Table {
    let columns =
        ["exception", "occurs when", "ours", "local or shared", "global", "other or none", "as the paper means it"];
    let mut table = Table::new("Table VI: exceptions", &columns);
    let mut counts: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for trial in kernels.iter().flat_map(|it| &it.trials).filter(|trial| trial.is_activated(Some(WINDOW))) {
        if let TrialEnd::Crash { trap: Some(trap), space, .. } = trial.end {
            let column = SPACES.iter().position(|spaces| space.is_some_and(|space| spaces.contains(&space)));
            counts.entry(trap.word()).or_default()[column.unwrap_or(2)] += 1;
        }
    }
    let all: u64 = counts.values().flatten().sum();
    let mut row = |name: &str, meaning: &str, word: &str, spaces: Option<&[Space]>| {
        let own = counts.get(word).copied().unwrap_or_default();
        let meant = |spaces: &[Space]| match SPACES.iter().position(|own| *own == spaces) {
            Some(column) => own[column],
            None => own.iter().sum(),
        };
        let mut row = vec![Cell::text(name), Cell::text(meaning), Cell::text(word)];
        row.extend(own.map(Cell::Count));
        row.push(spaces.map_or(Cell::None, |spaces| Cell::Share(meant(spaces) as f64 / all.max(1) as f64)));
        table.rows.push(row);
    };
    for it in EXCEPTIONS {
        row(it.name, it.meaning, it.word, Some(it.spaces));
    }
    for word in counts.keys().filter(|word| EXCEPTIONS.iter().all(|it| it.word != **word)) {
        row("not in the paper", "", word, None);
    }
    table
}
