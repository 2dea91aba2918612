//! Graphs: work that is described first and done later, as often as the application likes.
//!
//! A graph is a set of nodes, each with the nodes that come before it. To instantiate it is to put the nodes in an
//! order; as everything here happens one after the other, that order is all that there is to an executable graph.
//! Handles look like pointers, and are never followed.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use super::work::{HostCall, Work};
use crate::code::Code;

/// A graph, by handles of its nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: BTreeMap<u64, Node>,
    /// The user objects that it needs, and how often.
    pub(super) objects: BTreeMap<u64, u32>,
    /// If it is a copy: its nodes by those of the original.
    pub(super) origins: BTreeMap<u64, u64>,
}

/// A node: what it does, and after which others.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) work: Work,
    pub(crate) after: BTreeSet<u64>,
}

/// An instantiated graph, in the order in which it runs.
#[derive(Debug, Clone)]
pub(crate) struct Executable {
    steps: Vec<Step>,
    objects: BTreeMap<u64, u32>,
    pub(crate) flags: u64,
}

#[derive(Debug, Clone)]
struct Step {
    node: u64,
    /// The places of the steps that come before it, because of which it is here.
    after: Vec<usize>,
    work: Work,
    enabled: bool,
}

/// Why an executable graph cannot become another: `cudaGraphExecUpdateResult`, and the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unlike {
    pub(crate) result: i32,
    pub(crate) node: u64,
}

const TOPOLOGY_CHANGED: i32 = 2;
const NODE_TYPE_CHANGED: i32 = 3;

/// All graphs of the process, and the streams that are captured into them.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    graphs: BTreeMap<u64, Graph>,
    executables: BTreeMap<u64, Executable>,
    pub(super) captures: Captures,
    pub(super) kept: NodeData,
    pub(super) objects: UserObjects,
    made: u64,
}

/// The streams and events that are captured.
#[derive(Debug, Default)]
pub(super) struct Captures {
    pub(super) streams: BTreeMap<u64, Captured>,
    /// The last place of each event in a capture: its graph, and the nodes that come before it.
    pub(super) events: BTreeMap<u64, (u64, Vec<u64>)>,
    /// The ends of streams as they were handed out, in memory that stays where it is.
    pub(super) shown: BTreeMap<u64, Vec<u64>>,
}

/// A stream that is captured.
#[derive(Debug, Clone)]
pub(super) struct Captured {
    pub(super) graph: u64,
    /// Whether the capture began here.
    pub(super) origin: bool,
    /// Whether the application made the graph, which then outlives a failure.
    pub(super) given: bool,
    /// Whether it waits for the default stream, which may therefore do nothing meanwhile.
    pub(super) blocking: bool,
    /// The nodes that the next one comes after.
    pub(super) ends: Vec<u64>,
    /// Whether something was asked for that no graph can do.
    pub(super) broken: bool,
}

/// The data of nodes beside their work.
#[derive(Debug, Default)]
pub(super) struct NodeData {
    /// The graph inside a node, as the application may change it.
    pub(super) children: BTreeMap<u64, u64>,
    /// Arguments of kernels, and pointers to each, as they were handed out.
    pub(super) arguments: BTreeMap<u64, Arguments>,
    /// Attributes of nodes and streams, by handle and number.
    pub(super) attributes: BTreeMap<(u64, i32), [u64; 8]>,
}

/// Arguments of a kernel in memory that stays where it is.
#[derive(Debug)]
pub(super) struct Arguments {
    pub(super) packed: Vec<u8>,
    // Of 16 bytes each, so that every argument is aligned as the kernel has it.
    pub(super) words: Vec<u128>,
    pub(super) pointers: Vec<u64>,
}

/// All user objects of the process: how many need each, and what ends it.
#[derive(Debug, Default)]
pub(super) struct UserObjects(pub(super) BTreeMap<u64, (u32, HostCall)>);

impl Graphs {
    pub(super) fn handle(&mut self) -> u64 {
        self.made += 1;
        0x6ea0_0000 + 64 * self.made
    }

    pub(crate) fn create(&mut self) -> u64 {
        self.insert(Graph::default())
    }

    fn insert(&mut self, graph: Graph) -> u64 {
        let handle = self.handle();
        self.graphs.insert(handle, graph);
        handle
    }

