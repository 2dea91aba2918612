//! The quality of an input: the share of the reference's instructions, branch edges and def-use pairs that it executes.
//!
//! All three follow from the paths of threads alone, so that one thread of each distinct path is looked at.

use facts::Control;
use inject::threads::{TraceStep, thread_counts, traces};
use inject::{Golden, GoldenLaunch};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// Stands for the end of the thread where an edge has its next instruction, and for a value that no instruction wrote.
const NONE: u32 = u32::MAX;

/// A criterion of quality (thesis, Section 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Criterion {
    /// Static instructions that a thread executes.
    Pc,
    /// Edges of branches with a guard or several targets: the branch, and the instruction that comes next.
    Branch,
    /// Pairs of an instruction that writes a register and one that reads this value.
    DefUse,
}

impl Criterion {
    /// All, in the order of the thesis.
    pub(super) const ALL: [Self; 3] = [Self::Pc, Self::Branch, Self::DefUse];

    /// Its word on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pc => "pc",
            Self::Branch => "branch",
            Self::DefUse => "def-use",
        }
    }

    /// Its name in tables.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Pc => "PC coverage",
            Self::Branch => "branch coverage",
            Self::DefUse => "def-use coverage",
        }
    }
}

impl FromStr for Criterion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|it| it.word() == text);
        found.ok_or_else(|| "expected pc, branch or def-use".to_owned())
    }
}

/// The part of the reference that an input executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Covered {
    /// How many of the reference's it executes.
    pub(super) count: u64,
    /// How many the reference executes.
    pub(super) of: u64,
}

impl Covered {
    /// The share; one of nothing is covered.
    pub(super) fn share(self) -> f64 {
        if self.of == 0 { 1.0 } else { self.count as f64 / self.of as f64 }
    }
}

/// The quality of an input by each criterion, in the order of [`Criterion::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Quality([Covered; 3]);

impl Quality {
    /// By one criterion.
    pub(super) fn of(self, criterion: Criterion) -> Covered {
        self.0[criterion as usize]
    }
}

/// All that the threads of an input execute: by criterion, a kernel and one or two instructions of its program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Executed([BTreeSet<(String, u32, u32)>; 3]);

impl Executed {
    /// That of a golden run.
    pub(super) fn of(golden: &Golden) -> Self {
        let mut executed = Self::default();
        let mut known = BTreeSet::new();
        for launch in golden.launches() {
            let name = launch.program.name.as_str();
            let mut threads = Vec::new();
            for (thread, it) in (0..).zip(thread_counts(golden, launch)) {
                if known.insert((name, it.executed, it.guarded_off, it.trace)) {
                    threads.push(thread);
                }
            }
            if !threads.is_empty() {
                let mut walk = Walk::of(launch);
                traces(golden, launch, &threads, |_, path| walk.follow(path));
                executed.add(name, &walk);
            }
        }
        executed
    }

    fn add(&mut self, kernel: &str, walk: &Walk) {
        for (found, from) in self.0.iter_mut().zip(&walk.found) {
            for (of, ends) in (0..).zip(from) {
                found.extend(ends.iter().map(|&end| (kernel.to_owned(), of, end)));
            }
        }
    }

    /// The part of the reference's that is among these.
    pub(super) fn quality(&self, reference: &Self) -> Quality {
        Quality(std::array::from_fn(|criterion| {
            let (own, all) = (&self.0[criterion], &reference.0[criterion]);
            let count = all.iter().filter(|it| own.contains(*it)).count() as u64;
            Covered { count, of: all.len() as u64 }
        }))
    }
}

/// What an instruction is to a path.
#[derive(Default)]
struct Node {
    guard: Option<u32>,
    reads: Vec<u32>,
    writes: Vec<u32>,
    /// Whether it decides where its thread goes.
    decides: bool,
    /// Whether it enters another function.
    calls: bool,
    /// The registers of its function.
    registers: std::ops::Range<usize>,
}

/// Follows the paths of threads of one program.
struct Walk {
    nodes: Vec<Node>,
    /// By register, the instruction that wrote it last.
    written: Vec<u32>,
    /// By criterion and instruction, the other end of its edges or pairs; of an executed one itself.
    found: [Vec<Vec<u32>>; 3],
}

