//! The parts of a program that bounds may name: what its capsule has, and what rows are of.

use crate::commands::listing;
use crate::failure::{Code, Coded, Failure};
use anyhow::anyhow;
use campaign::{Bound, Results, Subpopulation};
use capsule::Capsule;
use fault::base_name;
use session::Session;
use std::collections::BTreeSet;
use std::path::Path;

/// Files or lines that a message lists.
const LISTED: usize = 20;

/// Kernels, instruction groups and source lines.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    kernels: BTreeSet<String>,
    groups: BTreeSet<String>,
    lines: BTreeSet<(String, u32)>,
}

impl Parts {
    /// What a session irradiates: the parts of its capsule, or the layers and classes of operators of a network.
    pub(crate) fn of_session(session: &Session) -> Self {
        if let Some(capsule) = session.capsule() {
            return Self::of_capsule(capsule.golden_run().capsule());
        }
        let parts = session.parts();
        Self {
            kernels: parts.iter().map(|part| part.name.clone()).collect(),
            groups: parts.into_iter().map(|part| part.group).collect(),
            lines: BTreeSet::new(),
        }
    }

    /// What a capsule has. Every group is one, whether anything in it is executed or not.
    pub(crate) fn of_capsule(capsule: &Capsule) -> Self {
        let mut parts = Self {
            kernels: capsule.summary().kernels.into_iter().map(|used| used.kernel).collect(),
            groups: facts::Group::ALL.iter().map(|group| group.word().to_owned()).collect(),
            lines: BTreeSet::new(),
        };
        for module in listing::modules(capsule) {
            parts.lines.extend(module.listing().into_iter().filter_map(|it| Some((it.file?, it.line?))));
        }
        parts
    }

    /// What the rows of campaigns are of, and what their capsule has, where it is found.
    pub(crate) fn of_results<'d>(dirs: impl IntoIterator<Item = &'d Path>) -> Result<Self, Failure> {
        let mut parts = Self::default();
        for dir in dirs {
            let results = Results::open(dir).code(Code::Refused)?;
            let summary = results.summary().code(Code::Refused)?;
            if let Ok(capsule) = session::capsules::open_same(&results.config().capsule, &summary.capsule.digest) {
                parts.join(Self::of_capsule(&capsule));
            }
            let lines = summary.by_line.into_iter().filter_map(|part| Some((part.file?, part.line?)));
            parts.join(Self {
                kernels: summary.by_kernel.into_iter().map(|part| part.name).collect(),
                groups: summary.by_group.into_iter().map(|part| part.name).collect(),
                lines: lines.collect(),
            });
        }
        Ok(parts)
    }

    fn join(&mut self, other: Self) {
        self.kernels.extend(other.kernels);
        self.groups.extend(other.groups);
        self.lines.extend(other.lines);
    }

    /// Checks that bounds name parts that there are.
    pub(crate) fn check(&self, bounds: &[Bound]) -> Result<(), Failure> {
        bounds.iter().try_for_each(|bound| self.check_one(bound))
    }

    fn check_one(&self, bound: &Bound) -> Result<(), Failure> {
        let scope = bound.scope();
        let is = |label: &str, line| scope.holds(label, line, &base_name);
        let (there, what, known) = match scope {
            Subpopulation::Whole => return Ok(()),
            Subpopulation::Kernel(_) => {
                let names: BTreeSet<&str> = self.kernels.iter().map(|kernel| base_name(kernel)).collect();
                (self.kernels.iter().any(|kernel| is(kernel, None)), "kernel", names.into_iter().collect())
            }
            Subpopulation::Group(_) => (
                self.groups.iter().any(|group| is(group, None)),
                "group",
                self.groups.iter().map(String::as_str).collect(),
            ),
            Subpopulation::Line(..) if self.lines.iter().any(|(file, line)| is(file, Some(*line))) => return Ok(()),
            Subpopulation::Line(..) => return Err(unknown(bound, "line", &self.other_lines(scope))),
        };
        let known: Vec<&str> = known;
        if there { Ok(()) } else { Err(unknown(bound, what, &known.join(", "))) }
    }

    /// The lines that there are in the file that is meant, or if there is no such file, the files.
    fn other_lines(&self, scope: &Subpopulation) -> String {
        let Subpopulation::Line(named, number) = scope else { return String::new() };
        let of_file = |(file, line): &&(String, u32)| scope.holds(file, Some(*number), &base_name) && *line != *number;
        let nearest = |line: u32| line.abs_diff(*number);
        let mut lines: Vec<u32> = self.lines.iter().filter(of_file).map(|(_, line)| *line).collect();
        if lines.is_empty() {
            let files: BTreeSet<&str> = self.lines.iter().map(|(file, _)| file.as_str()).collect();
            return files.into_iter().take(LISTED).collect::<Vec<_>>().join(", ");
        }
        lines.sort_by_key(|line| nearest(*line));
        lines.truncate(LISTED);
        lines.sort_unstable();
        lines.iter().map(|line| format!("{named}:{line}")).collect::<Vec<_>>().join(", ")
    }
}

fn unknown(bound: &Bound, what: &str, known: &str) -> Failure {
    let known = if known.is_empty() { "none" } else { known };
    let error = anyhow!("use the bound {bound}: there is no such {what}, but {known}");
    Failure::new(Code::Usage, error).help("`beamline profile CAPSULE` shows kernels, groups and lines")
}
