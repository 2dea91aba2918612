//! A part of a program that faults are aimed at, as users write it.

use campaign::SelectionWords;
use fault::{Narrowing, Ranges, RegisterCondition};
use inject::{CapsuleTarget, NarrowedWords};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use super::condition::Condition;
use super::copies::Copies;

/// A region: what it leaves out selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// What it is called.
    pub name: String,
    /// The source file of its lines: a path, or the end of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its first and its last source line; also where they were inlined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<[u32; 2]>,
    /// Its kernel, `NAME` or `NAME#n` for the n-th launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Threads, linear in their block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<String>,
    /// Blocks, linear in their grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<String>,
    /// The times that a thread executes an instruction, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<String>,
    /// Copies of lines that the program has several times, as of a loop that the compiler has unrolled, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<String>,
    /// A condition without a fault: on an element of a buffer, `hz[7] > 0.5`, for launches before which it holds; or on a register of
    /// the thread, `%r7 > 3`, for instructions right before which it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Instruction groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What is hit, as campaigns say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What happens to its bits, as campaigns say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A condition of a region.
enum When {
    /// Before a launch, of an element of a buffer.
    Element(Condition),
    /// Before an instruction, of a register.
    Register(RegisterCondition),
}

impl When {
    fn read(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('%') {
            return text.parse().map(Self::Register).map_err(|why| format!("`when` = `{text}`: {why}"));
        }
        text.parse().map(Self::Element)
    }
}

/// A file of regions. A `workload.toml` is one, too; what else it says is passed over.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    regions: Vec<Region>,
    /// A slip for `regions`, which would lose some.
    region: Option<serde::de::IgnoredAny>,
}

