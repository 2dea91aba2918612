//! The tables and plots of the chapter, with our numbers beside its own.

use serde_json::Value;
use study::{Cell, Table};

use super::chapter::{APPROXIMABLE, PRUNED};
use super::survey::{CHAPTERS, Corruptions, Measured, at, is_float};
use crate::words::{listed, percent};

/// Table 2.3: error sites and what each technique prunes.
pub(super) fn sites(all: &[Measured]) -> Table {
    let columns = [
        "application",
        "decisions",
        "error sites",
        "pruned",
        "represented",
        "run",
        "not covered",
        "classes",
        "pilots",
        "factor",
        "joined by stores",
        "sites of the chapter",
        "pruned there",
    ];
    let mut table = Table::new("Error sites, and how few of them are run", &columns);
    for it in all {
        let covered = it.count("sites.all") - it.count("sites.not_covered");
        let paper = PRUNED.iter().find(|row| row.application == it.paper);
        let share = |some: u64| Cell::text(percent(some as f64 / it.count("sites.all").max(1) as f64));
        table.rows.push(vec![
            Cell::text(it.paper),
            Cell::text(it.decisions),
            Cell::Count(it.count("sites.all")),
            share(it.count("sites.pruned")),
            share(it.count("sites.represented")),
            Cell::Count(it.count("sites.run")),
            share(it.count("sites.not_covered")),
            Cell::Count(it.count("classes.all")),
            Cell::Count(it.count("sites.run")),
            Cell::text(format!("{:.0}", covered as f64 / it.count("sites.run").max(1) as f64)),
            share(it.count("sites.heuristics.stores.sites")),
            paper.map_or_else(|| Cell::text("–"), |row| Cell::text(row.sites)),
            paper.map_or_else(|| Cell::text("–"), |row| Cell::text(percent(row.all))),
        ]);
    }
    table.notes = vec![
        "Error sites are bits of registers that dynamic instructions read or write. Pruned, represented and not covered are shares of \
         them; the factor is covered sites for each that is run. The chapter's sites are of CPU programs with other inputs (Table 2.3), \
         and its share counts everything that is not run."
            .to_owned(),
    ];
    table
}

/// Which applications are studied to less than the chapter's coverage, in a sentence.
pub(super) fn coverage(all: &[Measured]) -> String {
    let less: Vec<&Measured> = all.iter().filter(|it| it.coverage != CHAPTERS).collect();
    if less.is_empty() {
        return "Every application is studied to 99 % of its sites, as in the chapter.".to_owned();
    }
    let of = |it: &&Measured| {
        let share = percent(it.coverage.parse().unwrap_or_default());
        format!("{} to {share} (99 % takes {} pilots)", it.paper, study::spaced(it.runs_of_chapter))
    };
    format!(
        "The chapter studies 99 % of the sites. Here {} are studied to less: {}. Their shares, costs and ranks are of the sites that are \
         covered.",
        less.len(),
        listed(less.iter().map(of)),
    )
}

/// Figure 2.3: how error sites end.
pub(super) fn outcomes(all: &[Measured]) -> Table {
    let columns = ["application", "masked", "output corruption", "detected", "undecided", "not covered"];
    let mut table = Table::new("How error sites end", &columns);
    for it in all {
        let of = |key: &str| it.count(&format!("quality.outcomes.{key}"));
        let share = |some: u64| Cell::text(percent(some as f64 / it.count("sites.all").max(1) as f64));
        let corrupt = of("good") + of("maybe") + of("bad") + of("detectable");
        table.rows.push(vec![
            Cell::text(it.paper),
            share(of("masked")),
            share(corrupt),
            share(of("detected")),
            share(of("undecided")),
            share(of("not_covered")),
        ]);
    }
    table
}

