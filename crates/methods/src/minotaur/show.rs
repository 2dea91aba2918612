//! Both inputs, their quality and their SDC-PCs, as tables and in the document.

use serde_json::{Value, json};
use stats::{Confidence, Proportion};
use std::collections::BTreeMap;
use study::{Cell, Table};

use super::analysis::Analysis;
use super::coverage::Criterion;
use super::minimise::{Evaluated, Minimised, Target};
use super::sdc_pcs::Division;

/// How many times faster the analysis of the small input is.
pub(super) fn speedup(small: &Analysis, reference: &Analysis) -> f64 {
    reference.seconds / small.seconds.max(1e-9)
}

/// A share with bounds (Wilson, 95 %): of instructions as if they were drawn from a larger program.
pub(super) fn share(some: u64, all: u64) -> Value {
    let proportion = Proportion::from_counts(some, all - some);
    let bounds = proportion.wilson(Confidence::PERCENT_95);
    json!({ "count": some, "of": all, "rate": proportion.rate(), "low": bounds.low, "high": bounds.high })
}

/// An input and its analysis in the document.
pub(super) fn document(input: &Evaluated, target: Target, analysis: &Analysis) -> Value {
    let quality = |criterion: Criterion| {
        let covered = input.quality.of(criterion);
        (criterion.word(), json!({ "count": covered.count, "of": covered.of, "rate": covered.share() }))
    };
    let qualities: BTreeMap<&str, Value> = Criterion::ALL.into_iter().map(quality).collect();
    json!({
        "input": input.point.to_string(),
        "coverage": input.quality.of(target.criterion).share(),
        "quality": qualities,
        "thread_instructions": input.instructions(),
        "seconds": analysis.seconds,
        "seconds_of_a_run": analysis.seconds_of_a_run(),
        "golden_seconds": input.capsule.golden_run().seconds(),
        "sites": analysis.sites.all,
        "pilots": analysis.sites.run,
        "pilots_studied": analysis.studied,
        "pilots_run": analysis.runs,
        "explored": analysis.pilots.len(),
        "sdc_pcs": analysis.corrupting().len(),
    })
}

/// Both inputs with their analyses, and the inputs that could not be run.
pub(super) fn inputs(found: &Minimised, small: &Analysis, reference: &Analysis) -> Table {
    let columns = ["", "input", "thread instructions", "error sites", "pilots", "seconds", "PCs explored", "SDC-PCs"];
    let mut table = Table::new("Both inputs", &columns);
    let row = |name: &str, input: &Evaluated, analysis: &Analysis| {
        vec![
            Cell::text(name),
            Cell::text(input.point.to_string()),
            Cell::Count(input.instructions()),
            Cell::Count(analysis.sites.all),
            Cell::Count(analysis.sites.run),
            Cell::Number((analysis.seconds * 1000.0).round() / 1000.0),
            Cell::Count(analysis.pilots.len() as u64),
            Cell::Count(analysis.corrupting().len() as u64),
        ]
    };
    table.rows = vec![row("reference", &found.reference, reference), row("minimised", &found.smallest, small)];
    table.notes.push(match found.evaluations {
        1 => "1 input was run to find it.".to_owned(),
        inputs => format!("{inputs} inputs were run to find it."),
    });
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    found.refused.iter().for_each(|(_, why)| *reasons.entry(why).or_default() += 1);
    let lost = |(why, count): (&&str, &u64)| {
        let inputs = if *count == 1 { "input" } else { "inputs" };
        format!("{count} {inputs} could not be run: {}.", why.trim_end_matches('.'))
    };
    table.notes.extend(reasons.iter().map(lost));
    if found.smallest.point == found.reference.point {
        table.notes.push("No smaller input keeps the quality: the reference itself is the result.".to_owned());
    }
    let limited = [reference, small].iter().any(|it| it.studied < it.sites.run);
    table.notes.extend(limited.then(|| {
        format!(
            "Of the pilots of the reference {} are studied, of the small input's {} (--pilots, --hot): an instruction may be an \
             SDC-PC though none of these shows it, and all times are of these alone.",
            reference.studied, small.studied
        )
    }));
    table.notes.push(match speedup(small, reference) {
        faster if faster >= 1.0 => {
            format!("The runs of the small input take 1/{faster:.1} of the time of the reference's.")
        }
        slower => format!("The runs of the small input take {:.1} times as long as the reference's.", 1.0 / slower),
    });
    table
}

