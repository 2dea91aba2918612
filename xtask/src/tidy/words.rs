//! Plain words: how many public types of different crates share a name, and how many sentences have a frame that the page
//! of style in CONTRIBUTING.md forbids. The numbers of `words.toml` may only become smaller.

use super::sources;
use crate::repo::root;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The file with the numbers, from the root.
const NUMBERS: &str = "xtask/words.toml";

/// The key of the number of shared names.
const SHARED: &str = "public type names of two crates";

/// Names that stand for one notion in two crates, where the lower crate cannot take it from the upper one.
const ONE_NOTION: [&str; 4] = ["TrapKind", "Metric", "Variable", "Relocation"];

/// A forbidden frame.
struct Frame {
    /// Its key in the file of numbers.
    key: &'static str,
    /// How often it stands in a sentence: a doc comment, or a text in quotes.
    count: fn(&Sentence) -> usize,
}

const FRAMES: [Frame; 5] = [
    Frame { key: "docs that begin with What", count: |it| usize::from(it.is_doc && it.text.starts_with("What ")) },
    Frame { key: "so many", count: |it| words(&it.text, &["so many"]) },
    Frame { key: "somebody, nobody, whoever", count: |it| words(&it.text, &["somebody", "nobody", "whoever"]) },
    Frame { key: "is no", count: |it| words(&it.text, &["is no"]) - words(&it.text, &["is no longer"]) },
    Frame { key: "docs that end with a comma", count: |it| usize::from(it.is_doc && it.text.ends_with(',')) },
];

/// A doc comment, or a text in quotes.
#[derive(Debug, PartialEq, Eq)]
struct Sentence {
    is_doc: bool,
    text: String,
}

/// Checks the numbers.
pub(super) fn check(wrong: &mut Vec<String>) -> Result<()> {
    let path = root().join(NUMBERS);
    let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    let allowed: BTreeMap<String, usize> = toml::from_str(&text).with_context(|| format!("read {NUMBERS}"))?;
    compare(&allowed, &found()?, wrong);
    Ok(())
}

/// Compares the numbers that are allowed with those that are found.
fn compare(allowed: &BTreeMap<String, usize>, found: &BTreeMap<&str, usize>, wrong: &mut Vec<String>) {
    for (&key, &count) in found {
        match allowed.get(key) {
            Some(&most) if count > most => wrong.push(format!(
                "\"{key}\": found {count}, and {NUMBERS} allows {most}; see \"Plain words\" in CONTRIBUTING.md"
            )),
            Some(&most) if count < most => {
                wrong.push(format!("\"{key}\": only {count} are left of {most}: lower the number in {NUMBERS}"));
            }
            Some(_) => {}
            None => wrong.push(format!("\"{key}\" is missing in {NUMBERS}: {count} are found")),
        }
    }
    let unknown = allowed.keys().filter(|key| !found.contains_key(key.as_str()));
    wrong.extend(unknown.map(|key| format!("{NUMBERS} counts \"{key}\", which has no meaning")));
}

/// The numbers of all sources that are not tests.
fn found() -> Result<BTreeMap<&'static str, usize>> {
    let mut found: BTreeMap<&str, usize> = FRAMES.iter().map(|frame| (frame.key, 0)).collect();
    let mut crates_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources::sources()? {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let Some((crate_, _)) = name.split_once("/src/") else { continue };
        if name.ends_with("tidy/words.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("read {name}"))?;
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for sentence in sentences(text) {
            for frame in &FRAMES {
                *found.entry(frame.key).or_default() += (frame.count)(&sentence);
            }
        }
        for name in public_types(text).filter(|name| !ONE_NOTION.contains(name)) {
            crates_of.entry(name.to_owned()).or_default().insert(crate_.to_owned());
        }
    }
    found.insert(SHARED, crates_of.values().filter(|crates| crates.len() > 1).count());
    Ok(found)
}

/// The names of the public types and traits that a text defines.
fn public_types(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let item = line.trim_start().strip_prefix("pub ")?;
        let (kind, rest) = item.split_once(' ')?;
        let defines = ["struct", "enum", "trait", "type", "union"].contains(&kind);
        defines.then(|| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
    })
}

/// The doc comments of a text, each joined to one line, and its texts in quotes.
fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut doc: Option<String> = None;
    for line in text.lines().map(str::trim_start) {
        if let Some(part) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
            match &mut doc {
                Some(doc) => *doc = format!("{doc} {}", part.trim()),
                None => doc = Some(part.trim().to_owned()),
            }
            continue;
        }
        found.extend(doc.take().map(|text| Sentence { is_doc: true, text }));
        if !line.starts_with("//") {
            let quoted = line.split('"').skip(1).step_by(2).filter(|text| text.contains(' '));
            found.extend(quoted.map(|text| Sentence { is_doc: false, text: text.to_owned() }));
        }
    }
    found.extend(doc.map(|text| Sentence { is_doc: true, text }));
    found
}

/// How often one of several phrases stands in a text as whole words, whatever its first letter's case.
fn words(text: &str, phrases: &[&str]) -> usize {
    let text = text.to_lowercase();
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |at: usize, end: usize| !text[..at].ends_with(continues) && !text[end..].starts_with(continues);
    let of = |phrase: &&str| text.match_indices(*phrase).filter(|(at, it)| whole(*at, at + it.len())).count();
    phrases.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Vec<usize> {
        let found = sentences(text);
        FRAMES.iter().map(|frame| found.iter().map(|sentence| (frame.count)(sentence)).sum()).collect()
    }

    #[test]
    fn each_frame_is_found_in_docs_and_messages_and_not_in_names_and_comments() {
        assert_eq!(counts("/// What becomes of it.\nstruct A;"), [1, 0, 0, 0, 0]);
        assert_eq!(counts("/// Says what\n/// What is.\nstruct A;"), [0; 5]);
        assert_eq!(counts("let text = \"it runs so many times\";"), [0, 1, 0, 0, 0]);
        assert_eq!(counts("/// If nobody, or\n/// whoever, asks.\n// Somebody.\nlet nobody_here;"), [0, 0, 2, 0, 0]);
        assert_eq!(counts("/// It is no shard, and is no longer one.\nstruct A;"), [0, 0, 0, 1, 0]);
        assert_eq!(counts("/// Known by barriers,\na: u8,\n/// and what is not.\nb: u8,"), [0, 0, 0, 0, 1]);
    }

    #[test]
    fn public_types_are_found_and_those_of_a_crate_alone_are_not() {
        let text =
            "pub struct One<T>(T);\n    pub enum Two {\npub(crate) struct Own;\npub fn three() {}\npub trait Four: X {";
        assert_eq!(public_types(text).collect::<Vec<_>>(), ["One", "Two", "Four"]);
    }

    #[test]
    fn a_number_that_rises_is_refused_and_one_that_falls_has_to_be_lowered() {
        let allowed = |text: &str| toml::from_str::<BTreeMap<String, usize>>(text).unwrap();
        let said = |text: &str, count| {
            let mut wrong = Vec::new();
            compare(&allowed(text), &BTreeMap::from([("so many", count)]), &mut wrong);
            wrong
        };
        assert_eq!(said("\"so many\" = 2", 2), [""; 0]);
        assert!(said("\"so many\" = 2", 3)[0].starts_with("\"so many\": found 3, and xtask/words.toml allows 2"));
        assert!(said("\"so many\" = 2", 1)[0].ends_with("only 1 are left of 2: lower the number in xtask/words.toml"));
        assert_eq!(said("", 1).len(), 1);
        assert_eq!(said("\"so many\" = 2\n\"other\" = 1", 2).len(), 1);
    }
}
