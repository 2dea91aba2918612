//! What an application leaves: its outputs and files, and how they differ from those of another run.

use crate::varying::Varying;
use outcome::Host;
use process::ProcessEnd;
use std::fs;
use std::path::Path;

/// What a run left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AppOutputs {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// The contents of each file that was named, if it is there.
    pub(crate) files: Vec<Option<Vec<u8>>>,
}

/// What is left out when runs are compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct VaryingOutputs {
    stdout: Varying,
    stderr: Varying,
    files: Vec<Varying>,
}

impl VaryingOutputs {
    /// Leaves out in what another run without a fault left something else; whether that is all in which they differ.
    pub(crate) fn learn(&mut self, golden: &AppOutputs, other: &AppOutputs) -> bool {
        self.files.resize(golden.files.len(), Varying::default());
        let pairs = golden.files.iter().zip(&other.files);
        let files = self.files.iter_mut().zip(pairs).all(|(varying, (one, other))| match (one, other) {
            (Some(one), Some(other)) => varying.learn(one, other),
            _ => one == other,
        });
        files && self.stdout.learn(&golden.stdout, &other.stdout) && self.stderr.learn(&golden.stderr, &other.stderr)
    }

    /// What is left out, in words; nothing if all is compared.
    pub(crate) fn describe(&self, golden: &AppOutputs, names: &[String]) -> Option<String> {
        let mut parts = Vec::new();
        let mut add = |name: &str, varying: &Varying, text: &[u8]| {
            let words = varying.of(text);
            if !words.is_empty() {
                parts.push(format!("{} of {name}", words.join(", ")));
            }
        };
        add("standard output", &self.stdout, &golden.stdout);
        add("standard error", &self.stderr, &golden.stderr);
        for ((varying, text), name) in self.files.iter().zip(&golden.files).zip(names) {
            add(name, varying, text.as_deref().unwrap_or_default());
        }
        (!parts.is_empty())
            .then(|| format!("not the same in each run without a fault, and left out: {}", parts.join("; ")))
    }
}

impl AppOutputs {
    /// Whether some text has a time of day in it, or seconds since 1970: what is the same in runs within one second need not be
    /// so in the next.
    pub(crate) fn has_clock(&self) -> bool {
        let files = self.files.iter().flatten();
        [&self.stdout, &self.stderr].into_iter().chain(files).any(|text| has_time_of_day(text) || has_epoch(text))
    }

    /// What a run left in its directory, of which these files count.
    pub(crate) fn of(ended: &mut ProcessEnd, directory: &Path, files: &[String]) -> Self {
        Self {
            stdout: std::mem::take(&mut ended.stdout),
            stderr: std::mem::take(&mut ended.stderr),
            files: files.iter().map(|name| fs::read(directory.join(name)).ok()).collect(),
        }
    }

    /// How it differs from what a golden run left, but for what varies. The names are those of the files.
    pub(crate) fn differs(&self, golden: &Self, names: &[String], varying: &VaryingOutputs) -> Host {
        let pairs = || golden.files.iter().zip(&self.files);
        let none = Varying::default();
        let same = |at: usize, one: &Option<Vec<u8>>, other: &Option<Vec<u8>>| match (one, other) {
            (Some(one), Some(other)) => varying.files.get(at).unwrap_or(&none).same(one, other),
            _ => one == other,
        };
        let files = pairs().zip(names).enumerate();
        let files = files.filter(|(at, ((one, other), _))| !same(*at, one, other)).map(|(_, (_, name))| name.clone());
        let texts = pairs().map(|(one, other)| (one.as_deref(), other.as_deref()));
        let mut texts = texts.chain([(Some(&golden.stdout[..]), Some(&self.stdout[..]))]);
        let count = |text: Option<&[u8]>| text.map_or(0, special_words);
        Host {
            status: None,
            stdout: !varying.stdout.same(&golden.stdout, &self.stdout),
            stderr: !varying.stderr.same(&golden.stderr, &self.stderr),
            files: files.collect(),
            special: texts.any(|(one, other)| one != other && count(other) > count(one)),
            verdict: None,
            debugged: None,
        }
    }

