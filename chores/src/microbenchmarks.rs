//! The microbenchmarks under simulated strikes: each kind of manifestation is injected while they run, and what they log is
//! categorised. What was injected has to come back.

use crate::repo::{beamline, root, say};
use crate::workloads::fixed_nvcc;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Where they are built.
const PLACE: &str = "/tmp/beamline-microbenchmarks";

/// The programs whose tested instructions write registers of 32 bits, and the group of these instructions.
const PROGRAMS: [(&str, &str); 5] =
    [("iadd", "int_add"), ("fadd", "fp32_add"), ("imad", "int_mul_add"), ("ffma", "fp32_fma"), ("lds", "load_shared")];

/// What is injected, as a campaign says it: the categories 1 to 7 of events, in their order.
const KINDS: [(&str, &str); 7] = [
    ("flip", "thread"),
    ("double-any", "thread"),
    ("random", "thread"),
    ("random", "pair"),
    ("double-any", "warp"),
    ("random", "warp"),
    ("zero", "warp"),
];

/// The same of predicates, which have one bit: any other value of it is that flipped, and where all threads of a warp had a one, zero.
const KINDS_OF_PREDICATES: [(&str, &str, &[u64]); 3] =
    [("flip", "thread", &[1]), ("flip", "pair", &[4]), ("flip", "warp", &[6, 7])];

/// The categories of one thread, of two, and of a warp.
const SCOPES: [&[u64]; 3] = [&[1, 2, 3], &[4], &[5, 6, 7]];

/// The share of struck runs that has to come back as what was injected: the rest hit what is no part of the chain.
const LEAST: f64 = 0.9;

/// Builds, strikes and categorises; prints a table.
pub(crate) fn microbenchmarks(faults: u64) -> Result<()> {
    let program = beamline()?;
    build()?;
    say("| program | injected | runs with values that are wrong | as injected | otherwise |\n|---|---|---:|---:|---|")?;
    let mut wrong = Vec::new();
    for (name, group) in PROGRAMS {
        for (number, (model, scope)) in (1..).zip(KINDS) {
            let found = struck(&program, (name, group), (model, scope), faults, number)?;
            let struck: u64 = found.values().sum();
            let is = |category: &str| category.starts_with(&format!("{number}:"));
            let count = |is: &dyn Fn(&str) -> bool| -> u64 {
                found.iter().filter(|(category, _)| is(category)).map(|(_, count)| count).sum()
            };
            let right = count(&is);
            // An instruction of iadd is two additions of PTX: what flips in the first is carried on by the second.
            let alike = |category: &str| {
                SCOPES
                    .iter()
                    .any(|of| of.contains(&number) && of.iter().any(|it| category.starts_with(&format!("{it}:"))))
            };
            let accepted = if name == "iadd" { count(&alike) } else { right };
            let others = found.iter().filter(|(category, _)| !is(category));
            let others: Vec<String> = others.map(|(category, count)| format!("{count} × {category}")).collect();
            say(&format!("| {name} | `{model}`, {scope} | {struck} | {right} | {} |", others.join(", ")))?;
            if struck == 0 || (accepted as f64) < LEAST * struck as f64 {
                wrong.push(format!("{name} {model} {scope}"));
            }
        }
    }
    for (seed, (model, scope, expected)) in (1..).zip(KINDS_OF_PREDICATES) {
        let found = struck(&program, ("isetp", "compare"), (model, scope), faults, seed)?;
        let is = |category: &str| expected.iter().any(|number| category.starts_with(&format!("{number}:")));
        let (right, others): (Vec<_>, Vec<_>) = found.iter().partition(|(category, _)| is(category));
        let right: u64 = right.into_iter().map(|(_, count)| count).sum();
        let struck: u64 = found.values().sum();
        let others: Vec<String> = others.iter().map(|(category, count)| format!("{count} × {category}")).collect();
        say(&format!("| isetp | `{model}`, {scope} | {struck} | {right} | {} |", others.join(", ")))?;
        if struck == 0 || (right as f64) < LEAST * struck as f64 {
            wrong.push(format!("isetp {model} {scope}"));
        }
    }
    ensure!(wrong.is_empty(), "what was injected does not come back: {}", wrong.join(", "));
    Ok(())
}

fn build() -> Result<()> {
    let (nvcc, from) = (fixed_nvcc()?, root().join("microbenchmarks"));
    fs::create_dir_all(PLACE).with_context(|| format!("create {PLACE}"))?;
    for entry in fs::read_dir(&from).context("list the microbenchmarks")? {
        let path = entry?.path();
        let name = path.file_name().context("name a file")?;
        fs::copy(&path, Path::new(PLACE).join(name)).with_context(|| format!("copy {}", path.display()))?;
    }
    for name in PROGRAMS.map(|(name, _)| name).iter().chain(&["isetp", "bra"]) {
        let file = format!("{name}.cu");
        nvcc.compile(Path::new(PLACE), &["-O3", "-arch=sm_80", "-cudart", "shared", "-o", name, &file])?;
    }
    Ok(())
}

/// What the logs of so many struck runs show, check and loop left out: events by category.
fn struck(
    beamline: &Path,
    (name, group): (&str, &str),
    (model, scope): (&str, &str),
    faults: u64,
    seed: u64,
) -> Result<BTreeMap<String, u64>> {
    let place = tempfile::tempdir().context("make a directory")?;
    let log = place.path().join("log");
    // The file is not among those that a run has for itself, so that every run appends to it, also runs side by side.
    let output = Command::new(beamline)
        .args(["live", "--runs", &faults.to_string(), "--seed", &seed.to_string()])
        .args(["--model", model, "--scope", scope, "--group", group])
        .args(["--out", &place.path().join("campaign").display().to_string()])
        .args(["--", &format!("./{name}"), "4", "1", "64", &log.display().to_string()])
        .current_dir(PLACE)
        .output()
        .context("start beamline")?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(beamline).args(["events", "--json"]).arg(&log).output().context("start beamline")?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let events: Value = serde_json::from_slice(&output.stdout).context("read the events")?;
    let events = events["programs"][0]["events"].as_array().cloned().unwrap_or_default();
    let event = |it: &Value| Some((it["category"].as_str()?.to_owned(), it["count"].as_u64()?));
    Ok(events.iter().filter(|it| it["bits"] != "left out").filter_map(event).collect())
}
