//! Why there is nothing to hit in a region, and what would be there.

use campaign::SelectionWords;
use facts::{Role, Source};
use inject::{CapsuleTarget, LaunchProfile, profile};
use std::collections::{BTreeMap, BTreeSet};

use super::region::Region;

/// What a program executes, as far as regions are asked.
pub(super) struct Program<'c> {
    capsule: &'c CapsuleTarget,
    launches: Vec<LaunchProfile<'c>>,
}

impl<'c> Program<'c> {
    pub(super) fn of(capsule: &'c CapsuleTarget) -> Self {
        Self { capsule, launches: profile(capsule.golden_run()) }
    }

    /// Why a region has no site, in a sentence.
    pub(super) fn why_empty(&self, region: &Region) -> String {
        let kernel = self.kernel(region).or_else(|| self.condition(region));
        kernel.or_else(|| self.line(region)).unwrap_or_else(|| self.operands(region))
    }

    /// The condition that never holds.
    fn condition(&self, region: &Region) -> Option<String> {
        let when = region.when.as_ref()?;
        let words = SelectionWords { target: Some("reg".into()), ..region.words_for(self.capsule).ok()? };
        let none = SelectionWords { kernel: words.kernel, target: words.target, ..SelectionWords::default() };
        (self.capsule.members(&none).ok()? == 0)
            .then(|| format!("its condition `{when}` holds at the beginning of none of its launches"))
    }

    /// The kernel that there is not.
    fn kernel(&self, region: &Region) -> Option<String> {
        let wanted = region.kernel.as_ref()?;
        let words =
            SelectionWords { kernel: vec![wanted.clone()], target: Some("reg".into()), ..SelectionWords::default() };
        if self.capsule.members(&words).ok()? > 0 {
            return None;
        }
        let names: BTreeSet<&str> = self.launches.iter().map(|it| fault::base_name(&it.launch.program.name)).collect();
        Some(format!(
            "no launch is of the kernel {wanted}; there are {}",
            names.into_iter().collect::<Vec<_>>().join(", ")
        ))
    }

    /// The line that there is not, with the nearest that there are; or that no thread comes to it.
    fn line(&self, region: &Region) -> Option<String> {
        let (file, [first, last]) = (region.file.as_ref()?, region.lines?);
        let place = region.place().unwrap_or_default();
        let places = self.places();
        if places.is_empty() {
            return Some("its instructions have no source lines: compile with -lineinfo".to_owned());
        }
        let of_file: Vec<&(String, u32, bool)> = places.iter().filter(|(path, ..)| is_file(path, file)).collect();
        if of_file.is_empty() {
            let files: BTreeSet<&str> = places.iter().map(|(path, ..)| path.as_str()).collect();
            let files: Vec<&str> = files.into_iter().collect();
            return Some(format!("no instruction comes from {file}; there are lines of {}", files.join(", ")));
        }
        let on = |line: u32| (first..=last).contains(&line);
        if !of_file.iter().any(|(_, line, _)| on(*line)) {
            let lines: BTreeSet<u32> = of_file.iter().map(|(_, line, _)| *line).collect();
            let (below, above) = (lines.range(..first).next_back(), lines.range(last..).next());
            let near: Vec<String> = below.into_iter().chain(above).map(u32::to_string).collect();
            return Some(format!("no instruction comes from {place}; the nearest that have some: {}", near.join(", ")));
        }
        let executed = of_file.iter().any(|(_, line, executed)| on(*line) && *executed);
        (!executed).then(|| format!("no thread executes an instruction of {place} (with a true guard)"))
    }

    /// What of the place is not the operand that is aimed at.
    fn operands(&self, region: &Region) -> String {
        let words = region.words();
        let times = SelectionWords { iterations: Vec::new(), ..words.clone() };
        if region.iterations.is_some() && self.capsule.members(&times).is_ok_and(|members| members > 0) {
            return format!(
                "its instructions are executed, but by no thread as often as iterations {} say, which count from 0{}",
                region.iterations.as_deref().unwrap_or_default(),
                self.unrolled(region).unwrap_or_default()
            );
        }
        let target = region.target.as_deref().unwrap_or("dst");
        let others: Vec<&str> = ["dst", "pred", "addr", "store", "src", "reg"]
            .into_iter()
            .filter(|&other| {
                let words = SelectionWords { target: Some(other.to_owned()), ..words.clone() };
                self.capsule.members(&words).is_ok_and(|members| members > 0)
            })
            .collect();
        if others.is_empty() {
            return "no executed instruction matches all that it says".to_owned();
        }
        format!("its instructions have no operand of the target {target}; they have {}", others.join(", "))
    }

    /// Whether the lines of a region have copies of an instruction, as an unrolled loop has, in words: each is executed once for
    /// several iterations of the source.
    fn unrolled(&self, region: &Region) -> Option<String> {
        let (file, [first, last]) = (region.file.as_ref()?, region.lines?);
        let mut most = 0;
        for launch in &self.launches {
            let mut copies: BTreeMap<(Option<&str>, u32, &str), u64> = BTreeMap::new();
            for (facts, _) in
                launch.instructions().filter(|(facts, _)| facts.of_role(Role::Destination).next().is_some())
            {
                let places = facts.source.as_ref().into_iter().flat_map(Source::places);
                let on = places.filter(|(path, line)| {
                    path.is_some_and(|path| is_file(path, file)) && (first..=last).contains(line)
                });
                for (path, line) in on.take(1) {
                    *copies.entry((path, line, facts.mnemonic.as_ref())).or_default() += 1;
                }
            }
            most = copies.into_values().max().unwrap_or(0).max(most);
        }
        (most > 1).then(|| {
            format!(
                "; there are {most} copies of an instruction on one of its lines, as of a loop that the compiler has unrolled: iterations are those of \
                 each copy, one in {most} of the source's"
            )
        })
    }

    /// Paths and lines of all instructions, and whether a thread executes some there.
    fn places(&self) -> BTreeSet<(String, u32, bool)> {
        let mut places = BTreeSet::new();
        for launch in &self.launches {
            for (instruction, count) in launch.launch.program.instructions.iter().zip(&launch.instructions) {
                let source = instruction.facts.as_ref().and_then(|facts| facts.source.as_ref());
                for (path, line) in source.into_iter().flat_map(Source::places) {
                    places.insert((path.unwrap_or("").to_owned(), line, count.executed > 0));
                }
            }
        }
        places
    }
}

/// Whether a path is, or ends in, the one wanted.
fn is_file(path: &str, wanted: &str) -> bool {
    path.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}
