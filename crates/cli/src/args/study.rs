//! What looks at threads, and studies of methods.

use super::choose::Machine;
use super::study_options::StudyOptions;
use clap::Args as Group;
use methods::registry;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Group)]
pub(crate) struct Profile {
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE")]
    pub(crate) capsule: String,
    /// List every instruction that one thread comes to instead, for example launch=0,cta=2,thread=31
    #[arg(long, value_name = "THREAD")]
    pub(crate) trace: Option<ThreadName>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// A thread of a capsule, in the words of fault ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadName {
    pub(crate) launch: u32,
    pub(crate) cta: u64,
    pub(crate) thread: u32,
}

impl FromStr for ThreadName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut name = Self { launch: 0, cta: 0, thread: 0 };
        for part in text.split(',') {
            let (key, value) = part.split_once('=').ok_or("expected launch=L,cta=B,thread=T")?;
            let wrong = |_| format!("`{value}` is not a number for `{key}`");
            match key {
                "launch" => name.launch = value.parse().map_err(wrong)?,
                "cta" => name.cta = value.parse().map_err(wrong)?,
                "thread" => name.thread = value.parse().map_err(wrong)?,
                _ => return Err(format!("`{key}` names no part of a thread: expected launch, cta, thread")),
            }
        }
        Ok(name)
    }
}

#[derive(Debug, Group)]
pub(crate) struct Study {
    /// What is asked; the studies are listed below
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Capsule files, or names of bundled workloads
    #[arg(value_name = "CAPSULE", required = true)]
    pub(crate) capsules: Vec<String>,
    /// Runs of each campaign
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) runs: u64,
    #[command(flatten)]
    pub(crate) kept: StudyOptions,
    /// Leave undecided the runs that the recorded applications would have to finish
    #[arg(long)]
    pub(crate) no_app: bool,
    /// Write the plots into this directory, as SVG
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// The studies there are, for help.
pub(super) fn offered() -> String {
    let line = |study: &methods::StudyOffer| format!("\n  {:<12}{}", study.name, study.about);
    format!("Studies:{}", registry::studies().map(line).collect::<String>())
}
