//! Predictions of the error sites of workloads by a model that learned from exhaustive campaigns of others.

use crate::repo::say;
use anyhow::{Context, Result};
use campaign::Results;
use methods::ExhaustiveCampaign;
use methods::registry::METHODS;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
    let campaigns: Result<Vec<ExhaustiveCampaign>> = args.campaigns.iter().map(|dir| campaign(dir)).collect();
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let learning = METHODS.iter().find_map(|method| method.learning()).context("learn outcomes: no method does")?;
    let found = learning(&campaigns?, jobs, &AtomicBool::new(false))?;
    if args.json {
        return say(&serde_json::to_string_pretty(&found.json)?);
    }
    let tables = found.study.tables.iter();
    let texts = tables.map(|table| format!("{}\n\n{}", table.title, report::study::markdown(table)));
    say(texts.collect::<Vec<String>>().join("\n").trim_end())
}

/// The campaign in a directory, with its capsule.
fn campaign(dir: &Path) -> Result<ExhaustiveCampaign> {
    let found = || -> Result<ExhaustiveCampaign> {
        let results = Results::open(dir)?;
        let session = session::open_results(&results, None)?;
        let capsule = Arc::clone(session.capsule().context("learn outcomes: it is a campaign of something else")?);
        let workload = results.config().capsule.clone();
        Ok(ExhaustiveCampaign { workload, capsule, results })
    };
    found().with_context(|| format!("read the campaign in {}", dir.display()))
}
