//! Every source file: how long it may be, that it says what it is for, and that none outside of methods names one.

use crate::repo::root;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a source file may have, and the files that may have more, with the reason.
const LONGEST: usize = 420;
const LONG_FILES: &[(&str, &str)] = &[
    ("crates/isa/src/table.rs", "the table of pure instructions"),
    ("crates/ptx/tests/errors.rs", "messages as they are rendered"),
];

/// Checks every Rust source file of ours.
pub(super) fn check(wrong: &mut Vec<String>) -> Result<()> {
    for path in sources()? {
        check_source(&path, wrong)?;
    }
    Ok(())
}

fn sources() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["crates", "chores", "xtask"].map(|folder| root().join(folder)).into();
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
    wrong
        .extend(named_method(&name, &text).map(|method| format!("{name} names the method {method}: ask the registry")));
    if !text.starts_with("//!") {
        wrong.push(format!("{name} does not begin with a line that says what it is for"));
    }
    Ok(())
}

/// The rooms of `methods` that are no method.
const SHARED: [&str; 2] = ["kit", "registry"];

/// The method that a file outside of methods and tests names, if it names one.
fn named_method<'t>(file: &str, text: &'t str) -> Option<&'t str> {
    let of_product = file.contains("/src/") && !file.starts_with("crates/methods/") && !file.starts_with("xtask/");
    let rooms = text.match_indices("methods::").map(|(at, crate_name)| {
        let rest = &text[at + crate_name.len()..];
        rest.split_once(|c: char| !c.is_alphanumeric() && c != '_').map_or(rest, |(room, _)| room)
    });
    let mut methods = rooms.filter(|room| room.starts_with(|c: char| c.is_lowercase()) && !SHARED.contains(room));
    methods.next().filter(|_| of_product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_names_a_method_is_found_and_who_asks_the_registry_is_not() {
        let named = |file| named_method(file, "use methods::kit::Profile;\nuse methods::some_method::Settings;");
        assert_eq!(named("crates/cli/src/main.rs"), Some("some_method"));
        assert_eq!(named("crates/testkit/tests/it/some_method.rs"), None);
        assert_eq!(named_method("chores/src/page.rs", "use methods::{Page, registry};\nmethods::registry::find"), None);
    }
}
