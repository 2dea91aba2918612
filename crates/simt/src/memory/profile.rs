//! What becomes of accesses that miss what the program was given: what a device does where the ISA is silent, as data.
//!
//! The profiles of the repository stand in `profiles/addresses/`, with where they were measured; [`AddressProfile::h200`] is
//! the one that applies if nobody says another.

use super::window::{PAGE, WINDOW};
use serde::{Deserialize, Serialize};

/// Local memory that a GPU keeps above the first frame of a thread, in bytes: an H200 starts stacks at 0xfffdc0 of the
/// window of 0x1000000.
pub(crate) const LOCAL_TOP: u32 = 0x240;

/// The largest distance at which a profile may map memory: page numbers count from the start of device memory, both ways.
pub const FARTHEST: u64 = 1 << 40;

/// A stretch of addresses by the distances of its ends in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Of the nearer end.
    pub from: u64,
    /// Of the end that is farther away, which does not belong to it.
    pub to: u64,
}

/// What a device does with addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AddressProfile {
    /// Its name, without spaces.
    pub name: String,
    /// Whether every access has to lie within an allocation, a block's shared memory or a frame, as a sanitizer demands.
    /// If not, an access to mapped memory outside of them succeeds.
    pub strict: bool,
    /// What is mapped before the 2 MiB in which the first allocation lies, by distance from their start: memory that nobody
    /// was given, which holds zeros until it is written.
    #[serde(default)]
    pub before: Vec<Stretch>,
    /// What is mapped behind the last 2 MiB in which an allocation lies, by distance from their end.
    #[serde(default)]
    pub behind: Vec<Stretch>,
    /// Bytes of local memory that a thread can reach at least: the last ones of the window. What its frames do not take
    /// holds zeros until it is written.
    #[serde(default)]
    pub local: u32,
    /// The file that it was read from, if it was.
    #[serde(skip)]
    pub file: Option<String>,
}

impl Default for AddressProfile {
    fn default() -> Self {
        Self::h200()
    }
}

impl AddressProfile {
    /// What an H200 does (driver 580.159, CUDA 13.0).
    #[must_use]
    pub fn h200() -> Self {
        let whole = |to: u64| vec![Stretch { from: 0, to }];
        let (before, behind) = (whole(414 << 20), whole(72 << 20));
        Self { name: "h200".to_owned(), strict: false, before, behind, local: 1536, file: None }
    }

    /// What an H200 does within the 2 MiB steps in which memory is mapped for allocations, and nothing around them.
    #[must_use]
    pub fn mapped() -> Self {
        Self { name: "mapped".to_owned(), before: Vec::new(), behind: Vec::new(), ..Self::h200() }
    }

    /// What a sanitizer lets pass.
    #[must_use]
    pub fn strict() -> Self {
        Self { name: "strict".to_owned(), strict: true, before: Vec::new(), behind: Vec::new(), local: 0, file: None }
    }

    /// What is wrong with it, if something is.
    ///
    /// # Errors
    /// In words, which key and why.
    pub fn check(&self) -> Result<(), String> {
        let word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.name.is_empty() || self.name.len() > 32 || !self.name.chars().all(word) {
            return Err(format!("name {:?}: expected 1 to 32 letters, digits, '-', '_' and '.'", self.name));
        }
        for (key, stretches) in [("before", &self.before), ("behind", &self.behind)] {
            let mut last = 0;
            for &Stretch { from, to } in stretches {
                if from >= to || from < last || to > FARTHEST || (from | to) % PAGE as u64 != 0 {
                    return Err(format!(
                        "{key}: from {from} to {to}: expected ascending multiples of {PAGE} up to {FARTHEST}"
                    ));
                }
                last = to;
            }
        }
        if self.strict && !(self.before.is_empty() && self.behind.is_empty() && self.local == 0) {
            return Err(
                "strict: nothing outside of allocations can be reached, so before, behind and local say nothing".into(),
            );
        }
        if u64::from(self.local) > WINDOW || !self.local.is_multiple_of(16) {
            return Err(format!("local {}: expected a multiple of 16 up to {WINDOW}", self.local));
        }
        Ok(())
    }

    /// What is mapped outside the mappings of allocations, which are the range from `start` to `end`.
    pub(super) fn around(&self, start: u64, end: u64) -> impl Iterator<Item = std::ops::Range<u64>> + Clone + '_ {
        let before = self.before.iter().map(move |s| start.saturating_sub(s.to)..start.saturating_sub(s.from));
        before.chain(self.behind.iter().map(move |s| end.saturating_add(s.from)..end.saturating_add(s.to)))
    }

    /// Whether an address outside the mappings of allocations, which are the range from `start` to `end`, is mapped.
    pub(super) fn maps(&self, address: u64, start: u64, end: u64) -> bool {
        let within = |stretches: &[Stretch], at: u64| stretches.iter().any(|s| (s.from..s.to).contains(&at));
        if address < start {
            within(&self.before, start - 1 - address)
        } else {
            within(&self.behind, address.wrapping_sub(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_distances_from_the_mappings() {
        let profile = AddressProfile {
            before: vec![Stretch { from: 0, to: 4096 }, Stretch { from: 8192, to: 12288 }],
            behind: vec![Stretch { from: 4096, to: 8192 }],
            ..AddressProfile::h200()
        };
        let (start, end) = (1 << 30, (1 << 30) + 100);
        let mapped = |address| profile.maps(address, start, end);
        assert!(mapped(start - 1) && mapped(start - 4096) && !mapped(start - 4097) && !mapped(start - 8192));
        assert!(mapped(start - 8193) && mapped(start - 12288) && !mapped(start - 12289));
        assert!(!mapped(end) && mapped(end + 4096) && mapped(end + 8191) && !mapped(end + 8192));
    }

    #[test]
    fn what_cannot_be_is_refused_by_key() {
        let wrong = |change: fn(&mut AddressProfile)| {
            let mut profile = AddressProfile::h200();
            change(&mut profile);
            profile.check().unwrap_err()
        };
        assert_eq!((AddressProfile::h200().check(), AddressProfile::strict().check()), (Ok(()), Ok(())));
        assert!(wrong(|profile| profile.name = "a b".into()).starts_with("name"));
        assert!(wrong(|profile| profile.before[0].to = 0).starts_with("before: from 0 to 0"));
        assert!(wrong(|profile| profile.behind.push(Stretch { from: 0, to: 4096 })).starts_with("behind"));
        assert!(wrong(|profile| profile.behind[0].to += 1).contains("multiples of 4096"));
        assert!(wrong(|profile| profile.local = 3).starts_with("local 3"));
        assert!(wrong(|profile| profile.strict = true).starts_with("strict"));
    }
}
