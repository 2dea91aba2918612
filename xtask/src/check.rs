//! The quick check: what finds most mistakes in the time of a cup of coffee. `.ci/run` is the whole one.

use crate::repo::{root, say};
use crate::tidy::tidy;
use anyhow::{Context, Result};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// The crates whose tests execute no kernels, or few and small ones.
const QUICK: &[&str] = &["isa", "capsule", "stats", "ptx", "fault", "campaign", "methods", "papers", "report", "xtask"];

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
        say(&format!("== {}", step.name))?;
        let start = now();
        if !(step.take)()? {
            say(&format!("== {} failed", step.name))?;
            return Ok(ExitCode::FAILURE);
        }
        say(&format!("   {:.1} s", start.elapsed().as_secs_f64()))?;
    }
    say("what executes kernels is checked by .ci/run")?;
    Ok(ExitCode::SUCCESS)
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
