//! What no compiler checks: who depends on whom, on which floor, without circles; that every module says what it is
//! for, that files stay small, that dependencies are declared once and go nowhere where they do not belong, that the
//! map of the house shows what is there, and that every step of the whole check has its time recorded.

mod architecture;
mod circles;
mod gate;
mod linked;
mod manifests;
mod sources;
mod words;

use crate::repo::{root, say};
use anyhow::{Context, Result, ensure};
use architecture::Architecture;
pub(crate) use manifests::Manifest;
use std::fs;

/// Runs every check and lists everything that is wrong.
pub(crate) fn tidy() -> Result<()> {
    let mut wrong = Vec::new();
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).context("read ARCHITECTURE.md")?;
    let architecture = Architecture::parse(&text)?;
    let manifests = Manifest::all()?;
    architecture.check_floors(&mut wrong);
    architecture.check_rooms(&|path| root().join(path).exists(), &mut wrong);
    manifests::check(&manifests, &architecture, &mut wrong);
    manifests::check_reasons(&mut wrong)?;
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("read Cargo.lock")?;
    linked::check(&manifests, &lock, &mut wrong)?;
    check_circles(&manifests, &mut wrong)?;
    sources::check(&mut wrong)?;
    gate::check(&mut wrong)?;
    words::check(&mut wrong)?;
    ensure!(wrong.is_empty(), "not tidy:\n  {}", wrong.join("\n  "));
    say("tidy")
}

/// No files of a crate import each other in a loop.
fn check_circles(manifests: &[Manifest], wrong: &mut Vec<String>) -> Result<()> {
    for manifest in manifests {
        let found = circles::circles(&manifest.folder.join("src"))?;
        wrong.extend(found.iter().map(|circle| format!("{}: {circle}", manifest.name)));
    }
    Ok(())
}
