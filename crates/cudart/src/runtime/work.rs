//! Work that a stream is given: done at once, or noted down while the stream is captured, to be done by a graph.

use capsule::Region;

use crate::abi::HostFunction;
use crate::abi::types::Dim3;

/// One operation.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    Kernel(ReadyLaunch),
    Copy(CopyRequest),
    Fill(Fill),
    /// A function of the application. Whoever does the work calls it, because it may not be called while the runtime
    /// is in use.
    Host(HostCall),
    /// An event happens.
    Record(u64),
    /// Waits for an event, which has happened.
    Wait(u64),
    /// The work of another graph, in its order.
    Graph(Vec<Work>),
    /// Memory is set aside where the node's maker was told.
    Allocate {
        address: u64,
        bytes: u64,
    },
    /// It is no longer needed. Its place stays, so that the graph can run again.
    Free(u64),
    Nothing,
}

/// The extents of a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaunchShape {
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    pub(crate) shared: u64,
    pub(crate) cooperative: bool,
}

/// A launch that was checked, with its arguments.
#[derive(Debug, Clone)]
pub(crate) struct ReadyLaunch {
    pub(super) function: u64,
    pub(super) shape: LaunchShape,
    pub(super) params: Vec<u8>,
}

/// A copy as the application asks for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CopyRequest {
    pub(crate) to: Region,
    pub(crate) from: Region,
    /// `cudaMemcpyKind`.
    pub(crate) kind: i32,
    /// Whether the call returns only when it is done.
    pub(crate) blocking: bool,
}

/// A fill as the application asks for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    pub(crate) to: Region,
    /// The value, in the low `width` bytes.
    pub(crate) value: u32,
    /// 1, 2 or 4.
    pub(crate) width: u8,
    /// Whether the call returns only when it is done.
    pub(crate) blocking: bool,
}

/// A function of the application and what it is called with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostCall {
    pub(crate) function: HostFunction,
    pub(crate) data: u64,
}

impl ReadyLaunch {
    /// Its kernel, as the application names it, and its extents.
    pub(crate) fn shape(&self) -> (u64, LaunchShape) {
        (self.function, self.shape)
    }

    /// Its arguments, packed.
    pub(crate) fn params(&self) -> &[u8] {
        &self.params
    }
}

impl HostCall {
    /// Calls it, if it is one.
    pub(crate) fn call(self) {
        if let Some(function) = self.function {
            function(self.data);
        }
    }
}

/// Work with that of graphs inside it laid out, in order.
pub(crate) fn steps(work: &Work) -> Vec<Work> {
    match work {
        Work::Graph(all) => all.iter().flat_map(steps).collect(),
        other => vec![other.clone()],
    }
}
