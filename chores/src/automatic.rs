//! The table that `beamline harden --scheme auto` learns from: times of kernels on a GPU, and facts of them that need no run.

use crate::repo::{root, say};
use anyhow::{Context, Result, ensure};
use capsule::Capsule;
use methods::hardening::{
    CANDIDATES, ChoiceOutcome, HardenedTimes, HardenedTimesOfKernel, Scheme, harden, kernel_features,
};
use serde_json::Value;
use stats::{Confidence, Repeated};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

/// The table.
const TABLE: &str = "profiles/protection/h100.toml";

/// The head of the table.
const HEAD: &str = "\
# How many times as long kernels take on an H100 with FastSig-DRDV and FastSig-SRIV, and what is known of them without running them.
# `cargo xtask automatic` makes this file from records/protection and the bundled capsules; records/protection.md says how the
# times were measured. `beamline harden --scheme auto` learns from it.
";

/// The kernels of a record: the application, the kernel, seconds before, and the ratio.
type Record = BTreeMap<(String, String), (f64, f64)>;

/// How many times as long an application takes by a choice.
type Times = fn(&ChoiceOutcome) -> f64;

/// Writes the table, and prints what a choice that is learned from it would save.
pub(crate) fn automatic() -> Result<()> {
    let [drdv, sriv] = CANDIDATES.map(record);
    let (drdv, gpu) = drdv?;
    let (sriv, _) = sriv?;
    let mut features = BTreeMap::new();
    let mut table = HardenedTimes { gpu, source: "records/protection".to_owned(), kernels: Vec::new() };
    for ((application, kernel), (seconds, fastsig_drdv)) in &drdv {
        let Some((_, fastsig_sriv)) = sriv.get(&(application.clone(), kernel.clone())) else { continue };
        if !features.contains_key(application) {
            features.insert(application.clone(), kernel_features(&capsule(application)?)?);
        }
        let Some(features) = features[application].get(kernel).copied() else { continue };
        let of_application = drdv.iter().filter(|((name, _), _)| name == application);
        let all: f64 = of_application.map(|(_, (seconds, _))| seconds).sum();
        table.kernels.push(HardenedTimesOfKernel {
            application: application.clone(),
            kernel: kernel.clone(),
            share: seconds / all,
            fastsig_drdv: *fastsig_drdv,
            fastsig_sriv: *fastsig_sriv,
            features,
        });
    }
    fs::write(root().join(TABLE), HEAD.to_owned() + &toml::to_string(&table)?)
        .with_context(|| format!("write {TABLE}"))?;
    say(&format!("wrote {TABLE}, {} kernels\n\n{}", table.kernels.len(), saved(&table.left_out())?))
}

fn capsule(application: &str) -> Result<Capsule> {
    Ok(Capsule::open(root().join("workloads").join(application).join(format!("{application}.capsule")))?)
}

/// The kernels of workloads whose hardened capsule is the one that was timed, and the GPU.
fn record(scheme: Scheme) -> Result<(Record, String)> {
    let word = scheme.word();
    let path = format!("records/protection/{}_h100.jsonl", word.replace('-', "_"));
    let text = fs::read_to_string(root().join(&path)).with_context(|| format!("read {path}"))?;
    let (mut found, mut gpu) = (Record::new(), String::new());
    for line in text.lines() {
        let document: Value = serde_json::from_str(line).with_context(|| format!("read {path}"))?;
        let full = document["name"].as_str().unwrap_or_default();
        let name = full.strip_suffix(word).and_then(|name| name.strip_suffix('-')).unwrap_or(full);
        let Some(kernels) = document["gpu"]["kernels"].as_array() else { continue };
        let today = harden(&capsule(name)?, scheme, None)?.capsule.digest().to_string();
        if document["digest"].as_str() != Some(today.as_str()) {
            say(&format!("{name}, {word}: other code was timed; left out"))?;
            continue;
        }
        gpu = document["gpu"]["name"].as_str().unwrap_or_default().to_owned();
        for kernel in kernels {
            let number = |value: &Value| value["median"].as_f64().context("a kernel has no median");
            let key = (name.to_owned(), kernel["kernel"].as_str().unwrap_or_default().to_owned());
            found.insert(key, (number(&kernel["before"]["seconds"])?, number(&kernel["ratio"])?));
        }
    }
    ensure!(!found.is_empty(), "read {path}: it has no kernels that are hardened as they are today");
    Ok((found, gpu))
}

/// The savings of choices, as a table.
fn saved(outcomes: &[ChoiceOutcome]) -> Result<String> {
    let mut text =
        "| choice | times as long: geometric mean (95 %) | against FastSig-DRDV for all (95 %) |\n|---|---|---|\n"
            .to_owned();
    let choices: [(&str, Times); 4] = [
        ("FastSig-DRDV for all", |it| it.drdv),
        ("FastSig-SRIV for all", |it| it.sriv),
        ("automatic, each application left out", |it| it.automatic),
        ("the better one of both for each kernel, as measured", |it| it.best),
    ];
    for (name, of) in choices {
        let logarithms: Vec<f64> = outcomes.iter().map(|it| of(it).ln()).collect();
        let against: Vec<f64> = outcomes.iter().map(|it| (of(it) / it.drdv).ln()).collect();
        writeln!(text, "| {name} | {} | {} |", spread(&logarithms)?, spread(&against)?)?;
    }
    let count = |is: &dyn Fn(&ChoiceOutcome) -> bool| outcomes.iter().filter(|it| is(it)).count();
    let better = count(&|it| it.automatic < it.drdv - 1e-9);
    let worse = count(&|it| it.automatic > it.drdv + 1e-9);
    writeln!(
        text,
        "\nOf {} applications, {better} are faster by the automatic choice than by FastSig-DRDV for all, {worse} slower.",
        outcomes.len()
    )?;
    Ok(text)
}

/// A geometric mean with Student's t interval of the logarithms.
fn spread(logarithms: &[f64]) -> Result<String> {
    let repeated = Repeated::of(logarithms).context("too few applications")?;
    let half = repeated.half_width(0.0, Confidence::PERCENT_95);
    let (low, high) = (repeated.mean - half, repeated.mean + half);
    Ok(format!("{:.3} ({:.3}–{:.3})", repeated.mean.exp(), low.exp(), high.exp()))
}
