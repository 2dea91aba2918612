//! Every source file: how long it may be, that it says what it is for, and that none but methods and papers names a method.

use crate::repo::root;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a source file may have, and the files that may have more, with the reason.
const LONGEST: usize = 420;
const LONG_FILES: &[(&str, &str)] = &[
    ("crates/isa/src/table.rs", "the table of pure instructions"),
    ("crates/isa/src/semantics/approx/tables.rs", "the tables of special functions"),
    ("crates/ptx/tests/errors.rs", "messages as they are rendered"),
];

/// Checks every Rust source file of ours.
pub(super) fn check(wrong: &mut Vec<String>) -> Result<()> {
    let methods = methods()?;
    for path in sources()? {
        check_source(&path, &methods, wrong)?;
    }
    Ok(())
}

pub(super) fn sources() -> Result<Vec<PathBuf>> {
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

fn check_source(path: &Path, methods: &[String], wrong: &mut Vec<String>) -> Result<()> {
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
    let named = named_method(&name, &text, methods);
    wrong.extend(named.map(|method| format!("{name} names the method {method}: ask the registry")));
    if !text.starts_with("//!") {
        wrong.push(format!("{name} does not begin with a line that says what it is for"));
    }
    Ok(())
}

/// The files and folders of `methods` that are no method.
const SHARED: [&str; 7] = ["kit", "lib.rs", "method.rs", "registry.rs", "hardening", "convolution", "decoding.rs"];

/// The methods there are, as modules: `gpu_qin`.
fn methods() -> Result<Vec<String>> {
    let folder = root().join("crates/methods/src");
    let entries = fs::read_dir(&folder).with_context(|| format!("read {}", folder.display()))?;
    let names =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<Result<Vec<_>>>()?;
    let methods = names.iter().filter(|name| !SHARED.contains(&name.as_str()));
    Ok(methods.map(|name| name.trim_end_matches(".rs").to_owned()).collect())
}

/// The method that a file outside of methods, of papers and of the folders of tests names, as a module or by its word, if it names
/// one. Comments may speak of any.
fn named_method<'m>(file: &str, text: &str, methods: &'m [String]) -> Option<&'m String> {
    let apart = ["crates/methods/", "crates/papers/", "xtask/"];
    if !file.contains("/src/") || apart.iter().any(|place| file.starts_with(place)) {
        return None;
    }
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let names = |method: &&String| {
        let word = method.replace('_', "-");
        code.iter().any(|line| [method.as_str(), &word].into_iter().any(|name| has_word(line, name)))
    };
    methods.iter().find(names)
}

/// Whether a line has a name that is not a part of a longer one.
fn has_word(line: &str, name: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name)
        .any(|(at, _)| !line[..at].ends_with(continues) && !line[at + name.len()..].starts_with(continues))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_names_a_method_is_found_and_who_asks_the_registry_is_not() {
        let methods = ["some_method".to_owned()];
        let named = |file, text| named_method(file, text, &methods).is_some();
        let cli = "crates/cli/src/main.rs";
        assert!(named(cli, "use methods::{some_method::Settings, kit};"));
        assert!(named(cli, "const WORD: &str = \"some-method:x=1\";"));
        assert!(!named("crates/testkit/tests/it/some_method.rs", "use methods::some_method::Settings;"));
        assert!(!named(
            cli,
            "// As some_method does.\nuse methods::{Page, registry};\nlet not_some_method = awesome_methods;"
        ));
    }

    #[test]
    fn there_are_methods_to_be_named() {
        assert!(!methods().unwrap().is_empty());
    }
}
