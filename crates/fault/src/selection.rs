//! Which dynamic instructions a campaign draws from.

use crate::names::base_name;
use isa::{Function, Group, Instruction, Module, Width};
use std::ops::RangeInclusive;
use thiserror::Error;

/// Why a selection cannot be understood.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SelectionError {
    /// A word is not one of those that the key takes.
    #[error("use {key} `{found}`: expected one of {expected}")]
    Word {
        /// The key.
        key: &'static str,
        /// What was found.
        found: String,
        /// What it takes.
        expected: String,
    },
    /// A range is not one.
    #[error("use {key} `{found}`: expected numbers and ranges such as 0-31 or 7")]
    Range {
        /// The key.
        key: &'static str,
        /// What was found.
        found: String,
    },
    /// A kernel's launch number is not a number.
    #[error("use kernel `{0}`: expected NAME, or NAME#n for its n-th launch, counted from 0")]
    Kernel(String),
    /// Source lines are not of the form `FILE:a-b`.
    #[error("use lines `{0}`: expected FILE:a-b, FILE:a or a-b")]
    Lines(String),
}

/// Which destinations can be hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Operand {
    /// Any destination register, predicates too.
    #[default]
    Destination,
    /// Destination predicates only.
    Predicate,
}

/// Sets of numbers, written as ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<RangeInclusive<u64>>);

impl Ranges {
    /// Reads ranges such as `0-31` and numbers such as `7`, separated by commas or given one by one.
    ///
    /// # Errors
    /// If a part is neither.
    pub fn parse(key: &'static str, texts: &[String]) -> Result<Self, SelectionError> {
        let parts = texts.iter().flat_map(|text| text.split(','));
        let ranges = parts.map(|part| range(part.trim()).ok_or(SelectionError::Range { key, found: part.to_owned() }));
        Ok(Self(ranges.collect::<Result<_, _>>()?))
    }

    /// Whether a number is in the set; the empty set of ranges stands for all numbers.
    #[must_use]
    pub fn holds(&self, number: u64) -> bool {
        self.0.is_empty() || self.0.iter().any(|range| range.contains(&number))
    }
}

fn range(text: &str) -> Option<RangeInclusive<u64>> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (from.parse().ok()?, to.parse().ok()?);
    (from <= to).then_some(from..=to)
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Kernel {
    name: String,
    launch: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Lines {
    file: Option<String>,
    lines: RangeInclusive<u64>,
}

/// What a campaign draws from: every key that is left out selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    operand: Operand,
    groups: Vec<Group>,
    kernels: Vec<Kernel>,
    lines: Vec<Lines>,
    /// Threads, linear in their block.
    pub threads: Ranges,
    /// Blocks, linear in their grid.
    pub blocks: Ranges,
}

/// Refuses any word but those known.
fn one_of(key: &'static str, found: Option<&str>, expected: &[&str]) -> Result<usize, SelectionError> {
    let Some(found) = found else { return Ok(0) };
    expected.iter().position(|word| *word == found).ok_or_else(|| SelectionError::Word {
        key,
        found: found.to_owned(),
        expected: expected.join(", "),
    })
}

impl Selection {
    /// Checks the words that choose a fault and where it can hit: the model and scope have only one value each yet.
    ///
    /// # Errors
    /// If a word is unknown.
    pub fn operands(
        model: Option<&str>,
        target: Option<&str>,
        scope: Option<&str>,
        groups: &[String],
    ) -> Result<Self, SelectionError> {
        one_of("model", model, &["flip"])?;
        one_of("scope", scope, &["thread"])?;
        let operand = [Operand::Destination, Operand::Predicate][one_of("target", target, &["dst", "pred"])?];
        let names: Vec<&str> = Group::ALL.iter().map(|group| group.word()).collect();
        let groups = groups
            .iter()
            .flat_map(|text| text.split(','))
            .map(|word| Ok(Group::ALL[one_of("group", Some(word.trim()), &names)?]));
        Ok(Self { operand, groups: groups.collect::<Result<_, _>>()?, ..Self::default() })
    }

    /// Narrows the selection to kernels, `NAME` or `NAME#n`.
    ///
    /// # Errors
    /// If a launch number is not one.
    pub fn in_kernels(mut self, kernels: &[String]) -> Result<Self, SelectionError> {
        for text in kernels {
            let (name, launch) = match text.split_once('#') {
                None => (text.as_str(), None),
                Some((name, number)) => (name, Some(number.parse().map_err(|_| SelectionError::Kernel(text.clone()))?)),
            };
            self.kernels.push(Kernel { name: name.to_owned(), launch });
        }
        Ok(self)
    }

    /// Narrows the selection to source lines, `FILE:a-b`.
    ///
    /// # Errors
    /// If a text is not of that form.
    pub fn in_lines(mut self, lines: &[String]) -> Result<Self, SelectionError> {
        for text in lines {
            let (file, numbers) = match text.rsplit_once(':') {
                None => (None, text.as_str()),
                Some((file, numbers)) => (Some(file.to_owned()), numbers),
            };
            let lines = range(numbers).ok_or_else(|| SelectionError::Lines(text.clone()))?;
            self.lines.push(Lines { file, lines });
        }
        Ok(self)
    }

    /// Whether a launch is selected: its kernel, and its number among the launches of that kernel.
    #[must_use]
    pub fn holds_launch(&self, kernel: &str, number: u32) -> bool {
        let named = |wanted: &Kernel| wanted.name == kernel || wanted.name == base_name(kernel);
        self.kernels.is_empty()
            || self.kernels.iter().any(|wanted| named(wanted) && wanted.launch.is_none_or(|launch| launch == number))
    }

