//! The views of a studied program: output quality by instruction and line, the cost of protection and what may be
//! approximated, added to the estimates of the method; and its classes as rows of a file.

use campaign::{Results, StoreError};
use serde_json::Value;
use std::sync::Arc;
use study::{Sheet, Study};

use super::approximable::Approximable;
use super::curves::Curves;
use super::instructions::{InstructionSites, PilotOutcomes, instructions};
use super::quality::{self, QualityView};
use super::rows;
use super::site_profile::SiteProfile;
use super::tally::RowJudge;
use super::target::Approxilyzer;
use crate::kit::StudyError;
use crate::method::Estimates;

/// A studied program.
pub(super) struct Views<'a> {
    method: &'a Approxilyzer,
    /// The campaign; none if no site needs a pilot.
    results: Option<&'a Results>,
    pilots: PilotOutcomes,
    instructions: Vec<InstructionSites>,
}

/// Adds to the table of outcomes by output quality how outputs are judged.
pub(super) fn judged_by(study: &mut Study, notes: Vec<String>) {
    if let Some(table) = study.tables.iter_mut().find(|table| table.title.starts_with(quality::TITLE)) {
        table.notes.extend(notes);
    }
}

impl<'a> Views<'a> {
    /// Of the rows of a campaign.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(super) fn of(
        method: &'a Approxilyzer,
        results: Option<&'a Results>,
        judge: RowJudge<'_>,
    ) -> Result<Self, StoreError> {
        let pilots = PilotOutcomes::of(results, judge)?;
        let instructions = instructions(method, &pilots);
        Ok(Self { method, results, pilots, instructions })
    }

    /// Adds the tables, the plot and the parts of the document to what the method makes of the rows.
    pub(super) fn add_to(&self, estimates: Estimates) -> Estimates {
        let Estimates { mut json, mut study } = estimates;
        let (quality, curves) = (QualityView::of(self.method, &self.instructions), Curves::of(&self.instructions));
        let approximable = Approximable::of(&self.instructions);
        study.tables.extend(quality.tables());
        study.tables.extend([curves.table(), approximable.table()]);
        study.plots.push(curves.plot(self.method.name()));
        if let Value::Object(map) = &mut json {
            let tuning = curves.document(|kernel| quality.kernel(kernel).to_owned());
            let parts =
                [("quality", quality.document()), ("tuning", tuning), ("approximable", approximable.document())];
            map.extend(parts.map(|(key, part)| (key.to_owned(), part)));
        }
        Estimates { json, study }
    }

    /// The classes as the text of a CSV file.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(super) fn rows(&self) -> Result<String, StudyError> {
        rows::text(self.method, self.results, &self.pilots)
    }

    /// The profile of every error site.
    pub(super) fn profile(&self, method: &Arc<Approxilyzer>) -> SiteProfile {
        SiteProfile::new(Arc::clone(method), self.pilots.clone())
    }

    /// The classes as a sheet.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(super) fn sheet(&self) -> Result<Sheet, StudyError> {
        rows::sheet(self.method, self.results, &self.pilots)
    }
}
