//! The figures and tables of the paper, with our numbers.

use methods::two_level::{Fraction, IpaTable, OutcomeCounts, chance};
use stats::{Bounded, Confidence, spearman};
use study::{Cell, Table};

use super::survey::{Measured, PATTERNS};

pub(super) fn rate(it: Bounded) -> Cell {
    Cell::Rate { rate: it.value, low: it.low, high: it.high }
}

pub(super) fn quantity(it: Option<Bounded>) -> Cell {
    it.map_or(Cell::None, |it| Cell::Quantity { value: it.value, low: it.low, high: it.high })
}

/// A workload, with its name in the paper where that is another.
pub(super) fn name(it: &Measured) -> Cell {
    Cell::text(
        it.paper
            .filter(|paper| *paper != it.name)
            .map_or_else(|| it.name.to_owned(), |paper| format!("{} ({paper})", it.name)),
    )
}

/// Fig. 5: what is executed.
pub(super) fn fractions(all: &[Measured], ipa: &IpaTable) -> Table {
    let mut columns = vec!["workload"];
    columns.extend(ipa.instructions.iter().map(|it| it.name.as_str()));
    columns.extend(["measured", "with a rate"]);
    let mut table = Table::new("Fractions of instructions", &columns);
    for it in all {
        let types = 0..ipa.instructions.len();
        let mut row = vec![name(it)];
        row.extend(types.clone().map(|at| Cell::Share(it.shares.of_type(at).0)));
        row.push(Cell::Share(types.map(|at| it.shares.measured(at).0).sum()));
        row.push(Cell::Share(it.composition.covered.0));
        table.rows.push(row);
    }
    table
}

/// What has no rate, added up over workloads as shares of each.
pub(super) fn left_out(all: &[Measured]) -> Table {
    let mut table = Table::new("Without a rate", &["instructions", "mean share", "largest share", "in"]);
    let mut groups: Vec<&str> = all.iter().flat_map(|it| it.composition.left_out.iter().map(|part| part.0)).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut rows: Vec<(f64, Vec<Cell>)> = Vec::new();
    for group in groups {
        let of = |it: &Measured| {
            let found = it.composition.left_out.iter().find(|part| part.0 == group);
            found.map_or(Fraction(0.0), |part| part.1).0
        };
        let mean = all.iter().map(of).sum::<f64>() / all.len() as f64;
        let Some(most) = all.iter().max_by(|a, b| of(a).total_cmp(&of(b))) else { continue };
        rows.push((mean, vec![Cell::text(group), Cell::Share(mean), Cell::Share(of(most)), Cell::text(most.name)]));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    table.rows = rows.into_iter().map(|(_, row)| row).collect();
    table
}

/// How faults of a type and a manifestation ended, of a workload.
pub(super) fn ends_of(it: &Measured, number: usize, manifestation: usize) -> Option<OutcomeCounts> {
    let kind = it.composition.types.iter().find(|kind| kind.number == number)?;
    let cell = kind.cells.iter().find(|cell| cell.manifestation == manifestation && cell.ends.is_some())?;
    Some(cell.all())
}

/// A share of how faults ended, as the mean over workloads.
pub(super) fn mean<'e>(of: impl ExactSizeIterator<Item = &'e OutcomeCounts>, count: fn(&OutcomeCounts) -> u64) -> f64 {
    let workloads = of.len().max(1) as f64;
    of.map(|ends| count(ends) as f64 / ends.runs().max(1) as f64).sum::<f64>() / workloads
}

