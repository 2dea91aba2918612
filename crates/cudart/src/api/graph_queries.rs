//! What graphs and their nodes are made of, as applications ask for it.

use super::entry::entry_points;
use super::graph_nodes::{change, change_in, event, nodes};
use super::graphs::{dependencies, instantiate, put_edge_data, put_edges, put_nodes};
use crate::abi::types::{
    Extent, GraphInstantiateParams, HostNodeParams, KernelNodeParams, Memcpy3DParms, MemsetParams, PitchedPtr, Pos,
};
use crate::abi::{Args, In, Out, Text, is_cuda_12};
use crate::code::Code;
use crate::report::fails;
use crate::runtime::work::{CopyRequest, Fill, Work};
use crate::runtime::{self, Runtime};
use capsule::Region;

/// The attribute of a kernel that says whether it is cooperative.
const COOPERATIVE: i32 = 2;

/// Something that is known of a node's work, if it is of the right kind.
fn of_node<T>(node: u64, what: impl FnOnce(&Work) -> Option<T>) -> Result<T, Code> {
    runtime::with(|runtime| what(&runtime.graphs.node(node)?.work).ok_or(Code::INVALID_VALUE))
}

/// The parameters of a kernel's node; what they point to is ours.
fn kernel_params(runtime: &mut Runtime, node: u64) -> Result<KernelNodeParams, Code> {
    let Work::Kernel(launch) = runtime.graphs.node(node)?.work.clone() else { return Err(Code::INVALID_VALUE) };
    let (func, shape) = launch.shape();
    let kernel = runtime.kernel(func)?;
    let offsets: Vec<u64> = kernel.info.params.iter().map(|param| u64::from(param.offset)).collect();
    let kernel_params = Args::ours(runtime.graphs.arguments(node, &launch, &offsets));
    let shared_mem_bytes = u32::try_from(shape.shared).map_err(|_| Code::INVALID_VALUE)?;
    Ok(KernelNodeParams { func, grid: shape.grid, block: shape.block, shared_mem_bytes, kernel_params, extra: 0 })
}

/// A region as an end of a copy: an array and the place in it, or pitched memory.
fn end(runtime: &Runtime, region: &Region) -> (u64, Pos, PitchedPtr) {
    let nowhere = PitchedPtr { ptr: 0, pitch: 0, xsize: 0, ysize: 0 };
    if let Some((array, [x, y, z])) = runtime.arrays.holding(region.address) {
        return (array, Pos { x, y, z }, nowhere);
    }
    let Region { address: ptr, pitch, width: xsize, height: ysize, .. } = *region;
    (0, Pos { x: 0, y: 0, z: 0 }, PitchedPtr { ptr, pitch, xsize, ysize })
}

fn copy_params(runtime: &Runtime, copy: &CopyRequest) -> Memcpy3DParms {
    let (src_array, src_pos, src_ptr) = end(runtime, &copy.from);
    let (dst_array, dst_pos, dst_ptr) = end(runtime, &copy.to);
    let array = [src_array, dst_array].into_iter().find_map(|array| runtime.arrays.get(array).ok());
    let element = array.map_or(1, |array| array.element_bytes());
    let Region { width, height, depth, .. } = copy.to;
    let extent = Extent { width: width / element, height, depth };
    Memcpy3DParms { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent, kind: copy.kind }
}

fn fill_params(Fill { to, value, width, .. }: &Fill) -> MemsetParams {
    let Region { address: dst, pitch, width: bytes, height, .. } = *to;
    let element = u64::from(*width);
    MemsetParams { dst, pitch, value: *value, element_size: element as u32, width: bytes / element, height }
}

/// The nodes that wait for a node.
fn put_dependents(node: u64, to: Out<u64>, count: Out<u64>) -> Result<(), Code> {
    put_nodes(&runtime::with(|runtime| runtime.graphs.dependents(node))?, to, count)
}

fn disconnect(graph: u64, from: In<u64>, to: In<u64>, count: u64) -> Result<(), Code> {
    let pairs: Vec<(u64, u64)> = nodes(from, count)?.into_iter().zip(nodes(to, count)?).collect();
    runtime::with(|runtime| runtime.graphs.disconnect(graph, &pairs))
}

/// A node of a kernel.
fn check_kernel(runtime: &Runtime, node: u64) -> Result<bool, Code> {
    match &runtime.graphs.node(node)?.work {
        Work::Kernel(launch) => Ok(launch.shape().1.cooperative),
        _ => Err(Code::INVALID_VALUE),
    }
}

