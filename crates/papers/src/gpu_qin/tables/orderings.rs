//! What the paper concludes, held against our rates: each claim with the numbers that decide it.

use crate::gpu_qin::paper::{CRASH_RANGE, FAILURE_MEAN, FAILURE_RANGE, SDC_RANGE};
use crate::gpu_qin::survey::MeasuredKernel;
use methods::gpu_qin::Rates;
use study::{Cell, Table};

/// The kernels by a rate, the highest first.
fn ranked(kernels: &[MeasuredKernel], rate: fn(&MeasuredKernel) -> f64) -> Vec<(&str, f64)> {
    let mut all: Vec<(&str, f64)> = kernels.iter().map(|it| (it.paper.name, rate(it))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Where some kernels stand in a ranking, from 1.
fn places(ranking: &[(&str, f64)], names: &[&str]) -> String {
    let place = |name: &&str| {
        let at = ranking.iter().position(|(other, _)| other == name)?;
        Some(format!("{name} {} ({})", at + 1, percent(ranking[at].1)))
    };
    names.iter().filter_map(place).collect::<Vec<_>>().join(", ")
}

fn range(values: &[(&str, f64)]) -> (f64, f64) {
    let (most, least) = (values.first(), values.last());
    (least.map_or(0.0, |it| it.1), most.map_or(0.0, |it| it.1))
}

/// The standard deviation of some rates.
fn spread(values: &[(&str, f64)]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().map(|it| it.1).sum::<f64>() / n;
    (values.iter().map(|it| (it.1 - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// The claims.
#[must_use]
pub fn orderings(kernels: &[MeasuredKernel]) -> Table {
    let sdc = ranked(kernels, |it| it.rates().sdc.rate);
    let crash = ranked(kernels, |it| it.rates().crash.rate);
    let hang = ranked(kernels, |it| it.rates().hang.rate);
    let failure = ranked(kernels, MeasuredKernel::failure);
    let third = kernels.len() / 3;
    let among = |names: &[&str], high: bool| {
        let found = |name: &&str| {
            let at = sdc.iter().position(|(other, _)| other == name).unwrap_or(0);
            if high { at <= third } else { at + third + 1 >= sdc.len() }
        };
        names.iter().filter(|name| found(name)).count() == names.len()
    };
    let (hash, low) = (["AES", "HashGPU-md5", "HashGPU-sha1"], ["MonteCarlo", "MergeSort-k0"]);
    let spans = |(least, most): (f64, f64)| format!("{}–{}", percent(least), percent(most));
    let mean = failure.iter().map(|it| it.1).sum::<f64>() / failure.len().max(1) as f64;
    let mut table = Table::new("What the paper stands on", &["claim", "paper", "ours", "holds"]);
    let mut row = |claim: &str, paper: String, ours: String, holds: Option<bool>| {
        let word = holds.map_or("–", |holds| if holds { "yes" } else { "no" });
        table.rows.push(vec![Cell::text(claim), Cell::text(paper), Cell::text(ours), Cell::text(word)]);
    };
    row(
        "hash and AES kernels have the highest SDC rates (all in the highest third)",
        "25–38 %".to_owned(),
        places(&sdc, &hash),
        Some(among(&hash, true)),
    );
    row(
        "Monte Carlo has one of the lowest SDC rates (in the lowest third)",
        "under 1 %".to_owned(),
        places(&sdc, &low[..1]),
        Some(among(&low[..1], false)),
    );
    row(
        "merge sort has one of the lowest SDC rates (in the lowest third)",
        "6 %".to_owned(),
        places(&sdc, &low[1..]),
        Some(among(&low[1..], false)),
    );
    row("SDC rates vary widely", spans(SDC_RANGE), spans(range(&sdc)), None);
    row(
        "crash rates vary more than SDC rates (standard deviation over kernels)",
        format!("{} against {}", spans(CRASH_RANGE), spans(SDC_RANGE)),
        format!("{}, deviation {} against {}", spans(range(&crash)), percent(spread(&crash)), percent(spread(&sdc))),
        Some(spread(&crash) > spread(&sdc)),
    );
    let debug = |pick: fn(&Rates) -> f64| {
        let all: Vec<(&str, f64)> =
            kernels.iter().map(|it| (it.paper.name, it.debug.rates.as_ref().map_or(0.0, pick))).collect();
        spread(&all)
    };
    let (debug_crash, debug_sdc) = (debug(|rates| rates.crash.rate), debug(|rates| rates.sdc.rate));
    row(
        "the same of kernels built as the paper's, with -G",
        "as above".to_owned(),
        format!("deviation {} against {}", percent(debug_crash), percent(debug_sdc)),
        Some(debug_crash > debug_sdc),
    );
    let over = |limit: f64| hang.iter().filter(|it| it.1 > limit).count();
    row(
        "hangs are rare",
        "under 1 %".to_owned(),
        format!(
            "most {} ({}); above 2 % in {} kernels, above 1 % in {}",
            percent(range(&hang).1),
            hang.first().map_or("", |it| it.0),
            over(0.02),
            over(0.01)
        ),
        Some(over(0.02) == 0),
    );
    row("failures of any kind", spans(FAILURE_RANGE), spans(range(&failure)), None);
    row("mean failure rate", percent(FAILURE_MEAN), percent(mean), None);
    table
}
