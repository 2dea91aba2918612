//! Dividing a campaign over machines that do not talk to each other.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Part `k` of `n`, both from 1: it makes the runs whose index leaves the remainder `k - 1` when divided by `n`.
///
/// Interleaved rather than cut into blocks, so that parts stay even when sites of a kind lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    // Ordered by count first, as reports list them.
    count: NonZeroU32,
    number: NonZeroU32,
}

/// Text that names no shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a shard: write k/n with k from 1 to n, such as 2/8 for the second of eight")]
pub struct NotAShard(String);

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { count: NonZeroU32::MIN, number: NonZeroU32::MIN };

    /// Part `number` of `count`; `None` unless 1 ≤ number ≤ count.
    #[must_use]
    pub fn new(number: u32, count: u32) -> Option<Self> {
        let shard = Self { count: NonZeroU32::new(count)?, number: NonZeroU32::new(number)? };
        (number <= count).then_some(shard)
    }

    /// Which part, from 1.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number.get()
    }

    /// Of how many.
    #[must_use]
    pub fn count(self) -> u32 {
        self.count.get()
    }

    /// The index of the run at `position` in this part, from 0.
    #[must_use]
    pub fn run_at(self, position: u64) -> u64 {
        position * u64::from(self.count()) + u64::from(self.number() - 1)
    }

    /// The position of run `run` in this part, if it belongs here.
    #[must_use]
    pub fn position_of(self, run: u64) -> Option<u64> {
        let count = u64::from(self.count());
        (run % count == u64::from(self.number() - 1)).then_some(run / count)
    }

    /// How many of `runs` runs belong here.
    #[must_use]
    pub fn share_of(self, runs: u64) -> u64 {
        runs.saturating_sub(u64::from(self.number() - 1)).div_ceil(u64::from(self.count()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = NotAShard;

    fn from_str(text: &str) -> Result<Self, NotAShard> {
        let parse = |(number, count): (&str, &str)| Self::new(number.parse().ok()?, count.parse().ok()?);
        text.split_once('/').and_then(parse).ok_or_else(|| NotAShard(text.to_owned()))
    }
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_belongs_to_exactly_one_shard_at_its_position() {
        for count in 1..7 {
            for runs in 0..30 {
                let shards: Vec<Shard> = (1..=count).map(|k| Shard::new(k, count).unwrap()).collect();
                let shares: u64 = shards.iter().map(|shard| shard.share_of(runs)).sum();
                assert_eq!(shares, runs);
                for run in 0..runs {
                    let owners: Vec<_> = shards.iter().filter(|shard| shard.position_of(run).is_some()).collect();
                    assert_eq!(owners.len(), 1);
                    let position = owners[0].position_of(run).unwrap();
                    assert_eq!(owners[0].run_at(position), run);
                    assert!(position < owners[0].share_of(runs));
                }
            }
        }
    }

    #[test]
    fn a_shard_prints_and_parses_to_itself() {
        assert_eq!("3/8".parse::<Shard>().unwrap().to_string(), "3/8");
        for text in ["", "3", "0/8", "9/8", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
