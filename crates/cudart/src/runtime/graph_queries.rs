//! What applications ask about graphs, and what the answers need to be kept: arguments of kernels that pointers lead
//! to, graphs inside nodes, attributes, and where the nodes of a copy came from.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::graphs::{Arguments, Graph, Graphs};
use super::work::{ReadyLaunch, Work};
use crate::code::Code;

impl Graphs {
    /// The nodes that wait for a node.
    pub(crate) fn dependents(&self, node: u64) -> Result<Vec<u64>, Code> {
        let graph = self.holder(node)?;
        let waits = graph.nodes.iter().filter(|(_, other)| other.after.contains(&node));
        Ok(waits.map(|(&handle, _)| handle).collect())
    }

    /// The graph that has a node.
    fn holder(&self, node: u64) -> Result<&Graph, Code> {
        self.all().find(|graph| graph.nodes.contains_key(&node)).ok_or(Code::INVALID_VALUE)
    }

    /// Lets nodes no longer wait for others, pair by pair.
    pub(crate) fn disconnect(&mut self, graph: u64, pairs: &[(u64, u64)]) -> Result<(), Code> {
        let graph = self.graph_mut(graph)?;
        let waits = |(from, to): &(u64, u64)| graph.nodes.get(to).is_some_and(|node| node.after.contains(from));
        if !pairs.iter().all(waits) {
            return Err(Code::INVALID_VALUE);
        }
        for (from, to) in pairs {
            if let Some(node) = graph.nodes.get_mut(to) {
                node.after.remove(from);
            }
        }
        Ok(())
    }

    /// The node of a copied graph that was made of a node of the original.
    pub(crate) fn find_in_clone(&self, original: u64, copy: u64) -> Result<u64, Code> {
        self.graph(copy)?.origins.get(&original).copied().ok_or(Code::INVALID_VALUE)
    }

    /// Puts a graph of its own into a node.
    pub(crate) fn adopt(&mut self, node: u64, graph: u64) -> Result<(), Code> {
        let own = self.duplicate(graph)?;
        if let Some(old) = self.kept.children.insert(node, own) {
            self.destroy(old)?;
        }
        Ok(())
    }

    /// The graph inside a node.
    pub(crate) fn child(&self, node: u64) -> Result<u64, Code> {
        let child = self.kept.children.get(&node).copied();
        child.ok_or(if self.node(node)?.is_graph() { Code::NOT_SUPPORTED } else { Code::INVALID_VALUE })
    }

    /// Takes over what was changed in the graphs inside the nodes of a graph.
    pub(crate) fn refresh(&mut self, graph: u64) -> Result<(), Code> {
        let nodes: Vec<u64> = self.graph(graph)?.nodes.keys().copied().collect();
        for node in nodes {
            let Some(&child) = self.kept.children.get(&node) else { continue };
            self.refresh(child)?;
            let work = self.graph(child)?.work()?;
            self.node_mut(node)?.work = work;
        }
        Ok(())
    }

    /// Gives the nodes of a copy what belongs to those of the original.
    pub(super) fn keep_for_copy(&mut self, names: &BTreeMap<u64, u64>) -> Result<(), Code> {
        for (original, copy) in names {
            if let Some(&child) = self.kept.children.get(original) {
                self.adopt(*copy, child)?;
            }
            self.copy_attributes(*original, *copy);
        }
        Ok(())
    }

    /// The memory that nodes of graphs allocate.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        let works = self.all().flat_map(|graph| graph.nodes.values()).map(|node| &node.work);
        works.map(|work| if let Work::Allocate { bytes, .. } = work { *bytes } else { 0 }).sum()
    }

    /// Forgets what belongs to nodes that are gone.
    pub(super) fn let_go(&mut self, nodes: impl IntoIterator<Item = u64>) {
        for node in nodes {
            self.kept.arguments.remove(&node);
            self.kept.attributes.retain(|&(handle, _), _| handle != node);
            if let Some(child) = self.kept.children.remove(&node) {
                // It was there until now.
                let _ = self.destroy(child);
            }
        }
    }

    /// The address of an array of pointers to the arguments of a node's kernel, each from an offset on. It holds until
    /// the node changes.
    pub(crate) fn arguments(&mut self, node: u64, launch: &ReadyLaunch, offsets: &[u64]) -> u64 {
        let kept = self.kept.arguments.get(&node).filter(|kept| kept.packed == launch.params());
        if kept.is_none() {
            let packed = launch.params().to_vec();
            let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u128::from(byte));
            let mut words: Vec<u128> = packed.chunks(16).map(word).collect();
            let start = words.as_mut_ptr().expose_provenance() as u64;
            let pointers = offsets.iter().map(|offset| start + offset).collect();
            self.kept.arguments.insert(node, Arguments { packed, words, pointers });
        }
        let kept = self.kept.arguments.get_mut(&node).filter(|kept| !kept.words.is_empty());
        kept.map_or(0, |kept| kept.pointers.as_mut_ptr().expose_provenance() as u64)
    }

    /// An attribute of a node or stream, if it was set.
    pub(crate) fn attribute(&self, handle: u64, number: i32) -> Option<[u64; 8]> {
        self.kept.attributes.get(&(handle, number)).copied()
    }

    /// Sets an attribute of a node or stream.
    pub(crate) fn set_attribute(&mut self, handle: u64, number: i32, value: [u64; 8]) {
        self.kept.attributes.insert((handle, number), value);
    }

    /// Gives one node or stream the attributes of another.
    pub(crate) fn copy_attributes(&mut self, from: u64, to: u64) {
        let copied: Vec<_> = self.kept.attributes.range((from, i32::MIN)..=(from, i32::MAX)).collect();
        let copied: Vec<_> = copied.into_iter().map(|(&(_, number), &value)| ((to, number), value)).collect();
        self.kept.attributes.extend(copied);
    }
}