    /// Whether an instruction is in the population: it has an operand to hit, and its group and line are selected.
    #[must_use]
    pub fn holds(&self, module: &Module, function: &Function, instruction: &Instruction) -> bool {
        self.elements(function, instruction).next().is_some()
            && (self.groups.is_empty() || self.groups.contains(&instruction.op.group()))
            && (self.lines.is_empty() || self.lines.iter().any(|lines| on_line(lines, module, instruction)))
    }

    /// The destinations of an instruction that can be hit: position and width in bits.
    pub fn elements<'a>(
        &self,
        function: &'a Function,
        instruction: &'a Instruction,
    ) -> impl Iterator<Item = (u8, u32)> + use<'a> {
        let predicates = self.operand == Operand::Predicate;
        elements(function, instruction).filter(move |(_, bits)| !predicates || *bits == 1)
    }
}

/// The destinations of an instruction: position and width in bits.
pub fn elements<'a>(function: &'a Function, instruction: &'a Instruction) -> impl Iterator<Item = (u8, u32)> + use<'a> {
    let width = |reg| function.register(reg).width();
    instruction.writes().map(move |(at, reg)| (at as u8, Width::bits(width(reg))))
}

/// Whether the instruction, or the place its function was inlined at, is on one of the lines.
fn on_line(lines: &Lines, module: &Module, instruction: &Instruction) -> bool {
    let mut at = instruction.loc.as_ref();
    while let Some(loc) = at {
        let file = module.files.get(&loc.file).map_or("", String::as_str);
        let same_file = lines.file.as_ref().is_none_or(|wanted| is_file(file, wanted));
        if same_file && lines.lines.contains(&u64::from(loc.line)) {
            return true;
        }
        at = loc.inlined.as_ref().map(|inlined| &inlined.at);
    }
    false
}

/// Whether a path is, or ends in, the one wanted.
fn is_file(path: &str, wanted: &str) -> bool {
    path.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use isa::{Dst, Form, Op, Reg, Register, Type};

    fn function() -> (Function, Instruction, Instruction) {
        let registers = [Type::B64, Type::Pred, Type::B32];
        let registers = registers.iter().map(|&ty| Register { name: format!("%{ty}"), ty }).collect();
        let of = |spelling: &str, dst: Vec<Dst>| Instruction {
            guard: None,
            op: match Form::from_spelling(spelling).unwrap() {
                form if form.is_compare() => Op::Setp(isa::op::Comparison::of(form)),
                form => Op::Alu(form),
            },
            dst,
            src: vec![],
            loc: Some(isa::Loc { file: 1, line: 40, column: 1, inlined: None }),
        };
        let add = of("add.s64", vec![Dst::Reg(Reg(0))]);
        let setp = of("setp.eq.s32", vec![Dst::Sink, Dst::Reg(Reg(1))]);
        (Function { registers, ..Function::default() }, add, setp)
    }

    fn module() -> Module {
        Module { files: [(1, "/src/app/kernel.cu".to_owned())].into(), ..Module::default() }
    }

    #[test]
    fn destinations_have_their_register_width_and_dropped_ones_do_not_count() {
        let (function, add, setp) = function();
        assert_eq!(elements(&function, &add).collect::<Vec<_>>(), [(0, 64)]);
        assert_eq!(elements(&function, &setp).collect::<Vec<_>>(), [(1, 1)]);
    }

    #[test]
    fn groups_targets_and_lines_narrow_the_population() {
        let (function, add, setp) = function();
        let module = module();
        let of = |target: &str, groups: &[&str], lines: &[&str]| {
            let strings = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
            let selection = Selection::operands(Some("flip"), Some(target), None, &strings(groups)).unwrap();
            let selection = selection.in_lines(&strings(lines)).unwrap();
            [&add, &setp].map(|instruction| selection.holds(&module, &function, instruction))
        };
        assert_eq!(of("dst", &[], &[]), [true, true]);
        assert_eq!(of("pred", &[], &[]), [false, true]);
        assert_eq!(of("dst", &["int_add"], &[]), [true, false]);
        assert_eq!(of("dst", &["int_add,compare"], &[]), [true, true]);
        assert_eq!(of("dst", &[], &["kernel.cu:39-41"]), [true, true]);
        assert_eq!(of("dst", &[], &["nel.cu:39-41"]), [false, false]);
        assert_eq!(of("dst", &[], &["41-50"]), [false, false]);
    }

    #[test]
    fn kernels_are_named_plainly_and_by_launch() {
        let selection = Selection::default().in_kernels(&["gemm#1".into()]).unwrap();
        assert!(selection.holds_launch("_Z4gemmPf", 1));
        assert!(!selection.holds_launch("_Z4gemmPf", 0));
        assert!(!selection.holds_launch("_Z5gemmsPf", 1));
        assert!(Selection::default().holds_launch("anything", 7));
    }

    #[test]
    fn words_that_mean_nothing_are_refused() {
        let message = |result: Result<Selection, SelectionError>| result.unwrap_err().to_string();
        assert_eq!(
            message(Selection::operands(Some("twist"), None, None, &[])),
            "use model `twist`: expected one of flip"
        );
        assert!(message(Selection::operands(None, None, None, &["fp33".into()])).contains("fp32_add"));
        assert!(message(Selection::default().in_kernels(&["k#x".into()])).contains("NAME#n"));
        assert!(message(Selection::default().in_lines(&["f.cu:9-3".into()])).contains("FILE:a-b"));
        assert!(Ranges::parse("threads", &["3-1".into()]).is_err());
        assert!(Ranges::parse("threads", &["0-31,64".into()]).unwrap().holds(64));
    }
}
