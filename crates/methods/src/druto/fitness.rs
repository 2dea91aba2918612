//! The fitness of an input (Equation 1): dynamic instructions of the dominant threads of one launch.
//!
//! The paper does not say how many threads are dominant, and which launch of several is profiled.

use inject::{Golden, GoldenLaunch};
use std::str::FromStr;

/// The threads whose instructions are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FitnessKind {
    /// All that execute as many instructions as any.
    Sum,
    /// One of them.
    Most,
    /// The ten that execute the most.
    Ten,
}

/// The launch of the kernel that is profiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProfiledLaunch {
    /// The one in the middle.
    Middle,
    /// The first.
    First,
    /// The last.
    Last,
    /// All, added up: without kernel-trace pruning.
    All,
}

/// The fitness that a search goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fitness {
    /// The threads.
    pub(super) kind: FitnessKind,
    /// The launch.
    pub(super) launch: ProfiledLaunch,
}

/// Dominant threads of the variant `ten`.
const TEN: usize = 10;

impl FitnessKind {
    /// All of them.
    const ALL: [Self; 3] = [Self::Sum, Self::Most, Self::Ten];

    /// The words, with their meaning.
    pub(super) const WORDS: &'static [(&'static str, &'static str)] = &[
        ("sum", "the instructions of all threads that execute as many as any"),
        ("most", "the instructions of one of them"),
        ("ten", "the instructions of the ten threads that execute the most"),
    ];

    /// The fitness of a launch, by the instructions of its threads; none without threads.
    fn of(self, counts: impl Iterator<Item = u32>) -> Option<f64> {
        let mut counts: Vec<u32> = counts.collect();
        let most = *counts.iter().max()?;
        Some(match self {
            Self::Most => f64::from(most),
            Self::Sum => f64::from(most) * counts.iter().filter(|&&count| count == most).count() as f64,
            Self::Ten => {
                if counts.len() > TEN {
                    counts.select_nth_unstable_by(TEN, |one, other| other.cmp(one));
                }
                counts.iter().take(TEN).map(|&count| f64::from(count)).sum()
            }
        })
    }
}

impl FromStr for FitnessKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sum" => Ok(Self::Sum),
            "most" => Ok(Self::Most),
            "ten" => Ok(Self::Ten),
            _ => Err("expected sum, most or ten".to_owned()),
        }
    }
}

impl ProfiledLaunch {
    /// All of them.
    const ALL: [Self; 4] = [Self::Middle, Self::First, Self::Last, Self::All];

    /// The words, with their meaning.
    pub(super) const WORDS: &'static [(&'static str, &'static str)] = &[
        ("middle", "the launch in the middle"),
        ("first", "the first launch"),
        ("last", "the last launch"),
        ("all", "all launches, their fitness added up"),
    ];

    /// The launches of a kernel that are profiled.
    pub(super) fn of<'g>(self, golden: &'g Golden, kernel: &str) -> Vec<&'g GoldenLaunch> {
        let launches: Vec<_> = golden.launches().iter().filter(|launch| launch.program.name == kernel).collect();
        let one = match self {
            Self::All => return launches,
            Self::Middle => launches.get(launches.len() / 2),
            Self::First => launches.first(),
            Self::Last => launches.last(),
        };
        one.copied().into_iter().collect()
    }
}

impl FromStr for ProfiledLaunch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "middle" => Ok(Self::Middle),
            "first" => Ok(Self::First),
            "last" => Ok(Self::Last),
            "all" => Ok(Self::All),
            _ => Err("expected middle, first, last or all".to_owned()),
        }
    }
}

impl Fitness {
    /// Every fitness, in the order of [`number`](Self::number).
    const ALL: [Self; FitnessKind::ALL.len() * ProfiledLaunch::ALL.len()] = {
        let first = Self { kind: FitnessKind::ALL[0], launch: ProfiledLaunch::ALL[0] };
        let mut all = [first; FitnessKind::ALL.len() * ProfiledLaunch::ALL.len()];
        let mut at = 0;
        while at < all.len() {
            let (kind, launch) = (at / ProfiledLaunch::ALL.len(), at % ProfiledLaunch::ALL.len());
            all[at] = Self { kind: FitnessKind::ALL[kind], launch: ProfiledLaunch::ALL[launch] };
            at += 1;
        }
        all
    };

    /// Every fitness of a kernel in a golden run; none if it is never launched.
    pub(super) fn all(golden: &Golden, kernel: &str) -> Option<Vec<f64>> {
        Self::ALL.iter().map(|fitness| fitness.of(golden, kernel)).collect()
    }

    /// Its place among all.
    pub(super) fn number(self) -> usize {
        Self::ALL.iter().position(|other| *other == self).unwrap_or_default()
    }

    /// The fitness of a kernel in a golden run; none if it is never launched.
    fn of(self, golden: &Golden, kernel: &str) -> Option<f64> {
        let launches = self.launch.of(golden, kernel);
        if launches.is_empty() {
            return None;
        }
        launches.into_iter().map(|launch| self.kind.of(launch.counts().iter())).sum()
    }
}

/// The kernel that executes the most instructions.
pub(super) fn main_kernel(golden: &Golden) -> Option<String> {
    let mut counts: Vec<(u64, &str)> = Vec::new();
    for launch in golden.launches() {
        let name = launch.program.name.as_str();
        match counts.iter_mut().find(|(_, known)| *known == name) {
            Some((count, _)) => *count += launch.thread_instructions(),
            None => counts.push((launch.thread_instructions(), name)),
        }
    }
    let most = counts.iter().map(|(count, _)| *count).max()?;
    counts.iter().find(|(count, _)| *count == most).map(|(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variant_adds_up_its_threads() {
        let of = |counts: &[u32]| {
            [FitnessKind::Sum, FitnessKind::Most, FitnessKind::Ten].map(|kind| kind.of(counts.iter().copied()))
        };
        // One dominant thread; all alike; more than ten; none.
        assert_eq!(of(&[3, 9, 4, 0, 1, 1, 1, 1]), [Some(9.0), Some(9.0), Some(20.0)]);
        assert_eq!(of(&[5; 8]), [Some(40.0), Some(5.0), Some(40.0)]);
        assert_eq!(of(&[2, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 1]), [Some(77.0), Some(7.0), Some(70.0)]);
        assert_eq!(of(&[]), [None; 3]);
    }

    #[test]
    fn every_fitness_has_a_place_of_its_own() {
        let places: Vec<usize> = Fitness::ALL.iter().map(|fitness| fitness.number()).collect();
        assert_eq!(places, (0..12).collect::<Vec<_>>());
    }
}
