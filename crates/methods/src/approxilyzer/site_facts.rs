//! Facts of an error site that are known without a run, and the variables of a model that they are.

use facts::{Facts, FunctionId, Group, Role};
use inject::threads::{PathSites, PathUse};
use simt::Program;
use std::collections::BTreeMap;

use super::claims::Claim;
use super::feeds::Feeds;
use super::operand::SiteOperand;

/// Parts of a value, of a path and of the threads of a kernel that are told apart.
const EIGHTHS: usize = 8;
const SIXTEENTHS: u64 = 16;

/// Facts of the sites of a destination; counts are as logarithms to base 2, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SiteFacts {
    /// The instruction, an index into the instructions of the program. It is not a variable.
    pub(super) instruction: u32,
    /// Its group, an index into [`Group::ALL`].
    group: u8,
    /// The width of the value in bits.
    bits: u8,
    /// The use that the first reader makes of the value.
    first_use: FirstReader,
    /// One more than the steps of the path to there.
    distance: u8,
    /// One more than the reads of the value.
    uses: u8,
    /// Whether it goes only to stores of its block.
    feeds: bool,
    /// How often a thread writes this destination.
    executions: u8,
    /// The sixteenth of the path that it is in.
    behind: u8,
    /// Sixteenths of the threads of the kernel that go this path.
    threads: u8,
}

/// The use that the first instruction which reads a value makes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum FirstReader {
    #[default]
    Nothing,
    Address,
    Stored,
    Guard,
    Compare,
    Other,
}

/// The threads whose sites are looked at.
#[derive(Clone, Copy)]
pub(super) struct ThreadShare {
    /// Those that go the path.
    pub(super) path: u64,
    /// Those of the kernel.
    pub(super) kernel: u64,
}

impl SiteFacts {
    /// Those of the destinations of a path of `steps` steps, in their order. In a function that a thread enters again, a register
    /// that was not written since is taken for that of the call before.
    pub(super) fn of(
        program: &Program,
        found: &PathSites,
        steps: usize,
        threads: ThreadShare,
        feeds: &Feeds,
    ) -> Vec<Self> {
        let readers = readers(program, found);
        let mut executions: BTreeMap<(u32, u8), u64> = BTreeMap::new();
        found.destinations.iter().for_each(|it| *executions.entry((it.instruction, it.position)).or_default() += 1);
        let of = |(it, (uses, first)): (&inject::threads::PathDestination, &(u64, Option<&PathUse>))| {
            let group = program.facts(it.instruction).map_or(Group::Other, |facts| facts.group);
            let operand = SiteOperand::Destination(it.position);
            Self {
                instruction: it.instruction,
                group: Group::ALL.iter().position(|of| *of == group).unwrap_or_default() as u8,
                bits: it.bits as u8,
                first_use: first.map_or(FirstReader::Nothing, |read| FirstReader::of(program, read)),
                distance: logarithm(1 + first.map_or(0, |read| u64::from(read.step - it.step))),
                uses: logarithm(1 + uses),
                feeds: feeds.get(it.instruction, operand).is_some(),
                executions: logarithm(executions[&(it.instruction, it.position)]),
                behind: sixteenths(it.step.into(), steps as u64),
                threads: sixteenths(threads.path, threads.kernel),
            }
        };
        found.destinations.iter().zip(&readers).map(of).collect()
    }

