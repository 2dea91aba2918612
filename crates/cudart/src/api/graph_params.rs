//! Nodes of any kind by one structure, memory of graphs, and user objects.

use super::devices::check_device;
use super::entry::entry_points;
use super::graph_nodes::{add, add_child, change, change_in, child, event, fill, host, kernel, line};
use super::symbols::inside;
use crate::abi::types::{MemAllocNodeParams, NodeParams};
use crate::abi::{HostFunction, In, Out, is_cuda_12};
use crate::code::Code;
use crate::report::say_unsupported;
use crate::runtime;
use crate::runtime::work::{HostCall, Work};
use capsule::AllocKind;

/// Where the parameters of a kind begin in the structure, and those of a copy, which have flags before them.
const PARAMS: usize = 16;
const COPY_PARAMS: usize = 32;
/// Where an allocation's parameters say where it is.
const DPTR: usize = PARAMS + std::mem::offset_of!(MemAllocNodeParams, dptr);
/// `cudaGraphNodeType`.
const GRAPH: i32 = 4;
const ALLOCATE: i32 = 10;

/// What a node is to do, of the kinds that can be changed.
fn work(params: In<NodeParams>) -> Result<Work, Code> {
    let NodeParams { kind, value, .. } = params.get()?;
    Ok(match kind {
        0 => kernel(params.behind(PARAMS))?,
        1 => Work::Copy(super::copies::boxes(params.behind(COPY_PARAMS))?),
        2 => fill(params.behind(PARAMS))?,
        3 => host(params.behind(PARAMS))?,
        GRAPH => child(value[0])?,
        5 => Work::Nothing,
        6 => event(value[0], Work::Wait)?,
        7 => event(value[0], Work::Record)?,
        11 => Work::Free(value[0]),
        8 | 9 | 13 => {
            say_unsupported("cudaGraphAddNode of a semaphore or conditional node");
            return Err(Code::NOT_SUPPORTED);
        }
        _ => return Err(Code::INVALID_VALUE),
    })
}

fn add_any(node: Out<u64>, graph: u64, after: In<u64>, count: u64, params: Out<NodeParams>) -> Result<(), Code> {
    let NodeParams { kind, value, .. } = params.get()?;
    match kind {
        GRAPH => add_child(node, graph, after, count, value[0]),
        ALLOCATE => {
            let address = allocate(node, graph, after, count, params.read().behind(PARAMS))?;
            params.behind(DPTR).put(address)
        }
        _ => add(node, graph, after, count, work(params.read())?),
    }
}

/// Adds a node that allocates; where. The memory is there from now on.
fn allocate(
    node: Out<u64>,
    graph: u64,
    after: In<u64>,
    count: u64,
    params: In<MemAllocNodeParams>,
) -> Result<u64, Code> {
    let bytes = params.get()?.bytesize;
    if bytes == 0 {
        return Err(Code::INVALID_VALUE);
    }
    let address = runtime::with(|runtime| {
        runtime.graphs.graph(graph)?;
        runtime.allocate(bytes, AllocKind::Pool)
    })?;
    add(node, graph, after, count, Work::Allocate { address, bytes })?;
    Ok(address)
}

fn end(call: Option<HostCall>) -> Result<(), Code> {
    call.into_iter().for_each(HostCall::call);
    Ok(())
}

fn check_count(count: u32) -> Result<u32, Code> {
    if (1..=i32::MAX as u32).contains(&count) { Ok(count) } else { Err(Code::INVALID_VALUE) }
}

