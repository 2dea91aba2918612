//! Between which variables errors go, through which kernels, and how often.

use campaign::names::one_line;
use inject::{Array, ArrayAccesses};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use super::follow::TrackedRun;

/// Where an error comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The fault.
    Fault,
    /// A corrupted variable, by its place.
    Variable(usize),
    /// Memory that is not followed.
    Other,
}

/// What carries an error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carrier {
    /// A kernel, as it is called in source.
    Kernel(String),
    /// A copy or a fill between launches.
    Transfer,
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(name) => f.write_str(name),
            Self::Transfer => f.write_str("a copy or a fill"),
        }
    }
}

/// From where to where an error goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Where it comes from.
    pub from: Origin,
    /// What carries it.
    pub through: Carrier,
    /// The variable that is corrupted afterwards, by its place; none where the corruption of `from` is gone.
    pub to: Option<usize>,
}

/// How often errors went along edges, and how often they could have.
///
/// - a fault in a launch of K can corrupt v: launches with a fault that the run came past;
/// - u can corrupt v through K: later launches of K that read u, before which u was corrupted and v was not;
/// - other memory can corrupt v through K: later launches of K that read no corrupted variable, before which v was not
///   corrupted;
/// - K can mend u: later launches of K that write to u, before which u was corrupted.
///
/// A copy within the device reads and writes as a launch does, a copy to the device and a fill write. What launches read and write is
/// known of the golden run. Where several variables are corrupted before a launch that reads them, each is counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Each edge: how often, and how often it could have been.
    pub edges: BTreeMap<Edge, (u64, u64)>,
}

impl Graph {
    /// Adds a run that came to its end; others are left out. `kernels` and `accesses` are those of the launches.
    pub fn add(&mut self, it: &TrackedRun, kernels: &[&str], accesses: &[ArrayAccesses], variables: usize) {
        if !it.completed || !it.class().has_landed() {
            return;
        }
        let after = |launch: u32| it.after.get(&launch).cloned().unwrap_or_default();
        let mut before = after(it.launch);
        let kernel = |launch: u32| Carrier::Kernel(kernels[launch as usize].to_owned());
        for variable in 0..variables {
            self.count(Origin::Fault, &kernel(it.launch), Some(variable), before.contains(&variable));
        }
        let last_change = it.after.keys().next_back().copied().unwrap_or(0);
        for launch in it.launch + 1..kernels.len() as u32 {
            if launch > last_change + 1 {
                break;
            }
            let (accesses, now) = (&accesses[launch as usize], after(launch));
            self.transfer(accesses, &mut before, &now);
            self.launch(&kernel(launch), accesses, &before, &now, variables);
            before = now;
        }
    }

    /// What copies and fills do before a launch; `before` becomes what is corrupted when it begins, as far as `now`, after it, shows.
    fn transfer(&mut self, accesses: &ArrayAccesses, before: &mut BTreeSet<usize>, now: &BTreeSet<usize>) {
        let mut begins = before.clone();
        for &(from, to) in accesses.copies.iter().filter(|(from, to)| before.contains(from) && !before.contains(to)) {
            self.count(Origin::Variable(from), &Carrier::Transfer, Some(to), now.contains(&to));
            begins.extend(now.contains(&to).then_some(to));
        }
        for &mended in accesses.overwritten.intersection(before) {
            self.count(Origin::Variable(mended), &Carrier::Transfer, None, !now.contains(&mended));
            if !now.contains(&mended) {
                begins.remove(&mended);
            }
        }
        *before = begins;
    }

