//! Which dynamic instructions a campaign draws from.

use crate::error::SelectionError;
use crate::groups::InstructionClass;
use crate::names::base_name;
use crate::narrowing::Narrowing;
use crate::operand::{TargetKind, TargetOperand, operands};
use crate::pattern::Patterns;
use crate::scope::{ScopeKind, WARP};
use facts::{Facts, Group, NamedSet, Source};
use std::ops::RangeInclusive;

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

    /// Whether every number is in the set.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.0.is_empty()
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// What is hit.
    pub target: TargetKind,
    /// What happens to its bits, in how many threads.
    pub patterns: Patterns,
    groups: Vec<InstructionClass>,
    /// Besides being in one of the groups, an instruction must be in this one.
    within: Option<Group>,
    kernels: Vec<Kernel>,
    lines: Vec<Lines>,
    /// Threads, linear in their block.
    pub threads: Ranges,
    /// Blocks, linear in their grid.
    pub blocks: Ranges,
    /// The times that a thread executes an instruction in a launch, counted from 0.
    pub iterations: Ranges,
    /// Instructions and values of registers that it is narrowed to.
    pub narrowing: Narrowing,
}

impl Selection {
    /// Reads the words that choose a fault and where it can hit; groups may be sets that the guest has names for.
    ///
    /// # Errors
    /// If a word is unknown, or two of them do not go together.
    pub fn of_words(
        model: Option<&str>,
        target: Option<&str>,
        scope: Option<&str>,
        groups: &[String],
        sets: &[NamedSet],
    ) -> Result<Self, SelectionError> {
        let word = target;
        let target = word.map_or(Ok(TargetKind::default()), TargetKind::parse)?;
        let patterns = Patterns::parse(model, scope)?;
        if let (TargetKind::Memory(_), Some(scope)) = (target, scope.filter(|&scope| scope != "thread")) {
            return Err(SelectionError::Scope(scope.to_owned()));
        }
        if let (false, None) = (target.is_operand(), patterns.only()) {
            let several = patterns.iter().map(|pattern| pattern.scope).find(|&scope| scope != ScopeKind::Thread);
            if let Some(scope) = several {
                return Err(SelectionError::Several(scope.to_string(), word.unwrap_or_default().to_owned()));
            }
        }
        let groups =
            groups.iter().flat_map(|text| text.split(',')).map(|word| InstructionClass::parse(word.trim(), sets));
        Ok(Self { target, patterns, groups: groups.collect::<Result<_, _>>()?, ..Self::default() })
    }

