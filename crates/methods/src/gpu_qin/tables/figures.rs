//! What the paper draws: rates, crashes, mixes; as tables and as plots.

use super::rate;
use crate::gpu_qin::estimate::{Bounded, KernelEstimate, Rates};
use crate::gpu_qin::paper::{INJECTABLE, REGRESSION};
use crate::gpu_qin::studies::{
    CAUSE_COLUMNS, MixPoint, cause_row, dispersion_row, popular, popularity_of, regressions,
};
use crate::gpu_qin::survey::MeasuredKernel;
use study::{Cell, Plot, Point, Series, Table};

/// Fig. 8: SDC, crash and hang rates, by the unbiased choice and by the method.
#[must_use]
pub fn rates(kernels: &[MeasuredKernel]) -> Table {
    let columns = [
        "kernel",
        "SDC, unbiased",
        "SDC, method",
        "crash, unbiased",
        "crash, method",
        "hang, unbiased",
        "hang, method",
        "failure, unbiased",
    ];
    let mut table = Table::new("Rates among activated faults", &columns);
    for it in kernels {
        let mut row = vec![Cell::text(it.paper.name)];
        for pick in [(|rates| rates.sdc) as fn(&Rates) -> Bounded, |rates| rates.crash, |rates| rates.hang] {
            row.extend([rate(&it.unbiased, pick), rate(&it.published, pick)]);
        }
        row.push(Cell::Share(it.failure()));
        table.rows.push(row);
    }
    let mean = kernels.iter().map(MeasuredKernel::failure).sum::<f64>() / kernels.len().max(1) as f64;
    let mut last = vec![Cell::text("mean")];
    last.extend(std::iter::repeat_n(Cell::None, 6));
    last.push(Cell::Share(mean));
    table.rows.push(last);
    table
}

/// Fig. 8 as a plot of one kind of rate.
#[must_use]
pub fn rates_plot(kernels: &[MeasuredKernel], name: &str, what: &str, pick: fn(&Rates) -> Bounded) -> Plot {
    let series = |label: &str, of: fn(&MeasuredKernel) -> &KernelEstimate| Series {
        name: label.to_owned(),
        joined: false,
        points: (0..)
            .zip(kernels)
            .filter_map(|(x, it)| {
                let rate = of(it).rates.as_ref().map(pick)?;
                Some(Point { x: f64::from(x), y: rate.rate, bounds: Some((rate.low, rate.high)) })
            })
            .collect(),
    };
    Plot {
        name: name.to_owned(),
        title: format!("{what} among activated faults, 95 %"),
        x: String::new(),
        logarithmic: false,
        names: kernels.iter().map(|it| it.paper.name.to_owned()).collect(),
        y: format!("{what} (%)"),
        series: vec![series("unbiased", |it| &it.unbiased), series("GPU-Qin", |it| &it.published)],
    }
}

/// Fig. 9: the causes of crashes, kernel by kernel.
#[must_use]
pub fn crashes(kernels: &[MeasuredKernel]) -> Table {
    let mut table =
        Table::new("Causes of crashes and their latency, in instructions of the hit thread", &CAUSE_COLUMNS);
    for it in kernels {
        table.rows.extend(it.causes.iter().map(|cause| cause_row(it.paper.name, cause)));
    }
    table
}

/// Fig. 10: how soon the crashes of a kernel follow.
#[must_use]
pub fn latencies(kernels: &[MeasuredKernel], name: &str) -> Option<Plot> {
    let it = kernels.iter().find(|it| it.paper.name == name)?;
    Some(crate::gpu_qin::studies::latencies(it.paper.workload, name, &it.causes))
}

/// Fig. 7: the rates of the two most popular groups of a kernel, by the unbiased choice.
#[must_use]
pub fn group_rates(kernels: &[MeasuredKernel], name: &str) -> Table {
    let columns = ["instructions", "threads", "activated", "SDC rate", "crash rate", "hang rate"];
    let mut table = Table::new(format!("{name}: rates by group"), &columns);
    let Some(it) = kernels.iter().find(|it| it.paper.name == name) else { return table };
    let trials: Vec<_> = it.activated(Some(crate::gpu_qin::WINDOW));
    let rows = crate::gpu_qin::studies::group_rates(&it.groups, &trials);
    table.rows = rows.into_iter().map(|row| row.into_iter().skip(1).collect()).collect();
    table
}

