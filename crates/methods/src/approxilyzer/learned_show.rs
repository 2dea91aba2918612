//! Predictions of error sites as a document and as a table.

use serde_json::{Map, Value, json};
use stats::{Confidence, Interval, bootstrap};
use study::{Cell, Study, Table};

use super::counts::CLASSES;
use super::judgements::LEARNED;
use super::learned::{LearningStudy, PENALTY, SEED, SplitTest, WorkloadTest};
use super::site_facts::variable_names;
use crate::method::Estimates;

/// The class of outcome whose recall is shown.
const SDC: usize = 1;

/// A share of each workload.
type Measure = fn(&WorkloadTest) -> Option<f64>;

/// The shares that are averaged over workloads, each with its key, its column, and its share.
const MEASURES: [(&str, &str, Measure); 8] = [
    ("most_frequent", "most frequent class", |it| it.held_out.frequent.accuracy()),
    ("heuristics", "heuristics", |it| it.of.heuristics.accuracy()),
    ("held_out", "learned from other workloads", |it| it.held_out.learned.accuracy()),
    ("instructions", "from the other half of its instructions", |it| it.instructions.as_ref()?.learned.accuracy()),
    ("path_groups", "from the other half of its path groups", |it| it.path_groups.as_ref()?.learned.accuracy()),
    ("sdc_recall_heuristics", "SDC found: heuristics", |it| it.of.heuristics.recall(SDC)),
    ("sdc_recall_held_out", "SDC found: learned from others", |it| it.held_out.learned.recall(SDC)),
    ("sdc_recall_instructions", "SDC found: half of instructions", |it| it.instructions.as_ref()?.learned.recall(SDC)),
];

/// Differences of accuracies in the same workload: the key, and the measures.
const DIFFERENCES: [(&str, usize, usize); 2] =
    [("held_out_less_most_frequent", 2, 0), ("held_out_less_heuristics", 2, 1)];

/// The mean of a share over workloads, and its bounds if workloads are drawn anew.
struct Mean {
    mean: f64,
    interval: Option<Interval>,
    workloads: usize,
}

impl Mean {
    fn of(values: &[f64]) -> Option<Self> {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let interval = bootstrap(values, Confidence::PERCENT_95, SEED);
        (!values.is_empty()).then_some(Self { mean, interval, workloads: values.len() })
    }

    fn document(&self) -> Value {
        json!({ "mean": self.mean, "interval": bounds(self.interval), "workloads": self.workloads })
    }
}

impl LearningStudy {
    fn mean(&self, of: Measure) -> Option<Mean> {
        Mean::of(&self.workloads.iter().filter_map(of).collect::<Vec<f64>>())
    }

    /// In how many workloads, and by how much on average, the first measure is above the second.
    fn difference(&self, one: usize, other: usize) -> Option<(Mean, usize)> {
        let of = |it| Some(MEASURES[one].2(it)? - MEASURES[other].2(it)?);
        let all: Vec<f64> = self.workloads.iter().filter_map(of).collect();
        Some((Mean::of(&all)?, all.iter().filter(|by| **by > 0.0).count()))
    }

    /// As a document.
    #[must_use]
    pub fn document(&self) -> Value {
        let means = MEASURES.iter().filter_map(|(key, _, of)| Some(((*key).to_owned(), self.mean(*of)?.document())));
        let differences = DIFFERENCES.iter().filter_map(|&(key, one, other)| {
            let (mean, above) = self.difference(one, other)?;
            let mut document = mean.document();
            document["above"] = json!(above);
            Some((key.to_owned(), document))
        });
        json!({
            "format": "beamline.learned/1",
            "penalty": PENALTY,
            "variables": variable_names(),
            "workloads": self.workloads.iter().map(WorkloadTest::document).collect::<Vec<Value>>(),
            "means": means.chain(differences).collect::<Map<String, Value>>(),
        })
    }

    /// As a table: a row for each workload, and one for their mean.
    #[must_use]
    pub fn table(&self) -> Table {
        let first = ["workload", "launches", "sites", "masked", "SDC", "DUE", "pilots of the heuristics"];
        let columns: Vec<&str> = first.into_iter().chain(MEASURES.map(|(_, column, _)| column)).collect();
        let mut table = Table::new("Outcomes of error sites, predicted without a run of theirs", &columns);
        table.rows = self.workloads.iter().map(WorkloadTest::row).collect();
        let mut last = vec![Cell::text(format!("mean of {}", self.workloads.len())), Cell::None, Cell::None];
        last.extend((3..first.len()).map(|_| Cell::None));
        last.extend(
            MEASURES.map(|(_, _, of)| self.mean(of).map_or(Cell::None, |mean| rate(Some(mean.mean), mean.interval))),
        );
        table.rows.push(last);
        table.notes = self.notes();
        table
    }

