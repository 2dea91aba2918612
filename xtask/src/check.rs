//! The quick check: what finds most mistakes in the time of a cup of coffee. `.ci/run` is the whole one. Between both
//! stands the check of one crate: its own tests, and a sample of what compares the tiers.

use crate::repo::{root, say};
use crate::tidy::{Manifest, tidy};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// The crates whose tests execute no kernels, or few and small ones.
const QUICK: &[&str] = &[
    "facts", "counts", "capsule", "stats", "outcome", "study", "space", "isa", "fault", "campaign", "ptx", "rewrite",
    "device", "strike", "methods", "papers", "report", "xtask",
];

/// A step and how it is taken.
struct Step {
    name: &'static str,
    take: fn() -> Result<bool>,
}

const STEPS: &[Step] = &[
    Step { name: "formatting", take: || cargo(&["fmt", "--all", "--", "--check"]) },
    Step { name: "tidy", take: || tidy().map(|()| true) },
    Step {
        name: "lints",
        take: || cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]),
    },
    Step { name: "quick tests", take: tests },
];

/// Takes every step until one fails, and says how long each took.
pub(crate) fn check() -> Result<ExitCode> {
    for step in STEPS {
        if !take(step.name, step.take)? {
            return Ok(ExitCode::FAILURE);
        }
    }
    say("what executes kernels is checked by .ci/run, and of one crate by cargo xtask check --for CRATE")?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the tests of one crate, and a sample of what compares the tiers, if they need the crate.
pub(crate) fn check_for(name: &str) -> Result<ExitCode> {
    let manifests = Manifest::all()?;
    let crate_ = find(&manifests, name)?;
    let package = crate_.package()?;
    if !take(&format!("tests of {name}"), || cargo(&["test", "--release", "--quiet", "--package", package]))? {
        return Ok(ExitCode::FAILURE);
    }
    if !needed(&manifests, COMPARES).contains(name) {
        say(&format!("what compares the tiers does not need {name}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let sample = || cargo(&["run", "--release", "--quiet", "--package", "chores", "--", "sample"]);
    let passed = take("a sample of the kernel tests, workloads, random capsules and kernels", sample)?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The crate that compares the tiers.
const COMPARES: &str = "testkit";

/// The crate of a name.
fn find<'m>(manifests: &'m [Manifest], name: &str) -> Result<&'m Manifest> {
    if let Some(found) = manifests.iter().find(|manifest| manifest.name == name) {
        return Ok(found);
    }
    let names: Vec<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
    bail!("failed to check the crate `{name}`: no crate has this name; the crates are {}", names.join(", "))
}

/// A crate and the crates that it needs, directly or not.
fn needed<'m>(manifests: &'m [Manifest], name: &'m str) -> BTreeSet<&'m str> {
    let mut found = BTreeSet::new();
    let mut left = vec![name];
    while let Some(next) = left.pop() {
        let manifest = manifests.iter().find(|manifest| manifest.name == next);
        if let Some(manifest) = manifest.filter(|_| found.insert(next)) {
            left.extend(manifest.dependencies("dependencies").map(|(name, _)| name));
        }
    }
    found
}

/// Takes a step, and says how long it took or that it failed.
fn take(name: &str, step: impl FnOnce() -> Result<bool>) -> Result<bool> {
    say(&format!("== {name}"))?;
    let start = now();
    let passed = step()?;
    let seconds = start.elapsed().as_secs_f64();
    say(&if passed { format!("   {seconds:.1} s") } else { format!("== {name}: failed after {seconds:.1} s") })?;
    Ok(passed)
}

#[expect(clippy::disallowed_methods, reason = "how long a check takes is what is measured")]
fn now() -> Instant {
    Instant::now()
}

fn tests() -> Result<bool> {
    let packages = QUICK.iter().flat_map(|name| ["--package", name]);
    let words: Vec<&str> = ["test", "--release", "--quiet"].into_iter().chain(packages).collect();
    cargo(&words)
}

fn cargo(words: &[&str]) -> Result<bool> {
    let status = Command::new(env!("CARGO")).args(words).current_dir(root()).status();
    Ok(status.context("start cargo")?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_does_not_exist_is_refused_with_the_names_of_all() {
        let manifests = Manifest::all().unwrap();
        let error = find(&manifests, "smit").unwrap_err().to_string();
        assert!(
            error.starts_with("failed to check the crate `smit`: no crate has this name; the crates are campaign, ")
        );
        assert!(error.contains(", simt, ") && error.ends_with(", xtask"), "{error}");
        assert_eq!(find(&manifests, "cli").unwrap().package().unwrap(), "beamline");
    }

    #[test]
    fn crates_that_the_tiers_do_not_need_are_known() {
        let manifests = Manifest::all().unwrap();
        let needed = needed(&manifests, COMPARES);
        let has = |name: &str| needed.contains(name);
        assert!(["testkit", "simt", "lanes", "isa", "facts", "inject"].into_iter().all(has), "{needed:?}");
        assert!(!["cli", "report", "chores", "xtask"].into_iter().any(has), "{needed:?}");
    }

    #[test]
    fn every_crate_of_the_quick_tests_exists_once() {
        let manifests = Manifest::all().unwrap();
        assert!(QUICK.iter().all(|name| find(&manifests, name).is_ok()));
        assert_eq!(QUICK.iter().collect::<BTreeSet<_>>().len(), QUICK.len());
    }
}
