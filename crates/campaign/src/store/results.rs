//! Reading a campaign: finished, interrupted, or still being run by another process.

use std::path::{Path, PathBuf};

use super::{Row, Rows, StoreError, kept_memory, read_config, rows_path};
use crate::config::Config;
use crate::summary::Summary;

/// The results of a campaign, for reports. Nothing is locked and nothing is written.
#[derive(Debug)]
pub struct Results {
    dir: PathBuf,
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
        Ok(Self { dir: dir.to_owned(), config, rows })
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The effective configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Summarises the rows as they now are.
    ///
    /// # Errors
    /// When the rows cannot be read.
    pub fn summary(&self) -> Result<Summary, StoreError> {
        let mut summary = Summary::of(&self.config, &self.rows)?;
        summary.speed.memory = kept_memory(&self.dir);
        Ok(summary)
    }

    /// Calls `visit` for each row, by ascending run.
    ///
    /// # Errors
    /// When a row cannot be read or makes no sense.
    pub fn visit(&self, visit: &mut dyn FnMut(Row)) -> Result<(), StoreError> {
        self.rows.visit(visit)
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }
}
