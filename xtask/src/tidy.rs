//! What no compiler checks: who depends on whom, that every module says what it is for, that files stay small, that
//! dependencies are declared once, that generated pages are up to date.

use crate::{root, say};
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The arrows of ARCHITECTURE.md: a crate and the crates that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("facts", &[]),
    ("isa", &["facts"]),
    ("capsule", &[]),
    ("stats", &[]),
    ("outcome", &[]),
    ("process", &[]),
    ("ptx", &["isa"]),
    ("lanes", &["isa"]),
    ("simt", &["facts", "isa", "lanes"]),
    ("fault", &["facts", "stats"]),
    ("campaign", &["stats", "outcome"]),
    ("lower", &["facts", "isa", "ptx", "simt"]),
    ("device", &["facts", "lower", "simt", "capsule"]),
    ("strike", &["facts", "simt", "capsule", "device", "fault", "outcome"]),
    ("inject", &["facts", "simt", "capsule", "device", "strike", "fault", "outcome", "campaign", "stats"]),
    ("cudart", &["capsule", "simt", "device", "strike", "fault", "outcome"]),
    ("gpu", &["isa", "ptx", "capsule"]),
    ("methods", &["facts", "fault", "outcome", "campaign", "inject", "stats"]),
    ("live", &["capsule", "fault", "outcome", "campaign", "inject", "process", "cudart"]),
    ("debugger", &["facts", "fault", "outcome", "campaign", "stats", "inject", "process", "live"]),
    ("report", &["outcome", "campaign", "stats", "methods"]),
    (
        "beamline",
        &[
            "facts", "simt", "capsule", "device", "fault", "outcome", "campaign", "stats", "inject", "cudart", "live",
            "debugger", "gpu", "methods", "report",
        ],
    ),
    (
        "testkit",
        &[
            "isa", "ptx", "simt", "capsule", "device", "fault", "outcome", "campaign", "stats", "inject", "cudart",
            "methods",
        ],
    ),
    (
        "xtask",
        &["isa", "ptx", "capsule", "device", "outcome", "campaign", "inject", "testkit", "gpu", "methods", "report"],
    ),
];

/// The library that is loaded into applications of others, and what nothing in it may depend on.
const PRELOADED: &str = "cudart";
const NOT_PRELOADED: [&str; 2] = ["rusqlite", "toml"];

/// Lines that a source file may have, and the files that may have more, with the reason.
const LONGEST: usize = 420;
const LONG_FILES: &[(&str, &str)] = &[
    ("crates/isa/src/table.rs", "the table of pure instructions"),
    ("crates/ptx/tests/errors.rs", "messages as they are rendered"),
];

/// Runs every check and lists everything that is wrong.
pub(crate) fn tidy() -> Result<()> {
    let mut wrong = Vec::new();
    let manifests = manifests()?;
    for (name, path) in &manifests {
        check_manifest(name, path, &manifests, &mut wrong)?;
    }
    let declared: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    let found: BTreeSet<&str> = manifests.keys().map(String::as_str).collect();
    for name in declared.symmetric_difference(&found) {
        wrong.push(format!("crate {name} is not both in the workspace and in the table of arrows"));
    }
    check_preloaded(&manifests, &mut wrong)?;
    check_reasons(&mut wrong)?;
    for path in sources()? {
        check_source(&path, &mut wrong)?;
    }
    if let Err(error) = crate::supported::check() {
        wrong.push(format!("{error:#}"));
    }
    ensure!(wrong.is_empty(), "not tidy:\n  {}", wrong.join("\n  "));
    say("tidy")
}

/// Every crate's manifest, by package name.
fn manifests() -> Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let crates = fs::read_dir(root().join("crates"))?.map(|entry| Ok(entry?.path()));
    let mut folders = crates.collect::<Result<Vec<PathBuf>>>()?;
    folders.push(root().join("xtask"));
    for folder in folders {
        let path = folder.join("Cargo.toml");
        let manifest = read_toml(&path)?;
        let name = manifest["package"]["name"].as_str().context("a package without a name")?;
        found.insert(name.to_owned(), path);
    }
    Ok(found)
}

fn read_toml(path: &Path) -> Result<toml::Table> {
    let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    text.parse().with_context(|| format!("read {}", path.display()))
}

fn check_manifest(name: &str, path: &Path, own: &BTreeMap<String, PathBuf>, wrong: &mut Vec<String>) -> Result<()> {
    let manifest = read_toml(path)?;
    let allowed = ARROWS.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, to)| *to);
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let Some(table) = manifest.get(section).and_then(toml::Value::as_table) else { continue };
        for (dependency, value) in table {
            if value.get("workspace").and_then(toml::Value::as_bool) != Some(true) {
                wrong.push(format!("{name}: {dependency} is not declared in the root manifest"));
            }
            let arrow = own.contains_key(dependency) && section == "dependencies";
            if arrow && !allowed.contains(&dependency.as_str()) {
                wrong.push(format!("{name} → {dependency} is no arrow of the architecture"));
            }
        }
    }
    if manifest.get("lints").and_then(|lints| lints.get("workspace")).is_none() {
        wrong.push(format!("{name}: the workspace's lints are not inherited"));
    }
    Ok(())
}

/// What is loaded into applications of others brings neither a database nor a reader of configurations.
fn check_preloaded(own: &BTreeMap<String, PathBuf>, wrong: &mut Vec<String>) -> Result<()> {
    let (mut waiting, mut seen) = (vec![PRELOADED.to_owned()], BTreeSet::new());
    while let Some(name) = waiting.pop() {
        let Some(path) = own.get(&name).filter(|_| seen.insert(name.clone())) else { continue };
        let manifest = read_toml(path)?;
        let table = manifest.get("dependencies").and_then(toml::Value::as_table);
        for dependency in table.into_iter().flat_map(toml::Table::keys) {
            if NOT_PRELOADED.contains(&dependency.as_str()) {
                wrong.push(format!("{PRELOADED} is loaded into applications, and {name} brings {dependency} with it"));
            }
            waiting.push(dependency.clone());
        }
    }
    Ok(())
}

/// Every dependency of the root manifest has a line of reason above it or above its group.
fn check_reasons(wrong: &mut Vec<String>) -> Result<()> {
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

/// Every Rust source file of ours.
fn sources() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates"), root().join("xtask")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn check_source(path: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let lines = text.lines().count();
    let excused = LONG_FILES.iter().any(|(file, _)| *file == name);
    if lines > LONGEST && !excused {
        wrong.push(format!("{name} has {lines} lines; {LONGEST} are enough for a file that is no table"));
    }
    if excused && lines <= LONGEST {
        wrong.push(format!("{name} is no longer long: take it off the list"));
    }
    if !text.starts_with("//!") {
        wrong.push(format!("{name} does not begin with a line that says what it is for"));
    }
    Ok(())
}
