//! The parameters of the method, as a campaign holds them: `approxilyzer:coverage=0.99,decisions=50`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

use crate::kit::{MethodSettings, settings};

/// The name of the method.
pub(super) const NAME: &str = "approxilyzer";

/// Branch decisions that control equivalence compares (thesis, Section 2.6.3).
const DECISIONS: u32 = 50;

/// The share of the error sites that is studied (thesis, Section 2.4.2).
const COVERAGE: f64 = 0.99;

/// Members that a pilot is held against (thesis, Section 2.4.3).
const MEMBERS: u64 = 750;

/// How sites are joined into classes, and how many are studied.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The share of the error sites that is studied, from above 0 to 1.
    #[serde(with = "share")]
    pub coverage: f64,
    /// The branch decisions that two dynamic instances of an instruction have in common to be in one class; `None` for
    /// all up to the end of the thread.
    #[serde(with = "decisions")]
    pub decisions: Option<u32>,
    /// Whether instances of an instruction with the same decisions are joined; if not, each is in a class of its own.
    #[serde(deserialize_with = "truth", skip_serializing_if = "is_true")]
    pub control: bool,
    /// Whether the guards of instructions that are no branches count as decisions.
    #[serde(deserialize_with = "truth")]
    pub guards: bool,
    /// What keeps instances apart whose decisions are the same.
    pub apart: Apart,
    /// Whether registers that instructions read are error sites, too.
    #[serde(rename = "operands", with = "operands")]
    pub sources: bool,
    /// Whether bits that no instruction reads are taken as masked.
    #[serde(deserialize_with = "truth", skip_serializing_if = "is_true")]
    pub unread: bool,
    /// Whether the first use of a value is taken to end as its definition does.
    #[serde(rename = "def-use", deserialize_with = "truth", skip_serializing_if = "is_true")]
    pub def_use: bool,
    /// Whether flips in addresses that are known to trap are taken as known.
    #[serde(deserialize_with = "truth")]
    pub addresses: bool,
    /// Whether values that go only to stores of their block are joined by the loads that read what is stored.
    #[serde(deserialize_with = "truth")]
    pub stores: bool,
    /// How many pilots are held against members of their classes; `None` for a campaign of the pilots alone.
    #[serde(with = "validate", skip_serializing_if = "Option::is_none")]
    pub validate: Option<ValidationSize>,
}

/// How many pilots of each heuristic are held against how many members of their classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidationSize {
    /// The pilots of each heuristic, at most.
    pub pilots: u64,
    /// The members of each, at most.
    pub members: u64,
    /// The seed by which pilots are drawn; the one of the campaign draws members.
    pub seed: u64,
}

/// What keeps dynamic instances in classes of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Apart {
    /// Threads of different numbers in their block.
    pub threads: bool,
    /// Blocks of different numbers.
    pub blocks: bool,
    /// Different launches.
    pub launches: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            coverage: COVERAGE,
            decisions: Some(DECISIONS),
            control: true,
            guards: true,
            apart: Apart::default(),
            sources: true,
            unread: true,
            def_use: true,
            addresses: true,
            stores: true,
            validate: None,
        }
    }
}

impl MethodSettings for Settings {
    const NAME: &'static str = NAME;
    const KEYS: &'static str = "coverage (a share), decisions (a number or all), control and guards (true or false), apart (none, or \
                                threads, blocks and launches joined by +), operands (destinations or all), unread, def-use, \
                                addresses and stores (true or false), validate (PILOTSxMEMBERS@SEED)";
}

/// A share above 0.
mod share {
    use super::{Deserializer, Serializer, settings};

    pub(super) fn serialize<S: Serializer>(share: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        settings::write(&share.to_string(), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        settings::word(deserializer, "a share above 0, at most 1", |text| {
            text.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0)
        })
    }
}

/// A number of branch decisions, or `all`.
mod decisions {
    use super::{Deserializer, Serializer, settings};

    pub(super) fn serialize<S: Serializer>(decisions: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
        settings::write(&decisions.map_or_else(|| "all".to_owned(), |it| it.to_string()), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
        settings::word(deserializer, "a whole number, or all", |text| {
            if text == "all" { Some(None) } else { text.parse().ok().map(Some) }
        })
    }
}

/// Which registers are error sites: those that instructions write, or all that they name.
mod operands {
    use super::{Deserializer, Serializer, settings};

    pub(super) fn serialize<S: Serializer>(sources: &bool, serializer: S) -> Result<S::Ok, S::Error> {
        settings::write(if *sources { "all" } else { "destinations" }, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
        settings::word(deserializer, "destinations, or all", |text| match text {
            "all" => Some(true),
            "destinations" => Some(false),
            _ => None,
        })
    }
}

/// How many pilots and members are validated.
mod validate {
    use super::{Deserializer, Serializer, ValidationSize, settings};

