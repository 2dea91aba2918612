//! What a contributor runs. It needs no crate of the project, so that it is there at once: the checks that need none
//! are here, and every other chore is one of `chores`, which is built when it is asked for.

mod check;
mod repo;
mod tidy;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::{Command, ExitCode};

#[derive(Parser)]
#[command(name = "cargo xtask", after_help = "Every other task is a chore: `cargo xtask chores` lists them.")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// The quick check: formatting, tidy, lints, and the tests that do not execute kernels
    Check {
        /// Only the tests of this crate, and a sample of about a minute of what compares the tiers
        #[arg(long = "for", value_name = "CRATE")]
        one: Option<String>,
    },
    /// Check what no compiler checks: arrows, floors, circles, module docs, file sizes
    Tidy,
    /// List the chores
    Chores,
    #[command(external_subcommand)]
    Chore(Vec<OsString>),
}

fn main() -> Result<ExitCode> {
    match Args::parse().task {
        Task::Check { one: None } => check::check(),
        Task::Check { one: Some(name) } => check::check_for(&name),
        Task::Tidy => tidy::tidy().map(|()| ExitCode::SUCCESS),
        Task::Chores => chore(&["help".into()]),
        Task::Chore(words) => chore(&words),
    }
}

/// Builds the chores if need be, and starts one. The whole workspace is built, as its tests are: of one package alone cargo would compile
/// what it needs once more, with fewer features.
fn chore(words: &[OsString]) -> Result<ExitCode> {
    let built = Command::new(env!("CARGO")).args(["build", "--quiet", "--release", "--workspace"]).status();
    if !built.context("start cargo")?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let chores = std::env::current_exe().context("find the folder of the programs")?.with_file_name("chores");
    let status = Command::new(&chores).args(words).status().with_context(|| format!("start {}", chores.display()))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
