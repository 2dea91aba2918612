//! Why there is nothing to hit in a region, and what would be there.

use campaign::SelectionWords;
use facts::Source;
use fault::Narrowing;
use inject::{CapsuleTarget, LaunchProfile, NarrowedWords, profile};
use std::collections::BTreeSet;

use super::copies::is_file;
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
        let kernel = self.capsule.check_kernels(&region.words().kernel).err().map(|error| error.to_string());
        let condition = kernel.or_else(|| self.condition(region)).or_else(|| self.line(region));
        condition.or_else(|| self.narrowing(region)).unwrap_or_else(|| self.operands(region))
    }

    /// The condition that never holds.
    fn condition(&self, region: &Region) -> Option<String> {
        let when = region.when.as_ref()?;
        let words = SelectionWords { target: Some("reg".into()), ..region.words_for(self.capsule).ok()?.words };
        let none = SelectionWords { kernel: words.kernel, target: words.target, ..SelectionWords::default() };
        (self.capsule.members(&none).ok()? == 0)
            .then(|| format!("its condition `{when}` holds at the beginning of none of its launches"))
    }

    /// The copies that there are not, or the value that a register never has, where there is something to hit without them.
    fn narrowing(&self, region: &Region) -> Option<String> {
        let narrowed = region.words_for(self.capsule).ok()?;
        if narrowed.narrowing == Narrowing::default() || self.capsule.members(&narrowed.words).ok()? == 0 {
            return None;
        }
        let all = NarrowedWords { narrowing: Narrowing { registers: Vec::new(), ..narrowed.narrowing }, ..narrowed };
        let members = self.capsule.members_by_instruction(&all).ok()?;
        if members.iter().flatten().any(|&members| members > 0) {
            return Some(format!("`when` = `{}` holds right before none of its instructions", region.when.as_ref()?));
        }
        let launches = self.capsule.golden_run().launches().iter();
        let copies = launches.flat_map(|it| region.lines_of().numbered(&it.program, |_| true)).map(|(.., all)| all);
        let (copies, wanted) = (copies.max()?, region.copies.as_deref()?);
        Some(format!("its lines have {copies} copies, counted from 0, and nothing to hit in copies {wanted}"))
    }

    /// The line that there is not, with the nearest that there are; or that no thread comes to it.
    fn line(&self, region: &Region) -> Option<String> {
        let (file, [first, last]) = (region.file.as_ref()?, region.lines?);
        let place = region.place().unwrap_or_default();
        let programs: Vec<_> = self.launches.iter().map(|it| (&it.launch.program, &it.instructions)).collect();
        let all = programs.iter().flat_map(|(program, _)| sources(program));
        let all: BTreeSet<(String, u32)> = all.map(|(_, path, line)| (path.to_owned(), line)).collect();
        if let Some(why) = without_instructions(&all, file, [first, last], &place) {
            return Some(why);
        }
        let is_on = |path: &str, line: u32| is_file(path, file) && (first..=last).contains(&line);
        let executed = programs.iter().any(|(program, counts)| {
            sources(program).any(|(at, path, line)| is_on(path, line) && counts[at].executed > 0)
        });
        (!executed).then(|| format!("no thread executes an instruction of {place} (with a true guard)"))
    }

    /// What of the place is not the operand that is aimed at.
    fn operands(&self, region: &Region) -> String {
        let narrowed = region.words_for(self.capsule).unwrap_or_default();
        let words = narrowed.words;
        let times = SelectionWords { iterations: Vec::new(), ..words.clone() };
        if region.iterations.is_some() && self.capsule.members(&times).is_ok_and(|members| members > 0) {
            return format!(
                "its instructions are executed, but by no thread as often as iterations {} say, which count from 0{}",
                region.iterations.as_deref().unwrap_or_default(),
                self.unrolled(region).map(|why| format!("; {why}")).unwrap_or_default()
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
            // Words alone do not say it where copies or registers narrow the selection, too.
            let alone = (narrowed.narrowing == Narrowing::default()).then(|| self.capsule.words_in_the_way(&words));
            let in_the_way = alone.flatten().map_or_else(String::new, |said| format!("; {said}"));
            return format!("no executed instruction matches all that it says{in_the_way}");
        }
        format!("its instructions have no operand of the target {target}; they have {}", others.join(", "))
    }

    /// Whether the lines of a region have copies of an instruction, as an unrolled loop has, in words: each is executed once for
    /// several iterations of the source.
    pub(super) fn unrolled(&self, region: &Region) -> Option<String> {
        let of_launch = |it: &LaunchProfile| {
            let executed = |at: u32| it.instructions[at as usize].executed > 0;
            region.lines_of().numbered(&it.launch.program, executed).into_iter().map(|(.., copies)| copies).max()
        };
        let most = self.launches.iter().filter_map(of_launch).max().unwrap_or(1);
        (most > 1).then(|| {
            format!(
                "one of its lines has {most} copies, as of a loop that the compiler has unrolled: iterations are those of each copy, one in {most} of the \
                 source's, and `copies` chooses among them"
            )
        })
    }
}

/// The instructions of a program, by their places in it, with the paths and lines that they come from.
pub(super) fn sources(program: &simt::Program) -> impl Iterator<Item = (usize, &str, u32)> {
    program.instructions.iter().enumerate().flat_map(|(at, instruction)| {
        let source = instruction.facts.as_ref().and_then(|facts| facts.source.as_ref());
        source.into_iter().flat_map(Source::places).map(move |(path, line)| (at, path.unwrap_or(""), line))
    })
}

/// Why none of these places is on the lines of a file, which are called `place`, with the nearest that there are.
pub(super) fn without_instructions(
    places: &BTreeSet<(String, u32)>,
    file: &str,
    [first, last]: [u32; 2],
    place: &str,
) -> Option<String> {
    if places.is_empty() {
        return Some("its instructions have no source lines: compile with -lineinfo".to_owned());
    }
    let lines: BTreeSet<u32> = places.iter().filter(|(path, _)| is_file(path, file)).map(|(_, line)| *line).collect();
    if lines.is_empty() {
        let files: BTreeSet<&str> = places.iter().map(|(path, _)| path.as_str()).collect();
        let files: Vec<&str> = files.into_iter().collect();
        return Some(format!("no instruction comes from {file}; there are lines of {}", files.join(", ")));
    }
    if lines.range(first..=last).next().is_some() {
        return None;
    }
    let (below, above) = (lines.range(..first).next_back(), lines.range(last..).next());
    let near: Vec<String> = below.into_iter().chain(above).map(u32::to_string).collect();
    Some(format!("no instruction comes from {place}; the nearest that have some: {}", near.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_lines_are_named_or_that_there_are_none() {
        let why = |places: &[(&str, u32)], file: &str| {
            let places = places.iter().map(|&(path, line)| (path.to_owned(), line)).collect();
            without_instructions(&places, file, [34, 35], "k.cu:34-35").unwrap_or_default()
        };
        assert!(why(&[], "k.cu").contains("no source lines: compile with -lineinfo"));
        let places = [("/a/k.cu", 20), ("/a/k.cu", 33), ("/a/k.cu", 36), ("/a/other.cu", 34)];
        assert_eq!(why(&places, "k.cu"), "no instruction comes from k.cu:34-35; the nearest that have some: 33, 36");
        assert_eq!(why(&places, "b.cu"), "no instruction comes from b.cu; there are lines of /a/k.cu, /a/other.cu");
        assert_eq!(why(&places, "other.cu"), "");
    }
}
