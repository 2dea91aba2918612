//! The thresholds of the method, as a campaign holds them: `gpu-qin:iterations=64,window=1600`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::kit::{MethodSettings, settings};

/// Iterations of a loop beyond this many are replaced by a random one of the first so many (paper, §III-C).
pub const ITERATIONS: u32 = 64;
/// Instructions within which a fault must be read to count as activated (paper, §III-C).
pub const WINDOW: u64 = 1600;
/// Instructions that are stepped from a line's breakpoint to the instruction that is to be hit (paper, §III-C).
pub const STEPS: u32 = 300;

/// How sites are chosen, and what counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// From what sites are drawn.
    pub choice: Choice,
    /// The loop-iteration cap; none keeps every iteration.
    #[serde(with = "threshold")]
    pub iterations: Option<u32>,
    /// The activation window in instructions; none counts a fault that is ever read.
    #[serde(with = "threshold")]
    pub window: Option<u64>,
    /// The most instructions from a line's breakpoint to the instruction; none steps as far as it takes.
    #[serde(with = "threshold")]
    pub steps: Option<u32>,
    /// Which groups are profiled.
    pub coverage: Coverage,
}

/// From what sites are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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

impl MethodSettings for Settings {
    const NAME: &'static str = "gpu-qin";
    const KEYS: &'static str = "choice (published or unbiased), iterations, window and steps (a number or none), and coverage \
                                (published, or a share of the threads)";
}

/// A number from 1, or `none` for no threshold.
mod threshold {
    use super::{Deserializer, Serializer, settings};

    pub(super) fn serialize<S: Serializer, T: Copy + ToString>(it: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
        settings::write(&it.map_or_else(|| "none".to_owned(), |it| it.to_string()), to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>, T: TryFrom<u64>>(from: D) -> Result<Option<T>, D::Error> {
        settings::word(from, "a number from 1, or none", |text| {
            let number = || text.parse().ok().filter(|number| *number >= 1).and_then(|number| T::try_from(number).ok());
            if text == "none" { Some(None) } else { number().map(Some) }
        })
    }
}

impl Serialize for Coverage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Published => serializer.serialize_str("published"),
            Self::Share(share) => settings::write(&share.to_string(), serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Coverage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        settings::word(deserializer, "published, or a share such as 0.95", |text| {
            let share = || text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).map(Self::Share);
            if text == "published" { Some(Self::Published) } else { share() }
        })
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
        let texts =
            ["gpu-qin", "gpu-qin:", "gpu-qin:choice=unbiased,iterations=none", "gpu-qin:coverage=0.8,window=32"];
        for settings in texts.map(|text| read(text).unwrap()) {
            assert_eq!(Settings::of(&settings.choice()).unwrap(), settings);
        }
        assert_eq!(read("gpu-qin"), Ok(Settings::default()));
        let word = "gpu-qin:choice=published,iterations=64,window=1600,steps=300,coverage=published";
        assert_eq!(Settings::default().choice(), word.parse().unwrap());
        assert_eq!(Settings::default().choice().to_string(), word);
    }

    #[test]
    fn a_wrong_setting_is_named() {
        let error = |text: &str| read(text).unwrap_err();
        assert!(error("gpuqin").starts_with("use the method `gpuqin`"));
        assert!(error("gpu-qin:cap=3").starts_with("set `cap` of gpu-qin: there are choice"));
        assert!(error("gpu-qin:iterations=0").ends_with("to `0`: expected a number from 1, or none"));
        assert!(error("gpu-qin:steps=4294967296").ends_with("expected a number from 1, or none"));
        assert!(error("gpu-qin:coverage=2").ends_with("expected published, or a share such as 0.95"));
        assert_eq!(error("gpu-qin:choice=x"), "set `choice` of gpu-qin to `x`: expected `published` or `unbiased`");
        assert_eq!(error("gpu-qin:{\"window\":[1]}"), "set `window` of gpu-qin: expected a number from 1, or none");
    }
}
