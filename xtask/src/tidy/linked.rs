//! What ends up in a library beside our own code: its dependencies and theirs, as the manifests and Cargo.lock name
//! them. The lock file does not tell what a dependency needs to be built from what it needs to run, so that this is
//! rather too much than too little.

use super::manifests::Manifest;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, VecDeque};

/// The crate that is loaded into applications of others.
const LOADED: &str = "cudart";
/// What it must not bring there: packages with these words in their names are of databases and configuration.
const UNWANTED: [&str; 2] = ["sqlite", "toml"];

/// The packages that others need, by name or by name and version.
#[derive(Debug, Default)]
struct Needs(BTreeMap<String, Vec<String>>);

impl Needs {
    /// Reads Cargo.lock.
    fn parse(lock: &str) -> Result<Self> {
        let table: toml::Table = lock.parse().context("read Cargo.lock")?;
        let mut needs = Self::default();
        let packages = table.get("package").and_then(toml::Value::as_array).context("find packages in Cargo.lock")?;
        for package in packages {
            let text = |key: &str| package.get(key).and_then(toml::Value::as_str);
            let name = text("name").context("find the name of a package in Cargo.lock")?;
            let needed = package.get("dependencies").and_then(toml::Value::as_array).into_iter().flatten();
            let needed: Vec<String> = needed.filter_map(toml::Value::as_str).map(str::to_owned).collect();
            // Where there are several versions of a package, it is named with its version.
            needs.0.insert(format!("{name} {}", text("version").unwrap_or_default()), needed.clone());
            needs.0.insert(name.to_owned(), needed);
        }
        Ok(needs)
    }

    /// What a crate of ours is linked with, which is less than it needs for its tests.
    fn set(&mut self, name: &str, linked: impl Iterator<Item = String>) {
        self.0.insert(name.to_owned(), linked.collect());
    }

    /// The shortest way from a crate to a package whose name has a word in it.
    fn way(&self, from: &str, word: &str) -> Option<Vec<&str>> {
        let (start, _) = self.0.get_key_value(from)?;
        let mut before: BTreeMap<&str, Option<&str>> = [(start.as_str(), None)].into();
        let mut open = VecDeque::from([start.as_str()]);
        while let Some(package) = open.pop_front() {
            if package.contains(word) {
                let mut way: Vec<&str> = std::iter::successors(Some(package), |&at| before[at]).collect();
                way.reverse();
                return Some(way);
            }
            for next in self.0.get(package).into_iter().flatten() {
                before.entry(next).or_insert_with(|| {
                    open.push_back(next);
                    Some(package)
                });
            }
        }
        None
    }
}

/// Checks that what is loaded into applications of others brings nothing there that they have no use for.
pub(super) fn check(manifests: &[Manifest], lock: &str, wrong: &mut Vec<String>) -> Result<()> {
    let mut needs = Needs::parse(lock)?;
    for manifest in manifests {
        needs.set(&manifest.name, manifest.dependencies("dependencies").map(|(name, _)| name.to_owned()));
    }
    let ways = UNWANTED.iter().filter_map(|word| needs.way(LOADED, word));
    wrong.extend(
        ways.map(|way| format!("{} is loaded into applications of others, which do not need it", way.join(" → "))),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
version = 4

[[package]]
name = "cudart"
version = "0.1.0"
dependencies = ["capsule", "campaign"]

[[package]]
name = "campaign"
version = "0.1.0"
dependencies = ["toml 1.0.0", "rusqlite"]

[[package]]
name = "rusqlite"
version = "0.3.0"
dependencies = ["libsqlite3-sys"]

[[package]]
name = "toml"
version = "0.5.0"

[[package]]
name = "toml"
version = "1.0.0"
"#;

    fn ways(linked: &[&str]) -> Vec<String> {
        let mut needs = Needs::parse(LOCK).unwrap();
        needs.set("cudart", linked.iter().map(|&name| name.to_owned()));
        UNWANTED.iter().filter_map(|word| needs.way("cudart", word)).map(|way| way.join(" → ")).collect()
    }

    #[test]
    fn what_others_bring_along_is_found_with_its_way() {
        assert_eq!(ways(&["capsule", "campaign"]), ["cudart → campaign → rusqlite", "cudart → campaign → toml 1.0.0"]);
    }

    #[test]
    fn what_only_tests_need_is_not_linked() {
        assert_eq!(ways(&["capsule"]), [""; 0]);
    }

    #[test]
    fn what_is_no_lock_file_is_an_error() {
        assert_eq!(Needs::parse("version = 4").unwrap_err().to_string(), "find packages in Cargo.lock");
    }
}