    /// The largest stream or file, in bytes.
    pub(crate) fn largest(&self) -> usize {
        let files = self.files.iter().flatten().map(Vec::len);
        files.chain([self.stdout.len(), self.stderr.len()]).max().unwrap_or(0)
    }
}

/// How often `nan` and `inf`, also with a sign or as `infinity`, stand in a text as words of their own.
fn special_words(text: &[u8]) -> usize {
    let words = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let special: [&[u8]; 3] = [b"nan", b"inf", b"infinity"];
    words.filter(|word| special.iter().any(|known| word.eq_ignore_ascii_case(known))).count()
}

/// How two runs differ, in words.
pub(crate) fn describe(host: &Host) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(host.stdout.then(|| "standard output".to_owned()));
    parts.extend(host.stderr.then(|| "standard error".to_owned()));
    parts.extend(host.files.iter().map(|name| format!("`{name}`")));
    parts.join(", ")
}

/// Whether a text has two digits, a colon and two digits.
fn has_time_of_day(text: &[u8]) -> bool {
    let is = |at: usize, byte: u8| if at == 2 { byte == b':' } else { byte.is_ascii_digit() };
    text.windows(5).any(|window| window.iter().enumerate().all(|(at, byte)| is(at, *byte)))
}

/// Whether a text has a number of ten digits from 1,000,000,000 to 2,999,999,999: seconds since 1970, from 2001 to 2065.
fn has_epoch(text: &[u8]) -> bool {
    let numbers = text.split(|byte| !byte.is_ascii_digit());
    numbers.into_iter().any(|number| number.len() == 10 && matches!(number[0], b'1' | b'2'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(stdout: &str, files: [Option<&str>; 2]) -> AppOutputs {
        let files = files.map(|file| file.map(|text| text.as_bytes().to_vec())).to_vec();
        AppOutputs { stdout: stdout.into(), stderr: Vec::new(), files }
    }

    #[test]
    fn files_that_are_missing_differ_and_are_named() {
        let names = ["a".to_owned(), "b".to_owned()];
        let golden = outputs("x", [Some("1"), Some("2")]);
        assert!(!golden.differs(&golden, &names, &VaryingOutputs::default()).differs());
        let host = outputs("x", [Some("1"), None]).differs(&golden, &names, &VaryingOutputs::default());
        assert_eq!((host.stdout, host.stderr, &host.files[..]), (false, false, &names[1..]));
        let host = outputs("y", [Some(""), Some("2")]).differs(&golden, &names, &VaryingOutputs::default());
        assert_eq!((host.stdout, &host.files[..]), (true, &names[..1]));
        assert_eq!(describe(&host), "standard output, `a`");
    }

    #[test]
    fn a_time_of_day_and_seconds_since_1970_are_clocks() {
        for text in ["Wed Nov 25 16:15:01 2026", "at 09:30", "seed 1795623301"] {
            assert!(outputs(text, [None, None]).has_clock() && outputs("", [None, Some(text)]).has_clock(), "{text}");
        }
        for text in ["sum 6112", "3:4", "16: 15", "12345678901", "3000000000", "ratio 1:2"] {
            assert!(!outputs(text, [Some(text), None]).has_clock(), "{text}");
        }
    }

    #[test]
    fn new_words_for_no_number_are_special() {
        let names = ["a".to_owned(), "b".to_owned()];
        let golden = outputs("norm 1.0, nan", [Some("nanometre"), None]);
        let special = |stdout, file| {
            outputs(stdout, [Some(file), None]).differs(&golden, &names, &VaryingOutputs::default()).special
        };
        assert!(special("norm -NaN, nan", "nanometre"));
        assert!(special("norm 1.0, nan", "x = inf"));
        assert!(special("norm 1.0, nan", "-Infinity"));
        assert!(!special("norm 2.0, nan", "nanometre inform"));
    }
}
