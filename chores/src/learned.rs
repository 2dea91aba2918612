//! What a model that learned from exhaustive campaigns of some workloads predicts of the error sites of others.

use crate::repo::say;
use anyhow::{Context, Result};
use campaign::Results;
use methods::approxilyzer::{LearningStudy, SiteExamples, Truth};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Exhaustive campaigns of two workloads or more: `beamline campaign W --exhaustive --kernel 'K#n' [--blocks A-B] --out DIR`
    #[arg(required = true, value_name = "DIR")]
    campaigns: Vec<PathBuf>,
    /// Threads that fit models [default: one for each core]
    #[arg(long)]
    jobs: Option<usize>,
    /// Print the document, with the coefficients of every model, instead of the table
    #[arg(long)]
    json: bool,
}

/// Fits and tests models, and prints what they predict.
pub(crate) fn learned(args: &Args) -> Result<()> {
    let campaigns: Result<Vec<SiteExamples>> = args.campaigns.iter().map(|dir| examples(dir)).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let study = LearningStudy::of(campaigns?, args.jobs.unwrap_or(cores))?;
    if args.json {
        return say(&serde_json::to_string_pretty(&study.document())?);
    }
    let table = study.table();
    say(&format!("{}\n\n{}", table.title, report::study::markdown(&table).trim_end()))
}

/// The sites of a campaign in a directory.
fn examples(dir: &Path) -> Result<SiteExamples> {
    let found = || -> Result<SiteExamples> {
        let results = Results::open(dir)?;
        let session = session::open_results(&results, None)?;
        let capsule = session.capsule().context("learn outcomes: it is no campaign of a capsule")?;
        let config = results.config();
        let running = AtomicBool::new(false);
        let truth = Truth::of(capsule, &results, &config.selection.kernel, &running)?;
        Ok(SiteExamples::of(&config.capsule, &truth)?)
    };
    found().with_context(|| format!("read the campaign in {}", dir.display()))
}
