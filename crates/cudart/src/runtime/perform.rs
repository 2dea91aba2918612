//! Doing the work of a stream.

use super::Runtime;
use super::work::Work;
use crate::code::Code;

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