/// Spread between groups and within them.
#[must_use]
pub fn spreads(kernels: &[MeasuredKernel]) -> Table {
    let mut table = Table::new("Spread between groups and within them", &crate::gpu_qin::studies::DISPERSION_COLUMNS);
    for it in kernels {
        let trials = it.activated(Some(crate::gpu_qin::WINDOW));
        let mut row = dispersion_row(&it.groups, &trials);
        row[0] = Cell::text(it.paper.name);
        table.rows.push(row);
    }
    table
}

/// Linear models of rates by instruction mix, the paper's best first.
#[must_use]
pub fn regression(kernels: &[MeasuredKernel]) -> Table {
    let point = |it: &MeasuredKernel| MixPoint {
        kernel: it.paper.name.to_owned(),
        class: String::new(),
        mix: it.mix,
        sdc: it.rates().sdc,
        crash: it.rates().crash,
    };
    let mut table = regressions(&kernels.iter().map(point).collect::<Vec<_>>());
    let (r_squared, p) = REGRESSION;
    let paper = vec![
        Cell::text("SDC"),
        Cell::text("the paper's best linear model"),
        Cell::Count(kernels.len() as u64),
        Cell::Number(r_squared),
        Cell::None,
        Cell::Number(p),
    ];
    table.rows.insert(0, paper);
    table
}

/// Share of state that faults can reach.
#[must_use]
pub fn shares_of_state(kernels: &[MeasuredKernel]) -> Table {
    let (mean, most, least) = INJECTABLE;
    let columns = ["kernel", "paper", "ours", "ALU", "FP", "memory", "control"];
    let mut table = Table::new("Injectable state, and the mix of instructions", &columns);
    for it in kernels {
        let paper = match it.paper.name {
            "MAT" => Cell::Share(most),
            "SCAN-block" => Cell::Share(least),
            _ => Cell::None,
        };
        let mut row = vec![Cell::text(it.paper.name), paper, Cell::Share(it.state.injectable())];
        row.extend(it.mix.shares().map(Cell::Share));
        table.rows.push(row);
    }
    let ours = kernels.iter().map(|it| it.state.injectable()).sum::<f64>() / kernels.len().max(1) as f64;
    let mut last = vec![Cell::text("mean"), Cell::Share(mean), Cell::Share(ours)];
    last.extend(std::iter::repeat_n(Cell::None, 4));
    table.rows.push(last);
    table
}

/// The share of threads in the most popular groups, of kernels with more than one.
#[must_use]
pub fn popularity_plot(kernels: &[MeasuredKernel]) -> Plot {
    let several = kernels.iter().filter(|it| it.groups.groups.len() > 1);
    let series = several.map(|it| popular(it.paper.name, &it.groups)).collect();
    popularity_of("groups", "Threads in the most popular groups", series)
}

/// What optimisation does to the rates: the unbiased choice on kernels built for a debugger, beside those built with -O3.
#[must_use]
pub fn compilers(kernels: &[MeasuredKernel]) -> Table {
    let columns =
        ["kernel", "instructions, -G / -O3", "SDC, -O3", "SDC, -G", "crash, -O3", "crash, -G", "hang, -O3", "hang, -G"];
    let mut table = Table::new("Rates with and without optimisation", &columns);
    for it in kernels {
        let mut row = vec![Cell::text(it.paper.name), Cell::Number(it.longer)];
        for pick in [(|rates| rates.sdc) as fn(&Rates) -> Bounded, |rates| rates.crash, |rates| rates.hang] {
            row.extend([rate(&it.unbiased, pick), rate(&it.debug, pick)]);
        }
        table.rows.push(row);
    }
    table
}