/// The quality of the small input by each criterion, the one that the search keeps marked.
pub(super) fn quality(found: &Minimised, target: Target) -> Table {
    let columns = ["criterion", "of the reference", "of the small input", "coverage"];
    let mut table = Table::new("Quality of the small input", &columns);
    let row = |criterion: Criterion| {
        let covered = found.smallest.quality.of(criterion);
        let (of, count) = (Cell::Count(covered.of), Cell::Count(covered.count));
        vec![Cell::text(criterion.title()), of, count, Cell::Share(covered.share())]
    };
    table.rows = Criterion::ALL.into_iter().map(row).collect();
    table.notes.push(format!("The search keeps {} of {} at least.", target.criterion.title(), target.share));
    table.notes.push(
        "An edge is a branch with a guard or several targets and the instruction behind it; a pair is an instruction that \
         writes a register and one that reads the value."
            .to_owned(),
    );
    table
}

/// The SDC-PCs by who finds them.
pub(super) fn sdc_pcs(division: Division) -> Table {
    let mut table = parts("Instructions whose faults corrupt outputs (SDC-PCs)", division);
    let found = Proportion::from_counts(division.common, division.of_reference() - division.common);
    let bounds = found.wilson(Confidence::PERCENT_95);
    table.notes.extend(found.rate().map(|rate| {
        format!(
            "The small input finds {:.1} % ({:.1}–{:.1}) of the SDC-PCs of the reference.",
            rate * 100.0,
            bounds.low * 100.0,
            bounds.high * 100.0
        )
    }));
    table.notes.push(
        "Bounds are at 95 %, as if instructions were drawn from a larger program. An instruction counts where a pilot ends in a \
         corruption that is bad, between good and bad, or judged by no criterion."
            .to_owned(),
    );
    table
}

/// Instructions by who finds them.
pub(super) fn parts(title: &str, division: Division) -> Table {
    let mut table = Table::new(title, &["found by", "instructions", "of all"]);
    let all = division.all();
    let cell = |some: u64| {
        let proportion = Proportion::from_counts(some, all - some);
        let bounds = proportion.wilson(Confidence::PERCENT_95);
        proportion.rate().map_or(Cell::None, |rate| Cell::Rate { rate, low: bounds.low, high: bounds.high })
    };
    table.rows =
        division.rows().iter().map(|&(name, some)| vec![Cell::text(name), Cell::Count(some), cell(some)]).collect();
    table
}

impl Division {
    /// Its parts, and the sums of each input.
    fn rows(self) -> [(&'static str, u64); 7] {
        [
            ("both (Common)", self.common),
            ("the small input; the reference explored it (MinSDC)", self.min_sdc),
            ("the small input; the reference did not explore it (MinSDC+)", self.min_sdc_plus),
            ("the reference; the small input explored it (RefSDC)", self.ref_sdc),
            ("the reference; the small input did not explore it (RefSDC+)", self.ref_sdc_plus),
            ("the small input", self.of_small()),
            ("the reference", self.of_reference()),
        ]
    }

    /// Its parts in the document.
    pub(super) fn document(self) -> Value {
        json!({
            "common": self.common, "min_sdc": self.min_sdc, "min_sdc_plus": self.min_sdc_plus,
            "ref_sdc": self.ref_sdc, "ref_sdc_plus": self.ref_sdc_plus,
        })
    }

    /// The share of all that each input finds, in the document.
    pub(super) fn accuracy(self) -> Value {
        json!({ "minimised": share(self.of_small(), self.all()), "reference": share(self.of_reference(), self.all()) })
    }
}
