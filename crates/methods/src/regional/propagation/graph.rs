//! Between which variables errors go, through which kernels, and how often.

use campaign::names::one_line;
use inject::{Array, ArrayAccesses};
use std::collections::btree_map::Entry;
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
///
/// Arrows lead to and from what carries errors, without regard to the other end:
/// - into K from the fault: launches with a fault that the run came past, and those after which a variable is corrupted;
/// - into K from u or other memory: as above, but whichever variable is corrupted that was not;
/// - out of K to v: later launches of K, before which v was not corrupted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Each edge: how often, and how often it could have been.
    pub edges: BTreeMap<Edge, (u64, u64)>,
    /// Each arrow to what carries an error: the same.
    pub into: BTreeMap<(Origin, Carrier), (u64, u64)>,
    /// Each arrow from what has carried an error to a variable: the same.
    pub out_of: BTreeMap<(Carrier, usize), (u64, u64)>,
}

impl Graph {
    /// Adds a run that came to its end; others are left out. `kernels` and `accesses` are those of the launches, `variables` those
    /// that are looked at after every launch.
    pub fn add(&mut self, it: &TrackedRun, kernels: &[&str], accesses: &[ArrayAccesses], variables: &[usize]) {
        if !it.completed || !it.class().has_landed() {
            return;
        }
        let after = |launch: u32| -> BTreeSet<usize> {
            it.after.get(&launch).into_iter().flatten().copied().filter(|it| variables.contains(it)).collect()
        };
        let mut before = after(it.launch);
        let kernel = |launch: u32| Carrier::Kernel(kernels[launch as usize].to_owned());
        note(self.into.entry((Origin::Fault, kernel(it.launch))), !before.is_empty());
        for &variable in variables {
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
            note(self.into.entry((Origin::Variable(from), Carrier::Transfer)), now.contains(&to));
            note(self.out_of.entry((Carrier::Transfer, to)), now.contains(&to));
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
        variables: &[usize],
    ) {
        let read: Vec<usize> = before.intersection(&accesses.reads).copied().collect();
        let (spreads, can_spread) = (now.iter().any(|to| !before.contains(to)), before.len() < variables.len());
        let sources = read.iter().map(|&from| Origin::Variable(from)).chain(read.is_empty().then_some(Origin::Other));
        for from in sources.filter(|_| can_spread) {
            note(self.into.entry((from, kernel.clone())), spreads);
        }
        for to in variables.iter().copied().filter(|to| !before.contains(to)) {
            let happened = now.contains(&to);
            for &from in &read {
                self.count(Origin::Variable(from), kernel, Some(to), happened);
            }
            if read.is_empty() {
                self.count(Origin::Other, kernel, Some(to), happened);
            }
            note(self.out_of.entry((kernel.clone(), to)), happened);
        }
        for &mended in before.intersection(&accesses.writes) {
            self.count(Origin::Variable(mended), kernel, None, !now.contains(&mended));
        }
    }

    fn count(&mut self, from: Origin, through: &Carrier, to: Option<usize>, happened: bool) {
        note(self.edges.entry(Edge { from, through: through.clone(), to }), happened);
    }

    /// The edges along which an error went.
    pub fn taken(&self) -> impl Iterator<Item = (&Edge, u64, u64)> {
        self.edges.iter().filter(|(_, counts)| counts.0 > 0).map(|(edge, counts)| (edge, counts.0, counts.1))
    }

    /// The graph in the language of Graphviz: boxes are what carries errors, ellipses variables. Dashed arrows are errors of
    /// launches before, dotted ones say how often a launch mends a variable.
    #[must_use]
    pub fn dot(&self, arrays: &[Array]) -> String {
        let mut text = "digraph propagation {\n    rankdir=LR;\n    fault [shape=diamond];\n".to_owned();
        let carriers: BTreeSet<&Carrier> = self.taken().map(|(edge, ..)| &edge.through).collect();
        for carrier in carriers {
            let _ = writeln!(text, "    {} [shape=box, label={}];", node(carrier), quoted(&carrier.to_string()));
        }
        let place = |from: Origin| match from {
            Origin::Fault => "fault".to_owned(),
            Origin::Variable(from) => quoted(&arrays[from].name),
            Origin::Other => quoted(OTHER),
        };
        let mut arrow = |from: String, to: String, (count, of): (u64, u64), what: &str, style: &str| {
            let label = quoted(&format!("{:.0} % of {of}{what}", 100.0 * count as f64 / of as f64));
            let _ = writeln!(text, "    {from} -> {to} [label={label}, style={style}];");
        };
        for ((from, carrier), &counts) in self.into.iter().filter(|(_, counts)| counts.0 > 0) {
            let style = if *from == Origin::Fault { "solid" } else { "dashed" };
            arrow(place(*from), node(carrier), counts, "", style);
        }
        for ((carrier, to), &counts) in self.out_of.iter().filter(|(_, counts)| counts.0 > 0) {
            arrow(node(carrier), quoted(&arrays[*to].name), counts, "", "dashed");
        }
        for (edge, count, of) in self.taken() {
            match (edge.from, edge.to) {
                (Origin::Fault, Some(to)) => {
                    arrow(node(&edge.through), quoted(&arrays[to].name), (count, of), " faults", "solid");
                }
                (from, None) => arrow(node(&edge.through), place(from), (count, of), " mended", "dotted"),
                _ => {}
            }
        }
        text + "}\n"
    }
}

/// Adds a time that something could have happened.
fn note<K: Ord>(entry: Entry<'_, K, (u64, u64)>, happened: bool) {
    let counts = entry.or_default();
    counts.0 += u64::from(happened);
    counts.1 += 1;
}

/// The node of what carries errors; no variable is called so.
fn node(carrier: &Carrier) -> String {
    quoted(&format!("through {carrier}"))
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
        let array = |at: usize| Array {
            name: format!("v{at}"),
            address: 0,
            element: None,
            shape: vec![1],
            stride: None,
            launches: None,
        };
        (0..count).map(array).collect()
    }