impl Walk {
    fn of(launch: &GoldenLaunch) -> Self {
        let program = &launch.program;
        let mut sizes = BTreeMap::new();
        for it in &program.instructions {
            let size: &mut usize = sizes.entry(it.function).or_default();
            let registers = it.facts.iter().flat_map(|facts| facts.reads().chain(facts.writes()));
            *size = registers.fold(*size, |size, register| size.max(register.index() + 1));
        }
        let mut registers = 0;
        let starts: BTreeMap<_, _> = sizes
            .into_iter()
            .map(|(function, size)| {
                registers += size;
                (function, registers - size..registers)
            })
            .collect();
        let node = |it: &simt::program::StaticInstruction| {
            let registers = starts.get(&it.function).cloned().unwrap_or_default();
            let Some(facts) = &it.facts else { return Node { registers, ..Node::default() } };
            let number = |register: facts::Reg| (registers.start + register.index()) as u32;
            let guarded = facts.guard.is_some();
            Node {
                guard: facts.guard.map(|guard| number(guard.pred)),
                reads: facts.of_role(facts::Role::Source).map(|it| number(it.register)).collect(),
                writes: facts.writes().map(number).collect(),
                decides: match &facts.control {
                    Control::Jump(targets) => guarded || targets.len() > 1,
                    Control::Return | Control::End => guarded,
                    _ => false,
                },
                calls: facts.control == Control::Call,
                registers,
            }
        };
        let nodes: Vec<Node> = program.instructions.iter().map(node).collect();
        let found = std::array::from_fn(|_| vec![Vec::new(); nodes.len()]);
        Self { nodes, written: vec![NONE; registers], found }
    }

    /// Takes in all of a path.
    fn follow(&mut self, path: &[TraceStep]) {
        let Self { nodes, written, found: [pcs, edges, pairs] } = self;
        written.fill(NONE);
        for (at, step) in path.iter().enumerate() {
            let number = step.instruction;
            let Some(node) = nodes.get(number as usize) else { continue };
            let next = path.get(at + 1).map(|next| next.instruction);
            let mut use_of = |register: &u32| {
                let definition = written[*register as usize];
                if definition != NONE {
                    note(&mut pairs[number as usize], definition);
                }
            };
            node.guard.iter().for_each(&mut use_of);
            if node.decides {
                note(&mut edges[number as usize], next.unwrap_or(NONE));
            }
            if !step.executed {
                continue;
            }
            node.reads.iter().for_each(&mut use_of);
            note(&mut pcs[number as usize], number);
            node.writes.iter().for_each(|&register| written[register as usize] = number);
            if node.calls
                && let Some(entered) = next.and_then(|next| nodes.get(next as usize))
            {
                written[entered.registers.clone()].fill(NONE);
            }
        }
    }
}

/// Keeps a number once.
fn note(known: &mut Vec<u32>, number: u32) {
    if !known.contains(&number) {
        known.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(instruction: u32, executed: bool) -> TraceStep {
        TraceStep { instruction, executed }
    }

    /// `0: r0 = …; 1: @r0 bra 3; 2: r1 = r0; 3: use r1; 4: @r0 bra 2`, as data.
    fn walk() -> Walk {
        let node = |guard, reads: &[u32], writes: &[u32], decides| Node {
            guard,
            reads: reads.to_vec(),
            writes: writes.to_vec(),
            decides,
            ..Node::default()
        };
        let nodes = vec![
            node(None, &[], &[0], false),
            node(Some(0), &[], &[], true),
            node(None, &[0], &[1], false),
            node(None, &[1], &[], false),
            node(Some(0), &[], &[], true),
        ];
        Walk { nodes, written: vec![NONE; 2], found: std::array::from_fn(|_| vec![Vec::new(); 5]) }
    }

    fn executed(paths: &[&[TraceStep]]) -> Executed {
        let (mut walk, mut executed) = (walk(), Executed::default());
        paths.iter().for_each(|path| walk.follow(path));
        executed.add("k", &walk);
        executed
    }

    #[test]
    fn the_paths_say_instructions_edges_and_pairs() {
        let around = [step(0, true), step(1, false), step(2, true), step(3, true), step(4, true)];
        let again: Vec<TraceStep> =
            around.iter().copied().chain([step(2, true), step(3, true), step(4, false)]).collect();
        let over = [step(0, true), step(1, true), step(3, true), step(4, false)];
        let reference = executed(&[&again, &over]);
        let quality = |paths: &[&[TraceStep]]| {
            let quality = executed(paths).quality(&reference);
            Criterion::ALL.map(|criterion| (quality.of(criterion).count, quality.of(criterion).of))
        };
        // A branch with a false guard is not executed: the second and the fifth are, by some path. The edges are 1 to 2, 1 to 3,
        // 4 to 2 and 4 to the end; the pairs 0-1, 0-2, 2-3, 0-4.
        assert_eq!(quality(&[&again, &over]), [(5, 5), (4, 4), (4, 4)]);
        // Nothing wrote the register that the third reads on this path.
        assert_eq!(quality(&[&over]), [(3, 5), (2, 4), (2, 4)]);
        assert_eq!(quality(&[]), [(0, 5), (0, 4), (0, 4)]);
        assert_eq!("def-use".parse(), Ok(Criterion::DefUse));
        assert!("paths".parse::<Criterion>().is_err());
    }
}
