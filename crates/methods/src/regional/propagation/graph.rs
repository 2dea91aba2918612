//! Between which variables errors go, through which kernels, and how often.

use inject::Array;
use outcome::Class;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::follow::Followed;

/// From where to where an error goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The corrupted variable, by its place; none for the fault itself.
    pub from: Option<usize>,
    /// The kernel, as it is called in source.
    pub kernel: String,
    /// The variable that is corrupted after a launch of it; none where the corruption of `from` is gone.
    pub to: Option<usize>,
}

/// How often errors went along edges, and how often they could have.
///
/// - a fault in a launch of K can corrupt v: launches with a fault that the run came past;
/// - u can corrupt v through K: later launches of K before which u was corrupted and v was not;
/// - K can mend u: later launches of K before which u was corrupted.
///
/// Where several variables are corrupted before a launch, each is counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Each edge: how often, and how often it could have been.
    pub edges: BTreeMap<Edge, (u64, u64)>,
}

impl Graph {
    /// Adds a run that came to its end; others are left out. `kernels` are those of the launches.
    pub fn add(&mut self, it: &Followed, kernels: &[&str], variables: usize) {
        if !it.completed || matches!(it.class(), Class::NotLanded | Class::Failed) {
            return;
        }
        let after = |launch: u32| it.after.get(&launch).cloned().unwrap_or_default();
        let mut before = after(it.launch);
        for variable in 0..variables {
            self.count(None, kernels[it.launch as usize], Some(variable), before.contains(&variable));
        }
        let last_change = it.after.keys().next_back().copied().unwrap_or(0);
        for launch in it.launch + 1..kernels.len() as u32 {
            if launch > last_change + 1 {
                break;
            }
            let (kernel, now) = (kernels[launch as usize], after(launch));
            for &from in &before {
                for to in (0..variables).filter(|to| !before.contains(to)) {
                    self.count(Some(from), kernel, Some(to), now.contains(&to));
                }
                self.count(Some(from), kernel, None, !now.contains(&from));
            }
            before = now;
        }
    }

    fn count(&mut self, from: Option<usize>, kernel: &str, to: Option<usize>, happened: bool) {
        let edge = self.edges.entry(Edge { from, kernel: kernel.to_owned(), to }).or_default();
        edge.0 += u64::from(happened);
        edge.1 += 1;
    }

    /// The edges along which an error went.
    pub fn taken(&self) -> impl Iterator<Item = (&Edge, u64, u64)> {
        self.edges.iter().filter(|(_, counts)| counts.0 > 0).map(|(edge, counts)| (edge, counts.0, counts.1))
    }

    /// The graph in the language of Graphviz: boxes are kernels, ellipses variables.
    #[must_use]
    pub fn dot(&self, arrays: &[Array]) -> String {
        let mut text = "digraph propagation {\n    rankdir=LR;\n    fault [shape=diamond];\n".to_owned();
        let kernels: BTreeSet<&str> = self.taken().map(|(edge, ..)| edge.kernel.as_str()).collect();
        for kernel in kernels {
            let _ = writeln!(text, "    {} [shape=box];", quoted(kernel));
        }
        for (edge, count, of) in self.taken() {
            let Some(to) = edge.to else { continue };
            let (kernel, to) = (&edge.kernel, &arrays[to].name);
            let share = 100.0 * count as f64 / of as f64;
            let (from, label) = match edge.from {
                None => ("fault".to_owned(), format!("{share:.0} % of {of}")),
                Some(from) => (quoted(&arrays[from].name), format!("{kernel}: {share:.0} % of {of}")),
            };
            let _ = match edge.from {
                None => writeln!(
                    text,
                    "    {from} -> {0};\n    {0} -> {1} [label={2}];",
                    quoted(kernel),
                    quoted(to),
                    quoted(&label)
                ),
                Some(_) => writeln!(text, "    {from} -> {} [label={}];", quoted(to), quoted(&label)),
            };
        }
        text + "}\n"
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcome::Outcome;

    /// A run whose variables are corrupted after launches.
    fn followed(launch: u32, after: &[(u32, &[usize])]) -> Followed {
        let after = after.iter().map(|(launch, arrays)| (*launch, arrays.iter().copied().collect())).collect();
        Followed {
            run: 0,
            launch,
            outcome: Outcome::Masked(outcome::Masked::Logical),
            completed: true,
            after,
            ends: BTreeMap::new(),
        }
    }

    #[test]
    fn edges_are_counted_where_errors_could_go() {
        let (mut graph, kernels) = (Graph::default(), ["a", "b", "c"]);
        // A fault in a corrupts 0; b carries it to 1; c mends 0.
        graph.add(&followed(0, &[(0, &[0]), (1, &[0, 1]), (2, &[1])]), &kernels, 2);
        // A fault in a corrupts nothing.
        graph.add(&followed(0, &[]), &kernels, 2);
        // One in b corrupts 0, which stays.
        graph.add(&followed(1, &[(1, &[0]), (2, &[0])]), &kernels, 2);
        let of = |from, kernel: &str, to| graph.edges.get(&Edge { from, kernel: kernel.into(), to }).copied();
        assert_eq!(of(None, "a", Some(0)), Some((1, 2)));
        assert_eq!(of(None, "a", Some(1)), Some((0, 2)));
        assert_eq!(of(None, "b", Some(0)), Some((1, 1)));
        assert_eq!(of(Some(0), "b", Some(1)), Some((1, 1)));
        assert_eq!(of(Some(0), "c", Some(1)), Some((0, 1)));
        assert_eq!(of(Some(0), "c", None), Some((1, 2)));
        assert_eq!(of(Some(1), "c", None), Some((0, 1)));
    }
}
