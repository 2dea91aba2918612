//! What the page shows of regions, as tables.

use methods::regional::{RegionTally, quartiles};
use stats::{Confidence, Proportion};
use std::collections::BTreeMap;
use study::{Cell, Table, spaced};

use super::survey::Measured;
use crate::words::percent;

/// By how much the number of colours is off that begins the next phase: 257, where 14 are right.
pub(super) const NEXT_PHASE: f64 = 243.0;

/// How many numbers of elements are listed with their shares.
const LISTED: usize = 4;

pub(super) fn rate(count: u64, it: &RegionTally) -> Cell {
    let proportion = Proportion::from_counts(count, it.runs() - count);
    let interval = proportion.wilson(Confidence::PERCENT_95);
    proportion.rate().map_or(Cell::None, |rate| Cell::Rate { rate, low: interval.low, high: interval.high })
}

/// The numbers of elements that SDCs corrupt, the most frequent first.
pub(super) fn frequent(it: &RegionTally) -> Vec<(u64, u64)> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    it.corrupted.iter().for_each(|&elements| *counts.entry(elements).or_default() += 1);
    let mut counts: Vec<(u64, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|&(elements, count)| (std::cmp::Reverse(count), elements));
    counts
}

/// Fig. 5 and 7: how many elements SDCs corrupt.
pub(super) fn corrupted(it: &Measured) -> Table {
    let columns = ["region", "runs", "SDC", "median", "quartiles", "least to most", "of", "most frequent"];
    let mut table = Table::new(it.name, &columns);
    for name in &it.regions {
        let region = it.region(name);
        let whole = |value: f64| spaced(value as u64);
        let five = region.corrupted_quartiles();
        let some = |words: &dyn Fn([f64; 5]) -> String| five.map_or(Cell::None, |five| Cell::Text(words(five)));
        let most = frequent(region);
        let listed = most.iter().take(LISTED).map(|&(elements, count)| {
            format!("{elements}: {}", percent(count as f64 / region.corrupted.len().max(1) as f64))
        });
        table.rows.push(vec![
            Cell::text(name),
            Cell::Count(region.runs()),
            rate(region.sdc, region),
            some(&|five| whole(five[2])),
            some(&|five| format!("{}–{}", whole(five[1]), whole(five[3]))),
            some(&|five| format!("{}–{}", whole(five[0]), whole(five[4]))),
            Cell::Count(region.elements),
            Cell::Text(listed.collect::<Vec<_>>().join(", ")),
        ]);
    }
    table
}

/// A number as the page writes it.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 || (0.01..10000.0).contains(&value.abs()) { format!("{value:.3}") } else { format!("{value:.1e}") }
}

/// Fig. 8 to 10: mean absolute errors.
pub(super) fn errors(all: &[Measured]) -> Table {
    let columns =
        ["program", "region", "SDC", "quartile", "median", "quartile", "no finite number", "over all elements, median"];
    let mut table = Table::new("errors", &columns);
    for it in all {
        for name in it.of_paper() {
            let region = it.region(name);
            let of: Vec<f64> = region.errors_of_corrupted().collect();
            let broken = of.iter().filter(|error| !error.is_finite()).count();
            let words = |value: Option<f64>| value.map_or(Cell::None, |value| Cell::Text(short(value)));
            let five = quartiles(of);
            let share = broken as f64 / region.errors.len().max(1) as f64;
            table.rows.push(vec![
                Cell::text(it.name),
                Cell::text(name),
                Cell::Count(region.sdc),
                words(five.map(|five| five[1])),
                words(five.map(|five| five[2])),
                words(five.map(|five| five[3])),
                Cell::Text(percent(share)),
                words(quartiles(region.errors_of_all().collect()).map(|five| five[2])),
            ]);
        }
    }
    table
}

/// As many runs as in the paper, and a hundred times as many.
pub(super) fn sizes(all: &[Measured]) -> Table {
    let columns =
        ["program", "region", "SDC of few", "SDC of many", "median of few", "of many", "most of few", "of many"];
    let mut table = Table::new("sizes", &columns);
    for it in all {
        for name in it.of_paper() {
            let (few, many) = (it.few.region(name), it.region(name));
            let five = |it: &RegionTally, at: usize| {
                it.corrupted_quartiles().map_or(Cell::None, |five| Cell::Text(spaced(five[at] as u64)))
            };
            table.rows.push(vec![
                Cell::text(it.name),
                Cell::text(name),
                rate(few.sdc, few),
                rate(many.sdc, many),
                five(few, 2),
                five(many, 2),
                five(few, 4),
                five(many, 4),
            ]);
        }
    }
    table
}

/// Fig. 11: faults in one of 64 or 128 registers.
pub(super) fn registers(it: &Measured) -> Table {
    let columns = [
        "region",
        "runs of each",
        "destinations: SDC",
        "one of 64 registers: SDC",
        "one of 128: SDC",
        "DUE, of 64",
        "DUE, of 128",
    ];
    let mut table = Table::new("registers", &columns);
    for name in it.of_paper() {
        let [small, large] = [0, 1].map(|at: usize| it.build.registers[at].region(name));
        let whole = it.region(name);
        table.rows.push(vec![
            Cell::text(name),
            Cell::Count(small.runs()),
            rate(whole.sdc, whole),
            rate(small.sdc, small),
            rate(large.sdc, large),
            rate(small.due, small),
            rate(large.due, large),
        ]);
    }
    table
}

/// Fig. 12: the absolute errors of CJP's one value, by region: the most frequent, and how many others there are.
pub(super) fn absolute_errors(it: &Measured) -> Table {
    let columns = ["region", "SDC, one of 64 registers", "off by: how many", "SDC, one of 128", "off by: how many"];
    let mut table = Table::new("absolute errors", &columns);
    let listed = |region: &RegionTally| {
        let values = single_errors(region);
        let some: Vec<String> =
            values.iter().take(LISTED).map(|(error, count)| format!("{}: {}", short(*error), spaced(*count))).collect();
        let others = values.len().saturating_sub(LISTED);
        if others == 0 { some.join(", ") } else { format!("{}, {others} others", some.join(", ")) }
    };
    for name in it.of_paper() {
        let of = |at: usize| it.build.registers[at].region(name);
        let cells = [0, 1].map(|at| [Cell::Count(of(at).sdc), Cell::Text(listed(of(at)))]);
        table.rows.push([Cell::text(name)].into_iter().chain(cells.into_iter().flatten()).collect());
    }
    table
}

/// The absolute errors of CJP's one value, the most frequent first.
pub(super) fn single_errors(it: &RegionTally) -> Vec<(f64, u64)> {
    let mut counts: BTreeMap<u64, (f64, u64)> = BTreeMap::new();
    it.errors.iter().for_each(|&error| counts.entry(error.to_bits()).or_insert((error, 0)).1 += 1);
    let mut counts: Vec<(f64, u64)> = counts.into_values().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.total_cmp(&b.0)));
    counts
}
