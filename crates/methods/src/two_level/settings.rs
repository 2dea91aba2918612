//! What can be chosen about the method, and the words for it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::ipa::IpaTable;
use super::issue::{IssueProfile, is_word, issue_rate};
use crate::kit::lasting;

/// Which instructions the rates of a type are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Those that the table counts with the measured ones.
    Alike,
    /// The measured ones alone.
    Measured,
}

/// Which ends count as silent data corruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdcKind {
    /// Outputs that differ at all, as the paper counts.
    Any,
    /// Outputs that fail the criterion of the capsule, or that nobody can judge.
    Bad,
}

/// Which faults are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Those that have a rate.
    Rated,
    /// Every manifestation in every type, to compare them.
    All,
}

/// The choices of the method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The table of rates, bundled or a file.
    pub ipa: String,
    /// Issue rates: a number, bundled ones, a file, or none.
    pub issue: String,
    /// For which instructions.
    pub grouping: Grouping,
    /// What counts.
    pub sdc: SdcKind,
    /// Which faults are made.
    pub made: Made,
}

/// The name of the method.
pub(super) const NAME: &str = "two-level";

impl Default for Settings {
    fn default() -> Self {
        let first = |mut names: Box<dyn Iterator<Item = &str>>| names.next().unwrap_or_default().to_owned();
        Self {
            ipa: first(Box::new(IpaTable::bundled())),
            issue: first(Box::new(IssueProfile::bundled())),
            grouping: Grouping::Alike,
            sdc: SdcKind::Any,
            made: Made::Rated,
        }
    }
}

impl Settings {
    /// These settings, with the texts of files held fast that they name.
    ///
    /// # Errors
    /// If there is no such file, or the words of a method cannot name it.
    pub fn held(self) -> Result<Self, String> {
        let held = |what: &str, name: String, is_word: bool| {
            if is_word {
                return Ok(name);
            }
            let word = lasting::word(&name).map_err(|why| format!("read the {what} `{name}`: {why}"))?;
            match word.contains(',') {
                // The words of a method are divided by commas.
                true => Err(format!("read the {what} `{word}`: the path of the file must have no comma")),
                false => Ok(word),
            }
        };
        // What is wrong with a name, or with what a file says, is said by who reads it.
        IpaTable::named(&self.ipa)?;
        issue_rate(&self.issue, "", "", &BTreeMap::new())?;
        let (ipa, issue) = (IpaTable::is_bundled(&self.ipa), is_word(&self.issue));
        Ok(Self { ipa: held("IPA table", self.ipa, ipa)?, issue: held("issue rates", self.issue, issue)?, ..self })
    }
}

impl Settings {
    /// The texts of the files that they name, by these names; `known` has those that a campaign kept.
    ///
    /// # Errors
    /// If one of them can be read nowhere.
    pub(super) fn files(&self, known: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
        let named = [(&self.ipa, IpaTable::is_bundled(&self.ipa)), (&self.issue, is_word(&self.issue))];
        let files = named.into_iter().filter(|(_, is_word)| !is_word);
        files.map(|(name, _)| Ok((name.clone(), lasting::read(name, known)?))).collect()
    }
}

impl Grouping {
    /// Reads its word.
    ///
    /// # Errors
    /// If it is none.
    pub fn of_word(word: &str) -> Result<Self, String> {
        match word {
            "alike" => Ok(Self::Alike),
            "measured" => Ok(Self::Measured),
            _ => Err(format!("take the grouping `{word}`: expected alike or measured")),
        }
    }
}

impl SdcKind {
    /// Reads its word.
    ///
    /// # Errors
    /// If it is none.
    pub fn of_word(word: &str) -> Result<Self, String> {
        match word {
            "any" => Ok(Self::Any),
            "bad" => Ok(Self::Bad),
            _ => Err(format!("count the SDCs `{word}`: expected any or bad")),
        }
    }
}

impl FromStr for Settings {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (method, rest) = text.split_once(':').unwrap_or((text, ""));
        if method != NAME {
            return Err(format!("use the method `{method}`: there is {NAME}, with settings as in `{NAME}:ipa=K40`"));
        }
        let mut settings = Self::default();
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match key {
                "ipa" if !value.is_empty() => value.clone_into(&mut settings.ipa),
                "issue" if !value.is_empty() => value.clone_into(&mut settings.issue),
                "grouping" => settings.grouping = Grouping::of_word(value)?,
                "sdc" => settings.sdc = SdcKind::of_word(value)?,
                "made" if value == "rated" => settings.made = Made::Rated,
                "made" if value == "all" => settings.made = Made::All,
                _ => {
                    return Err(format!(
                        "set `{part}` of {NAME}: there are ipa=NAME|FILE, issue=RATE|NAME|FILE|none, grouping=alike|measured, \
                         sdc=any|bad and made=rated|all"
                    ));
                }
            }
        }
        Ok(settings)
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grouping = if self.grouping == Grouping::Alike { "alike" } else { "measured" };
        let sdc = if self.sdc == SdcKind::Any { "any" } else { "bad" };
        let made = if self.made == Made::All { "all" } else { "rated" };
        write!(f, "{NAME}:ipa={},issue={},grouping={grouping},sdc={sdc},made={made}", self.ipa, self.issue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_back_as_they_are_written() {
        for text in [
            "two-level",
            "two-level:ipa=a/b.toml,issue=1.5",
            "two-level:grouping=measured,sdc=bad,issue=none",
            "two-level:made=all",
        ] {
            let settings: Settings = text.parse().unwrap();
            assert_eq!(settings.to_string().parse(), Ok(settings));
        }
        assert_eq!("two-level".parse(), Ok(Settings::default()));
    }

    #[test]
    fn what_means_nothing_is_named() {
        for (text, part) in [
            ("fit", "use the method `fit`"),
            ("two-level:ipa", "set `ipa` of two-level: there are ipa="),
            ("two-level:cap=3", "set `cap=3`"),
            ("two-level:grouping=all", "expected alike or measured"),
            ("two-level:sdc=good", "expected any or bad"),
        ] {
            let error = text.parse::<Settings>().unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