    #[expect(clippy::ref_option, reason = "serde hands the field over by reference")]
    pub(super) fn serialize<S: Serializer>(size: &Option<ValidationSize>, serializer: S) -> Result<S::Ok, S::Error> {
        settings::write(&size.map(|size| size.to_string()).unwrap_or_default(), serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ValidationSize>, D::Error> {
        settings::word(deserializer, ValidationSize::EXPECTED, |text| text.parse().ok().map(Some))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands the field over by reference")]
fn is_true(word: &bool) -> bool {
    *word
}

fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    settings::word(deserializer, "true or false", |text| text.parse().ok())
}

impl Settings {
    /// The numbers that keep threads in path groups of their own: all of them, where decisions join none.
    pub(super) fn groups_apart(&self) -> Apart {
        if self.control { self.apart } else { Apart { threads: true, blocks: true, launches: true } }
    }
}

impl Apart {
    fn read(text: &str) -> Option<Self> {
        let mut apart = Self::default();
        for word in text.split('+').filter(|_| text != "none") {
            match word {
                "threads" => apart.threads = true,
                "blocks" => apart.blocks = true,
                "launches" => apart.launches = true,
                _ => return None,
            }
        }
        Some(apart)
    }
}

impl ValidationSize {
    const EXPECTED: &'static str = "PILOTS, PILOTSxMEMBERS or PILOTSxMEMBERS@SEED, the first two of at least 1";
}

impl FromStr for ValidationSize {
    type Err = String;

    /// Reads `700`, `700x750` or `700x750@42`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (size, seed) = text.split_once('@').map_or((text, Some(0)), |(size, seed)| (size, seed.parse().ok()));
        let (pilots, members) =
            size.split_once('x').map_or((size, Some(MEMBERS)), |(pilots, members)| (pilots, members.parse().ok()));
        let read = || Some(Self { pilots: pilots.parse().ok()?, members: members?, seed: seed? });
        let read = read().filter(|it| it.pilots > 0 && it.members > 0);
        read.ok_or_else(|| format!("expected {}", Self::EXPECTED))
    }
}

impl fmt::Display for ValidationSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}@{}", self.pilots, self.members, self.seed)
    }
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [(self.threads, "threads"), (self.blocks, "blocks"), (self.launches, "launches")];
        let words: Vec<&str> = all.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
        f.write_str(if words.is_empty() { "none".to_owned() } else { words.join("+") }.as_str())
    }
}

impl Serialize for Apart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Apart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        settings::word(deserializer, "none, or threads, blocks, launches, joined by +", Self::read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(word: &str) -> Result<Settings, String> {
        Settings::of(&word.parse().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn settings_are_read_back_as_they_are_written() {
        let apart = Apart { threads: true, launches: true, ..Apart::default() };
        let other =
            Settings { coverage: 1.0, decisions: None, guards: false, apart, sources: false, ..Settings::default() };
        let none = Settings { control: false, unread: false, def_use: false, ..Settings::default() };
        for settings in [Settings::default(), other, none] {
            assert_eq!(Settings::of(&settings.choice()).unwrap(), settings);
        }
        assert_eq!(read("approxilyzer"), Ok(Settings::default()));
        let size = |pilots, members, seed| Some(ValidationSize { pilots, members, seed });
        for (word, validate) in [("700", size(700, 750, 0)), ("7x3", size(7, 3, 0)), ("7x3@9", size(7, 3, 9))] {
            let expected = Settings { validate, ..Settings::default() };
            assert_eq!(read(&format!("approxilyzer:validate={word}")), Ok(expected));
        }
        assert_eq!(read("approxilyzer:coverage=9.9e-1,guards=true"), Ok(Settings::default()));
        for word in [
            "approxilyzer:coverage=0.99,decisions=50,guards=true,apart=none,operands=all,addresses=true,stores=true",
            "approxilyzer:coverage=1,decisions=all,guards=false,apart=threads+launches,operands=destinations,addresses=false,\
             stores=false",
            "approxilyzer:coverage=0.99,decisions=50,guards=true,apart=none,operands=all,addresses=true,stores=true,validate=7x3@9",
            "approxilyzer:coverage=0.99,decisions=50,control=false,guards=true,apart=none,operands=all,unread=false,def-use=false,\
             addresses=true,stores=true",
        ] {
            assert_eq!(read(word).unwrap().choice(), word.parse().unwrap());
            assert_eq!(read(word).unwrap().choice().to_string(), word);
        }
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (text, part) in [
            ("relyzer", "use the method `relyzer`"),
            ("approxilyzer:depth=3", "set `depth` of approxilyzer: there are coverage"),
            ("approxilyzer:coverage=0", "expected a share above 0"),
            ("approxilyzer:coverage=NaN", "expected a share above 0"),
            ("approxilyzer:decisions=-1", "expected a whole number, or all"),
            ("approxilyzer:operands=sources", "expected destinations, or all"),
            ("approxilyzer:validate=0x3", "expected PILOTS, PILOTSxMEMBERS"),
            ("approxilyzer:validate=3x", "expected PILOTS, PILOTSxMEMBERS"),
            ("approxilyzer:apart=warps", "expected none, or threads"),
            ("approxilyzer:guards=7", "set `guards` of approxilyzer to `7`: expected true or false"),
            ("approxilyzer:{\"decisions\":[1]}", "set `decisions` of approxilyzer: expected a whole number, or all"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