/// Fig. 6: the ends of faults by type and manifestation, means over the workloads that execute the type.
pub(super) fn derating(all: &[Measured], ipa: &IpaTable) -> Table {
    let columns = ["type", "manifestation", "workloads", "masked", "SDC", "DUE", "SDC, least", "SDC, most"];
    let mut table = Table::new("Derating", &columns);
    for (number, kind) in ipa.instructions.iter().enumerate() {
        for (at, how) in ipa.manifestations.iter().enumerate() {
            let found: Vec<(&Measured, OutcomeCounts)> =
                all.iter().filter_map(|it| Some((it, ends_of(it, number, at)?))).collect();
            if found.is_empty() {
                continue;
            }
            let of = |count: fn(&OutcomeCounts) -> u64| mean(found.iter().map(|it| &it.1), count);
            let sdc = |it: &(&Measured, OutcomeCounts)| it.1.sdc as f64 / it.1.runs().max(1) as f64;
            let shown = |it: Option<&(&Measured, OutcomeCounts)>| {
                it.map_or(Cell::None, |it| Cell::Text(format!("{:.1} % ({})", 100.0 * sdc(it), it.0.name)))
            };
            table.rows.push(vec![
                Cell::text(&kind.name),
                Cell::text(&how.name),
                Cell::Count(found.len() as u64),
                Cell::Share(of(|ends| ends.masked)),
                Cell::Share(of(|ends| ends.sdc)),
                Cell::Share(of(|ends| ends.due)),
                shown(found.iter().min_by(|a, b| sdc(a).total_cmp(&sdc(b)))),
                shown(found.iter().max_by(|a, b| sdc(a).total_cmp(&sdc(b)))),
            ]);
        }
    }
    table
}

/// Workloads that have an issue rate of the paper's (0) or ours (1), by their two-level rate, the highest first.
pub(super) fn ranked(all: &[Measured], at: usize) -> Vec<(&Measured, Bounded)> {
    let mut found: Vec<(&Measured, Bounded)> = all.iter().filter_map(|it| Some((it, it.two_level(at)?))).collect();
    found.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    found
}

/// Fig. 7: the rates of the workloads, relative to hotspot's.
pub(super) fn rates(all: &[Measured], at: usize) -> Table {
    let columns = ["workload", "two-level", "IPA only", "IPA only / two-level", "APA only", "issue rate"];
    let mut table = Table::new("SDC rates", &columns);
    let unit =
        all.iter().find(|it| it.name == "hotspot").and_then(|it| it.two_level(at)).map_or(1.0, |it| 1.0 / it.value);
    for (it, two) in ranked(all, at) {
        let over = it.ipa_only(at).map(|ipa| ipa.value / two.value);
        table.rows.push(vec![
            name(it),
            quantity(Some(two.times(unit))),
            quantity(it.ipa_only(at).map(|it| it.times(unit))),
            over.filter(|over| over.is_finite()).map_or(Cell::None, Cell::Number),
            rate(it.apa_only()),
            it.issue[at].as_ref().map_or(Cell::None, |issue| Cell::Number(issue.rate)),
        ]);
    }
    table
}

/// Table 4: issue rates.
pub(super) fn issue(all: &[Measured]) -> Table {
    let mut table = Table::new("Issue rates", &["workload", "K40, the paper's program", "H200, ours"]);
    for it in all {
        let of = |at: usize| it.issue[at].as_ref().map_or(Cell::None, |issue| Cell::Number(issue.rate));
        table.rows.push(vec![name(it), of(0), of(1)]);
    }
    table
}

/// How alike the orders are that the methods put workloads in.
pub(super) fn trends(all: &[Measured]) -> Table {
    let mut table = Table::new("Rank correlations", &["issue rates", "orders", "workloads", "Spearman's ρ", "95 %"]);
    for (at, issue, paper) in
        [(0, "K40, the paper's", true), (1, "H200, ours, of the same workloads", true), (1, "H200, ours", false)]
    {
        let mut found = ranked(all, at);
        found.retain(|(it, _)| it.paper.is_some() || !paper);
        let of = |value: fn(&Measured, usize) -> Option<f64>| -> Vec<Option<f64>> {
            found.iter().map(|(it, _)| value(it, at)).collect()
        };
        let two = of(|it, at| it.two_level(at).map(|it| it.value));
        let ipa = of(|it, at| it.ipa_only(at).map(|it| it.value));
        let apa = of(|it, _| Some(it.apa_only().value));
        let rate = of(|it, at| it.issue[at].as_ref().map(|it| it.rate));
        for (name, first, second) in [
            ("two-level and IPA only", &two, &ipa),
            ("two-level and APA only", &two, &apa),
            ("IPA only and APA only", &ipa, &apa),
            ("two-level and issue rate", &two, &rate),
        ] {
            let pairs: Vec<(f64, f64)> = first.iter().zip(second).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
            let Some(found) = spearman(&pairs) else { continue };
            let bounds = found.bounds(Confidence::PERCENT_95);
            table.rows.push(vec![
                Cell::text(issue),
                Cell::text(name),
                Cell::Count(found.pairs as u64),
                Cell::Number(found.coefficient),
                Cell::Text(format!("{:.2} to {:.2}", bounds.low, bounds.high)),
            ]);
        }
    }
    table
}