    #[test]
    fn edges_are_counted_where_errors_could_go() {
        let (mut graph, kernels) = (Graph::default(), ["a", "b", "c"]);
        let accesses = [accesses(&[], &[0]), accesses(&[0], &[1]), accesses(&[1], &[0])];
        // A fault in a corrupts 0; b carries it to 1; c mends 0.
        graph.add(&followed(0, &[(0, &[0]), (1, &[0, 1]), (2, &[1])]), &kernels, &accesses, &[0, 1]);
        // A fault in a corrupts nothing.
        graph.add(&followed(0, &[]), &kernels, &accesses, &[0, 1]);
        // One in b corrupts 0, which stays.
        graph.add(&followed(1, &[(1, &[0]), (2, &[0])]), &kernels, &accesses, &[0, 1]);
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
            &[0, 1, 2],
        );
        assert_eq!(of(&graph, Origin::Variable(1), "b", Some(2)), Some((1, 1)));
        assert_eq!(of(&graph, Origin::Variable(0), "b", Some(2)), None);
        // It reads nothing that is corrupted and followed.
        graph.add(
            &followed(0, &[(0, &[0]), (1, &[0, 2])]),
            &kernels,
            &[accesses(&[], &[]), accesses(&[1], &[2])],
            &[0, 1, 2],
        );
        assert_eq!(of(&graph, Origin::Other, "b", Some(2)), Some((1, 1)));
        let dot = graph.dot(&named(3));
        for line in [
            "fault -> \"through a\" [label=\"100 % of 2\", style=solid];",
            "\"through a\" -> \"v0\" [label=\"100 % of 2 faults\", style=solid];",
            "\"v1\" -> \"through b\" [label=\"100 % of 1\", style=dashed];",
            "\"other memory\" -> \"through b\" [label=\"100 % of 1\", style=dashed];",
            "\"through b\" -> \"v2\" [label=\"100 % of 2\", style=dashed];",
        ] {
            assert!(dot.contains(line), "{line} in {dot}");
        }
        // 0 was given to nobody, and every variable is joined to another through a kernel alone.
        assert!(!dot.contains("\"v0\" -> ") && !dot.contains("\"v1\" -> \"v"), "{dot}");
    }

    #[test]
    fn no_control_character_of_a_name_is_in_the_graph() {
        assert_eq!(quoted("a\u{1b}[2J\n\"b\u{202e}\\"), r#""a\\u001b[2J\\n\"b\\u202e\\""#);
    }

    #[test]
    fn copies_and_fills_between_launches_carry_and_mend() {
        let (mut graph, kernels) = (Graph::default(), ["a", "b"]);
        let copied = ArrayAccesses { copies: [(0, 1)].into(), overwritten: [0, 1].into(), ..accesses(&[1], &[2]) };
        graph.add(&followed(0, &[(0, &[0]), (1, &[1, 2])]), &kernels, &[accesses(&[], &[]), copied], &[0, 1, 2]);
        let edge = |from, to| graph.edges.get(&Edge { from, through: Carrier::Transfer, to }).copied();
        assert_eq!(edge(Origin::Variable(0), Some(1)), Some((1, 1)));
        assert_eq!(edge(Origin::Variable(0), None), Some((1, 1)));
        assert!(graph.dot(&named(3)).contains("\"through a copy or a fill\" -> \"v0\" [label=\"100 % of 1 mended\""));
        // What was copied goes on through the launch.
        assert_eq!(of(&graph, Origin::Variable(1), "b", Some(2)), Some((1, 1)));
        assert_eq!(of(&graph, Origin::Variable(0), "b", Some(1)), None);
    }
}