    /// Narrows the selection to what is in a group, too.
    #[must_use]
    pub fn within(self, group: Group) -> Self {
        Self { within: Some(group), ..self }
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

    /// Whether it has the launches, blocks and threads of another, and aims at the same.
    #[must_use]
    pub fn same_population(&self, other: &Self) -> bool {
        let of =
            |it: &Self| (it.target, it.kernels.clone(), it.threads.clone(), it.blocks.clone(), it.iterations.clone());
        of(self) == of(other) && self.narrowing == other.narrowing
    }

    /// Whether a launch is selected: its kernel, and its number among the launches of that kernel.
    #[must_use]
    pub fn holds_launch(&self, kernel: &str, number: u32) -> bool {
        let named = |wanted: &Kernel| wanted.name == kernel || wanted.name == base_name(kernel);
        self.kernels.is_empty()
            || self.kernels.iter().any(|wanted| named(wanted) && wanted.launch.is_none_or(|launch| launch == number))
    }

    /// Whether an instruction is in the population: its group and line are selected, and if an operand is aimed at, it
    /// has one.
    #[must_use]
    pub fn holds(&self, facts: &Facts) -> bool {
        (!self.target.is_operand() || !self.operands(facts).is_empty())
            && self.within.is_none_or(|group| facts.group == group)
            && (self.groups.is_empty() || self.groups.iter().any(|class| class.holds(facts)))
            && (self.lines.is_empty() || self.lines.iter().any(|lines| on_line(lines, facts.source.as_ref())))
    }

    /// The operands of an instruction that can be hit: those aimed at that are wide enough.
    #[must_use]
    pub fn operands(&self, facts: &Facts) -> Vec<TargetOperand> {
        self.operands_of(facts, WARP)
    }

    /// The operands of an instruction that can be hit where so many threads of a warp execute it together.
    #[must_use]
    pub fn operands_of(&self, facts: &Facts, threads: u32) -> Vec<TargetOperand> {
        let mut operands = operands(self.target, facts);
        operands.retain(|operand| self.patterns.hits(operand.bits, threads));
        operands
    }

    /// How many threads of a warp must execute an instruction together for it to be in the population; none if it is not.
    #[must_use]
    pub fn least(&self, facts: &Facts) -> Option<u32> {
        if !self.holds(facts) {
            return None;
        }
        if !self.target.is_operand() {
            return self.patterns.iter().map(|pattern| pattern.scope.least()).min();
        }
        let least = |operand: &TargetOperand| self.patterns.least(operand.bits);
        operands(self.target, facts).iter().filter_map(least).min()
    }
}

/// Whether the instruction, or the place its function was inlined at, is on one of the lines.
fn on_line(lines: &Lines, source: Option<&Source>) -> bool {
    let on = |(file, line): (Option<&str>, u32)| {
        let same_file = lines.file.as_ref().is_none_or(|wanted| is_file(file.unwrap_or(""), wanted));
        same_file && lines.lines.contains(&u64::from(line))
    };
    source.is_some_and(|source| source.places().any(on))
}

/// Whether a path is, or ends in, the one wanted.
fn is_file(path: &str, wanted: &str) -> bool {
    path.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;
    use facts::{Loc, Reg, Role};

    fn written(position: u8, bits: u32) -> facts::Operand {
        facts::Operand { role: Role::Destination, position, register: Reg(0), bits, offset: 0, ty: None }
    }

    /// An addition to a register of 64 bits, and a comparison that writes the second of its predicates.
    fn instructions() -> [Facts; 2] {
        let files = std::sync::Arc::new([(1, "/src/app/kernel.cu".to_owned())].into());
        let source = Some(Source { loc: Loc { file: 1, line: 40, column: 1, inlined: None }, files });
        let add = Facts { operands: vec![written(0, 64)], ..Facts::new("add.s64", Group::IntAdd) };
        let setp = Facts { operands: vec![written(1, 1)], ..Facts::new("setp.eq.s32", Group::Compare) };
        [add, setp].map(|facts| Facts { source: source.clone(), ..facts })
    }

    #[test]
    fn destinations_have_their_register_width_and_dropped_ones_do_not_count() {
        let destinations = instructions().map(|facts| {
            let operands = Selection::default().operands(&facts);
            operands.iter().map(|operand| (operand.target, operand.bits)).collect::<Vec<_>>()
        });
        assert_eq!(destinations, [vec![(Target::Destination(0), 64)], vec![(Target::Destination(1), 1)]]);
    }

    #[test]
    fn groups_targets_and_lines_narrow_the_population() {
        let of = |target: &str, groups: &[&str], lines: &[&str]| {
            let strings = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
            let selection = Selection::of_words(Some("flip"), Some(target), None, &strings(groups), &[]).unwrap();
            let selection = selection.in_lines(&strings(lines)).unwrap();
            instructions().map(|facts| selection.holds(&facts))
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
        assert!(message(Selection::of_words(Some("twist"), None, None, &[], &[])).contains("double-any"));
        assert!(
            message(Selection::of_words(None, Some("dest"), None, &[], &[])).contains("dst, pred, addr, store, src")
        );
        assert!(message(Selection::of_words(None, None, Some("block"), &[], &[])).contains("two threads of a warp"));
        assert!(message(Selection::of_words(None, Some("mem"), Some("warp"), &[], &[])).contains("leave `scope` out"));
        assert!(message(Selection::of_words(None, None, None, &["fp33".into()], &[])).contains("fp32_add"));
        assert!(message(Selection::default().in_kernels(&["k#x".into()])).contains("NAME#n"));
        assert!(message(Selection::default().in_lines(&["f.cu:9-3".into()])).contains("FILE:a-b"));
        assert!(Ranges::parse("threads", &["3-1".into()]).is_err());
        assert!(Ranges::parse("threads", &["0-31,64".into()]).unwrap().holds(64));
    }
}