/// `cudaGraphMemAttributeType`: used and reserved, now and at most.
fn check_attribute(attribute: i32) -> Result<(), Code> {
    if (0..=3).contains(&attribute) { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

entry_points! {
    // CUDA 13 has data of the edges before their number.
    [cudaGraphAddNode] (
        node: Out<u64>, graph: u64, after: In<u64>, count_or_data: u64, params_or_count: u64, params: Out<NodeParams>,
    ) {
        if is_cuda_12() {
            return add_any(node, graph, after, count_or_data, Out::of_application(params_or_count));
        }
        add_any(node, graph, after, params_or_count, params)
    }

    [cudaGraphAddNode_v2] (
        node: Out<u64>, graph: u64, after: In<u64>, _data: u64, count: u64, params: Out<NodeParams>,
    ) {
        add_any(node, graph, after, count, params)
    }

    [cudaGraphNodeSetParams] (node: u64, params: In<NodeParams>) {
        change(node, work(params)?)
    }

    [cudaGraphExecNodeSetParams] (executable: u64, node: u64, params: In<NodeParams>) {
        change_in(executable, node, work(params)?)
    }

    [cudaGraphMemcpyNodeSetParamsToSymbol] (node: u64, symbol: u64, from: u64, bytes: u64, offset: u64, kind: i32) {
        change(node, line(inside(symbol, bytes, offset)?, from, bytes, kind))
    }

    [cudaGraphMemcpyNodeSetParamsFromSymbol] (node: u64, to: u64, symbol: u64, bytes: u64, offset: u64, kind: i32) {
        change(node, line(to, inside(symbol, bytes, offset)?, bytes, kind))
    }

    [cudaGraphExecMemcpyNodeSetParamsToSymbol] (
        executable: u64, node: u64, symbol: u64, from: u64, bytes: u64, offset: u64, kind: i32,
    ) {
        change_in(executable, node, line(inside(symbol, bytes, offset)?, from, bytes, kind))
    }

    [cudaGraphExecMemcpyNodeSetParamsFromSymbol] (
        executable: u64, node: u64, to: u64, symbol: u64, bytes: u64, offset: u64, kind: i32,
    ) {
        change_in(executable, node, line(to, inside(symbol, bytes, offset)?, bytes, kind))
    }

    [cudaGraphAddMemAllocNode] (
        node: Out<u64>, graph: u64, after: In<u64>, count: u64, params: Out<MemAllocNodeParams>,
    ) {
        let address = allocate(node, graph, after, count, params.read())?;
        params.behind(DPTR - PARAMS).put(address)
    }

    [cudaGraphMemAllocNodeGetParams] (node: u64, to: Out<MemAllocNodeParams>) {
        let (dptr, bytesize) = runtime::with(|runtime| match runtime.graphs.node(node)?.work {
            Work::Allocate { address, bytes } => Ok((address, bytes)),
            _ => Err(Code::INVALID_VALUE),
        })?;
        // Pinned memory of device 0.
        let mut pool_props = [0; 11];
        pool_props[..2].copy_from_slice(&[1, 1]);
        to.put(MemAllocNodeParams { pool_props, access_descs: 0, access_desc_count: 0, bytesize, dptr })
    }

    [cudaGraphAddMemFreeNode] (node: Out<u64>, graph: u64, after: In<u64>, count: u64, address: u64) {
        add(node, graph, after, count, Work::Free(address))
    }

    [cudaDeviceGetGraphMemAttribute] (device: i32, attribute: i32, value: Out<u64>) {
        check_device(device)?;
        check_attribute(attribute)?;
        value.put(runtime::with(|runtime| Ok(runtime.graphs.allocated_bytes()))?)
    }

    [cudaDeviceSetGraphMemAttribute] (device: i32, attribute: i32, value: In<u64>) {
        check_device(device)?;
        check_attribute(attribute)?;
        // Only the two maxima can be set, and only to zero.
        if attribute % 2 == 1 && value.get()? == 0 { Ok(()) } else { Err(Code::INVALID_VALUE) }
    }

    [cudaDeviceGraphMemTrim] (device: i32) {
        check_device(device)
    }

    [cudaUserObjectCreate] (to: Out<u64>, data: u64, function: HostFunction, count: u32, flags: u32) {
        const NO_DESTRUCTOR_SYNC: u32 = 1;
        let count = check_count(count)?;
        if to.is_null() || function.is_none() || flags != NO_DESTRUCTOR_SYNC {
            return Err(Code::INVALID_VALUE);
        }
        to.put(runtime::with(|runtime| Ok(runtime.graphs.create_object(HostCall { function, data }, count)))?)
    }

    [cudaUserObjectRetain] (object: u64, count: u32) {
        let count = check_count(count)?;
        runtime::with(|runtime| runtime.graphs.retain_object(object, count))
    }

    [cudaUserObjectRelease] (object: u64, count: u32) {
        let count = check_count(count)?;
        end(runtime::with(|runtime| runtime.graphs.release_object(object, count))?)
    }

    [cudaGraphRetainUserObject] (graph: u64, object: u64, count: u32, flags: u32) {
        let count = check_count(count)?;
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        runtime::with(|runtime| runtime.graphs.graph_retains(graph, object, count, flags == 1))
    }

    [cudaGraphReleaseUserObject] (graph: u64, object: u64, count: u32) {
        let count = check_count(count)?;
        end(runtime::with(|runtime| runtime.graphs.graph_releases(graph, object, count))?)
    }
}
