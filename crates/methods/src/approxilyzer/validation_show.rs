//! How pilots predict the members of their classes, as a table and as a part of the document.

use serde_json::{Map, Value, json};
use stats::Interval;
use study::{Cell, Study, Table};

use super::agreement;
use super::ends::ENDS;
use super::ratio::RatioEstimate;
use super::settings::NAME;
use super::validation::{ValidatedPilot, Validation};
use crate::method::Estimates;

/// The heuristics, by whether loads join their classes; `None` for both together.
const HEURISTICS: [(&str, &str, Option<bool>); 3] = [
    ("control", "control equivalence", Some(false)),
    ("stores", "store equivalence", Some(true)),
    ("all", "both", None),
];

/// The operands, by whether they are read; `None` for both together.
const OPERANDS: [(&str, Option<bool>); 3] = [("destinations", Some(false)), ("sources", Some(true)), ("all", None)];

/// Validated pilots, with how many there may be.
pub(super) struct ValidationView<'a> {
    validation: &'a Validation,
    pilots: &'a [ValidatedPilot],
    lost: u64,
}

/// The predictions of some of the pilots.
struct Predicted {
    /// How many there are.
    pilots: usize,
    /// The sites of the classes that they are drawn from.
    sites: u64,
    /// The shares of sites that they predict, by agreement.
    accuracy: [Option<RatioEstimate>; 9],
}

impl<'a> ValidationView<'a> {
    /// Of pilots that were held against members, of which some were lost.
    pub(super) fn of(validation: &'a Validation, (pilots, lost): &'a (Vec<ValidatedPilot>, u64)) -> Self {
        Self { validation, pilots, lost: *lost }
    }

    /// The predictions of the pilots of a heuristic, or of both, about the sites in some operands, or in all.
    fn predicted(&self, by_stores: Option<bool>, is_source: Option<bool>) -> Predicted {
        let heuristics: Vec<bool> = by_stores.map_or_else(|| vec![false, true], |one| vec![one]);
        let wanted = |it: &&ValidatedPilot| is_source.is_none_or(|is_source| it.is_source == is_source);
        let sites = |by_stores: bool| -> u64 {
            let [destinations, sources] = self.validation.populations()[usize::from(by_stores)].sites;
            is_source.map_or(destinations + sources, |is| if is { sources } else { destinations })
        };
        let of_heuristic =
            |by_stores: bool| self.pilots.iter().filter(move |it| it.by_stores == by_stores).filter(wanted);
        let accuracy = |of: usize| {
            let part = |&by_stores: &bool| {
                let pilots: Vec<(f64, f64)> =
                    of_heuristic(by_stores).map(|pilot| (pilot.weight, pilot.accuracy[of])).collect();
                Some((sites(by_stores) as f64, RatioEstimate::of(&pilots)?))
            };
            RatioEstimate::together(&heuristics.iter().filter_map(part).collect::<Vec<_>>())
        };
        Predicted {
            pilots: heuristics.iter().map(|by_stores| of_heuristic(*by_stores).count()).sum(),
            sites: heuristics.iter().map(|by_stores| sites(*by_stores)).sum(),
            accuracy: [0, 1, 2, 3, 4, 5, 6, 7, 8].map(accuracy),
        }
    }

    /// The share of all sites that classes have whose pilots may be drawn, and of those in classes of one member.
    fn coverage(&self) -> [f64; 2] {
        let all = self.validation.method().counts().all.max(1) as f64;
        let populations = self.validation.populations().iter();
        let share = |sites: u64| sites as f64 / all;
        let members = populations.clone().map(|it| it.sites.iter().sum::<u64>()).sum();
        [share(members), share(populations.map(|it| it.alone).sum())]
    }

    /// Of the pilots that end alike, how many there are and what they predict.
    fn by_end(&self) -> impl Iterator<Item = (&'static str, &'static str, usize, [Option<RatioEstimate>; 9])> {
        let scale = [false, true].map(|by_stores| {
            let drawn: f64 = self.pilots.iter().filter(|it| it.by_stores == by_stores).map(|it| it.weight).sum();
            self.validation.populations()[usize::from(by_stores)].sites.iter().sum::<u64>() as f64 / drawn.max(1.0)
        });
        ENDS.iter().filter_map(move |(word, title, such)| {
            let pilots: Vec<&ValidatedPilot> = self.pilots.iter().filter(|it| such(it.end)).collect();
            let weighed = |of: usize| {
                let pilot = |it: &&ValidatedPilot| (it.weight * scale[usize::from(it.by_stores)], it.accuracy[of]);
                RatioEstimate::of(&pilots.iter().map(pilot).collect::<Vec<_>>())
            };
            let accuracy = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(weighed);
            (!pilots.is_empty()).then_some((*word, *title, pilots.len(), accuracy))
        })
    }

