//! Where the files of a campaign are, and what is read of them without opening rows.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::error::StoreError;
use crate::config::{Config, Shard};
use crate::summary::Summary;
use crate::target::MemoryUse;

/// Reads the effective configuration of the campaign in `dir`.
///
/// # Errors
/// When there is no campaign, or its configuration does not parse.
pub fn read_config(dir: &Path) -> Result<Config, StoreError> {
    let path = config_path(dir);
    let text = fs::read_to_string(&path).map_err(|source| missing_or(dir, &path, source))?;
    Config::from_toml(&text, "it").map_err(|source| StoreError::Config { path, source })
}

/// What the summary that is in `dir` says of memory: rows say nothing of it.
pub(super) fn kept_memory(dir: &Path) -> Option<MemoryUse> {
    let text = fs::read_to_string(summary_path(dir)).ok()?;
    serde_json::from_str::<Summary>(&text).ok()?.speed.memory
}

pub(super) fn missing_or(dir: &Path, path: &Path, source: io::Error) -> StoreError {
    match source.kind() {
        io::ErrorKind::NotFound => StoreError::Missing { dir: dir.to_owned() },
        _ => StoreError::File { path: path.to_owned(), source },
    }
}

pub(super) fn config_path(dir: &Path) -> PathBuf {
    dir.join("campaign.toml")
}

pub(crate) fn plan_path(dir: &Path) -> PathBuf {
    dir.join("plan")
}

pub(crate) fn rows_path(dir: &Path, shard: Shard) -> PathBuf {
    dir.join(format!("shard-{}-of-{}.sqlite", shard.number(), shard.count()))
}

pub(super) fn summary_path(dir: &Path) -> PathBuf {
    dir.join("summary.json")
}
