//! How far what the page finds hangs on choices of ours: what counts as SDC, and which instructions are counted.

use methods::two_level::IpaTable;
use study::Table;

use super::questions::Questions;
use super::statements::statements;
use super::survey::{Measured, VARIANTS};
use super::tables::{name, quantity, rate};
use crate::statements::{self, Part};
use crate::words::{listed, percent};

/// The workloads of the paper and hotspot's rate by the paper's choices and by each variant.
fn by_variant(all: &[Measured]) -> Vec<Vec<Measured>> {
    let paper = || all.iter().filter(|it| it.paper.is_some());
    let by = |variant: usize| paper().map(|it| it.by(variant)).collect();
    std::iter::once(paper().cloned().collect()).chain((0..VARIANTS.len()).map(by)).collect()
}

/// Says of each statement which variants decide otherwise, and returns how many statements there are of which one does.
pub(super) fn mark(parts: &mut [Part], all: &[Measured], ipa: &IpaTable) -> usize {
    let judged = |(number, name): (usize, &&'static str)| {
        let all: Vec<Measured> = all.iter().map(|it| it.by(number)).collect();
        (*name, statements(&all, ipa, &Questions::of(&all, ipa)))
    };
    statements::mark(parts, &VARIANTS.iter().enumerate().map(judged).collect::<Vec<_>>())
}

/// A sentence about the variants.
pub(super) fn sentence(parts: &[Part], differing: usize, all: &[Measured]) -> String {
    let asked: usize = parts.iter().map(|part| part.statements.len()).sum();
    let covered = by_variant(all).into_iter().map(|workloads| {
        let sum: f64 = workloads.iter().map(|it| it.composition.covered.0).sum();
        sum / workloads.len().max(1) as f64
    });
    let covered: Vec<f64> = covered.collect();
    format!(
        "Each statement is judged by each of {} other choices, too: {}. Of {asked} statements {} come out otherwise by one of them, \
         and say so beside our numbers. Without loads of parameters, which a GPU has none of, the instructions of the paper's workloads that have a rate \
         are {} on average instead of {}",
        VARIANTS.len(),
        listed(VARIANTS),
        differing,
        percent(covered.last().copied().unwrap_or_default()),
        percent(covered.first().copied().unwrap_or_default()),
    )
}

/// The chances and rates of the paper's workloads by each variant; rates in units of hotspot's by the same one.
pub(super) fn table(all: &[Measured]) -> Table {
    let named = |what: &str| VARIANTS.iter().map(move |variant| format!("{what}, {variant}")).collect::<Vec<_>>();
    let (apa, two) = (named("APA only"), named("two-level"));
    let columns: Vec<&str> = ["workload", "APA only"]
        .into_iter()
        .chain(apa[..2].iter().map(String::as_str))
        .chain(["two-level"])
        .chain(two.iter().map(String::as_str))
        .collect();
    let mut table = Table::new("Choices", &columns);
    let variants = by_variant(all);
    let units: Vec<f64> = variants
        .iter()
        .map(|workloads| {
            let hotspot = workloads.iter().find(|it| it.name == "hotspot").and_then(|it| it.two_level(0));
            hotspot.map_or(1.0, |rate| 1.0 / rate.value)
        })
        .collect();
    for at in 0..variants[0].len() {
        let mut row = vec![name(&variants[0][at])];
        // What executes and has no SDC does not depend on the last variant.
        row.extend(variants[..3].iter().map(|workloads| rate(workloads[at].apa_only())));
        let rates = variants.iter().zip(&units);
        row.extend(rates.map(|(workloads, unit)| quantity(workloads[at].two_level(0).map(|it| it.times(*unit)))));
        table.rows.push(row);
    }
    table
}
