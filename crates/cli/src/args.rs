//! The command line.

mod live;

use campaign::{Bound, Bytes, Choices, CommandLine, Engine, IntervalMethod, Quality, Shard, Stratify};
use clap::{Args as Group, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use live::{Application, Live};

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
    Profile(Capsule),
    /// Irradiate a capsule: many faults, a table of outcomes with intervals
    Campaign(Box<Campaign>),
    /// Irradiate a running, unmodified application, its host in the loop: a process for each fault
    Live(Box<Live>),
    /// Inject one fault, given by its text id
    Inject(Inject),
    /// Go on with a campaign after any interruption
    Resume(Resume),
    /// Join the shards of a campaign
    Merge(Merge),
    /// Check the fast engine against full re-execution, and the simulator against a real GPU
    Verify(Verify),
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
    /// Number of injections
    #[arg(long, value_name = "N", conflicts_with = "margin")]
    pub(crate) runs: Option<u64>,
    /// Stop when every reported rate is this tight, for example 0.01 for ±1 %
    #[arg(long, value_name = "E")]
    pub(crate) margin: Option<f64>,
    /// Every bit of every destination of every instruction that is selected and executed, instead of a sample
    #[arg(long)]
    pub(crate) exhaustive: bool,
    /// Confidence of every interval [default: 0.95]
    #[arg(long, value_name = "C")]
    pub(crate) confidence: Option<f64>,
    /// Kind of interval: wilson or clopper-pearson [default: wilson]
    #[arg(long, value_name = "KIND")]
    pub(crate) interval: Option<IntervalMethod>,
    /// Seed of all random choices [default: 0]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Fault model: flip (one bit), double (two adjacent bits), double-any (any two), random (another value), zero,
    /// stuck0:MASK or stuck1:MASK, such as stuck1:0x80 [default: flip]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// What is hit: dst (any destination), pred (destination predicates), addr (the address of an access), store (a value
    /// being stored), src (a source, for one instruction), reg (an allocated register at a random time), mem (a byte of
    /// memory at a random time), or global, shared, local or const for one memory [default: dst]
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Instruction groups, for example int_add,fp32_fma, or the unions of other tools, for example nvbitfi:gp
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    pub(crate) group: Vec<String>,
    /// Threads hit at once: thread, pair (two of a warp) or warp (all of it that are active) [default: thread]
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
    /// Give each kernel, group or class of threads as many runs as any other: kernel, group or threads
    #[arg(long, value_name = "BY")]
    pub(crate) stratify: Option<Stratify>,
    /// Engine: auto, full, delta or lanes [default: auto]
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<Engine>,
    /// Number of workers [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<u32>,
    /// What may be kept in memory, for example 512M or 4G [default: half of the machine's]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Bytes>,
    /// Run one part of the campaign, for example 2/4
    #[arg(long, value_name = "k/n")]
    pub(crate) shard: Option<Shard>,
    /// The application that the capsule was recorded from, with its arguments: runs in which its host could have seen
    /// a difference are made again as a process of it
    #[arg(long, value_name = "APP ARGS")]
    pub(crate) app: Option<CommandLine>,
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
}

/// What a command fails by.
#[derive(Debug, Group)]
pub(crate) struct Bounds {
    /// Exit with 2 if a rate is beyond a bound with its whole interval, for example sdc>0.05, due.hang>=1% or
    /// gemm/sdc+due>0.1; may be repeated
    #[arg(long, value_name = "EXPR")]
    pub(crate) fail_if: Vec<Bound>,
    /// Exit with 2 also if the interval of a rate holds its bound
    #[arg(long)]
    pub(crate) fail_if_undecided: bool,
}

/// `OUTPUT=ERROR`
fn tolerance(text: &str) -> Result<(String, f64), String> {
    let (name, error) = text.split_once('=').ok_or("expected OUTPUT=ERROR, for example temperature=1e-3")?;
    let error: f64 = error.parse().map_err(|_| format!("`{error}` is not a number"))?;
    Ok((name.to_owned(), error))
}

impl Campaign {
    /// The choices of the command line, in the words of a configuration file.
    pub(crate) fn choices(&self) -> Choices {
        self.application.add_to(Choices {
            capsule: self.capsule.clone(),
            runs: self.runs,
            margin: self.margin,
            exhaustive: self.exhaustive.then_some(true),
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
            stratify: self.stratify,
            fail_if: self.bounds.fail_if.clone(),
            fail_if_undecided: self.bounds.fail_if_undecided.then_some(true),
            engine: self.engine,
            jobs: self.jobs,
            memory: self.memory,
            shard: self.shard,
            tolerance: self.tolerance.iter().cloned().collect(),
            quality: self.quality.iter().cloned().collect(),
            app: self.app.clone(),
            ..Choices::default()
        })
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
    /// Engine: auto, full, delta or lanes [default: auto]
    #[arg(long, value_name = "ENGINE", default_value = "auto", hide_default_value = true)]
    pub(crate) engine: Engine,
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
pub(crate) struct Verify {
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE")]
    pub(crate) capsule: String,
    /// Faults to run by every engine; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) runs: u64,
    /// Seed of the choice of faults
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Fail where there is no GPU to compare with
    #[arg(long)]
    pub(crate) gpu: bool,
    /// Print one JSON document
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
    /// Tell the stories of so many faults in the page and the documents; they are run once more [default: 3, or none
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
