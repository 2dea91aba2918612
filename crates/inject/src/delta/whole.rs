//! A launch that is not in the index: it runs whole, from golden memory at its start with the difference over it, and
//! what it leaves behind is compared with golden memory right after it.

use super::Delta;
use crate::run::{Progress, fuel};
use device::{Probe, run};
use fault::Fault;
use simt::RunEnd;
use simt::memory::{Pages, Version};
use std::sync::Arc;
use strike::Hit;

impl Delta<'_> {
    /// The launch with the fault; `false` where it does not complete.
    pub(super) fn faulty_launch(
        &mut self,
        number: usize,
        fault: &Fault,
        hit: &mut Hit<'_>,
        progress: &mut Progress,
    ) -> bool {
        let clean = Arc::clone(&self.clean);
        let completed = self.whole_launch(number, &clean, Some((fault, &mut *hit)), progress);
        self.end_watch(hit, progress.thread_instructions);
        completed
    }

    /// A later launch, if anything differs before it; `false` where it does not complete.
    pub(super) fn later_launch(&mut self, number: usize, progress: &mut Progress) -> bool {
        self.overlay.write().settle();
        if self.overlay.read().is_empty() {
            progress.strayed += self.golden.launches[number].strayed;
            return true;
        }
        let faulty = Arc::clone(&self.faulty);
        self.whole_launch(number, &faulty, None, progress)
    }

    fn whole_launch(
        &mut self,
        number: usize,
        source: &Arc<dyn Pages>,
        fault: Option<(&Fault, &mut Hit<'_>)>,
        progress: &mut Progress,
    ) -> bool {
        let golden = self.golden;
        let launch = &golden.launches[number];
        let (event, runnable, faulty) = (launch.event as u32, golden.runnable(launch), fault.is_some());
        self.memory.reset(source, Version::before(event));
        self.prepared = Some(number);
        self.executed.insert(number, runnable.blocks());
        let probe = fault.map(|(fault, hit)| Probe { block: fault.cta, thread: fault.thread, hook: hit });
        let ran = run(&mut self.executor, &mut self.memory, &runnable, fuel(golden, launch), probe, |_| {});
        progress.add(&ran, faulty);
        if let RunEnd::Trapped(trap) = ran.end {
            progress.trap = Some((number, trap));
            return false;
        }
        self.compare_with(Version::before(event + 1), &launch.written);
        true
    }
}
