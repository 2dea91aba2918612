//! The arguments of `beamline live`, and what a campaign takes of them.

use super::{Bounds, tolerance};
use campaign::config::NotACommand;
use campaign::{Choices, CommandLine, Engine, IntervalMethod, Quality, Stratify};
use clap::Args as Group;
use std::ffi::OsString;
use std::path::PathBuf;

/// What is to be known of an application beside its command.
#[derive(Debug, Default, Group)]
pub(crate) struct Application {
    /// A file that the application leaves, to be compared with the golden run's; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,
    /// A shell command that judges what differs: it gets the golden and the faulty file; its code 0 means
    /// acceptable, 1 bad, 2 detectable
    #[arg(long, value_name = "CMD")]
    pub(crate) judge: Option<String>,
    /// Seconds that a run of the application may take [default: 10 times the golden run's and 5 more]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,
    /// Directory that the application is started for [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<String>,
    /// Run in that directory itself, one run at a time, not in a fresh one that links to its files
    #[arg(long)]
    pub(crate) in_place: bool,
}

impl Application {
    /// Adds to the choices what was said.
    pub(crate) fn add_to(&self, choices: Choices) -> Choices {
        Choices {
            file: self.file.clone(),
            judge: self.judge.clone(),
            timeout: self.timeout,
            directory: self.directory.clone(),
            in_place: self.in_place.then_some(true),
            ..choices
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Live {
    /// Number of injections
    #[arg(long, value_name = "N", conflicts_with = "margin")]
    pub(crate) runs: Option<u64>,
    /// Stop when every reported rate is this tight, for example 0.01 for ±1 %
    #[arg(long, value_name = "E")]
    pub(crate) margin: Option<f64>,
    /// Confidence of every interval [default: 0.95]
    #[arg(long, value_name = "C")]
    pub(crate) confidence: Option<f64>,
    /// Kind of interval: wilson or clopper-pearson [default: wilson]
    #[arg(long, value_name = "KIND")]
    pub(crate) interval: Option<IntervalMethod>,
    /// Seed of all random choices [default: 0]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Inject this one fault, given by its text id, and tell what was seen
    #[arg(long, value_name = "ID", conflicts_with_all = ["runs", "margin", "out"])]
    pub(crate) fault: Option<String>,
    /// Fault model [default: flip]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Operand that is hit [default: dst]
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Instruction groups, for example int_add,fp32_fma
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    pub(crate) group: Vec<String>,
    /// Threads hit at once [default: thread]
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<String>,
    /// Kernel, or its n-th launch counted from 0
    #[arg(long, value_name = "NAME[#n]", value_delimiter = ',')]
    pub(crate) kernel: Vec<String>,
    /// Source lines
    #[arg(long, value_name = "FILE:a-b", value_delimiter = ',')]
    pub(crate) lines: Vec<String>,
    /// Threads, linear in their block, for example 0-31
    #[arg(long, value_name = "RANGE", value_delimiter = ',')]
    pub(crate) threads: Vec<String>,
    /// Blocks, linear in their grid
    #[arg(long, value_name = "RANGE", value_delimiter = ',')]
    pub(crate) blocks: Vec<String>,
    /// Divide the population and give each part as many runs: kernel, group or threads
    #[arg(long, value_name = "BY")]
    pub(crate) stratify: Option<Stratify>,
    /// Number of processes at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<u32>,
    /// Execute the launches before the faulty one, too, instead of replaying what they did
    #[arg(long)]
    pub(crate) no_replay: bool,
    #[command(flatten)]
    pub(crate) application: Application,
    /// Relative error of an output that is still good
    #[arg(long, value_name = "OUTPUT=ERROR", value_parser = tolerance)]
    pub(crate) tolerance: Vec<(String, f64)>,
    /// What an output has to keep to: metric, tolerance, bad, bins, range, element; * for all other outputs
    #[arg(long, value_name = "OUTPUT:KEY=VALUE,…", value_parser = Quality::parse)]
    pub(crate) quality: Vec<(String, Quality)>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    /// Read choices from this file; the command line overrides it
    #[arg(long, value_name = "F.toml")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the results [default: NAME.campaign, numbered if there is one]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the summary as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// The application and its arguments, after `--`
    #[arg(last = true, value_name = "APP ARGS", num_args = 0..)]
    pub(crate) command: Vec<OsString>,
}

impl Live {
    /// The choices of the command line, in the words of a configuration file.
    ///
    /// # Errors
    /// If the application's command cannot be written into one.
    pub(crate) fn choices(&self) -> Result<Choices, NotACommand> {
        let words = self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<String>>();
        Ok(self.application.add_to(Choices {
            app: if words.is_empty() { None } else { Some(CommandLine::new(words)?) },
            runs: self.runs,
            margin: self.margin,
            confidence: self.confidence,
            interval: self.interval,
            seed: self.seed,
            model: self.model.clone(),
            target: self.target.clone(),
            group: self.group.clone(),
            scope: self.scope.clone(),
            kernel: self.kernel.clone(),
            lines: self.lines.clone(),
            threads: self.threads.clone(),
            blocks: self.blocks.clone(),
            engine: self.no_replay.then_some(Engine::Full),
            jobs: self.jobs,
            stratify: self.stratify,
            fail_if: self.bounds.fail_if.clone(),
            fail_if_undecided: self.bounds.fail_if_undecided.then_some(true),
            tolerance: self.tolerance.iter().cloned().collect(),
            quality: self.quality.iter().cloned().collect(),
            ..Choices::default()
        }))
    }
}
