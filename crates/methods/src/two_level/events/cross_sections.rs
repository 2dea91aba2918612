//! Cross-sections of programs in a beam, and the rates of failures that follow where neutrons are fewer.

use serde_json::{Value, json};
use stats::{Bounded, Confidence, poisson};
use std::collections::BTreeMap;
use study::{Cell, Table};

use super::super::bounded_view::{document, quantity};
use super::rates::{Beam, Counts};

/// Events of a program by neutrons.
struct CrossSection {
    program: String,
    /// The category of the events; all of them together if it is empty.
    events: String,
    count: u64,
    /// In cm², with Garwood's bounds at 95 %.
    area: Bounded,
    /// Failures of one GPU in 10⁹ hours.
    fit: Bounded,
}

/// The cross-sections of programs whose fluence is known.
pub(super) struct CrossSections {
    all: Vec<CrossSection>,
    flux: f64,
}

impl CrossSections {
    /// All programs that the beam has a fluence of, by category of events and together.
    pub(super) fn of(counted: &BTreeMap<String, Counts>, beam: &Beam) -> Self {
        let mut all = Vec::new();
        for (program, counts) in counted {
            let Some(&fluence) = beam.fluence.get(program) else { continue };
            let total = counts.events.values().sum();
            let by_category = counts.events.iter().map(|(category, &count)| (category.to_string(), count));
            for (events, count) in by_category.chain([(String::new(), total)]) {
                let area = poisson(count, Confidence::PERCENT_95).times(1.0 / fluence);
                all.push(CrossSection {
                    program: program.clone(),
                    events,
                    count,
                    area,
                    fit: area.times(beam.flux * 1e9),
                });
            }
        }
        Self { all, flux: beam.flux }
    }

    /// As a document: a list.
    pub(super) fn json(&self) -> Value {
        let row = |it: &CrossSection| {
            let category = Some(&it.events).filter(|events| !events.is_empty());
            json!({
                "program": it.program, "category": category, "count": it.count, "cross_section": document(it.area),
                "fit": document(it.fit),
            })
        };
        self.all.iter().map(row).collect()
    }

    /// As a table; none without a fluence.
    pub(super) fn table(&self) -> Option<Table> {
        let columns = ["program", "event", "count", "cross-section, cm²", "FIT of one GPU"];
        let mut table = Table::new("Cross-sections", &columns);
        let row = |it: &CrossSection| {
            vec![
                Cell::text(&it.program),
                Cell::text(if it.events.is_empty() { "all" } else { &it.events }),
                Cell::Count(it.count),
                quantity(it.area),
                quantity(it.fit),
            ]
        };
        table.rows = self.all.iter().map(row).collect();
        table.notes.push(format!(
            "FIT are failures in 10⁹ hours at {} neutrons for each cm² and hour, while the program runs. Bounds are Garwood's at 95 %.",
            self.flux
        ));
        (!self.all.is_empty()).then_some(table)
    }
}
