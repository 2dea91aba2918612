//! The command line.

mod application;
mod beam;
mod bounds;
mod choose;
mod engine;
mod harden;
mod live;
mod nn;
mod of_method;
mod select;
mod study;
mod study_options;
#[cfg(test)]
mod tests;
mod verify;

use campaign::{Bytes, Choices, CommandLine, Engine};
use clap::{Args as Group, Parser, Subcommand};
use inject::Strategy;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use beam::Beam;
pub(crate) use bounds::Bounds;
pub(crate) use choose::{Choose, Machine, Resources};
pub(crate) use harden::Harden;
pub(crate) use live::Live;
pub(crate) use nn::{Filr, Generate, HeatMap, Network, NetworkCampaign, NetworkKernel};
pub(crate) use of_method::{FileArgs, InputArgs, MethodArgs, ParsedCommand, command};
pub(crate) use study::{Profile, Study, ThreadName};
pub(crate) use study_options::StudyOptions;
pub(crate) use verify::{MachineWord, Verify, Worker};

/// A beam line in software: flips bits in GPU applications, with or without a GPU, and says what comes out.
#[derive(Debug, Parser)]
#[command(name = "beamline", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the bundled workloads
    List(List),
    /// Run an unmodified CUDA application on the simulator, and record it
    Run(Run),
    /// Show what a capsule holds: launches, memory, instructions, outputs
    Info(Capsule),
    /// Show what a capsule executes: instruction mix, threads, source lines
    Profile(Profile),
    /// Study what heuristics of injection cost and what resilience goes with
    #[command(after_help = study::offered())]
    Study(Study),
    /// Irradiate a capsule: many faults, a table of outcomes with intervals
    Campaign(Box<Campaign>),
    /// Irradiate a running, unmodified application, its host in the loop: a process for each fault
    Live(Box<Live>),
    /// Run an application again and again under a beam, with a watchdog: hangs and crashes in its log
    Beam(Beam),
    /// Inject one fault, given by its text id
    Inject(Inject),
    /// Write protection into the kernels of a capsule, and compare before and after
    Harden(Harden),
    /// Irradiate neural networks, and choose what of them to protect
    #[command(subcommand)]
    Nn(Network),
    /// Go on with a campaign after any interruption
    Resume(Resume),
    /// Join the shards of a campaign
    Merge(Merge),
    /// Check the fast engine against full re-execution, and the simulator against a real GPU
    Verify(Box<Verify>),
    /// Run faults that are written into kernels, as `verify --faults` asks for them
    #[command(hide = true)]
    Worker(Worker),
    /// Show the results of a campaign
    Report(Report),
    /// Print shell completions
    #[command(hide = true)]
    Completions(Completions),
    /// Print the manual page of a command
    #[command(hide = true)]
    Man(Man),
}

