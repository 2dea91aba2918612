//! The thresholds of the method, as words of a campaign: `gpu-qin:iterations=64,window=1600`.

use std::fmt;
use std::str::FromStr;

/// Iterations of a loop beyond this many are replaced by a random one of the first so many (paper, §III-C).
pub const ITERATIONS: u32 = 64;
/// Instructions within which a fault must be read to count as activated (paper, §III-C).
pub const WINDOW: u64 = 1600;
/// Instructions that are stepped from a line's breakpoint to the instruction that is to be hit (paper, §III-C).
pub const STEPS: u32 = 300;

/// How sites are chosen, and what counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// From what sites are drawn.
    pub choice: Choice,
    /// The loop-iteration cap; none keeps every iteration.
    pub iterations: Option<u32>,
    /// The activation window in instructions; none counts a fault that is ever read.
    pub window: Option<u64>,
    /// The most instructions from a line's breakpoint to the instruction; none steps as far as it takes.
    pub steps: Option<u32>,
    /// Which groups are profiled.
    pub coverage: Coverage,
}

/// From what sites are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// As published: a profile by the popularity of its group, an instruction of the profile, any thread.
    Published,
    /// Uniformly from all dynamic instructions of all threads.
    Unbiased,
}

/// Which groups of a kernel are profiled, the most popular first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coverage {
    /// As the paper has it: of one group that one; of two to ten as many as hold 95 % of the threads, four at most; of
    /// more the first two.
    Published,
    /// As many as hold this share of the threads.
    Share(f64),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            choice: Choice::Published,
            iterations: Some(ITERATIONS),
            window: Some(WINDOW),
            steps: Some(STEPS),
            coverage: Coverage::Published,
        }
    }
}

/// Why words mean no settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Another method.
    #[error("use the method `{found}`: there is gpu-qin, with settings as in `gpu-qin:iterations=none,window=1600`")]
    Method {
        /// What was named.
        found: String,
    },
    /// Another key.
    #[error(
        "set `{found}` of gpu-qin: there are choice (published or unbiased), iterations, window and steps (a number or none), and \
         coverage (published, or a share of the threads)"
    )]
    Key {
        /// What was named.
        found: String,
    },
    /// A value that means nothing.
    #[error("set `{key}` of gpu-qin to `{found}`: expected {expected}")]
    Value {
        /// The key.
        key: String,
        /// The value.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
}

impl FromStr for Settings {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let (method, rest) = text.split_once(':').unwrap_or((text, ""));
        if method != "gpu-qin" {
            return Err(SettingsError::Method { found: method.to_owned() });
        }
        let mut settings = Self::default();
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| SettingsError::Key { found: part.to_owned() })?;
            settings.set(key, value)?;
        }
        Ok(settings)
    }
}

impl Settings {
    fn set(&mut self, key: &str, value: &str) -> Result<(), SettingsError> {
        let wrong = |expected| SettingsError::Value { key: key.to_owned(), found: value.to_owned(), expected };
        match key {
            "choice" => {
                self.choice = match value {
                    "published" => Choice::Published,
                    "unbiased" => Choice::Unbiased,
                    _ => return Err(wrong("published or unbiased")),
                }
            }
            "iterations" => self.iterations = threshold(value).ok_or_else(|| wrong("a number from 1, or none"))?,
            "window" => self.window = threshold(value).ok_or_else(|| wrong("a number from 1, or none"))?,
            "steps" => self.steps = threshold(value).ok_or_else(|| wrong("a number from 1, or none"))?,
            "coverage" => self.coverage = coverage(value).ok_or_else(|| wrong("published, or a share such as 0.95"))?,
            _ => return Err(SettingsError::Key { found: key.to_owned() }),
        }
        Ok(())
    }
}

/// A number from 1, or none at all.
fn threshold<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Option<Option<T>> {
    if text == "none" {
        return Some(None);
    }
    text.parse().ok().filter(|number| *number >= T::from(1)).map(Some)
}

fn coverage(text: &str) -> Option<Coverage> {
    if text == "published" {
        return Some(Coverage::Published);
    }
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).map(Coverage::Share)
}

impl fmt::Display for Settings {
    /// The words from which they are read, all of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let none = || "none".to_owned();
        let choice = match self.choice {
            Choice::Published => "published",
            Choice::Unbiased => "unbiased",
        };
        let iterations = self.iterations.map_or_else(none, |cap| cap.to_string());
        let window = self.window.map_or_else(none, |window| window.to_string());
        let steps = self.steps.map_or_else(none, |steps| steps.to_string());
        let coverage = match self.coverage {
            Coverage::Published => "published".to_owned(),
            Coverage::Share(share) => share.to_string(),
        };
        write!(f, "gpu-qin:choice={choice},iterations={iterations},window={window},steps={steps},coverage={coverage}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_back_as_they_are_written() {
        let texts =
            ["gpu-qin", "gpu-qin:", "gpu-qin:choice=unbiased,iterations=none", "gpu-qin:coverage=0.8,window=32"];
        for settings in texts.map(|text| text.parse::<Settings>().unwrap()) {
            assert_eq!(settings.to_string().parse(), Ok(settings));
        }
        assert_eq!("gpu-qin".parse(), Ok(Settings::default()));
    }

    #[test]
    fn what_means_nothing_is_named() {
        let error = |text: &str| text.parse::<Settings>().unwrap_err().to_string();
        assert!(error("gpuqin").starts_with("use the method `gpuqin`"));
        assert!(error("gpu-qin:cap=3").starts_with("set `cap` of gpu-qin: there are choice"));
        assert!(error("gpu-qin:iterations=0").ends_with("to `0`: expected a number from 1, or none"));
        assert!(error("gpu-qin:coverage=2").ends_with("expected published, or a share such as 0.95"));
    }
}
