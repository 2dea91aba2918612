//! A launch that is not in the index: it runs whole, from golden memory at its start with the difference over it, and
//! what it leaves behind is compared with golden memory right after it.

use super::Delta;
use crate::run::{Progress, fuel};
use device::runnable;
use fault::Fault;
use simt::memory::{Pages, Version};
use simt::{NoHook, RunEnd};
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
        let launch = &self.golden.launches[number];
        let event = launch.event as u32;
        let runnable = runnable(self.golden.recorded(launch), &launch.program);
        self.memory.reset(source, Version::before(event));
        self.executor.prepare(&runnable);
        self.prepared = Some(number);
        self.executed.insert(number, runnable.blocks());
        let place = fault.as_ref().map(|(fault, _)| (fault.cta, fault.thread as usize));
        let mut none = NoHook;
        let hook: &mut dyn simt::Hook = match fault {
            Some((_, hit)) => hit,
            None => &mut none,
        };
        let hooked = place.map(|(block, _)| block);
        let end = self.executor.run(
            &runnable,
            &mut self.memory,
            fuel(self.golden, launch),
            hooked,
            hook,
            |executor, _, blocks| {
                progress.instructions += executor.counts().map(u64::from).sum::<u64>();
                if let Some((_, thread)) = place.filter(|(block, _)| blocks.contains(block)) {
                    progress.thread_instructions = executor.counts().nth(thread).map_or(0, u64::from);
                }
            },
        );
        progress.strayed += self.memory.strayed();
        if let RunEnd::Trapped(trap) = end {
            progress.trap = Some((number, trap));
            return false;
        }
        self.compare_with(Version::before(event + 1), &launch.written);
        true
    }
}
