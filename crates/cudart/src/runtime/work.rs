//! Work that a stream is given: done at once, or noted down while the stream is captured, to be done by a graph.

use capsule::Region;

use super::Runtime;
use super::copy::Copy;
use super::launch::ReadyLaunch;
use crate::abi::HostFunction;
use crate::code::Code;

/// One operation.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    Kernel(ReadyLaunch),
    Copy(Copy),
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

impl HostCall {
    /// Calls it, if it is one.
    pub(crate) fn call(self) {
        if let Some(function) = self.function {
            function(self.data);
        }
    }
}

impl Runtime {
    /// Does work, all but functions of the host.
    ///
    /// # Safety
    /// The application vouches for what copies and fills touch on the host.
    pub(crate) unsafe fn perform(&mut self, work: &Work) -> Result<(), Code> {
        match work {
            Work::Kernel(launch) => self.start(launch),
            // SAFETY: the caller vouches for it.
            Work::Copy(copy) => unsafe { self.copy(*copy) },
            // SAFETY: the caller vouches for it.
            Work::Fill(fill) => unsafe { self.fill(*fill) },
            Work::Record(event) => self.streams.record(*event, self.gpu.nanoseconds()),
            Work::Wait(event) => self.streams.check_event(*event),
            Work::Allocate { address, bytes } => self.allocate_at(*address, *bytes),
            Work::Host(_) | Work::Free(_) | Work::Nothing => Ok(()),
            // SAFETY: the caller vouches for it.
            Work::Graph(all) => all.iter().try_for_each(|work| unsafe { self.perform(work) }),
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
