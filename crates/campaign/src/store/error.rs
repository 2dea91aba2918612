//! What can go wrong with a campaign's directory, and what to do about it.

use std::io;
use std::path::PathBuf;

use crate::config::ConfigError;
use crate::engine::NoSuchEngine;
use crate::plan::PlanError;
use crate::site::RunIndex;

/// Why a campaign's directory cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory cannot be made.
    #[error("create the directory {dir}; choose one that can be written")]
    Create {
        /// The directory.
        dir: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The target makes no runs that way.
    #[error(transparent)]
    Engine(#[from] NoSuchEngine),
    /// There is a campaign already.
    #[error(
        "create a campaign in {dir}: there is one already; \
         go on with `beamline resume {dir}`, or choose another directory"
    )]
    Occupied {
        /// The directory.
        dir: PathBuf,
    },
    /// There is no campaign.
    #[error(
        "find a campaign in {dir}: it has no campaign.toml, so nothing was run there; start with `beamline campaign`"
    )]
    Missing {
        /// The directory.
        dir: PathBuf,
    },
    /// There are no rows to read.
    #[error("read {path}: nothing was run yet; start with `beamline resume {dir}`")]
    NoRows {
        /// The file.
        path: PathBuf,
        /// The directory.
        dir: PathBuf,
    },
    /// The method that chose the sites cannot read the rows.
    #[error("{0}")]
    Method(String),
    /// A file cannot be read or written.
    #[error("use {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The configuration is no longer one.
    #[error("use {path}")]
    Config {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: ConfigError,
    },
    /// The plan cannot be made or used.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The configuration is not the one that was planned.
    #[error(
        "go on in {dir}: campaign.toml was changed after the plan was made from it; \
         undo the change (`capsule`, `jobs`, `memory` and `fail-if` may differ), or start a new campaign"
    )]
    Changed {
        /// The directory.
        dir: PathBuf,
    },
    /// The campaign that is there is another one.
    #[error(
        "go on in {dir}: the campaign there has another `{key}` than the one that is to be made, so that its rows are \
         others; delete the directory, or choose another place for campaigns"
    )]
    OtherConfig {
        /// The directory.
        dir: PathBuf,
        /// The first key that differs.
        key: String,
    },
    /// The target is another one.
    #[error(
        "go on in {dir}: its runs are of the capsule with digest {expected}, this one has {found}; \
         give the one that the campaign was started with, or start a new campaign"
    )]
    OtherTarget {
        /// The directory.
        dir: PathBuf,
        /// The digest that the campaign was started with.
        expected: String,
        /// The digest of this target.
        found: String,
    },
    /// The target finds other faults than were planned.
    #[error(
        "go on in {dir}: the capsule is the same, but this beamline finds other faults in it than the one that the \
         campaign was started with; use that one, or start a new campaign"
    )]
    OtherSweep {
        /// The directory.
        dir: PathBuf,
    },
    /// The file of rows is not one of ours.
    #[error("use {path}: it is not a file of rows made by beamline; move it away")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file of rows is a link, and rows would be written to wherever it leads.
    #[error("write rows to {path}: it is a symbolic link; put the file itself there")]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// The file of rows is from another version.
    #[error(
        "use {path}: its rows have version {found}, this beamline knows version {known}; use the beamline that made \
         it, or run the campaign again: the same seed gives the same faults"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: i32,
        /// The version of this program.
        known: i32,
    },
    /// The target declares labels that cannot be columns.
    #[error("make the columns of rows: {0}; this is a bug in the target")]
    Labels(String),
    /// What was read makes no sense.
    #[error("read {path}: {what}; the file was damaged or edited")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What makes no sense.
        what: String,
    },
    /// A value too large for the file.
    #[error("write run {run}: its {what} of {value} is larger than a file of rows holds ({})", i64::MAX)]
    TooLarge {
        /// The run.
        run: RunIndex,
        /// The value's name.
        what: &'static str,
        /// The value.
        value: u64,
    },
    /// No space is left.
    #[error("write rows to {dir}: no space is left there; free some, then `beamline resume {dir}` goes on")]
    Full {
        /// The directory.
        dir: PathBuf,
    },
    /// SQLite said no.
    #[error("use {path}; when that is put right, `beamline resume {dir}` goes on")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The directory.
        dir: PathBuf,
        /// Why.
        #[source]
        source: rusqlite::Error,
    },
}
