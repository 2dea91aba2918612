//! What the paper draws: rates, crashes, mixes; as tables and as plots.

use super::rate;
use crate::gpu_qin::errors::Rate;
use crate::gpu_qin::paper::{INJECTABLE, REGRESSION};
use crate::gpu_qin::questions::{Question, Questions, latencies as latencies_of, mix_models, spread};
use crate::gpu_qin::survey::MeasuredKernel;
use methods::gpu_qin::KernelEstimate;
use methods::gpu_qin::studies::{
    CAUSE_COLUMNS, SPREAD_COLUMNS, cause_row, model_row, popular, popularity_of, spread_row,
};
use study::{Cell, Mark, Plot, Point, Series, Table, Vertical};

/// Fig. 8: SDC, crash and hang rates, by the unbiased choice and by one realisation of the method.
#[must_use]
pub fn rates(kernels: &[MeasuredKernel]) -> Table {
    let columns =
        ["kernel", "SDC, unbiased", "SDC, method", "crash, unbiased", "crash, method", "hang, unbiased", "failure"];
    let mut table = Table::new("Rates among activated faults", &columns);
    for it in kernels {
        let mut row = vec![Cell::text(it.paper.name)];
        for kind in [Rate::Sdc, Rate::Crash] {
            row.push(rate(&it.unbiased, kind));
            row.push(it.published().map_or(Cell::None, |own| rate(own, kind)));
        }
        row.push(rate(&it.unbiased, Rate::Hang));
        row.push(Cell::Share(it.failure()));
        table.rows.push(row);
    }
    let mean = kernels.iter().map(MeasuredKernel::failure).sum::<f64>() / kernels.len().max(1) as f64;
    let mut last = vec![Cell::text("mean")];
    last.extend(std::iter::repeat_n(Cell::None, columns.len() - 2));
    last.push(Cell::Share(mean));
    table.rows.push(last);
    table
}

/// Fig. 8 as a plot of one kind of rate.
#[must_use]
pub fn rates_plot(kernels: &[MeasuredKernel], name: &str, kind: Rate) -> Plot {
    let series = |label: &str, of: fn(&MeasuredKernel) -> Option<&KernelEstimate>| Series {
        name: label.to_owned(),
        mark: Mark::Dots,
        points: (0..)
            .zip(kernels)
            .filter_map(|(x, it)| {
                let rate = kind.estimated(of(it)?)?;
                Some(Point { x: f64::from(x), y: rate.rate, bounds: Some((rate.score_low, rate.score_high)) })
            })
            .collect(),
    };
    Plot {
        name: name.to_owned(),
        title: format!("{} rate among activated faults, 95 %", kind.word()),
        x: String::new(),
        logarithmic: false,
        names: kernels.iter().map(|it| it.paper.name.to_owned()).collect(),
        y: format!("{} rate (%)", kind.word()),
        vertical: Vertical::Shares,
        series: vec![series("unbiased", |it| Some(&it.unbiased)), series("GPU-Qin", MeasuredKernel::published)],
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
    Some(methods::gpu_qin::studies::latencies(it.paper.workload, name, &it.causes))
}

/// Fig. 7: the rates of the two most popular groups of a kernel, by the unbiased choice.
#[must_use]
pub fn group_rates(kernels: &[MeasuredKernel], name: &str) -> Table {
    let columns = ["instructions", "threads", "activated", "SDC rate", "crash rate", "hang rate"];
    let mut table = Table::new(format!("{name}: rates by group"), &columns);
    let Some(it) = kernels.iter().find(|it| it.paper.name == name) else { return table };
    let trials: Vec<_> = it.activated(Some(methods::gpu_qin::WINDOW));
    let rows = methods::gpu_qin::studies::group_rates(&it.groups, &trials);
    table.rows = rows.into_iter().map(|row| row.into_iter().skip(1).collect()).collect();
    table
}

/// Spread between groups and within them.
#[must_use]
pub fn spreads(kernels: &[MeasuredKernel], questions: &Questions) -> Table {
    let mut table = Table::new("Spread between groups and within them", &SPREAD_COLUMNS);
    for it in kernels {
        let name = it.paper.name;
        let (between, within) = (questions.p(&Question::Between(name)), questions.p(&Question::Within(name)));
        table.rows.push(spread_row(name, &spread(it), between, within));
    }
    table
}

/// Which exception comes sooner: pairs of which one does, beyond chance.
#[must_use]
pub fn sooner(kernels: &[MeasuredKernel], questions: &Questions) -> Table {
    let columns = ["kernel", "sooner", "later", "in so many pairs", "p, corrected"];
    let mut table = Table::new("Which exception comes sooner", &columns);
    for it in kernels {
        for (first, second, found) in latencies_of(it) {
            let question = Question::Sooner(it.paper.name, first.trap.clone(), second.trap.clone());
            let (sooner, later, share) = if found.smaller >= 0.5 {
                (first, second, found.smaller)
            } else {
                (second, first, 1.0 - found.smaller)
            };
            if questions.is_sure(&question) {
                let p = questions.p(&question).map_or(Cell::None, Cell::Number);
                let words = [it.paper.name, &sooner.trap, &later.trap].map(Cell::text);
                table.rows.push(words.into_iter().chain([Cell::Share(share), p]).collect());
            }
        }
    }
    table
}

/// Linear models of rates by instruction mix, the paper's best first.
#[must_use]
pub fn regression(kernels: &[MeasuredKernel], questions: &Questions) -> Table {
    let columns = ["rate", "variables", "kernels", "R²", "F", "p", "p, corrected"];
    let mut table = Table::new("Linear models", &columns);
    let (r_squared, p) = REGRESSION;
    table.rows.push(vec![
        Cell::text("SDC"),
        Cell::text("the paper's best linear model"),
        Cell::Count(kernels.len() as u64),
        Cell::Number(r_squared),
        Cell::None,
        Cell::Number(p),
        Cell::None,
    ]);
    for model in mix_models(kernels) {
        let mut row = model_row(&model, kernels.len());
        let corrected = questions.p(&Question::Model(model.rate, model.variables));
        row.push(corrected.map_or(Cell::None, Cell::Number));
        table.rows.push(row);
    }
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
        row.extend(Rate::ALL.iter().flat_map(|&kind| [rate(&it.unbiased, kind), rate(&it.debug, kind)]));
        table.rows.push(row);
    }
    table
}
