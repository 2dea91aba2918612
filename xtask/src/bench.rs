//! Golden speed and injections per second of every workload, as a record.

use crate::workloads::all;
use crate::{beamline, say};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Measures every workload and prints a table for `records/`.
pub(crate) fn bench(runs: u64) -> Result<()> {
    let program = beamline()?;
    say(&format!("`cargo xtask bench --runs {runs}` on {} with {} cores\n", processor()?, cores()))?;
    say(
        "| workload | thread-instructions | golden run | thread-instructions/s | runs/s, 1 worker | runs/s, all cores |",
    )?;
    say("|---|---:|---:|---:|---:|---:|")?;
    let mut speeds = Vec::new();
    for workload in all()? {
        let (golden, one) = best(&program, &workload.name, runs, Some(1))?;
        let (_, every) = best(&program, &workload.name, runs, None)?;
        let speed = golden.0 / golden.1;
        speeds.push(speed);
        say(&format!(
            "| {} | {:.0} | {:.2} ms | {:.0} M | {one:.0} | {every:.0} |",
            workload.name,
            golden.0,
            golden.1 * 1e3,
            speed / 1e6,
        ))?;
    }
    speeds.sort_by(f64::total_cmp);
    let median = speeds[speeds.len() / 2];
    let mean = (speeds.iter().map(|speed| speed.ln()).sum::<f64>() / speeds.len() as f64).exp();
    say(&format!(
        "\nmedian {:.0} M, geometric mean {:.0} M thread-instructions per second and core",
        median / 1e6,
        mean / 1e6
    ))
}

/// Of three campaigns: (thread-instructions, golden seconds of the fastest), and the most runs per second.
fn best(program: &Path, name: &str, runs: u64, jobs: Option<u32>) -> Result<((f64, f64), f64)> {
    let dir = std::env::temp_dir().join(format!("beamline-bench-{}", std::process::id()));
    let (mut golden, mut fastest) = ((0.0, f64::INFINITY), 0.0f64);
    for _ in 0..3 {
        let mut command = Command::new(program);
        command.args(["campaign", name, "--json", "--seed", "1", "--runs", &runs.to_string()]).arg("--out").arg(&dir);
        if let Some(jobs) = jobs {
            command.args(["--jobs", &jobs.to_string()]);
        }
        let output = command.output().context("start beamline")?;
        let _ = std::fs::remove_dir_all(&dir);
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let summary: Value = serde_json::from_slice(&output.stdout).context("read the summary")?;
        let number = |pointer: &str| summary.pointer(pointer).and_then(Value::as_f64).unwrap_or(f64::NAN);
        golden = (number("/golden/thread_instructions"), number("/golden/seconds").min(golden.1));
        fastest = fastest.max(number("/speed/runs_per_second"));
    }
    Ok((golden, fastest))
}

fn processor() -> Result<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").context("read /proc/cpuinfo")?;
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
    Ok(model.unwrap_or("an unnamed processor").to_owned())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
