//! Reading a campaign: finished, interrupted, or still being run by another process.

use std::path::{Path, PathBuf};

use super::columns::Column;
use super::directory::{kept_memory, read_config, rows_path};
use super::error::StoreError;
use super::file::Rows;
use super::planned::plan_beside;
use super::row::Row;
use super::table::Value;
use super::view::RowView;
use crate::config::Config;
use crate::site::{LabelColumn, Spot};
use crate::summary::Summary;
use crate::sweep::{SweptCount, SweptOperand};
use crate::target::Stratum;

/// The results of a campaign, for reports. Nothing is locked and nothing is written.
#[derive(Debug)]
pub struct Results {
    /// None if they are in memory.
    dir: Option<PathBuf>,
    config: Config,
    rows: Rows,
}

impl Results {
    /// Opens the campaign in `dir`.
    ///
    /// # Errors
    /// When there is no campaign, or nothing was run yet, or a file is damaged.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let config = read_config(dir)?;
        let rows = Rows::read(rows_path(dir, config.shard))?;
        Ok(Self::of(Some(dir.to_owned()), config, rows))
    }

    pub(super) fn of(dir: Option<PathBuf>, config: Config, rows: Rows) -> Self {
        Self { dir, config, rows }
    }

    /// The effective configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The digest of what was irradiated.
    ///
    /// # Errors
    /// When the file does not say.
    pub fn digest(&self) -> Result<String, StoreError> {
        Ok(self.rows.origin()?.digest)
    }

    /// Summarises the rows as they now are.
    ///
    /// # Errors
    /// When the rows cannot be read.
    pub fn summary(&self) -> Result<Summary, StoreError> {
        Ok(self.scan(&mut |_| Ok(()))?.0)
    }

    /// Looks at all rows once: calls `visit` for each, by ascending run, and returns the summary and what was hit,
    /// which rows name by its index. An exhaustive campaign has no rows; [`operands`](Self::operands) and
    /// [`counts`](Self::counts) are its. Memory does not grow with the rows.
    ///
    /// # Errors
    /// When the rows cannot be read, or `visit` finds one that makes no sense.
    pub fn scan(
        &self,
        visit: &mut dyn FnMut(&RowView<'_>) -> Result<(), String>,
    ) -> Result<(Summary, Vec<Spot>), StoreError> {
        let counts =
            self.rows.scan(&self.config, plan_beside(self.dir.as_deref(), &self.config, &self.rows)?, visit)?;
        let mut summary = Summary::of(&self.config, &self.rows, &counts)?;
        summary.speed.memory = self.dir.as_deref().and_then(kept_memory);
        Ok((summary, counts.spots))
    }

    /// The id of a run's fault; `None` if the run has no row, or was given up.
    ///
    /// # Errors
    /// When the row cannot be read.
    pub fn fault_of(&self, run: u64) -> Result<Option<String>, StoreError> {
        self.rows.fault_of(run)
    }

    /// The columns of the table `run`, in order.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        self.rows.columns()
    }

    /// What the target says of each site: the columns that are its own, in the order of
    /// [`Labels`](crate::Labels).
    #[must_use]
    pub fn labels(&self) -> &[LabelColumn] {
        &self.rows.labels
    }

    /// Calls `visit` with the values of each row as they are stored, in the order of [`columns`](Self::columns), by
    /// ascending run. An exhaustive campaign has no rows.
    ///
    /// # Errors
    /// When a value cannot be read.
    pub fn visit_values(&self, visit: &mut dyn FnMut(&[Value<'_>])) -> Result<(), StoreError> {
        self.rows.visit_values(visit)
    }

    /// The strata that runs are drawn from in turn; none in a campaign without.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn strata(&self) -> Result<Vec<Stratum>, StoreError> {
        self.rows.strata()
    }

    /// Calls `visit` for each row, by ascending run. An exhaustive campaign has units instead.
    ///
    /// # Errors
    /// When a row cannot be read or makes no sense.
    pub fn visit(&self, visit: &mut dyn FnMut(Row)) -> Result<(), StoreError> {
        self.rows.visit(&self.config, visit)
    }

    /// Calls `visit` for each unit of an exhaustive campaign that was made, by ascending unit, with the outcomes of
    /// its faults, as [`SweptUnit::outcomes`](crate::SweptUnit::outcomes) has them.
    ///
    /// # Errors
    /// When a unit cannot be read or makes no sense.
    pub fn visit_units(&self, visit: &mut dyn FnMut(u64, Vec<u8>)) -> Result<(), StoreError> {
        self.rows.visit_units(visit)
    }

    /// What an exhaustive campaign hits: what the operands of its counts are.
    ///
    /// # Errors
    /// When an operand cannot be read or makes no sense.
    pub fn operands(&self) -> Result<Vec<SweptOperand>, StoreError> {
        self.rows.operands()
    }

    /// How often each bit of each operand of an exhaustive campaign came to each outcome so far, sorted.
    ///
    /// # Errors
    /// When a count cannot be read or makes no sense.
    pub fn counts(&self) -> Result<Vec<SweptCount>, StoreError> {
        self.rows.swept_counts()
    }

    /// Whether it is an exhaustive campaign, which has units for rows.
    #[must_use]
    pub fn is_exhaustive(&self) -> bool {
        self.rows.swept
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }
}