    /// The variables of one of its bits, of which this is claimed.
    pub(super) fn variables(&self, bit: u8, claim: Option<Claim>) -> Vec<f64> {
        let is = |is: bool| f64::from(u8::from(is));
        let eighth = usize::from(bit) * EIGHTHS / usize::from(self.bits.max(1));
        let is_address = self.first_use == FirstReader::Address;
        let mut all: Vec<f64> = (0..Group::ALL.len()).map(|of| is(of == usize::from(self.group))).collect();
        all.extend([is(self.bits == 1), is(self.bits >= 64), f64::from(bit) / 64.0]);
        all.extend((0..EIGHTHS).map(|of| is(of == eighth)));
        all.extend((0..EIGHTHS).map(|of| is(is_address && of == eighth)));
        let readers = [FirstReader::Stored, FirstReader::Guard, FirstReader::Compare, FirstReader::Other];
        all.extend(readers.map(|of| is(of == self.first_use)));
        all.extend([self.distance, self.uses, self.executions].map(|of| f64::from(of) / 16.0));
        all.extend([self.behind, self.threads].map(|of| f64::from(of) / SIXTEENTHS as f64));
        all.push(is(self.feeds));
        all.push(is(matches!(claim, Some(Claim::NeverRead | Claim::UnreadBit))));
        all.extend([Claim::Misaligned, Claim::Unmapped].map(|of| is(claim == Some(of))));
        all
    }
}

/// The names of the variables, in their order.
pub(super) fn variable_names() -> Vec<String> {
    let mut all: Vec<String> = Group::ALL.iter().map(|group| format!("group {group}")).collect();
    all.extend(["one bit wide", "64 bits wide or more", "bit / 64"].map(str::to_owned));
    all.extend((0..EIGHTHS).map(|of| format!("in eighth {of} of the value")));
    all.extend((0..EIGHTHS).map(|of| format!("first read as an address, in eighth {of}")));
    let rest = [
        "first stored",
        "first read as a guard",
        "first compared",
        "first read otherwise",
        "log2 of the steps to the first read / 16",
        "log2 of the reads / 16",
        "log2 of the executions per thread / 16",
        "share of the path before it",
        "share of the threads on the path",
        "goes only to stores of its block",
        "not read",
        "misaligned",
        "unmapped",
    ];
    all.extend(rest.map(str::to_owned));
    all
}

impl FirstReader {
    fn of(program: &Program, read: &PathUse) -> Self {
        let Some(facts) = program.facts(read.instruction) else { return Self::Other };
        let has = |role| facts.of_role(role).any(|it| it.register.0 == read.register);
        match () {
            () if has(Role::Address) => Self::Address,
            () if has(Role::Stored) => Self::Stored,
            () if facts.guard.is_some_and(|guard| guard.pred.0 == read.register) => Self::Guard,
            () if facts.group == Group::Compare => Self::Compare,
            () => Self::Other,
        }
    }
}

/// By destination, how often its value is read, and the first of these reads.
fn readers<'a>(program: &Program, found: &'a PathSites) -> Vec<(u64, Option<&'a PathUse>)> {
    let function = |instruction: u32| program.instructions[instruction as usize].function;
    let mut writers: BTreeMap<(FunctionId, u32), usize> = BTreeMap::new();
    let mut all = vec![(0, None); found.destinations.len()];
    let mut add = |writers: &BTreeMap<(FunctionId, u32), usize>, read: &'a PathUse| {
        if let Some(&writer) = writers.get(&(function(read.instruction), read.register)) {
            let (uses, first): &mut (u64, Option<&PathUse>) = &mut all[writer];
            *uses += 1;
            first.get_or_insert(read);
        }
    };
    let mut left = &found.uses[..];
    for (number, it) in found.destinations.iter().enumerate() {
        // An instruction reads before it writes.
        let (before, behind) = left.split_at(left.partition_point(|read| read.step <= it.step));
        left = behind;
        before.iter().for_each(|read| add(&writers, read));
        let is_it = |facts: &Facts| facts.of_role(Role::Destination).find(|of| of.position == it.position).copied();
        if let Some(operand) = program.facts(it.instruction).and_then(is_it) {
            writers.insert((function(it.instruction), operand.register.0), number);
        }
    }
    left.iter().for_each(|read| add(&writers, read));
    all
}

fn logarithm(count: u64) -> u8 {
    count.checked_ilog2().unwrap_or_default() as u8
}

fn sixteenths(part: u64, whole: u64) -> u8 {
    (part * SIXTEENTHS).checked_div(whole).unwrap_or_default() as u8
}