    /// Forgets a graph; what to call, once the runtime is free.
    pub(crate) fn destroy(&mut self, graph: u64) -> Result<Vec<HostCall>, Code> {
        let graph = self.graphs.remove(&graph).ok_or(Code::INVALID_VALUE)?;
        self.let_go(graph.nodes.into_keys());
        Ok(self.release_all(&graph.objects))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Graph> {
        self.graphs.values()
    }

    pub(super) fn graph_mut(&mut self, graph: u64) -> Result<&mut Graph, Code> {
        self.graphs.get_mut(&graph).ok_or(Code::INVALID_VALUE)
    }

    pub(crate) fn graph(&self, graph: u64) -> Result<&Graph, Code> {
        self.graphs.get(&graph).ok_or(Code::INVALID_VALUE)
    }

    /// Adds a node after others of the same graph; its handle.
    pub(crate) fn add(&mut self, graph: u64, work: Work, after: &[u64]) -> Result<u64, Code> {
        let handle = self.handle();
        let graph = self.graphs.get_mut(&graph).ok_or(Code::INVALID_VALUE)?;
        if !after.iter().all(|node| graph.nodes.contains_key(node)) {
            return Err(Code::INVALID_VALUE);
        }
        graph.nodes.insert(handle, Node { work, after: after.iter().copied().collect() });
        Ok(handle)
    }

    /// Puts nodes after others, pair by pair.
    pub(crate) fn connect(&mut self, graph: u64, pairs: &[(u64, u64)]) -> Result<(), Code> {
        let graph = self.graphs.get_mut(&graph).ok_or(Code::INVALID_VALUE)?;
        let known = |node| graph.nodes.contains_key(node);
        if !pairs.iter().all(|(from, to)| from != to && known(from) && known(to)) {
            return Err(Code::INVALID_VALUE);
        }
        for (from, to) in pairs {
            if let Some(node) = graph.nodes.get_mut(to) {
                node.after.insert(*from);
            }
        }
        Ok(())
    }

    /// The node of this handle, in whichever graph it is.
    pub(crate) fn node(&self, node: u64) -> Result<&Node, Code> {
        self.graphs.values().find_map(|graph| graph.nodes.get(&node)).ok_or(Code::INVALID_VALUE)
    }

    /// The same, to change it.
    pub(crate) fn node_mut(&mut self, node: u64) -> Result<&mut Node, Code> {
        self.graphs.values_mut().find_map(|graph| graph.nodes.get_mut(&node)).ok_or(Code::INVALID_VALUE)
    }

    pub(crate) fn remove_node(&mut self, node: u64) -> Result<(), Code> {
        let graph = self.graphs.values_mut().find(|graph| graph.nodes.contains_key(&node));
        let graph = graph.ok_or(Code::INVALID_VALUE)?;
        graph.nodes.remove(&node);
        for other in graph.nodes.values_mut() {
            other.after.remove(&node);
        }
        self.let_go([node]);
        Ok(())
    }

    /// A copy of a graph, with nodes of its own.
    pub(crate) fn duplicate(&mut self, graph: u64) -> Result<u64, Code> {
        let Graph { nodes, objects, .. } = self.graph(graph)?.clone();
        let names: BTreeMap<u64, u64> = nodes.keys().map(|&node| (node, self.handle())).collect();
        let renamed = |node: &u64| names.get(node).copied();
        let copied = nodes.iter().filter_map(|(node, Node { work, after })| {
            let after = after.iter().filter_map(renamed).collect();
            Some((renamed(node)?, Node { work: work.clone(), after }))
        });
        let copied = copied.collect();
        self.keep_for_copy(&names)?;
        self.retain_all(&objects);
        Ok(self.insert(Graph { nodes: copied, objects, origins: names }))
    }

    pub(crate) fn instantiate(&mut self, graph: u64) -> Result<u64, Code> {
        self.refresh(graph)?;
        let objects = self.graph(graph)?.objects.clone();
        let executable = Executable { steps: self.graph(graph)?.steps()?, objects: objects.clone(), flags: 0 };
        self.retain_all(&objects);
        let handle = self.handle();
        self.executables.insert(handle, executable);
        Ok(handle)
    }

    /// Forgets an executable graph; what to call, once the runtime is free.
    pub(crate) fn destroy_executable(&mut self, executable: u64) -> Result<Vec<HostCall>, Code> {
        let executable = self.executables.remove(&executable).ok_or(Code::INVALID_VALUE)?;
        Ok(self.release_all(&executable.objects))
    }

    pub(crate) fn executable(&mut self, executable: u64) -> Result<&mut Executable, Code> {
        self.executables.get_mut(&executable).ok_or(Code::INVALID_VALUE)
    }

    /// Makes an executable graph do what another graph of the same form does.
    pub(crate) fn update(&mut self, executable: u64, graph: u64) -> Result<Result<(), Unlike>, Code> {
        self.refresh(graph)?;
        let steps = self.graph(graph)?.steps()?;
        Ok(self.executable(executable)?.become_like(steps))
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self { made: self.made, ..Self::default() };
    }
}

impl Node {
    /// Whether it holds the work of a graph.
    pub(super) fn is_graph(&self) -> bool {
        matches!(self.work, Work::Graph(_))
    }
}

impl Graph {
    /// The nodes in an order in which each comes after those that it waits for; among those that could come next, the
    /// oldest.
    fn steps(&self) -> Result<Vec<Step>, Code> {
        let mut places = BTreeMap::new();
        let mut steps = Vec::new();
        while steps.len() < self.nodes.len() {
            let ready = |node: &Node| node.after.iter().all(|before| places.contains_key(before));
            let next = self.nodes.iter().find(|(handle, node)| !places.contains_key(*handle) && ready(node));
            let (&handle, node) = next.ok_or(Code::INVALID_VALUE)?;
            let after = node.after.iter().filter_map(|before| places.get(before).copied()).collect();
            places.insert(handle, steps.len());
            steps.push(Step { node: handle, after, work: node.work.clone(), enabled: true });
        }
        Ok(steps)
    }