impl Region {
    /// The regions of a TOML text, `[[regions]]`.
    ///
    /// # Errors
    /// If there are none, or one means nothing.
    pub fn read(text: &str) -> Result<Vec<Self>, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        if file.region.is_some() {
            return Err("it has `[[region]]`; a region is declared by `[[regions]]`".to_owned());
        }
        Self::check(&file.regions)?;
        Ok(file.regions)
    }

    /// Whether a TOML text says anything of regions.
    ///
    /// # Errors
    /// If it is not TOML.
    pub fn are_declared(text: &str) -> Result<bool, String> {
        let table: toml::Table = toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        Ok(table.contains_key("regions"))
    }

    /// Whether regions have names, and lines that are some.
    ///
    /// # Errors
    /// If they do not.
    pub fn check(regions: &[Self]) -> Result<(), String> {
        if regions.is_empty() {
            return Err("the file declares no `[[regions]]`".to_owned());
        }
        let mut names = BTreeSet::new();
        for it in regions {
            let wrong = |why: String| Err(format!("region {}: {why}", it.name));
            if it.name.is_empty() || it.name.chars().any(char::is_control) {
                return wrong("`name` is empty, or has characters that cannot be printed".to_owned());
            }
            if !names.insert(&it.name) {
                return wrong("the name is there twice".to_owned());
            }
            if let Some(Err(why)) = it.when.as_deref().map(When::read) {
                return wrong(why);
            }
            if let Err(error) = it.copies() {
                return wrong(error);
            }
            match (&it.file, it.lines) {
                (None, Some(_)) => return wrong("`lines` needs the `file` that they are of".to_owned()),
                (Some(file), None) => return wrong(format!("`file` {file} needs `lines` = [first, last]")),
                (_, Some([first, last])) if first == 0 || first > last => {
                    return wrong(format!("`lines` = [{first}, {last}]: expected the first and the last line, from 1"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What it selects, as a campaign says it.
    #[must_use]
    pub fn words(&self) -> SelectionWords {
        let list = |text: &Option<String>| {
            text.iter().flat_map(|text| text.split(',')).map(|part| part.trim().to_owned()).collect()
        };
        SelectionWords {
            lines: self.place().into_iter().collect(),
            kernel: list(&self.kernel),
            threads: list(&self.threads),
            blocks: list(&self.blocks),
            iterations: list(&self.iterations),
            group: list(&self.group),
            target: self.target.clone(),
            model: self.model.clone(),
            ..SelectionWords::default()
        }
    }

    /// Its selection in a capsule: its words, narrowed to where its condition holds, and to its copies of instructions.
    ///
    /// # Errors
    /// If the condition cannot be decided.
    pub(super) fn words_for(&self, capsule: &CapsuleTarget) -> Result<NarrowedWords, String> {
        let of = |why: String| format!("aim at the region {}: {why}", self.name);
        let mut narrowing = Narrowing::default();
        let words = match self.when.as_deref().map(When::read).transpose().map_err(of)? {
            Some(When::Element(condition)) => condition.narrow(capsule, self.words()).map_err(of)?,
            Some(When::Register(condition)) => {
                narrowing.registers.push(condition);
                self.words()
            }
            None => self.words(),
        };
        if let Some(wanted) = self.copies().map_err(of)? {
            narrowing.instructions = Some(self.lines_of().narrow(capsule, &wanted));
        }
        Ok(NarrowedWords { words, narrowing })
    }

    /// Its lines, to tell their copies apart; of a region without some there are none.
    pub(super) fn lines_of(&self) -> Copies<'_> {
        Copies { file: self.file.as_deref().unwrap_or_default(), lines: self.lines.unwrap_or([1, 0]) }
    }

    /// The copies of lines that it asks for, if it does.
    fn copies(&self) -> Result<Option<Ranges>, String> {
        let Some(copies) = &self.copies else { return Ok(None) };
        if self.lines.is_none() {
            return Err("`copies` needs the `file` and the `lines` that the program has several times".to_owned());
        }
        let texts: Vec<String> = copies.split(',').map(|part| part.trim().to_owned()).collect();
        Ranges::parse("copies", &texts).map(Some).map_err(|error| error.to_string())
    }

    /// Its lines, `FILE:a-b`.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let (file, [first, last]) = (self.file.as_ref()?, self.lines?);
        Some(format!("{file}:{first}-{last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_regions_and_a_workload_more() {
        let text = "name = 'atax'\n[[variables]]\nname = 'A'\n[[regions]]\nname = 'K1'\nfile = 'atax.cu'\nlines = [31, 32]\n\
            [[regions]]\nname = 'first'\nkernel = 'a, b#2'\niterations = '0'\ntarget = 'reg:64'";
        let regions = Region::read(text).unwrap();
        assert_eq!(regions[0].words().lines, ["atax.cu:31-32"]);
        let words = regions[1].words();
        assert_eq!((words.kernel, words.iterations), (vec!["a".to_owned(), "b#2".to_owned()], vec!["0".to_owned()]));
        assert_eq!(words.target.as_deref(), Some("reg:64"));
    }

    #[test]
    fn regions_are_declared_by_a_table_and_not_by_a_comment_or_a_string() {
        for text in ["# [[regions]]\n[[variables]]\nname = 'a'", "name = '[[regions]]'", ""] {
            assert_eq!(Region::are_declared(text), Ok(false), "{text}");
        }
        for text in ["[[ regions ]]\nname = 'a'", "regions = []"] {
            assert_eq!(Region::are_declared(text), Ok(true), "{text}");
        }
        assert!(Region::are_declared("[[regions").is_err());
    }

    #[test]
    fn what_means_nothing_is_named() {
        for (text, part) in [
            ("", "the file declares no `[[regions]]`"),
            ("[[regions]]\nname = ''", "`name` is empty"),
            ("[[regions]]\nname = 'a'\n[[region]]\nname = 'b'", "declared by `[[regions]]`"),
            ("[[regions]]\nname = 'a'\n[[regions]]\nname = 'a'", "region a: the name is there twice"),
            ("[[regions]]\nname = 'a'\nlines = [1, 2]", "needs the `file`"),
            ("[[regions]]\nname = 'a'\nfile = 'x.cu'", "needs `lines`"),
            ("[[regions]]\nname = 'a'\nfile = 'x.cu'\nlines = [3, 2]", "[3, 2]: expected the first"),
            ("[[regions]]\nname = 'a'\nline = 3", "unknown field `line`"),
            ("[[regions]]\nname = 'a'\nwhen = 'hz > 3'", "region a: `when` = `hz > 3`: expected NAME[ELEMENT]"),
            ("[[regions]]\nname = 'a'\nwhen = '%r7.b32 > 3'", "region a: `when` = `%r7.b32 > 3`: `b32` is not a type"),
            ("[[regions]]\nname = 'a'\ncopies = '0'", "region a: `copies` needs the `file`"),
            ("[[regions]]\nname = 'a'\nfile = 'x'\nlines = [1, 1]\ncopies = 'x'", "region a: "),
        ] {
            let error = Region::read(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
