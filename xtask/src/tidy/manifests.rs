//! The manifests of the crates: their arrows are those of the architecture, and what they need is declared once.

use super::architecture::Architecture;
use crate::repo::root;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate as its manifest describes it.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// The name of its folder.
    pub(crate) name: String,
    pub(super) folder: PathBuf,
    table: toml::Table,
}

impl Manifest {
    /// Every crate of the workspace, by name.
    pub(crate) fn all() -> Result<Vec<Self>> {
        let crates = fs::read_dir(root().join("crates"))?.map(|entry| Ok(entry?.path()));
        let mut folders = crates.collect::<Result<Vec<PathBuf>>>()?;
        folders.extend(["chores", "xtask"].map(|folder| root().join(folder)));
        let mut found: Vec<Self> = folders.into_iter().map(Self::read).collect::<Result<_>>()?;
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    fn read(folder: PathBuf) -> Result<Self> {
        let table = read_toml(&folder.join("Cargo.toml"))?;
        let name = folder.file_name().context("a crate without a folder")?.to_string_lossy().into_owned();
        Ok(Self { name, folder, table })
    }

    /// The name that cargo knows it by, which is another one for the product's binary.
    pub(crate) fn package(&self) -> Result<&str> {
        let name = self.table.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
        name.with_context(|| format!("find the name of the package in {}", self.folder.display()))
    }

    /// The dependencies of a section, of every target, and whether each is declared in the root manifest.
    pub(crate) fn dependencies(&self, section: &str) -> impl Iterator<Item = (&str, bool)> {
        let targets = self.table.get("target").and_then(toml::Value::as_table).into_iter().flatten();
        let of_targets = targets.filter_map(move |(_, target)| target.get(section));
        let tables = self.table.get(section).into_iter().chain(of_targets).filter_map(toml::Value::as_table);
        tables.flatten().map(|(name, value)| {
            let declared = value.get("workspace").and_then(toml::Value::as_bool) == Some(true);
            (name.as_str(), declared)
        })
    }

    /// The crates of ours that it depends on.
    fn arrows(&self, own: &BTreeSet<&str>) -> BTreeSet<&str> {
        self.dependencies("dependencies").map(|(name, _)| name).filter(|name| own.contains(name)).collect()
    }
}

fn read_toml(path: &Path) -> Result<toml::Table> {
    let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    text.parse().with_context(|| format!("read {}", path.display()))
}

/// Checks every manifest against the architecture.
pub(super) fn check(manifests: &[Manifest], architecture: &Architecture, wrong: &mut Vec<String>) {
    let own: BTreeSet<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
    let drawn: BTreeSet<&str> = architecture.crates().collect();
    for name in own.symmetric_difference(&drawn) {
        wrong.push(format!("crate {name} is not both in the workspace and in ARCHITECTURE.md's table of crates"));
    }
    for manifest in manifests {
        let name = &manifest.name;
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (dependency, declared) in manifest.dependencies(section) {
                if !declared {
                    wrong.push(format!("{name}: {dependency} is not declared in the root manifest"));
                }
            }
        }
        if manifest.table.get("lints").and_then(|lints| lints.get("workspace")).is_none() {
            wrong.push(format!("{name}: the workspace's lints are not inherited"));
        }
        architecture.check_arrows(name, &manifest.arrows(&own), wrong);
    }
}

/// Every dependency of the root manifest has a line of reason above it or above its group.
pub(super) fn check_reasons(wrong: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root().join("Cargo.toml"))?;
    let lines = text.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let mut explained = false;
    for line in lines.take_while(|line| !line.starts_with('[')) {
        explained = line.starts_with('#') || (explained && !line.is_empty());
        if !line.is_empty() && !explained {
            wrong.push(format!("Cargo.toml: no reason is given for `{line}`"));
        }
    }
    Ok(())
}
