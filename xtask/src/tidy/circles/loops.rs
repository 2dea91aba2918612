//! Files that lead to each other along arrows.

use super::resolve::Arrows;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The groups of files of which each leads to every other one.
pub(super) fn circles(arrows: &Arrows) -> Vec<BTreeSet<PathBuf>> {
    let reached: BTreeMap<&Path, BTreeSet<&Path>> =
        arrows.keys().map(|from| (from.as_path(), reached(arrows, from))).collect();
    let leads = |from: &Path, to: &Path| reached.get(from).is_some_and(|reached| reached.contains(to));
    let mut found: Vec<BTreeSet<PathBuf>> = Vec::new();
    for from in arrows.keys() {
        let known = found.iter().any(|circle| circle.contains(from));
        if !known && leads(from, from) {
            let tied = arrows.keys().filter(|to| leads(from, to) && leads(to, from));
            found.push(tied.cloned().collect());
        }
    }
    found
}

fn reached<'a>(arrows: &'a Arrows, from: &Path) -> BTreeSet<&'a Path> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(file) = open.pop() {
        for to in arrows.get(&file).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(to.as_path()) {
                open.push(to.clone());
            }
        }
    }
    found
}

/// A circle in words: each arrow of it, with the lines that draw it.
pub(super) fn describe(circle: &BTreeSet<PathBuf>, arrows: &Arrows) -> String {
    let mut text = format!("{} files import each other in a loop:", circle.len());
    for from in circle {
        for (to, names) in arrows[from].iter().filter(|(to, _)| circle.contains(*to)) {
            let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
            for (line, name) in names {
                lines.entry(name).or_insert(*line);
            }
            let names: Vec<String> = lines.iter().map(|(name, line)| format!("{name}:{line}")).collect();
            let _ = write!(text, "\n      {} → {} ({})", from.display(), to.display(), names.join(", "));
        }
    }
    text
}
