//! Tables I to VI.

use super::{bounded, share};
use crate::gpu_qin::estimate::Bounded;
use crate::gpu_qin::paper::{CATEGORIES, DWARFS, EXCEPTIONS, MONTE, MONTE_BOUNDS};
use crate::gpu_qin::survey::MeasuredKernel;
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

/// Table III: campaigns.
#[must_use]
pub fn campaigns(kernels: &[MeasuredKernel]) -> Table {
    let columns = [
        "kernel",
        "injected",
        "ours",
        "activated",
        "ours",
        "activation",
        "ours",
        "ours, unbiased",
        "seconds a run",
        "ours",
        "given up, ours",
    ];
    let mut table = Table::new("Table III: fault-injection campaigns", &columns);
    for it in kernels {
        table.rows.push(vec![
            Cell::text(it.paper.name),
            Cell::Count(it.paper.injected),
            Cell::Count(it.published.injected),
            Cell::Count(it.paper.activated),
            Cell::Count(it.published.activated),
            Cell::Share(it.paper.activation),
            share(it.published.activation()),
            share(it.unbiased.activation()),
            Cell::Count(it.paper.seconds.into()),
            Cell::Number(it.seconds),
            Cell::Count(it.published.discarded.values().sum()),
        ]);
    }
    table
}

/// Table IV: the groups of the Monte Carlo kernel, by the method with many runs.
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
    let Some(ours) = kernels.iter().find(|it| it.paper.workload == "montecarlo") else { return table };
    for (number, paper) in MONTE.iter().enumerate() {
        let group = ours.groups.groups.get(number);
        let trials = ours.method.groups.iter().find(|tried| tried.group == number);
        let count = |count: Option<u64>| count.map_or(Cell::None, Cell::Count);
        let ended = |end: usize| {
            let tried = trials.filter(|tried| tried.activated > 0)?;
            crate::gpu_qin::estimate::plain(tried.ends[end], tried.activated)
        };
        let own = |rate: Option<Bounded>| rate.map_or(Cell::None, bounded);
        table.rows.push(vec![
            Cell::Count(number as u64 + 1),
            Cell::Share(paper.share),
            share(group.map(|group| group.popularity)),
            Cell::Count(paper.instructions.into()),
            count(group.map(|group| group.instructions.into())),
            count(paper.trials),
            count(trials.map(|tried| tried.activated)),
            share(paper.sdc),
            own(ended(1)),
            share(paper.crash),
            own(ended(2)),
        ]);
    }
    let (low, high) = MONTE_BOUNDS;
    let mut last = vec![Cell::text("all, equations 1 to 5")];
    last.extend([Cell::None, Cell::None, Cell::None, Cell::None, Cell::None]);
    let rates = ours.published.rates.unwrap_or_default();
    let left_out = |it: Bounded| Cell::Rate { rate: it.rate, low: it.lower, high: it.upper };
    last.push(Cell::Count(ours.published.activated));
    last.push(Cell::text(format!("{:.1}–{:.1} %", low * 100.0, high * 100.0)));
    last.extend([left_out(rates.sdc), Cell::None, left_out(rates.crash)]);
    table.rows.push(last);
    table
}

/// Table V: algorithm classes.
#[must_use]
pub fn dwarfs(kernels: &[MeasuredKernel]) -> Table {
    let columns =
        ["class", "kernels of the paper", "SDC rate", "ours: mean", "least", "most", "operation that explains it"];
    let mut table = Table::new("Table V: SDC rates by algorithm class", &columns);
    for (class, names, rate, operation) in DWARFS {
        let named: Vec<&str> = names.split(", ").collect();
        let is_of = |it: &&MeasuredKernel| {
            named.contains(&it.paper.name) || (it.paper.name == "MonteCarlo" && named.contains(&"MONTE"))
        };
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

/// Table VI: exceptions, with their share of all our crashes.
#[must_use]
pub fn exceptions(kernels: &[MeasuredKernel]) -> Table {
    let columns = ["exception", "occurs when", "ours", "crashes", "share", "kernels with some"];
    let mut table = Table::new("Table VI: exceptions", &columns);
    let of = |it: &MeasuredKernel, word: &str| it.unbiased.crashes.get(word).copied().unwrap_or(0);
    let all: u64 = kernels.iter().flat_map(|it| it.unbiased.crashes.values()).sum();
    let mut row = |name: &str, meaning: &str, word: &str| {
        let count: u64 = kernels.iter().map(|it| of(it, word)).sum();
        table.rows.push(vec![
            Cell::text(name),
            Cell::text(meaning),
            Cell::text(word),
            Cell::Count(count),
            Cell::Share(count as f64 / all.max(1) as f64),
            Cell::Count(kernels.iter().filter(|it| of(it, word) > 0).count() as u64),
        ]);
    };
    for (name, meaning, word) in EXCEPTIONS {
        row(name, meaning, word);
    }
    let known: Vec<&str> = EXCEPTIONS.iter().map(|(_, _, word)| *word).collect();
    let mut others: Vec<&String> = kernels.iter().flat_map(|it| it.unbiased.crashes.keys()).collect();
    others.sort();
    others.dedup();
    for word in others.into_iter().filter(|word| !known.contains(&word.as_str())) {
        row("not in the paper", "", word);
    }
    table
}
