//! Nodes of graphs: adding them, changing them, asking about them.

use super::copies::boxes;
use super::entry::entry_points;
use super::symbols::inside;
use crate::abi::types::{HostNodeParams, KernelNodeParams, Memcpy3DParms, MemsetParams};
use crate::abi::{In, Out};
use crate::code::Code;
use crate::runtime;
use crate::runtime::copy::pitched_box;
use crate::runtime::work::{CopyRequest, Fill, HostCall, LaunchShape, Work};
use capsule::Region;

/// No node waits for so many others.
const MOST_NODES: u64 = 1 << 24;

/// The nodes of an array.
pub(super) fn nodes(array: In<u64>, count: u64) -> Result<Vec<u64>, Code> {
    if count > MOST_NODES {
        return Err(Code::INVALID_VALUE);
    }
    (0..count as usize).map(|index| array.at(index)).collect()
}

/// Adds a node after others, and says which it is.
pub(super) fn add(node: Out<u64>, graph: u64, after: In<u64>, count: u64, work: Work) -> Result<(), Code> {
    if node.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let after = nodes(after, count)?;
    node.put(runtime::with(|runtime| runtime.graphs.add(graph, work, &after))?)
}

/// Makes a node do something else of the same kind.
pub(super) fn change(node: u64, work: Work) -> Result<(), Code> {
    runtime::with(|runtime| {
        let node = runtime.graphs.node_mut(node)?;
        if std::mem::discriminant(&node.work) != std::mem::discriminant(&work) {
            return Err(Code::INVALID_VALUE);
        }
        node.work = work;
        Ok(())
    })
}

/// Makes what was instantiated of a node do something else of the same kind.
pub(super) fn change_in(executable: u64, node: u64, work: Work) -> Result<(), Code> {
    runtime::with(|runtime| runtime.graphs.executable(executable)?.replace(node, work))
}

pub(super) fn kernel(params: In<KernelNodeParams>) -> Result<Work, Code> {
    let KernelNodeParams { func, grid, block, shared_mem_bytes, kernel_params, extra } = params.get()?;
    if extra != 0 {
        return Err(Code::INVALID_VALUE);
    }
    let shape = LaunchShape { grid, block, shared: u64::from(shared_mem_bytes), cooperative: false };
    runtime::with(|runtime| Ok(Work::Kernel(runtime.prepare(func, shape, kernel_params)?)))
}

pub(super) fn line(to: u64, from: u64, bytes: u64, kind: i32) -> Work {
    Work::Copy(CopyRequest { to: Region::linear(to, bytes), from: Region::linear(from, bytes), kind, blocking: false })
}

pub(super) fn fill(params: In<MemsetParams>) -> Result<Work, Code> {
    let MemsetParams { dst, pitch, value, element_size, width, height } = params.get()?;
    let (1 | 2 | 4) = element_size else { return Err(Code::INVALID_VALUE) };
    let bytes = width.checked_mul(u64::from(element_size)).ok_or(Code::INVALID_VALUE)?;
    let pitch = if height > 1 { pitch } else { bytes };
    let to = pitched_box(dst, pitch, height, [bytes, height, 1]).map_err(|_| Code::INVALID_VALUE)?;
    let value = value & (u32::MAX >> (32 - 8 * element_size));
    Ok(Work::Fill(Fill { to, value, width: element_size as u8, blocking: false }))
}

pub(super) fn host(params: In<HostNodeParams>) -> Result<Work, Code> {
    let HostNodeParams { function, data } = params.get()?;
    function.ok_or(Code::INVALID_VALUE)?;
    Ok(Work::Host(HostCall { function, data }))
}

/// An event of the application, as work.
pub(super) fn event(event: u64, work: fn(u64) -> Work) -> Result<Work, Code> {
    runtime::with(|runtime| runtime.streams.check_event(event))?;
    Ok(work(event))
}

/// The work of a whole graph.
pub(super) fn child(graph: u64) -> Result<Work, Code> {
    runtime::with(|runtime| {
        runtime.graphs.refresh(graph)?;
        runtime.graphs.graph(graph)?.work()
    })
}

/// Adds a node with a graph in it.
pub(super) fn add_child(node: Out<u64>, graph: u64, after: In<u64>, count: u64, of: u64) -> Result<(), Code> {
    add(node, graph, after, count, child(of)?)?;
    let made = node.get()?;
    runtime::with(|runtime| runtime.graphs.adopt(made, of))
}

/// `cudaGraphNodeType`.
fn number(work: &Work) -> i32 {
    match work {
        Work::Kernel(_) => 0,
        Work::Copy(_) => 1,
        Work::Fill(_) => 2,
        Work::Host(_) => 3,
        Work::Graph(_) => 4,
        Work::Nothing => 5,
        Work::Wait(_) => 6,
        Work::Record(_) => 7,
        Work::Allocate { .. } => 10,
        Work::Free(_) => 11,
    }
}