    /// All that the graph does, in order.
    pub(crate) fn work(&self) -> Result<Work, Code> {
        Ok(Work::Graph(self.steps()?.into_iter().map(|step| step.work).collect()))
    }

    /// The nodes that wait for none.
    pub(crate) fn roots(&self) -> Vec<u64> {
        self.nodes.iter().filter(|(_, node)| node.after.is_empty()).map(|(&handle, _)| handle).collect()
    }

    /// Who waits for whom: from, to.
    pub(crate) fn edges(&self) -> Vec<(u64, u64)> {
        self.nodes.iter().flat_map(|(&to, node)| node.after.iter().map(move |&from| (from, to))).collect()
    }

    /// Whether all nodes are among these or come before them.
    pub(super) fn leads_to(&self, ends: &[u64]) -> bool {
        let mut found: BTreeSet<u64> = BTreeSet::new();
        let mut open = ends.to_vec();
        while let Some(handle) = open.pop() {
            if found.insert(handle) {
                open.extend(self.nodes.get(&handle).iter().flat_map(|node| &node.after));
            }
        }
        self.nodes.keys().all(|handle| found.contains(handle))
    }
}

impl Executable {
    /// All that it does, in order.
    pub(crate) fn work(&self) -> Work {
        Work::Graph(self.steps.iter().filter(|step| step.enabled).map(|step| step.work.clone()).collect())
    }

    fn step(&mut self, node: u64) -> Result<&mut Step, Code> {
        self.steps.iter_mut().find(|step| step.node == node).ok_or(Code::INVALID_VALUE)
    }

    /// Makes what came from a node do something else of the same kind.
    pub(crate) fn replace(&mut self, node: u64, work: Work) -> Result<(), Code> {
        let step = self.step(node)?;
        if discriminant(&step.work) != discriminant(&work) {
            return Err(Code::INVALID_VALUE);
        }
        step.work = work;
        Ok(())
    }

    /// Whether what came from a node is done.
    pub(crate) fn enabled(&mut self, node: u64) -> Result<&mut bool, Code> {
        Ok(&mut self.step(node)?.enabled)
    }

    fn become_like(&mut self, steps: Vec<Step>) -> Result<(), Unlike> {
        if self.steps.len() != steps.len() {
            return Err(Unlike { result: TOPOLOGY_CHANGED, node: 0 });
        }
        for (old, new) in self.steps.iter().zip(&steps) {
            let node = new.node;
            if old.after != new.after {
                return Err(Unlike { result: TOPOLOGY_CHANGED, node });
            }
            if discriminant(&old.work) != discriminant(&new.work) {
                return Err(Unlike { result: NODE_TYPE_CHANGED, node });
            }
        }
        for (old, new) in self.steps.iter_mut().zip(steps) {
            old.work = new.work;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_run_after_those_they_wait_for() {
        let mut graphs = Graphs::default();
        let graph = graphs.create();
        let last = graphs.add(graph, Work::Wait(3), &[]).unwrap();
        let first = graphs.add(graph, Work::Wait(1), &[]).unwrap();
        let middle = graphs.add(graph, Work::Wait(2), &[first]).unwrap();
        graphs.connect(graph, &[(middle, last)]).unwrap();
        let Ok(Work::Graph(work)) = graphs.graph(graph).unwrap().work() else { panic!("an order") };
        let events: Vec<u64> = work.iter().map(|work| if let Work::Wait(event) = work { *event } else { 0 }).collect();
        assert_eq!(events, [1, 2, 3]);
        graphs.connect(graph, &[(last, first)]).unwrap();
        assert_eq!(graphs.instantiate(graph), Err(Code::INVALID_VALUE));
        assert_eq!(graphs.connect(graph, &[(last, 7)]), Err(Code::INVALID_VALUE));
    }

    #[test]
    fn an_executable_becomes_only_what_has_its_form() {
        let mut graphs = Graphs::default();
        let [one, two] = [(); 2].map(|()| graphs.create());
        graphs.add(one, Work::Wait(1), &[]).unwrap();
        graphs.add(two, Work::Nothing, &[]).unwrap();
        let executable = graphs.instantiate(one).unwrap();
        let copied = graphs.duplicate(one).unwrap();
        assert_eq!(graphs.update(executable, copied), Ok(Ok(())));
        let unlike = graphs.update(executable, two).unwrap().unwrap_err();
        assert_eq!(unlike.result, NODE_TYPE_CHANGED);
        graphs.add(two, Work::Nothing, &[]).unwrap();
        assert_eq!(graphs.update(executable, two), Ok(Err(Unlike { result: TOPOLOGY_CHANGED, node: 0 })));
    }
}