    /// The shares of members that pilots predict, by heuristic and operand, and by the end of the pilot.
    pub(super) fn tables(&self) -> [Table; 2] {
        let mut columns = vec!["heuristic", "operands", "pilots"];
        columns.extend(COLUMNS);
        let mut table = Table::new("Members of classes that their pilots predict", &columns);
        for (_, heuristic, by_stores) in HEURISTICS {
            for (operands, is_source) in OPERANDS {
                let Predicted { pilots, accuracy, .. } = self.predicted(by_stores, is_source);
                if pilots > 0 {
                    let mut row = vec![Cell::text(heuristic), Cell::text(operands), Cell::Count(pilots as u64)];
                    row.extend(accuracy.map(cell));
                    table.rows.push(row);
                }
            }
        }
        let [members, alone] = self.coverage().map(|share| format!("{:.2} %", 100.0 * share));
        table.notes.push(format!(
            "Up to {} members of each pilot were run, {} runs in all; a pilot weighs as much as its class. The pilots are the sampling unit \
             of the intervals (95 %). They are drawn from studied classes, which hold {members} of all sites; classes of one \
             member, with {alone} of them, are left out.",
            self.validation.size().members,
            study::spaced(self.validation.runs()),
        ));
        table.notes.push(
            "δ: how far apart quality bins of SDC-Maybe may be. Resilience does not tell masked, SDC-Good, DDC and detected \
             apart; approximation neither masked and SDC-Good, nor SDC-Bad, DDC and detected."
                .to_owned(),
        );
        if self.lost > 0 {
            table.notes.push(format!("{} pilots were lost, or all their members, and are left out.", self.lost));
        }
        let mut columns = vec!["outcome of the pilot", "pilots"];
        columns.extend(COLUMNS);
        let mut by_end = Table::new("Members that pilots predict, by the outcome of the pilot", &columns);
        for (_, title, pilots, accuracy) in self.by_end() {
            let mut row = vec![Cell::text(title), Cell::Count(pilots as u64)];
            row.extend(accuracy.map(cell));
            by_end.rows.push(row);
        }
        [table, by_end]
    }

    /// As the document has it.
    pub(super) fn document(&self) -> Value {
        let [members, alone] = self.coverage();
        let mut document = json!({
            "size": self.validation.size().to_string(),
            "runs": self.validation.runs(),
            "lost": self.lost,
            "coverage": members,
            "of_one_member": alone,
        });
        for (key, _, by_stores) in HEURISTICS {
            let operands = OPERANDS.map(|(operands, is_source)| {
                let Predicted { pilots, sites, accuracy } = self.predicted(by_stores, is_source);
                let accuracy = agreement::document(&accuracy, value);
                (operands.to_owned(), json!({ "pilots": pilots, "sites": sites, "accuracy": accuracy }))
            });
            document[key] = Value::Object(operands.into_iter().collect());
            if let Some(by_stores) = by_stores {
                document[key]["population"] = json!(self.validation.populations()[usize::from(by_stores)].pilots);
            }
        }
        let by_end = self.by_end().map(|(word, _, pilots, accuracy)| {
            (word.to_owned(), json!({ "pilots": pilots, "accuracy": agreement::document(&accuracy, value) }))
        });
        document["by_pilot"] = Value::Object(by_end.collect::<Map<String, Value>>());
        document
    }

    /// A study of nothing else.
    pub(super) fn estimates(&self) -> Estimates {
        let mut study = Study::new(NAME, "", "");
        study.tables.extend(self.tables());
        let json = json!({
            "format": "beamline.approxilyzer-validation/1",
            "capsule": self.validation.method().name(),
            "validation": self.document(),
        });
        Estimates { json, study }
    }
}

/// The titles of the agreements.
const COLUMNS: [&str; 9] =
    ["δ = 0", "δ = 1", "δ = 2", "resilience, δ = 0", "δ = 1", "δ = 2", "approximation, δ = 0", "δ = 1", "δ = 2"];

fn cell(estimate: Option<RatioEstimate>) -> Cell {
    estimate.map_or(Cell::None, |it| {
        let Interval { low, high } = it.interval();
        Cell::Rate { rate: it.rate, low, high }
    })
}

fn value(estimate: &Option<RatioEstimate>) -> Value {
    estimate.map_or(Value::Null, |it| {
        let Interval { low, high } = it.interval();
        json!({ "rate": it.rate, "low": low, "high": high })
    })
}
