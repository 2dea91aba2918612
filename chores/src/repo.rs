//! The repository, its program, and how a chore speaks.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// The release build of the program, built if need be.
pub(crate) fn beamline() -> Result<PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    let status = cargo
        .args(["build", "--release", "--workspace", "--quiet"])
        .current_dir(root())
        .status()
        .context("start cargo")?;
    ensure!(status.success(), "cargo build --release failed");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/beamline"))
}

#[expect(clippy::print_stdout, reason = "the one place where chores speak")]
pub(crate) fn say(text: &str) -> Result<()> {
    println!("{text}");
    Ok(())
}
