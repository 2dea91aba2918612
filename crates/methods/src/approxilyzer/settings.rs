//! The parameters of the method, as words of a campaign: `approxilyzer:coverage=0.99,decisions=50`.

use std::fmt;
use std::str::FromStr;

/// The name of the method.
pub(super) const NAME: &str = "approxilyzer";

/// Branch decisions that control equivalence compares (thesis, Section 2.6.3).
const DECISIONS: u32 = 50;

/// The share of the error sites that is studied (thesis, Section 2.4.2).
const COVERAGE: f64 = 0.99;

/// How sites are joined into classes, and how many are studied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The share of the error sites that is studied, from above 0 to 1.
    pub coverage: f64,
    /// The branch decisions that two dynamic instances of an instruction have in common to be in one class; `None` for
    /// all up to the end of the thread.
    pub decisions: Option<u32>,
    /// Whether the guards of instructions that are no branches count as decisions.
    pub guards: bool,
    /// What keeps instances apart whose decisions are the same.
    pub apart: Apart,
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
        Self { coverage: COVERAGE, decisions: Some(DECISIONS), guards: true, apart: Apart::default() }
    }
}

/// Why words mean no settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Another method.
    #[error(
        "use the method `{0}`: there is approxilyzer, with settings as in `approxilyzer:coverage=0.99,decisions=50`"
    )]
    Method(String),
    /// Another key.
    #[error(
        "set `{0}` of approxilyzer: there are coverage (a share), decisions (a number or all), guards (true or false) and apart \
         (none, or threads, blocks and launches joined by +)"
    )]
    Key(String),
    /// A value that means nothing.
    #[error("set `{key}` of approxilyzer to `{found}`: expected {expected}")]
    Value {
        /// The key.
        key: String,
        /// The value.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
}

impl Settings {
    /// Sets one of them.
    ///
    /// # Errors
    /// If there is no such key, or the value means nothing.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SettingsError> {
        let wrong = |expected| SettingsError::Value { key: key.to_owned(), found: value.to_owned(), expected };
        match key {
            "coverage" => {
                let share = value.parse().ok().filter(|share: &f64| *share > 0.0 && *share <= 1.0);
                self.coverage = share.ok_or_else(|| wrong("a share above 0, at most 1"))?;
            }
            "decisions" if value == "all" => self.decisions = None,
            "decisions" => self.decisions = Some(value.parse().map_err(|_| wrong("a whole number, or all"))?),
            "guards" => self.guards = value.parse().map_err(|_| wrong("true or false"))?,
            "apart" => {
                self.apart =
                    Apart::read(value).ok_or_else(|| wrong("none, or threads, blocks, launches, joined by +"))?;
            }
            _ => return Err(SettingsError::Key(key.to_owned())),
        }
        Ok(())
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

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [(self.threads, "threads"), (self.blocks, "blocks"), (self.launches, "launches")];
        let words: Vec<&str> = all.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
        f.write_str(if words.is_empty() { "none".to_owned() } else { words.join("+") }.as_str())
    }
}

impl FromStr for Settings {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let (method, rest) = text.split_once(':').unwrap_or((text, ""));
        if method != NAME {
            return Err(SettingsError::Method(method.to_owned()));
        }
        let mut settings = Self::default();
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| SettingsError::Key(part.to_owned()))?;
            settings.set(key, value)?;
        }
        Ok(settings)
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decisions = self.decisions.map_or_else(|| "all".to_owned(), |decisions| decisions.to_string());
        let Self { coverage, guards, apart, .. } = self;
        write!(f, "{NAME}:coverage={coverage},decisions={decisions},guards={guards},apart={apart}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_back_as_they_are_written() {
        let apart = Apart { threads: true, launches: true, ..Apart::default() };
        for settings in [Settings::default(), Settings { coverage: 1.0, decisions: None, guards: false, apart }] {
            assert_eq!(settings.to_string().parse(), Ok(settings));
        }
        assert_eq!("approxilyzer".parse(), Ok(Settings::default()));
    }

    #[test]
    fn what_means_nothing_is_named() {
        for (text, part) in [
            ("relyzer", "use the method `relyzer`"),
            ("approxilyzer:depth=3", "set `depth` of approxilyzer: there are coverage"),
            ("approxilyzer:coverage=0", "expected a share above 0"),
            ("approxilyzer:coverage=NaN", "expected a share above 0"),
            ("approxilyzer:decisions=-1", "expected a whole number, or all"),
            ("approxilyzer:apart=warps", "expected none, or threads"),
        ] {
            let error = text.parse::<Settings>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
