//! The choices of the method, as a campaign holds them: `two-level:ipa=K40,issue=2.5`.

use outcome::OutputDiff;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use super::ipa::IpaTable;
use super::issue::{IssueProfile, is_word};
use crate::kit::{MethodSettings, lasting, settings};

/// Which instructions the rates of a type are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grouping {
    /// Those that the table counts with the measured ones.
    Alike,
    /// The measured ones alone.
    Measured,
}

/// Which ends count as silent data corruption.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SdcKind {
    /// Outputs that differ at all, as the paper counts.
    Any,
    /// Outputs that fail the criterion of the capsule, or that nobody can judge.
    Bad,
    /// Outputs of which an element has a larger relative error than this, is NaN or infinite.
    Above(f64),
}

impl SdcKind {
    /// The forms of its word.
    pub(super) const WORDS: &'static str = "`any`, `bad` or a relative error, such as 1e-6";

    /// The kind that a word names.
    fn of(word: &str) -> Option<Self> {
        match word {
            "any" => Some(Self::Any),
            "bad" => Some(Self::Bad),
            _ => word.parse().ok().filter(|error: &f64| error.is_finite() && *error >= 0.0).map(Self::Above),
        }
    }

    /// Whether a run that ended in SDC counts as one; `bad` says whether its outputs fail their criterion.
    pub(super) fn counts(self, bad: bool, outputs: &[OutputDiff]) -> bool {
        match self {
            Self::Any => true,
            Self::Bad => bad,
            Self::Above(limit) => outputs.iter().any(|it| it.nan > 0 || it.inf > 0 || it.max_rel > limit),
        }
    }
}

impl Display for SdcKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Bad => f.write_str("bad"),
            Self::Above(error) => write!(f, "{error:e}"),
        }
    }
}

impl Serialize for SdcKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        settings::write(&self.to_string(), serializer)
    }
}

impl<'de> Deserialize<'de> for SdcKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        settings::word(deserializer, Self::WORDS, Self::of)
    }
}

/// The cells of the table that faults are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cells {
    /// Those that have a rate.
    Rated,
    /// Every manifestation in every type, to compare them.
    All,
}

/// The choices of the method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The table of rates, bundled or a file.
    #[serde(deserialize_with = "settings::name", serialize_with = "settings::write")]
    pub ipa: String,
    /// Issue rates: a number, bundled ones, a file, or none.
    #[serde(deserialize_with = "settings::name", serialize_with = "settings::write")]
    pub issue: String,
    /// For which instructions.
    pub grouping: Grouping,
    /// What counts.
    pub sdc: SdcKind,
    /// The cells that faults are made of.
    #[serde(alias = "made")]
    pub cells: Cells,
}

impl Default for Settings {
    fn default() -> Self {
        let first = |mut names: Box<dyn Iterator<Item = &str>>| names.next().unwrap_or_default().to_owned();
        Self {
            ipa: first(Box::new(IpaTable::bundled())),
            issue: first(Box::new(IssueProfile::bundled())),
            grouping: Grouping::Alike,
            sdc: SdcKind::Any,
            cells: Cells::Rated,
        }
    }
}

impl MethodSettings for Settings {
    const NAME: &'static str = "two-level";
    const KEYS: &'static str =
        "ipa=NAME|FILE, issue=RATE|NAME|FILE|none, grouping=alike|measured, sdc=any|bad|ERROR and cells=rated|all";
}

impl Settings {
    /// These settings, with each file by its lasting word and its text in `files`.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn held(mut self, files: &mut BTreeMap<String, String>) -> Result<Self, String> {
        if !IpaTable::is_bundled(&self.ipa) {
            self.ipa = lasting::keep(&self.ipa, files).map_err(|why| IpaTable::unread(&self.ipa, &why))?;
        }
        if !is_word(&self.issue) {
            self.issue = lasting::keep(&self.issue, files).map_err(|why| IssueProfile::unread(&self.issue, &why))?;
        }
        Ok(self)
    }

    /// The texts of the files that the settings name, by these names; `known` has those that a campaign kept.
    ///
    /// # Errors
    /// If a campaign did not keep one of them and it cannot be read.
    pub(super) fn files(&self, known: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
        let named = [(&self.ipa, IpaTable::is_bundled(&self.ipa)), (&self.issue, is_word(&self.issue))];
        let files = named.into_iter().filter(|(_, is_word)| !is_word);
        files.map(|(name, _)| Ok((name.clone(), lasting::read(name, known)?))).collect()
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
        for text in [
            "two-level",
            "two-level:ipa=a/b,c.toml,issue=1.5",
            "two-level:grouping=measured,sdc=bad,issue=none",
            "two-level:cells=all",
            "two-level:sdc=1e-6",
        ] {
            let settings = read(text).unwrap();
            assert_eq!(Settings::of(&settings.choice()).unwrap(), settings);
            assert_eq!(read(&settings.choice().to_string()), Ok(settings));
        }
        assert_eq!(read("two-level"), Ok(Settings::default()));
        // Campaigns of before wrote the setting by this name.
        assert_eq!(read("two-level:made=all"), read("two-level:cells=all"));
        let word = "two-level:ipa=K40,issue=H200,grouping=alike,sdc=any,cells=rated";
        assert_eq!(Settings::default().choice(), word.parse().unwrap());
        assert_eq!(Settings::default().choice().to_string(), word);
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (text, part) in [
            ("fit", "use the method `fit`"),
            ("two-level:ipa", "set `ipa` of two-level: there are ipa="),
            ("two-level:cap=3", "set `cap` of two-level: there are ipa="),
            ("two-level:grouping=all", "set `grouping` of two-level to `all`: expected `alike` or `measured`"),
            ("two-level:sdc=good", "expected `any`, `bad` or a relative error, such as 1e-6"),
            ("two-level:sdc=-1", "set `sdc` of two-level to `-1`: expected `any`"),
            ("two-level:cells=3", "set `cells` of two-level to `3`: "),
            ("two-level:{\"ipa\":[1]}", "set `ipa` of two-level: expected a name or a file"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