    fn launch(
        &mut self,
        kernel: &Carrier,
        accesses: &ArrayAccesses,
        before: &BTreeSet<usize>,
        now: &BTreeSet<usize>,
        variables: usize,
    ) {
        let read: Vec<usize> = before.intersection(&accesses.reads).copied().collect();
        for to in (0..variables).filter(|to| !before.contains(to)) {
            let happened = now.contains(&to);
            for &from in &read {
                self.count(Origin::Variable(from), kernel, Some(to), happened);
            }
            if read.is_empty() {
                self.count(Origin::Other, kernel, Some(to), happened);
            }
        }
        for &mended in before.intersection(&accesses.writes) {
            self.count(Origin::Variable(mended), kernel, None, !now.contains(&mended));
        }
    }

    fn count(&mut self, from: Origin, through: &Carrier, to: Option<usize>, happened: bool) {
        let edge = self.edges.entry(Edge { from, through: through.clone(), to }).or_default();
        edge.0 += u64::from(happened);
        edge.1 += 1;
    }

    /// The edges along which an error went.
    pub fn taken(&self) -> impl Iterator<Item = (&Edge, u64, u64)> {
        self.edges.iter().filter(|(_, counts)| counts.0 > 0).map(|(edge, counts)| (edge, counts.0, counts.1))
    }

    /// The graph in the language of Graphviz: boxes are the kernels with faults, ellipses variables.
    #[must_use]
    pub fn dot(&self, arrays: &[Array]) -> String {
        let mut text = "digraph propagation {\n    rankdir=LR;\n    fault [shape=diamond];\n".to_owned();
        let hit = self.taken().filter(|(edge, ..)| edge.from == Origin::Fault);
        let kernels: BTreeSet<String> = hit.map(|(edge, ..)| quoted(&edge.through.to_string())).collect();
        for kernel in kernels {
            let _ = writeln!(text, "    {kernel} [shape=box];\n    fault -> {kernel};");
        }
        for (edge, count, of) in self.taken() {
            let Some(to) = edge.to else { continue };
            let (kernel, to) = (edge.through.to_string(), &arrays[to].name);
            let share = 100.0 * count as f64 / of as f64;
            let label = format!("{kernel}: {share:.0} % of {of}");
            let _ = match edge.from {
                Origin::Fault => writeln!(
                    text,
                    "    {} -> {} [label={}];",
                    quoted(&kernel),
                    quoted(to),
                    quoted(&format!("{share:.0} % of {of}"))
                ),
                Origin::Variable(from) => {
                    writeln!(text, "    {} -> {} [label={}];", quoted(&arrays[from].name), quoted(to), quoted(&label))
                }
                Origin::Other => {
                    writeln!(text, "    {} -> {} [label={}];", quoted(OTHER), quoted(to), quoted(&label))
                }
            };
        }
        text + "}\n"
    }
}

/// What memory that is not followed is called.
pub(super) const OTHER: &str = "other memory";