entry_points! {
    [cudaGraphAddKernelNode] (node: Out<u64>, graph: u64, after: In<u64>, count: u64, params: In<KernelNodeParams>) {
        add(node, graph, after, count, kernel(params)?)
    }

    [cudaGraphKernelNodeSetParams] (node: u64, params: In<KernelNodeParams>) {
        change(node, kernel(params)?)
    }

    [cudaGraphExecKernelNodeSetParams] (executable: u64, node: u64, params: In<KernelNodeParams>) {
        change_in(executable, node, kernel(params)?)
    }

    [cudaGraphAddMemcpyNode] (node: Out<u64>, graph: u64, after: In<u64>, count: u64, params: In<Memcpy3DParms>) {
        add(node, graph, after, count, Work::Copy(boxes(params)?))
    }

    [cudaGraphMemcpyNodeSetParams] (node: u64, params: In<Memcpy3DParms>) {
        change(node, Work::Copy(boxes(params)?))
    }

    [cudaGraphExecMemcpyNodeSetParams] (executable: u64, node: u64, params: In<Memcpy3DParms>) {
        change_in(executable, node, Work::Copy(boxes(params)?))
    }

    [cudaGraphAddMemcpyNode1D] (
        node: Out<u64>, graph: u64, after: In<u64>, count: u64, to: u64, from: u64, bytes: u64, kind: i32,
    ) {
        add(node, graph, after, count, line(to, from, bytes, kind))
    }

    [cudaGraphMemcpyNodeSetParams1D] (node: u64, to: u64, from: u64, bytes: u64, kind: i32) {
        change(node, line(to, from, bytes, kind))
    }

    [cudaGraphExecMemcpyNodeSetParams1D] (executable: u64, node: u64, to: u64, from: u64, bytes: u64, kind: i32) {
        change_in(executable, node, line(to, from, bytes, kind))
    }

    [cudaGraphAddMemcpyNodeToSymbol] (
        node: Out<u64>, graph: u64, after: In<u64>, count: u64, symbol: u64, from: u64, bytes: u64, offset: u64, kind: i32,
    ) {
        add(node, graph, after, count, line(inside(symbol, bytes, offset)?, from, bytes, kind))
    }

    [cudaGraphAddMemcpyNodeFromSymbol] (
        node: Out<u64>, graph: u64, after: In<u64>, count: u64, to: u64, symbol: u64, bytes: u64, offset: u64, kind: i32,
    ) {
        add(node, graph, after, count, line(to, inside(symbol, bytes, offset)?, bytes, kind))
    }

    [cudaGraphAddMemsetNode] (node: Out<u64>, graph: u64, after: In<u64>, count: u64, params: In<MemsetParams>) {
        add(node, graph, after, count, fill(params)?)
    }

    [cudaGraphMemsetNodeSetParams] (node: u64, params: In<MemsetParams>) {
        change(node, fill(params)?)
    }

    [cudaGraphExecMemsetNodeSetParams] (executable: u64, node: u64, params: In<MemsetParams>) {
        change_in(executable, node, fill(params)?)
    }

    [cudaGraphAddHostNode] (node: Out<u64>, graph: u64, after: In<u64>, count: u64, params: In<HostNodeParams>) {
        add(node, graph, after, count, host(params)?)
    }

    [cudaGraphHostNodeSetParams] (node: u64, params: In<HostNodeParams>) {
        change(node, host(params)?)
    }

    [cudaGraphExecHostNodeSetParams] (executable: u64, node: u64, params: In<HostNodeParams>) {
        change_in(executable, node, host(params)?)
    }

    [cudaGraphAddEmptyNode] (node: Out<u64>, graph: u64, after: In<u64>, count: u64) {
        add(node, graph, after, count, Work::Nothing)
    }

    [cudaGraphAddChildGraphNode] (node: Out<u64>, graph: u64, after: In<u64>, count: u64, of: u64) {
        add_child(node, graph, after, count, of)
    }

    [cudaGraphExecChildGraphNodeSetParams] (executable: u64, node: u64, of: u64) {
        change_in(executable, node, child(of)?)
    }

    [cudaGraphAddEventRecordNode] (node: Out<u64>, graph: u64, after: In<u64>, count: u64, of: u64) {
        add(node, graph, after, count, event(of, Work::Record)?)
    }

    [cudaGraphAddEventWaitNode] (node: Out<u64>, graph: u64, after: In<u64>, count: u64, of: u64) {
        add(node, graph, after, count, event(of, Work::Wait)?)
    }

    [cudaGraphDestroyNode] (node: u64) {
        runtime::with(|runtime| runtime.graphs.remove_node(node))
    }

    [cudaGraphNodeGetType] (node: u64, to: Out<i32>) {
        to.put(runtime::with(|runtime| Ok(number(&runtime.graphs.node(node)?.work)))?)
    }

    [cudaGraphNodeSetEnabled] (executable: u64, node: u64, enabled: u32) {
        runtime::with(|runtime| {
            *runtime.graphs.executable(executable)?.enabled(node)? = enabled != 0;
            Ok(())
        })
    }

    [cudaGraphNodeGetEnabled] (executable: u64, node: u64, to: Out<u32>) {
        to.put(runtime::with(|runtime| Ok(u32::from(*runtime.graphs.executable(executable)?.enabled(node)?)))?)
    }
}
