//! Golden speed and injections per second of every workload, as a record.
//!
//! A golden run is repeated in one process and the fastest is quoted, whole (the PTX is parsed and lowered anew each
//! time) and for the launches alone. Injections are whole campaigns of the program.

use crate::repo::{beamline, root, say};
use crate::workloads::all;
use anyhow::{Context, Result, ensure};
use capsule::{Capsule, ModuleId};
use device::Device;
use device::Image;
use inject::{Golden, Machine, Order};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;
use testkit::random_kernels::{Forms, Kernel, NAME};

/// What is measured.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Injections per workload; 0 for golden runs alone
    #[arg(long, default_value_t = 500)]
    runs: u64,
    /// Golden runs per workload
    #[arg(long, default_value_t = 50)]
    golden: u32,
    /// These workloads only
    #[arg(value_name = "WORKLOAD")]
    names: Vec<String>,
}

/// How many times each campaign is measured; the best is quoted, because a busy machine can only make it slower.
const CAMPAIGNS: u32 = 3;

/// Full re-execution is measured over this many times fewer runs.
const FULL_IS_SLOWER: u64 = 10;

/// Measures every workload and prints a table for `records/`.
pub(crate) fn bench(args: &Args) -> Result<()> {
    let Args { runs, golden: times, names } = args;
    let program = if *runs > 0 { Some(beamline()?) } else { None };
    say(&format!("`cargo xtask bench --runs {runs} --golden {times}` on {} with {} cores\n", processor()?, cores()))?;
    say(
        "| workload | thread-instructions | golden run | launches alone | thread-instructions/s | runs/s, full, 1 worker \
         | runs/s, delta, 1 worker | runs/s, delta, all cores |",
    )?;
    say("|---|---:|---:|---:|---:|---:|---:|---:|")?;
    let mut speeds = Vec::new();
    for workload in all()?.into_iter().filter(|workload| names.is_empty() || names.contains(&workload.name)) {
        let name = &workload.name;
        let Measured { instructions, whole, launches } = golden(name, *times)?;
        let speed = instructions as f64 / launches;
        speeds.push(speed);
        let (whole, launches, millions) = (whole * 1e3, launches * 1e3, speed / 1e6);
        let mut row = format!("| {name} | {instructions} | {whole:.2} ms | {launches:.2} ms | {millions:.0} M |");
        for (runs, engine, jobs) in
            [(runs / FULL_IS_SLOWER, "full", Some(1)), (*runs, "delta", Some(1)), (*runs, "delta", None)]
        {
            match &program {
                None => row += " – |",
                Some(program) => row += &format!(" {:.0} |", campaigns(program, name, runs, engine, jobs)?),
            }
        }
        say(&row)?;
    }
    ensure!(!speeds.is_empty(), "no workload is named so");
    speeds.sort_by(f64::total_cmp);
    let median = speeds[speeds.len() / 2] / 1e6;
    let mean = (speeds.iter().map(|speed| speed.ln()).sum::<f64>() / speeds.len() as f64).exp() / 1e6;
    say(&format!("\nmedian {median:.0} M, geometric mean {mean:.0} M thread-instructions per second and core"))?;
    if names.is_empty() { loading() } else { Ok(()) }
}

/// How large a module is whose loading is measured, at least, in bytes.
const LARGE: usize = 5_000_000;
const LOADS: u32 = 5;

/// Measures how long a large module takes to load.
fn loading() -> Result<()> {
    let (text, kernels) = large_module()?;
    let mut fastest = f64::INFINITY;
    for _ in 0..LOADS {
        let mut device = Device::default();
        let (loaded, seconds) = timed(|| device.load(ModuleId(0), "large", Image::ptx(&text)));
        loaded?;
        fastest = fastest.min(seconds);
    }
    let megabytes = text.len() as f64 / 1e6;
    say(&format!("\nA module of {megabytes:.1} MB with {kernels} kernels is loaded in {fastest:.2} s"))
}

/// Random kernels, all in one module, and how many.
fn large_module() -> Result<(String, usize)> {
    const ENTRY: &str = ".visible .entry";
    let forms = Forms::all()?;
    let mut texts = (0..).map(|number| Kernel::new(&forms, 1, number)).filter(|kernel| kernel.threads == 128);
    let mut all = String::new();
    let mut kernels = 0;
    while all.len() < LARGE {
        let kernel = texts.next().context("draw another kernel")?.ptx;
        // What stands before the kernel is the same in all that have as many threads.
        let at = if kernels == 0 { 0 } else { kernel.find(ENTRY).context("find the kernel")? };
        all += &kernel[at..].replace(&format!("{ENTRY} {NAME}"), &format!("{ENTRY} {NAME}_{kernels}"));
        kernels += 1;
    }
    Ok((all, kernels))
}

/// What some work gives, and the seconds it takes.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    #[expect(clippy::disallowed_methods, reason = "a bench measures time")]
    let started = Instant::now();
    let done = work();
    (done, started.elapsed().as_secs_f64())
}

/// The fastest golden run of a workload.
struct Measured {
    instructions: u64,
    /// Seconds of the whole run.
    whole: f64,
    /// Seconds of its launches.
    launches: f64,
}

fn golden(name: &str, times: u32) -> Result<Measured> {
    let file = root().join("workloads").join(name).join(format!("{name}.capsule"));
    let capsule = Arc::new(Capsule::open(&file)?);
    let mut best = Measured { instructions: 0, whole: f64::INFINITY, launches: f64::INFINITY };
    for _ in 0..times {
        let golden = Golden::run_on(Arc::clone(&capsule), Machine { order: Order::PLAIN, ..Machine::default() })?;
        let launches = timed(|| golden.repeat()).1.min(best.launches);
        let whole = golden.seconds().min(best.whole);
        best = Measured { instructions: golden.thread_instructions(), whole, launches };
    }
    Ok(best)
}

/// Runs per second of the fastest of some campaigns.
fn campaigns(program: &Path, name: &str, runs: u64, engine: &str, jobs: Option<u32>) -> Result<f64> {
    let dir = std::env::temp_dir().join(format!("beamline-bench-{}", std::process::id()));
    let mut fastest = 0.0f64;
    for _ in 0..CAMPAIGNS {
        let mut command = Command::new(program);
        command.args(["campaign", name, "--json", "--seed", "1", "--runs", &runs.to_string()]);
        command.args(["--engine", engine]).arg("--out").arg(&dir);
        if let Some(jobs) = jobs {
            command.args(["--jobs", &jobs.to_string()]);
        }
        let output = command.output().context("start beamline")?;
        let _ = std::fs::remove_dir_all(&dir);
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let summary: Value = serde_json::from_slice(&output.stdout).context("read the summary")?;
        let speed = summary.pointer("/speed/runs_per_second").and_then(Value::as_f64);
        fastest = fastest.max(speed.context("find the speed in the summary")?);
    }
    Ok(fastest)
}

fn processor() -> Result<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").context("read /proc/cpuinfo")?;
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
    Ok(model.unwrap_or("an unnamed processor").to_owned())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
