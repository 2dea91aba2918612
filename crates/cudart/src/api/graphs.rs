//! Graphs as a whole: making, copying, instantiating, updating and launching them.

use super::entry::entry_points;
use super::graph_nodes::nodes;
use crate::abi::types::GraphExecUpdateResultInfo;
use crate::abi::{In, Out, is_cuda_12};
use crate::code::Code;
use crate::runtime;
use crate::runtime::graphs::Graph;
use crate::runtime::work::{HostCall, Work, steps};

/// `cudaGraphInstantiateFlags`: free on launch, upload, launch from the device, priorities of nodes.
const KNOWN_FLAGS: u64 = 15;

/// Puts nodes into an array of the application: as many as it has room for, the rest of it zero, and how many there
/// are. Without an array, only how many.
pub(super) fn put_nodes(found: &[u64], to: Out<u64>, count: Out<u64>) -> Result<(), Code> {
    if !to.is_null() {
        let room = count.get()?;
        for index in 0..room.min(found.len() as u64) as usize {
            to.at(index).put(found[index])?;
        }
        for index in found.len()..room as usize {
            to.at(index).put(0)?;
        }
    }
    count.put(found.len() as u64)
}

fn of_graph(graph: u64, what: impl FnOnce(&Graph) -> Vec<u64>) -> Result<Vec<u64>, Code> {
    runtime::with(|runtime| Ok(what(runtime.graphs.graph(graph)?)))
}

fn connect(graph: u64, from: In<u64>, to: In<u64>, count: u64) -> Result<(), Code> {
    let pairs: Vec<(u64, u64)> = nodes(from, count)?.into_iter().zip(nodes(to, count)?).collect();
    runtime::with(|runtime| runtime.graphs.connect(graph, &pairs))
}

/// Puts edges into two arrays, as [`put_nodes`] does.
pub(super) fn put_edges(graph: u64, from: Out<u64>, to: Out<u64>, count: Out<u64>) -> Result<(), Code> {
    let edges = runtime::with(|runtime| Ok(runtime.graphs.graph(graph)?.edges()))?;
    let (firsts, seconds): (Vec<u64>, Vec<u64>) = edges.into_iter().unzip();
    let room = if from.is_null() { 0 } else { count.get()? };
    put_nodes(&firsts, from, count)?;
    if room > 0 {
        count.put(room)?;
    }
    put_nodes(&seconds, to, count)
}

/// Data of edges: none has any, so it is zero for as many as there are.
pub(super) fn put_edge_data(data: Out<u64>, count: Out<u64>) -> Result<(), Code> {
    let count = if data.is_null() { 0 } else { count.get()? };
    (0..count as usize).try_for_each(|index| data.at(index).put(0))
}

/// The nodes that a node waits for.
pub(super) fn dependencies(node: u64) -> Result<Vec<u64>, Code> {
    runtime::with(|runtime| Ok(runtime.graphs.node(node)?.after.iter().copied().collect()))
}

pub(super) fn instantiate(to: Out<u64>, graph: u64, flags: u64) -> Result<(), Code> {
    if to.is_null() || flags & !KNOWN_FLAGS != 0 {
        return Err(Code::INVALID_VALUE);
    }
    to.put(runtime::with(|runtime| {
        let made = runtime.graphs.instantiate(graph)?;
        runtime.graphs.executable(made)?.flags = flags;
        Ok(made)
    })?)
}

/// Does what a graph says, or notes it if the stream is captured. Functions of the host run while the runtime is free.
fn launch(executable: u64, stream: u64) -> Result<(), Code> {
    let work = runtime::with(|runtime| {
        runtime.check()?;
        runtime.streams.get(stream)?;
        let work = runtime.graphs.executable(executable)?.work();
        Ok((!runtime.graphs.note(stream, || work.clone())?).then_some(work))
    })?;
    for step in work.iter().flat_map(steps) {
        match step {
            Work::Host(call) => {
                if runtime::with(|runtime| Ok(runtime.is_good()))? {
                    call.call();
                }
            }
            // SAFETY: the application passed the ranges that are copied and filled.
            step => runtime::with(|runtime| unsafe { runtime.perform(&step) })?,
        }
    }
    Ok(())
}