/// What protecting the kernel that has most of the rate would save, of workloads with several.
pub(super) fn kernels(all: &[Measured]) -> Table {
    let columns = ["workload", "kernels", "the one with the highest rate", "of the instructions", "of the SDC rate"];
    let mut table = Table::new("Kernels", &columns);
    for it in all.iter().filter(|it| it.composition.kernels.len() > 1) {
        let sdc = |name: &String| it.composition.sdc_of(name).0.value;
        let Some((kernel, share)) = it.composition.kernels.iter().max_by(|a, b| sdc(&a.0).total_cmp(&sdc(&b.0))) else {
            continue;
        };
        let all = it.composition.sdc().0.value;
        table.rows.push(vec![
            name(it),
            Cell::Count(it.composition.kernels.len() as u64),
            Cell::text(fault::base_name(kernel)),
            Cell::Share(share.0),
            if all > 0.0 { Cell::Share(sdc(kernel) / all) } else { Cell::None },
        ]);
    }
    table
}

/// What patterns of bits and lanes do to the SDC rates of workloads.
pub(super) fn patterns(all: &[Measured]) -> Table {
    let mut columns = vec!["workload"];
    columns.extend(PATTERNS.iter().map(|pattern| pattern.0));
    let mut table = Table::new("SDC by pattern", &columns);
    for it in all {
        let mut row = vec![name(it)];
        row.extend(it.patterns.iter().map(|ends| rate(chance(ends.sdc, ends.undecided, ends.runs()).0)));
        table.rows.push(row);
    }
    table
}

/// Table 3, and the error of each row.
pub(super) fn strikes(ipa: &IpaTable) -> Table {
    let mut columns = vec!["type", "rate", "bounds of the sum", "events"];
    columns.extend(ipa.manifestations.iter().map(|it| it.name.as_str()));
    let mut table = Table::new("Strikes", &columns);
    for it in &ipa.instructions {
        let all = it.all();
        let bounds = format!("{:.2} to {:.2}", all.low, all.high);
        let events: u64 = ipa.manifestations.iter().filter_map(|how| it.events(&how.name)).sum();
        let mut row = vec![Cell::text(&it.name), Cell::Number(it.total), Cell::Text(bounds), Cell::Count(events)];
        row.extend(
            ipa.manifestations
                .iter()
                .map(|kind| it.rate(&kind.name).filter(|rate| rate.0.value > 0.0))
                .map(|rate| rate.map_or(Cell::None, |rate| Cell::Number(rate.0.value))),
        );
        table.rows.push(row);
    }
    table
}

/// Table 2.
pub(super) fn microbenchmarks(ipa: &IpaTable) -> Table {
    let columns =
        ["microbenchmark", "all events", "hangs and crashes", "flips and crashes of F bits", "flips of IS bits"];
    let mut table = Table::new("Events", &columns);
    for it in &ipa.microbenchmarks {
        let numbers = [Some(it.total), Some(it.hangs_and_crashes), Some(it.f_bits), it.is_bits];
        let cells = numbers.map(|number| number.map_or(Cell::None, Cell::Number));
        table.rows.push([Cell::text(&it.name)].into_iter().chain(cells).collect());
    }
    table
}
