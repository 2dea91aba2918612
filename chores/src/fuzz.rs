//! Fuzzing for as long as one likes: what `testkit::fuzz` does, in several jobs, with a table at the end and the
//! findings as files.

use crate::repo::{root, say};
use anyhow::{Context, Result, bail, ensure};
use capsule::Digest;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use testkit::fuzz::{self, FuzzPlan, FuzzSummary, TARGETS};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What reads
    #[arg(value_parser = ["ptx", "fatbin", "capsule", "all"])]
    target: String,
    /// How many inputs, for each target
    #[arg(long, default_value_t = 100_000)]
    inputs: u64,
    /// The key of all choices: other seeds make other inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many threads share the inputs; other numbers make other inputs
    #[arg(long, default_value_t = 1)]
    jobs: u16,
    /// Read this file alone, as a finding says
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
}

const HEAD: &str = "\
| target | inputs | accepted | refused | behaviours | inputs/s | peak memory | slowest input | findings |
|---|---:|---:|---:|---:|---:|---:|---:|---:|";

/// Fuzzes, or repeats a finding.
pub(crate) fn fuzz(args: &Args) -> Result<()> {
    let names: Vec<&str> = TARGETS.into_iter().filter(|name| args.target == "all" || args.target == *name).collect();
    if let Some(path) = &args.replay {
        ensure!(args.target != "all", "name the target that is to read {}", path.display());
        return replay(&args.target, path);
    }
    let mut found = 0;
    let mut table = HEAD.to_owned();
    for name in names {
        found += leftovers(name)?;
        let (line, findings) = run(name, args)?;
        table.push_str(&line);
        found += findings;
    }
    say(&table)?;
    ensure!(found == 0, "{found} findings");
    Ok(())
}

fn replay(name: &str, path: &Path) -> Result<()> {
    let input = fs::read(path).with_context(|| format!("read {}", path.display()))?;
    let target = fuzz::target(name).context("expected a target")?;
    match fuzz::replay(target.as_ref(), &input) {
        Ok(verdict) if verdict.is_accepted() => say("accepted"),
        Ok(verdict) => say(verdict.reason()),
        Err(what) => bail!("{what}"),
    }
}

/// Fuzzes one target; a line of the table, and how many findings there are.
fn run(name: &str, args: &Args) -> Result<(String, usize)> {
    #[expect(clippy::disallowed_methods, reason = "the speed is shown, and used for nothing")]
    let start = Instant::now();
    let jobs = args.jobs.max(1);
    let share = args.inputs.div_ceil(u64::from(jobs));
    let one = |job| job_of(name, FuzzPlan { inputs: share, seed: args.seed, job });
    let summaries: Result<Vec<FuzzSummary>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|job| scope.spawn(move || one(job))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let mut all = FuzzSummary::default();
    summaries?.into_iter().for_each(|summary| all.merge(summary));
    for finding in &all.findings {
        keep(name, &finding.input, &finding.what)?;
    }
    let line = format!(
        "\n| {name} | {} | {} | {} | {} | {:.0} | {} MiB | {:.0} ms, {} bytes | {} |",
        all.inputs,
        all.accepted,
        all.inputs - all.accepted,
        all.behaviours.len(),
        all.inputs as f64 / start.elapsed().as_secs_f64(),
        all.peak >> 20,
        all.slowest.0.as_secs_f64() * 1e3,
        all.slowest.1,
        all.findings.len()
    );
    Ok((line, all.findings.len()))
}

/// One job. The input in hand is always on disk, so that one that ends the process is not lost.
fn job_of(name: &str, plan: FuzzPlan) -> Result<FuzzSummary> {
    let mut target = fuzz::target(name).context("expected a target")?;
    let path = found(&format!("running-{name}-{}", plan.job))?;
    let journal = File::create(&path).with_context(|| format!("create {}", path.display()))?;
    let mut record = Vec::new();
    let mut written = Ok(());
    let summary = fuzz::run(target.as_mut(), plan, &mut |input| {
        record.clear();
        record.extend((input.len() as u64).to_le_bytes());
        record.extend(input);
        if let Err(error) = journal.write_all_at(&record, 0) {
            written = Err(error);
        }
    });
    written.with_context(|| format!("write {}", path.display()))?;
    fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?;
    Ok(summary)
}

/// A path in the folder of findings.
fn found(name: &str) -> Result<PathBuf> {
    let folder = root().join("fuzz/found");
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    Ok(folder.join(name))
}

/// Writes a finding and says how to repeat it.
fn keep(name: &str, input: &[u8], what: &str) -> Result<()> {
    let path = found(&format!("{name}-{:.16}", Digest::of(input)))?;
    fs::write(&path, input).with_context(|| format!("write {}", path.display()))?;
    say(&format!("{what}\n    cargo xtask fuzz {name} --replay {}", path.display()))
}

/// The inputs at which earlier runs of a target ended with their process: a stack that overflowed, memory that the
/// system refused.
fn leftovers(name: &str) -> Result<usize> {
    let mut count = 0;
    for (path, record) in fuzz::contents(&root().join("fuzz/found")) {
        let journal =
            path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&format!("running-{name}-")));
        let Some((length, input)) = record.split_first_chunk::<8>().filter(|_| journal) else { continue };
        let input = &input[..input.len().min(u64::from_le_bytes(*length) as usize)];
        keep(name, input, "an earlier run did not end; this is what it read last")?;
        fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?;
        count += 1;
    }
    Ok(count)
}