/// Ends user objects that nobody needs any more.
fn finish(ends: Vec<HostCall>) -> Result<(), Code> {
    ends.into_iter().for_each(HostCall::call);
    Ok(())
}

/// Says how an update went.
fn update(executable: u64, graph: u64, info: Out<GraphExecUpdateResultInfo>) -> Result<(), Code> {
    let updated = runtime::with(|runtime| runtime.graphs.update(executable, graph))?;
    let (result, error_node) = updated.map_or_else(|unlike| (unlike.result, unlike.node), |()| (0, 0));
    info.put_if_wanted(GraphExecUpdateResultInfo { result, error_node, error_from_node: 0 });
    updated.map_err(|_| Code::GRAPH_EXEC_UPDATE_FAILURE)
}

entry_points! {
    [cudaGraphCreate] (to: Out<u64>, flags: u32) {
        if to.is_null() || flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        to.put(runtime::with(|runtime| { runtime.check_told()?; Ok(runtime.graphs.create()) })?)
    }

    [cudaGraphDestroy] (graph: u64) {
        finish(runtime::with(|runtime| runtime.graphs.destroy(graph))?)
    }

    [cudaGraphClone] (to: Out<u64>, graph: u64) {
        if to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        to.put(runtime::with(|runtime| runtime.graphs.duplicate(graph))?)
    }

    // CUDA 13 has data of the edges before their number; they concern only when work overlaps.
    [cudaGraphAddDependencies] (graph: u64, from: In<u64>, to: In<u64>, count_or_data: u64, count: u64) {
        connect(graph, from, to, if is_cuda_12() { count_or_data } else { count })
    }

    [cudaGraphAddDependencies_v2] (graph: u64, from: In<u64>, to: In<u64>, _data: u64, count: u64) {
        connect(graph, from, to, count)
    }

    [cudaGraphGetNodes] (graph: u64, to: Out<u64>, count: Out<u64>) {
        put_nodes(&of_graph(graph, |graph| graph.nodes.keys().copied().collect())?, to, count)
    }

    [cudaGraphGetRootNodes] (graph: u64, to: Out<u64>, count: Out<u64>) {
        put_nodes(&of_graph(graph, Graph::roots)?, to, count)
    }

    // As above: CUDA 13 has data of the edges before their number, which is that none has any.
    [cudaGraphGetEdges] (graph: u64, from: Out<u64>, to: Out<u64>, count_or_data: Out<u64>, count: Out<u64>) {
        if is_cuda_12() {
            return put_edges(graph, from, to, count_or_data);
        }
        put_edges(graph, from, to, count)?;
        put_edge_data(count_or_data, count)
    }

    [cudaGraphNodeGetDependencies] (node: u64, to: Out<u64>, count_or_data: Out<u64>, count: Out<u64>) {
        if is_cuda_12() {
            return put_nodes(&dependencies(node)?, to, count_or_data);
        }
        put_nodes(&dependencies(node)?, to, count)?;
        put_edge_data(count_or_data, count)
    }

    [cudaGraphInstantiate cudaGraphInstantiateWithFlags] (to: Out<u64>, graph: u64, flags: u64) {
        instantiate(to, graph, flags)
    }

    [cudaGraphExecDestroy] (executable: u64) {
        finish(runtime::with(|runtime| runtime.graphs.destroy_executable(executable))?)
    }

    [cudaGraphUpload cudaGraphUpload_ptsz] (executable: u64, stream: u64) {
        runtime::with(|runtime| {
            runtime.streams.get(stream)?;
            runtime.graphs.executable(executable).map(drop)
        })
    }

    [cudaGraphLaunch cudaGraphLaunch_ptsz] (executable: u64, stream: u64) {
        launch(executable, stream)
    }

    [cudaGraphExecUpdate] (executable: u64, graph: u64, info: Out<GraphExecUpdateResultInfo>) {
        update(executable, graph, info)
    }
}