/// Figure 2.4: categories of output corruptions, by the kind of value that the instruction computes.
pub(super) fn categories(all: &[Measured]) -> Table {
    let columns = ["application", "instructions", "corruptions", "DDC", "SDC-Good", "SDC-Maybe", "SDC-Bad"];
    let mut table = Table::new("Categories of output corruptions", &columns);
    let every = |_: &Value| true;
    let integer = |row: &Value| !is_float(row);
    for it in all {
        let kinds: [(&str, Corruptions); 3] = [
            ("all", it.corruptions(every)),
            ("of integers and addresses", it.corruptions(integer)),
            ("of floating point", it.corruptions(is_float)),
        ];
        for (kind, found) in kinds {
            let share = |some: u64| Cell::text(percent(found.share(some)));
            table.rows.push(vec![
                Cell::text(it.paper),
                Cell::text(kind),
                Cell::Count(found.all()),
                share(found.detectable),
                share(found.good),
                share(found.maybe),
                share(found.bad),
            ]);
        }
    }
    table.notes = vec![
        "The chapter divides registers; PTX registers have no kind of their own, so that the instruction's type decides here."
            .to_owned(),
    ];
    table
}

/// The cost of a curve at a coverage, as a share of dynamic instructions.
pub(super) fn cost_at(it: &Measured, protected: &str, coverage: f64) -> Option<f64> {
    let curve = it.list("tuning.curves").iter().find(|curve| curve["protected"] == protected)?;
    let points = curve["points"].as_array()?;
    let reached = points.iter().filter(|point| point["coverage"].as_f64().is_some_and(|it| it >= coverage - 1e-9));
    reached.filter_map(|point| point["cost"].as_f64()).min_by(f64::total_cmp)
}

/// The curves that the chapter draws: all corruptions, Bad and Maybe, and these above a few bins of 1 % each.
pub(super) fn protected(it: &Measured) -> Vec<String> {
    const BINS: [u64; 3] = [0, 4, 9];
    let shown =
        |curve: &&Value| at(curve, "accepted.bin").and_then(Value::as_u64).is_none_or(|bin| BINS.contains(&bin));
    let names = it.list("tuning.curves").iter().filter(shown).filter_map(|curve| curve["protected"].as_str());
    names.map(str::to_owned).collect()
}

/// Figure 2.7 as a table: the cost of protection at 99 % of the corruptions.
pub(super) fn tuning(all: &[Measured]) -> Table {
    let columns = ["application", "protected", "cost at 90 %", "at 95 %", "at 99 %", "at 100 %", "saved at 99 %"];
    let mut table = Table::new("Overhead of protection by coverage", &columns);
    for it in all {
        let names = protected(it);
        let whole = names.first().and_then(|name| cost_at(it, name, 0.99));
        for name in &names {
            let cost = |coverage: f64| cost_at(it, name, coverage);
            let cell = |cost: Option<f64>| Cell::text(cost.map_or_else(|| "–".to_owned(), percent));
            let saved = whole.zip(cost(0.99)).map(|(whole, cost)| whole - cost);
            let mut row = vec![Cell::text(it.paper), Cell::text(name)];
            row.extend([0.9, 0.95, 0.99, 1.0].map(|coverage| cell(cost(coverage))));
            row.push(cell(saved));
            table.rows.push(row);
        }
    }
    table.notes = vec!["Costs are shares of the dynamic instructions, one more for each that is protected.".to_owned()];
    table
}

/// Figure 2.8: instructions that may be approximated.
pub(super) fn approximable(all: &[Measured]) -> Table {
    let columns = ["application", "part", "worst, static", "best, static", "worst, dynamic", "best, dynamic"];
    let mut table = Table::new("Instructions that may be approximated", &columns);
    for it in all {
        for (key, name) in APPROXIMABLE {
            let share = |case: &str, kind: &str| {
                let found = at(&it.document, &format!("approximable.{key}.{case}.share_of_{kind}"));
                Cell::text(found.and_then(Value::as_f64).map_or_else(|| "–".to_owned(), percent))
            };
            let shares = [("worst", "static"), ("best", "static"), ("worst", "dynamic"), ("best", "dynamic")];
            let mut row = vec![Cell::text(it.paper), Cell::text(name)];
            row.extend(shares.map(|(case, kind)| share(case, kind)));
            table.rows.push(row);
        }
    }
    table
}
