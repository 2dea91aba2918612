//! The arguments of `beamline beam`.

use clap::Args as Group;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Group)]
pub(crate) struct Beam {
    /// The log that the application appends to, for `beamline events`; hangs are added to it
    #[arg(long, value_name = "LOG")]
    pub(crate) log: PathBuf,
    /// End after N runs [default: at Ctrl-C]
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u64>,
    /// Begin no run after S seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) seconds: Option<f64>,
    /// Seconds after which a run hangs and is ended [default: three times the longest run that came to its end, 60 at least; 600 until there is one]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) timeout: Option<f64>,
    /// A command of the shell to run after each crash and hang, such as one that resets the GPU; its output is kept in the log
    #[arg(long, value_name = "COMMAND")]
    pub(crate) after: Option<String>,
    /// Give up after this number of runs in a row that did not come to their end
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) give_up: u64,
    /// Print one JSON document at the end
    #[arg(long)]
    pub(crate) json: bool,
    /// The application and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "APP ARGS", num_args = 1..)]
    pub(crate) command: Vec<OsString>,
}

/// A time above 0, of a year at most.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 366.0 * 86400.0);
    seconds.ok_or_else(|| "expected seconds, above 0 and at most a year".to_owned())
}
