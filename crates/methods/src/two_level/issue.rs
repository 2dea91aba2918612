//! How many instructions a multiprocessor issues in a cycle: measured, published, or said; never assumed.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::units::IssueRate;
use crate::kit::lasting;

/// The bundled profiles: their names and their texts.
const BUNDLED: [(&str, &str); 2] = [
    ("H200", include_str!("../../../../profiles/issue/h200.toml")),
    ("K40", include_str!("../../../../profiles/issue/k40.toml")),
];

/// The most instructions that a multiprocessor issues in a cycle: two by each of four schedulers, as Kepler does.
pub(super) const MOST: f64 = 8.0;

/// Issue rates of applications on a device.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueProfile {
    /// What it is called.
    pub name: String,
    /// Where its rates come from.
    pub source: String,
    /// The applications.
    #[serde(rename = "workload")]
    pub workloads: Vec<IssueOfWorkload>,
}

/// The issue rate of an application.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueOfWorkload {
    /// Its name, that of its capsule.
    pub name: String,
    /// Instructions that a multiprocessor issues in a cycle, averaged over its kernels by their cycles.
    pub rate: f64,
    /// The first digits of the digest of the capsule that was measured; any of that name, if it is left out.
    pub digest: Option<String>,
}

/// An issue rate, and where it is from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KnownIssueRate {
    /// Instructions of a multiprocessor in a cycle.
    pub rate: f64,
    /// Where it is from, in words.
    pub source: String,
    /// The name of the profile that has it; none if the user gave a number.
    pub profile: Option<String>,
}

impl KnownIssueRate {
    /// As a quantity.
    #[must_use]
    pub fn get(&self) -> IssueRate {
        IssueRate(self.rate)
    }
}

impl IssueProfile {
    /// The names of the bundled profiles; the first is the one that applies if nobody names another.
    pub fn bundled() -> impl Iterator<Item = &'static str> {
        BUNDLED.iter().map(|&(name, _)| name)
    }

    /// The profile of a name, or of a file.
    ///
    /// # Errors
    /// If it is neither bundled nor a file, or the file is no such profile.
    pub fn named(name: &str) -> Result<Self, String> {
        Self::named_among(name, &BTreeMap::new())
    }

    /// The profile of a name, or of a file; `files` has the texts that a campaign kept.
    ///
    /// # Errors
    /// If it is neither bundled nor a file, or the file is no such profile.
    pub fn named_among(name: &str, files: &BTreeMap<String, String>) -> Result<Self, String> {
        let refused = |why: &str| format!("read the issue rates `{name}`: {why}");
        let text = match BUNDLED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, text)) => (*text).to_owned(),
            None => lasting::read(name, files).map_err(|why| Self::unread(name, &why))?,
        };
        let profile: Self = toml::from_str(&text).map_err(|error| refused(error.to_string().trim()))?;
        if let Some(it) = profile.workloads.iter().find(|it| !is_rate(it.rate)) {
            return Err(refused(&format!("{}: a rate must be a number above 0, and at most {MOST}", it.name)));
        }
        let mut seen = BTreeSet::new();
        match profile.workloads.iter().find(|it| !seen.insert((&it.name, &it.digest))) {
            Some(it) => Err(refused(&format!("{} is there twice", it.name))),
            None => Ok(profile),
        }
    }

    /// The message where neither a bundled profile nor a file has a name.
    pub(super) fn unread(name: &str, why: &str) -> String {
        let names = Self::bundled().collect::<Vec<_>>().join(", ");
        let kinds = format!("it is a number, one of the bundled profiles ({names}), or the name of a file");
        format!("read the issue rates `{name}`: {why}; {kinds}")
    }

    /// The rate of a capsule, if the profile knows it.
    #[must_use]
    pub fn of(&self, name: &str, digest: &str) -> Option<KnownIssueRate> {
        let measured =
            |it: &&IssueOfWorkload| it.digest.as_ref().is_none_or(|known| digest.starts_with(known.as_str()));
        let found = self.workloads.iter().filter(|it| it.name == name).find(measured)?;
        let how = if found.digest.is_some() { "measured" } else { "of the program of like name" };
        Some(KnownIssueRate {
            rate: found.rate,
            source: format!("{} ({how})", self.name),
            profile: Some(self.name.clone()),
        })
    }
}

/// What the words `--issue` mean for a capsule: a number, or what a profile knows of it. `files` has the texts that a campaign
/// kept.
///
/// # Errors
/// If they mean nothing.
pub fn issue_rate(
    words: &str,
    name: &str,
    digest: &str,
    files: &BTreeMap<String, String>,
) -> Result<Option<KnownIssueRate>, String> {
    if words == "none" {
        return Ok(None);
    }
    if let Ok(rate) = words.parse::<f64>() {
        let said = || KnownIssueRate { rate, source: "given by --issue".to_owned(), profile: None };
        return is_rate(rate)
            .then(|| Some(said()))
            .ok_or_else(|| format!("take the issue rate {words}: it must be a number above 0, and at most {MOST}"));
    }
    Ok(IssueProfile::named_among(words, files)?.of(name, digest))
}

/// Whether words for issue rates are complete in themselves, and no file is read for them.
pub(super) fn is_word(words: &str) -> bool {
    let bundled = || IssueProfile::bundled().any(|known| known.eq_ignore_ascii_case(words));
    words == "none" || words.parse::<f64>().is_ok() || bundled()
}

/// Whether a multiprocessor can issue this many instructions in a cycle.
pub(super) fn is_rate(rate: f64) -> bool {
    rate > 0.0 && rate <= MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_said_looked_up_or_unknown() {
        let none = BTreeMap::new();
        assert_eq!(issue_rate("1.5", "x", "", &none).unwrap().unwrap().rate, 1.5);
        assert_eq!(issue_rate("none", "hotspot", "", &none).unwrap(), None);
        let found = issue_rate("k40", "hotspot", "ab", &none).unwrap().unwrap();
        assert_eq!((found.rate, found.source.as_str()), (3.49, "K40 (of the program of like name)"));
        assert_eq!(issue_rate("k40", "gemm", "ab", &none).unwrap(), None);
        for words in ["0", "-1", "nan", "inf", "h900"] {
            assert!(issue_rate(words, "x", "", &none).is_err(), "{words}");
        }
    }

    #[test]
    fn a_measured_rate_is_of_the_capsule_that_was_measured() {
        let measured = IssueOfWorkload { name: "x".into(), rate: 2.0, digest: Some("ab12".into()) };
        let profile = IssueProfile { name: "H".into(), source: String::new(), workloads: vec![measured] };
        assert_eq!(profile.of("x", "ab12ff").map(|it| it.source), Some("H (measured)".into()));
        assert_eq!(profile.of("x", "ab13ff"), None);
    }
}