    /// The document and the table.
    pub(super) fn estimates(&self) -> Estimates {
        let mut study = Study::new("learned", "Outcomes of error sites predicted without a run", "");
        study.tables.push(self.table());
        Estimates { json: self.document(), study }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Shares of sites whose class of outcome (masked, SDC, DUE) is told rightly. Bounds (95 %) draw static instructions anew in \
             the row of a workload, and workloads in the last row. The heuristics judge a site by the run of a random pilot of its class, \
             and what they claim without a run; a model runs nothing of what it is tested on. The most frequent class is that of the \
             other workloads."
                .to_owned(),
        ];
        for ((_, one, other), than) in DIFFERENCES.into_iter().zip(["the most frequent class", "the heuristics"]) {
            let Some((Mean { mean, interval, workloads }, above)) = self.difference(one, other) else { continue };
            let points = |share: f64| format!("{:+.1}", 100.0 * share);
            let bounds =
                interval.map_or_else(String::new, |it| format!(" ({} to {})", points(it.low), points(it.high)));
            notes.push(format!(
                "Learned from other workloads, the model is right more often than {than} in {above} of {workloads} workloads, by {} points \
                 on average{bounds}.",
                points(mean)
            ));
        }
        let left_out: u64 = self.workloads.iter().map(|it| it.of.left_out).sum();
        if left_out > 0 {
            notes.push(format!("{left_out} sites are left out, whose outcome is undecided or not known."));
        }
        notes
    }
}

impl WorkloadTest {
    fn document(&self) -> Value {
        let class = |class: usize| (CLASSES[class].word().to_owned(), json!(self.held_out.learned.of_class(class)));
        json!({
            "workload": self.of.workload,
            "launches": self.of.launches,
            "sites": self.of.sites(),
            "left_out": self.of.left_out,
            "truth": (0..LEARNED).map(class).collect::<Map<String, Value>>(),
            "pilots": self.of.pilots,
            "heuristics": self.of.heuristics.document(),
            "held_out": self.held_out.document(),
            "instructions": self.instructions.as_ref().map(SplitTest::document),
            "path_groups": self.path_groups.as_ref().map(SplitTest::document),
        })
    }

    fn row(&self) -> Vec<Cell> {
        let sites = self.of.sites();
        let mut row = vec![Cell::text(&self.of.workload), Cell::text(self.of.launches.join("; ")), Cell::Count(sites)];
        row.extend((0..LEARNED).map(|class| Cell::Share(self.held_out.learned.of_class(class) / sites.max(1) as f64)));
        row.push(Cell::Count(self.of.pilots));
        let interval = |split: Option<&SplitTest>| split.and_then(|it| it.interval);
        let intervals = [
            None,
            None,
            interval(Some(&self.held_out)),
            interval(self.instructions.as_ref()),
            interval(self.path_groups.as_ref()),
        ];
        let intervals = intervals.into_iter().chain(std::iter::repeat(None));
        row.extend(MEASURES.iter().zip(intervals).map(|((_, _, of), interval)| rate(of(self), interval)));
        row
    }
}

impl SplitTest {
    fn document(&self) -> Value {
        let model = |of: &stats::Logistic| {
            let of_class = |(class, of): (&outcome::Class, &Vec<f64>)| (class.word().to_owned(), json!(of));
            CLASSES.iter().skip(1).zip(&of.coefficients).map(of_class).collect::<Map<String, Value>>()
        };
        let mut document = self.learned.document();
        document["interval"] = bounds(self.interval);
        document["most_frequent"] = self.frequent.document();
        document["coefficients"] = self.models.iter().map(model).collect::<Vec<_>>().into();
        document
    }
}

fn rate(rate: Option<f64>, interval: Option<Interval>) -> Cell {
    match (rate, interval) {
        (Some(rate), Some(Interval { low, high })) => Cell::Rate { rate, low, high },
        (Some(rate), None) => Cell::Share(rate),
        (None, _) => Cell::None,
    }
}

fn bounds(interval: Option<Interval>) -> Value {
    interval.map_or(Value::Null, |it| json!([it.low, it.high]))
}