entry_points! {
    [cudaGraphKernelNodeGetParams] (node: u64, to: Out<KernelNodeParams>) {
        to.put(runtime::with(|runtime| kernel_params(runtime, node))?)
    }

    [cudaGraphMemcpyNodeGetParams] (node: u64, to: Out<Memcpy3DParms>) {
        to.put(runtime::with(|runtime| match &runtime.graphs.node(node)?.work {
            Work::Copy(copy) => Ok(copy_params(runtime, copy)),
            _ => Err(Code::INVALID_VALUE),
        })?)
    }

    [cudaGraphMemsetNodeGetParams] (node: u64, to: Out<MemsetParams>) {
        to.put(of_node(node, |work| if let Work::Fill(fill) = work { Some(fill_params(fill)) } else { None })?)
    }

    [cudaGraphHostNodeGetParams] (node: u64, to: Out<HostNodeParams>) {
        to.put(of_node(node, |work| match work {
            Work::Host(call) => Some(HostNodeParams { function: call.function, data: call.data }),
            _ => None,
        })?)
    }

    [cudaGraphChildGraphNodeGetGraph] (node: u64, to: Out<u64>) {
        to.put(runtime::with(|runtime| runtime.graphs.child(node))?)
    }

    [cudaGraphEventRecordNodeGetEvent] (node: u64, to: Out<u64>) {
        to.put(of_node(node, |work| if let Work::Record(event) = work { Some(*event) } else { None })?)
    }

    [cudaGraphEventWaitNodeGetEvent] (node: u64, to: Out<u64>) {
        to.put(of_node(node, |work| if let Work::Wait(event) = work { Some(*event) } else { None })?)
    }

    [cudaGraphEventRecordNodeSetEvent] (node: u64, of: u64) {
        change(node, event(of, Work::Record)?)
    }

    [cudaGraphEventWaitNodeSetEvent] (node: u64, of: u64) {
        change(node, event(of, Work::Wait)?)
    }

    [cudaGraphExecEventRecordNodeSetEvent] (executable: u64, node: u64, of: u64) {
        change_in(executable, node, event(of, Work::Record)?)
    }

    [cudaGraphExecEventWaitNodeSetEvent] (executable: u64, node: u64, of: u64) {
        change_in(executable, node, event(of, Work::Wait)?)
    }

    [cudaGraphMemFreeNodeGetParams] (node: u64, to: Out<u64>) {
        to.put(of_node(node, |work| if let Work::Free(address) = work { Some(*address) } else { None })?)
    }

    // CUDA 13 has data of the edges before their number, here and below.
    [cudaGraphNodeGetDependentNodes] (node: u64, to: Out<u64>, count_or_data: Out<u64>, count: Out<u64>) {
        if is_cuda_12() {
            return put_dependents(node, to, count_or_data);
        }
        put_dependents(node, to, count)?;
        put_edge_data(count_or_data, count)
    }

    [cudaGraphNodeGetDependentNodes_v2] (node: u64, to: Out<u64>, data: Out<u64>, count: Out<u64>) {
        put_dependents(node, to, count)?;
        put_edge_data(data, count)
    }

    [cudaGraphNodeGetDependencies_v2] (node: u64, to: Out<u64>, data: Out<u64>, count: Out<u64>) {
        put_nodes(&dependencies(node)?, to, count)?;
        put_edge_data(data, count)
    }

    [cudaGraphGetEdges_v2] (graph: u64, from: Out<u64>, to: Out<u64>, data: Out<u64>, count: Out<u64>) {
        put_edges(graph, from, to, count)?;
        put_edge_data(data, count)
    }

    [cudaGraphRemoveDependencies] (graph: u64, from: In<u64>, to: In<u64>, count_or_data: u64, count: u64) {
        disconnect(graph, from, to, if is_cuda_12() { count_or_data } else { count })
    }

    [cudaGraphRemoveDependencies_v2] (graph: u64, from: In<u64>, to: In<u64>, _data: u64, count: u64) {
        disconnect(graph, from, to, count)
    }

    [cudaGraphNodeFindInClone] (to: Out<u64>, original: u64, copy: u64) {
        to.put(runtime::with(|runtime| runtime.graphs.find_in_clone(original, copy))?)
    }

    [cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz] (
        to: Out<u64>, graph: u64, params: Out<GraphInstantiateParams>,
    ) {
        let asked = params.get()?;
        let made = instantiate(to, graph, asked.flags);
        // Zero is success, one an error that the call's own tells.
        params.put(GraphInstantiateParams { error_node: 0, result: i32::from(made.is_err()), ..asked })?;
        made
    }

    [cudaGraphExecGetFlags] (executable: u64, flags: Out<u64>) {
        flags.put(runtime::with(|runtime| Ok(runtime.graphs.executable(executable)?.flags))?)
    }

    [cudaGraphDebugDotPrint] (graph: u64, path: Text, _flags: u32) {
        let (path, text) = (path.get()?, runtime::with(|runtime| Ok(runtime.graphs.graph(graph)?.dot()))?);
        std::fs::write(&path, text).map_err(|error| fails(Code::OPERATING_SYSTEM, format_args!("write {path}: {error}")))
    }

    [cudaGraphKernelNodeGetAttribute] (node: u64, attribute: i32, value: Out<[u64; 8]>) {
        value.put(runtime::with(|runtime| {
            let cooperative = check_kernel(runtime, node)?;
            let unset = if attribute == COOPERATIVE { [u64::from(cooperative), 0, 0, 0, 0, 0, 0, 0] } else { [0; 8] };
            Ok(runtime.graphs.attribute(node, attribute).unwrap_or(unset))
        })?)
    }

    [cudaGraphKernelNodeSetAttribute] (node: u64, attribute: i32, value: In<[u64; 8]>) {
        let value = value.get()?;
        runtime::with(|runtime| {
            check_kernel(runtime, node)?;
            runtime.graphs.set_attribute(node, attribute, value);
            Ok(())
        })
    }

    // The headers of CUDA 12 and 13 name the two parameters the other way round.
    [cudaGraphKernelNodeCopyAttributes] (first: u64, second: u64) {
        let (to, from) = if is_cuda_12() { (second, first) } else { (first, second) };
        runtime::with(|runtime| {
            check_kernel(runtime, to)?;
            check_kernel(runtime, from)?;
            runtime.graphs.copy_attributes(from, to);
            Ok(())
        })
    }
}