impl Graph {
    /// The graph in the language of Graphviz.
    pub(crate) fn dot(&self) -> String {
        let mut text = "digraph dot {\nsubgraph cluster_1 {\nlabel=\"graph_1\" graph[style=\"dashed\"];\n".to_owned();
        let places: BTreeMap<u64, usize> = self.nodes.keys().enumerate().map(|(place, &node)| (node, place)).collect();
        for (node, place) in &places {
            let what = self.nodes.get(node).map_or("", |node| kind(&node.work));
            // Writing into a `String` cannot fail.
            let _ = writeln!(
                text,
                "\"graph_1_node_{place}\"[style=\"bold\" shape=\"octagon\" label=\"{place}\n{what}\n\"];"
            );
        }
        for (from, to) in self.edges() {
            if let (Some(from), Some(to)) = (places.get(&from), places.get(&to)) {
                let _ = writeln!(text, "\"graph_1_node_{from}\" -> \"graph_1_node_{to}\";");
            }
        }
        text + "}\n}\n"
    }
}

fn kind(work: &Work) -> &'static str {
    match work {
        Work::Kernel(_) => "KERNEL",
        Work::Copy(_) => "MEMCPY",
        Work::Fill(_) => "MEMSET",
        Work::Host(_) => "HOST",
        Work::Graph(_) => "GRAPH",
        Work::Nothing => "EMPTY",
        Work::Wait(_) => "EVENT_WAIT",
        Work::Record(_) => "EVENT_RECORD",
        Work::Allocate { .. } => "MEM_ALLOC",
        Work::Free(_) => "MEM_FREE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_found_and_let_go() {
        let mut graphs = Graphs::default();
        let graph = graphs.create();
        let [first, last] = [(); 2].map(|()| graphs.add(graph, Work::Nothing, &[]).unwrap());
        graphs.connect(graph, &[(first, last)]).unwrap();
        assert_eq!(graphs.dependents(first), Ok(vec![last]));
        let copy = graphs.duplicate(graph).unwrap();
        let found = graphs.find_in_clone(last, copy).unwrap();
        assert_eq!(graphs.node(found).unwrap().after.len(), 1);
        assert_eq!(graphs.find_in_clone(last, graph), Err(Code::INVALID_VALUE));
        graphs.disconnect(graph, &[(first, last)]).unwrap();
        assert_eq!(graphs.dependents(first), Ok(vec![]));
        assert_eq!(graphs.disconnect(graph, &[(first, last)]), Err(Code::INVALID_VALUE));
    }

    #[test]
    fn a_graph_inside_a_node_can_be_changed() {
        let mut graphs = Graphs::default();
        let [inner, outer] = [(); 2].map(|()| graphs.create());
        graphs.add(inner, Work::Wait(1), &[]).unwrap();
        let work = graphs.graph(inner).unwrap().work().unwrap();
        let node = graphs.add(outer, work, &[]).unwrap();
        graphs.adopt(node, inner).unwrap();
        let child = graphs.child(node).unwrap();
        assert_ne!(child, inner);
        graphs.add(child, Work::Wait(2), &[]).unwrap();
        graphs.refresh(outer).unwrap();
        let Work::Graph(work) = &graphs.node(node).unwrap().work else { panic!("a graph") };
        assert_eq!(work.len(), 2);
        assert!(graphs.graph(outer).unwrap().dot().contains("GRAPH"));
        graphs.destroy(outer).unwrap();
        assert_eq!(graphs.graph(child).map(|_| ()), Err(Code::INVALID_VALUE));
    }
}