/// A name as a text of Graphviz, which no control character of it leaves.
fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcome::Outcome;

    /// A run whose variables are corrupted after launches.
    fn followed(launch: u32, after: &[(u32, &[usize])]) -> TrackedRun {
        let after = after.iter().map(|(launch, arrays)| (*launch, arrays.iter().copied().collect())).collect();
        TrackedRun {
            run: 0,
            launch,
            outcome: Outcome::Masked(outcome::Masked::Logical),
            completed: true,
            after,
            ends: BTreeMap::new(),
        }
    }

    /// A launch that reads and writes these variables.
    fn accesses(reads: &[usize], writes: &[usize]) -> ArrayAccesses {
        let set = |of: &[usize]| of.iter().copied().collect();
        ArrayAccesses { reads: set(reads), writes: set(writes), ..ArrayAccesses::default() }
    }

    fn of(graph: &Graph, from: Origin, kernel: &str, to: Option<usize>) -> Option<(u64, u64)> {
        graph.edges.get(&Edge { from, through: Carrier::Kernel(kernel.into()), to }).copied()
    }

    fn named(count: usize) -> Vec<Array> {
        let array = |at: usize| Array { name: format!("v{at}"), address: 0, element: None, shape: vec![1] };
        (0..count).map(array).collect()
    }

    #[test]
    fn edges_are_counted_where_errors_could_go() {
        let (mut graph, kernels) = (Graph::default(), ["a", "b", "c"]);
        let accesses = [accesses(&[], &[0]), accesses(&[0], &[1]), accesses(&[1], &[0])];
        // A fault in a corrupts 0; b carries it to 1; c mends 0.
        graph.add(&followed(0, &[(0, &[0]), (1, &[0, 1]), (2, &[1])]), &kernels, &accesses, 2);
        // A fault in a corrupts nothing.
        graph.add(&followed(0, &[]), &kernels, &accesses, 2);
        // One in b corrupts 0, which stays.
        graph.add(&followed(1, &[(1, &[0]), (2, &[0])]), &kernels, &accesses, 2);
        assert_eq!(of(&graph, Origin::Fault, "a", Some(0)), Some((1, 2)));
        assert_eq!(of(&graph, Origin::Fault, "a", Some(1)), Some((0, 2)));
        assert_eq!(of(&graph, Origin::Fault, "b", Some(0)), Some((1, 1)));
        assert_eq!(of(&graph, Origin::Variable(0), "b", Some(1)), Some((1, 1)));
        assert_eq!(of(&graph, Origin::Variable(0), "c", None), Some((1, 2)));
        // c does not read 0, and does not write 1.
        assert_eq!(of(&graph, Origin::Variable(0), "c", Some(1)), None);
        assert_eq!(of(&graph, Origin::Variable(1), "c", None), None);
    }

    #[test]
    fn what_a_launch_does_not_read_carries_nothing() {
        let (mut graph, kernels) = (Graph::default(), ["a", "b"]);
        // b is given 1 and 2 alone: that 0 is corrupted, too, says nothing.
        graph.add(
            &followed(0, &[(0, &[0, 1]), (1, &[0, 1, 2])]),
            &kernels,
            &[accesses(&[], &[]), accesses(&[1], &[2])],
            3,
        );
        assert_eq!(of(&graph, Origin::Variable(1), "b", Some(2)), Some((1, 1)));
        assert_eq!(of(&graph, Origin::Variable(0), "b", Some(2)), None);
        // It reads nothing that is corrupted and followed.
        graph.add(&followed(0, &[(0, &[0]), (1, &[0, 2])]), &kernels, &[accesses(&[], &[]), accesses(&[1], &[2])], 3);
        assert_eq!(of(&graph, Origin::Other, "b", Some(2)), Some((1, 1)));
        assert!(graph.dot(&named(3)).contains("\"other memory\" -> \"v2\" [label=\"b: 100 % of 1\"]"));
    }

    #[test]
    fn no_control_character_of_a_name_is_in_the_graph() {
        assert_eq!(quoted("a\u{1b}[2J\n\"b\u{202e}\\"), r#""a\\u001b[2J\\n\"b\\u202e\\""#);
    }

    #[test]
    fn copies_and_fills_between_launches_carry_and_mend() {
        let (mut graph, kernels) = (Graph::default(), ["a", "b"]);
        let copied = ArrayAccesses { copies: [(0, 1)].into(), overwritten: [0, 1].into(), ..accesses(&[1], &[2]) };
        graph.add(&followed(0, &[(0, &[0]), (1, &[1, 2])]), &kernels, &[accesses(&[], &[]), copied], 3);
        let edge = |from, to| graph.edges.get(&Edge { from, through: Carrier::Transfer, to }).copied();
        assert_eq!(edge(Origin::Variable(0), Some(1)), Some((1, 1)));
        assert_eq!(edge(Origin::Variable(0), None), Some((1, 1)));
        // What was copied goes on through the launch.
        assert_eq!(of(&graph, Origin::Variable(1), "b", Some(2)), Some((1, 1)));
        assert_eq!(of(&graph, Origin::Variable(0), "b", Some(1)), None);
    }
}