#[derive(Debug, Group)]
pub(crate) struct List {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Run {
    /// Record the application's GPU work into this file
    #[arg(long, value_name = "F.capsule")]
    pub(crate) record: Option<PathBuf>,
    /// Explain every CUDA call that fails in one line on standard error
    #[arg(long)]
    pub(crate) explain_errors: bool,
    /// The application and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "APP ARGS", num_args = 1..)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Group)]
pub(crate) struct Capsule {
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE")]
    pub(crate) capsule: String,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Campaign {
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE")]
    pub(crate) capsule: Option<String>,
    /// Every bit of every destination of every instruction that is selected and executed, instead of a sample
    #[arg(long)]
    pub(crate) exhaustive: bool,
    /// Engine: auto, full, delta or lanes [default: auto]
    #[arg(long, value_name = "ENGINE", value_parser = engine::engine)]
    pub(crate) engine: Option<Engine>,
    #[command(flatten)]
    pub(crate) resources: Resources,
    /// The application that the capsule was recorded from, with its arguments: runs in which its host could have acted
    /// on a difference are made again as a process of it
    #[arg(long, value_name = "APP ARGS")]
    pub(crate) app: Option<CommandLine>,
    /// Ask no application, although the recorded one is there: runs in which the host could have seen a difference before
    /// its last launch stay undecided
    #[arg(long, conflicts_with = "app")]
    pub(crate) no_app: bool,
    #[command(flatten)]
    pub(crate) choose: Choose,
}

impl Campaign {
    /// The choices of the command line, in the words of a configuration file.
    pub(crate) fn choices(&self) -> Choices {
        let app = self.app.clone().unwrap_or_default();
        Choices {
            capsule: self.capsule.clone(),
            no_app: self.no_app,
            exhaustive: self.exhaustive,
            engine: self.engine.clone(),
            ..self.choose.choices(&self.resources, app)
        }
    }
}

#[derive(Debug, Group)]
pub(crate) struct Inject {
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE")]
    pub(crate) capsule: String,
    /// The fault, for example launch=3,cta=17,thread=65,dyn=204,target=dst0,model=flip,bits=12
    #[arg(value_name = "FAULT")]
    pub(crate) fault: String,
    /// Tell the story of the corruption: what was hit, how it spread, where it was masked or what it did
    #[arg(long)]
    pub(crate) explain: bool,
    /// Instructions that a thread may execute beyond ten times its fault-free ones before it is stopped
    /// [default: 500000, and what loops take that are known to end]
    #[arg(long, value_name = "N")]
    pub(crate) fuel: Option<u32>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// Engine: auto, full, delta or lanes [default: auto]
    #[arg(long, value_name = "ENGINE", default_value = "auto", hide_default_value = true)]
    pub(crate) engine: Strategy,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Resume {
    /// The directory of the campaign
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Number of workers [default: as configured]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroU32>,
    /// What may be kept in memory [default: as configured]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Bytes>,
    /// Run the commands that the campaign names (its application, its judge), though you did not start it
    #[arg(long)]
    pub(crate) trust: bool,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    /// Print the summary as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Merge {
    /// The directories of the shards
    #[arg(value_name = "DIR", required = true)]
    pub(crate) dirs: Vec<PathBuf>,
    /// Directory of the whole campaign
    #[arg(long, value_name = "DIR", default_value = "merged.campaign")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    /// Print the summary as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Report {
    /// The directory of the campaign
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    /// Print the summary as one JSON document, or with --compare the comparison
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report as one self-contained page
    #[arg(long, value_name = "F.html")]
    pub(crate) html: Option<PathBuf>,
    /// Write the report as Markdown
    #[arg(long, value_name = "F.md")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write everything that the report says as one JSON document
    #[arg(long, value_name = "F.json")]
    pub(crate) report_json: Option<PathBuf>,
    /// Write the vulnerable source lines for code scanning (SARIF 2.1.0)
    #[arg(long, value_name = "F.sarif", conflicts_with = "compare")]
    pub(crate) sarif: Option<PathBuf>,
    /// Write every row for notebooks and databases (Parquet); of an exhaustive campaign, its counts
    #[arg(long, value_name = "F.parquet", conflicts_with = "compare")]
    pub(crate) parquet: Option<PathBuf>,
    /// Compare with another campaign: everything written is the comparison
    #[arg(long, value_name = "OTHER_DIR")]
    pub(crate) compare: Option<PathBuf>,
    /// Tell the stories of N faults in the page and the documents; they are run once more [default: 3, or none
    /// where the golden run takes seconds]
    #[arg(long, value_name = "N")]
    pub(crate) explain: Option<usize>,
    /// Where the source and the instructions are [default: the capsule that was irradiated]
    #[arg(long, value_name = "CAPSULE")]
    pub(crate) capsule: Option<String>,
}

#[derive(Debug, Group)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Group)]
pub(crate) struct Man {
    /// The command; none for the program itself
    pub(crate) command: Option<String>,
}
