//! What a campaign chooses, on a capsule or on a running application, in the same words.

use super::application::Application;
use super::bounds::Bounds;
use super::select::Select;
use campaign::{Bytes, Choices, CommandLine, IntervalMethod, MarginBy, MethodChoice, SelectionWords, Shard, Stratify};
use clap::Args as Group;
use methods::registry;
use outcome::Criteria;
use outcome::Quality;
use session::SessionError;
use std::path::PathBuf;

#[derive(Debug, Group)]
pub(crate) struct Choose {
    /// Number of injections; with --margin, the most that are made
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u64>,
    /// Stop as soon as masked, SDC and DUE, each over all runs, are this tight, for example 0.01 for ±1 %; kernels,
    /// groups and lines have fewer runs and wider intervals
    #[arg(long, value_name = "E")]
    pub(crate) margin: Option<f64>,
    /// Which rates --margin is for: those over all runs (overall), or those of each kernel, too (kernel)
    /// [default: overall]
    #[arg(long, value_name = "overall|kernel")]
    pub(crate) margin_by: Option<MarginBy>,
    /// End after S seconds of work, whatever is left to do
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<f64>,
    /// Confidence of every interval [default: 0.95]
    #[arg(long, value_name = "C")]
    pub(crate) confidence: Option<f64>,
    /// Kind of interval: wilson or clopper-pearson [default: wilson]
    #[arg(long, value_name = "KIND")]
    pub(crate) interval: Option<IntervalMethod>,
    /// Seed of all random choices [default: 0]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Give each kernel, group or class of threads as many runs as any other: kernel, group or threads
    #[arg(long, value_name = "BY")]
    pub(crate) stratify: Option<Stratify>,
    #[arg(long, value_name = "METHOD", conflicts_with = "stratify", help = methods())]
    pub(crate) method: Option<MethodChoice>,
    /// Number of workers [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<u32>,
    /// Relative error of an output that is still good
    #[arg(long, value_name = "OUTPUT=ERROR", value_parser = tolerance)]
    pub(crate) tolerance: Vec<(String, f64)>,
    /// What an output has to keep to: metric, tolerance, bad, bad-metric, bins, bins-metric, range, element; * for all other
    /// outputs
    #[arg(long, value_name = "OUTPUT:KEY=VALUE,…", value_parser = Quality::parse)]
    pub(crate) quality: Vec<(String, Quality)>,
    /// Leave out what is copied to the host from this buffer, as `beamline info` names it: a difference there counts for
    /// nothing; may be repeated
    #[arg(long, value_name = "BUFFER")]
    pub(crate) scratch: Vec<String>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    #[command(flatten)]
    pub(crate) application: Application,
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

/// Behaviour that the ISA leaves undefined, and a machine has to choose.
#[derive(Debug, Group)]
pub(crate) struct Machine {
    /// What becomes of stray accesses: as an H200 does, as it would without the memory around
    /// allocations (mapped), as a sanitizer would (strict), or as a file says [default: h200]
    #[arg(long, value_name = "h200|mapped|strict|F.toml")]
    pub(crate) addresses: Option<String>,
    /// Whether products are joined with sums, as NVIDIA's assembler does, or executed as written [default: ptxas]
    #[arg(long, value_name = "ptxas|off")]
    pub(crate) contract: Option<String>,
    /// In which order warps and blocks execute: finely where a kernel has data races (races), one warp after the other
    /// (turns), the last warp first (reversed), one instruction each in turn in a block (warps) or in all blocks (blocks)
    /// [default: races]
    #[arg(long, value_name = "races|turns|reversed|warps|blocks")]
    pub(crate) order: Option<String>,
}

impl Machine {
    /// The simulated GPU that these words describe.
    pub(crate) fn machine(&self) -> Result<inject::Machine, SessionError> {
        session::machine_of(self.addresses.as_deref(), self.contract.as_deref(), self.order.as_deref())
    }
}

/// What a campaign may use, and which part of it is made.
#[derive(Debug, Group)]
pub(crate) struct Resources {
    /// Instructions that a thread may execute beyond ten times its fault-free ones before it is stopped
    /// [default: 500000, and what loops take that are known to end; with
    /// --exhaustive 100000]
    #[arg(long, value_name = "N")]
    pub(crate) fuel: Option<u32>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// What may be kept in memory, for example 512M or 4G [default: half of the machine's]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Bytes>,
    /// Run one part of the campaign, for example 2/4
    #[arg(long, value_name = "k/n")]
    pub(crate) shard: Option<Shard>,
}

impl Choose {
    /// What was said, with the application that is meant, if any is.
    pub(crate) fn choices(&self, resources: &Resources, app: CommandLine) -> Choices {
        Choices {
            runs: self.runs,
            margin: self.margin,
            margin_by: self.margin_by,
            seconds: self.seconds,
            confidence: self.confidence,
            interval: self.interval,
            seed: self.seed,
            selection: self.selection(),
            fail_if: self.bounds.fail_if.clone(),
            fail_if_undecided: self.bounds.fail_if_undecided,
            fuel: resources.fuel,
            addresses: resources.machine.addresses.clone(),
            contract: resources.machine.contract.clone(),
            order: resources.machine.order.clone(),
            jobs: self.jobs,
            memory: resources.memory,
            shard: resources.shard,
            live: self.application.live(app),
            criteria: Criteria {
                tolerance: self.tolerance.iter().cloned().collect(),
                quality: self.quality.iter().cloned().collect(),
                scratch: self.scratch.iter().cloned().collect(),
            },
            ..Choices::default()
        }
    }

    fn selection(&self) -> SelectionWords {
        SelectionWords { stratify: self.stratify, method: self.method.clone(), ..self.select.words() }
    }
}

/// The methods there are, for help.
fn methods() -> String {
    let of = |method: &dyn methods::Method| {
        let example = method.example().map_or_else(String::new, |example| format!(", with settings as in {example}"));
        format!("{} ({}){example}", method.name(), method.about())
    };
    let all: Vec<String> = registry::planners().map(of).collect();
    format!("Choose sites as a published method does: {}", all.join("; "))
}

/// `OUTPUT=ERROR`
fn tolerance(text: &str) -> Result<(String, f64), String> {
    // A number has no equals sign, a name may.
    let (name, error) = text.rsplit_once('=').ok_or("expected OUTPUT=ERROR, for example temperature=1e-3")?;
    let error: f64 = error.parse().map_err(|_| format!("`{error}` is not a number"))?;
    Ok((name.to_owned(), error))
}
