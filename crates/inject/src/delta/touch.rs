//! What is first done to a byte of global memory that was hit.
//!
//! Up to its first touch a run is the golden run, so that who touches the byte first is found there: the index says which
//! blocks read or write it, and a block that does both, or may, runs again to tell which comes first.

use super::Delta;
use crate::golden::Golden;
use crate::run::{Progress, fuel};
use capsule::EventKind;
use device::run;
use fault::Fault;
use simt::NoHook;
use simt::memory::{AccessTrace, ByteRun, ByteSet, Touch, Version};
use std::sync::Arc;
use strike::{Hit, first_touch, touch_by_host};

impl Delta<'_> {
    /// Ends the watch over the byte of global memory that was hit, after what ran with the hook: notes the first touch,
    /// if there was one.
    pub(super) fn end_watch(&mut self, hit: &mut Hit<'_>, executed: u64) {
        let touch = first_touch(&mut self.memory);
        self.memory.set_trace(None);
        if let Some(touch) = touch.filter(|_| hit.untouched().is_some()) {
            hit.touched(touch, executed);
        }
    }

    /// Finds what is first done to that byte after what ran with the hook, if that is not known yet.
    pub(super) fn find_touch(&mut self, fault: &Fault, hit: &mut Hit<'_>, executed: u64) {
        let Some(address) = hit.untouched() else { return };
        if let Some(touch) = self.touch_beyond(fault, address) {
            hit.touched(touch, executed);
        }
    }

    /// What the golden run first does to a byte after the block with the fault.
    fn touch_beyond(&mut self, fault: &Fault, address: u64) -> Option<Touch> {
        let golden: &Golden = self.golden;
        let faulty = fault.launch as usize;
        golden.capsule.events_from(golden.position(faulty)).find_map(|(at, event)| {
            if event.kind() == EventKind::Launch {
                let from = if at.launches == faulty { fault.cta as u32 + 1 } else { 0 };
                self.touch_in(at.launches, from, address)
            } else {
                touch_by_host(event, address)
            }
        })
    }

    /// What the blocks of a launch first do to a byte, from one on.
    fn touch_in(&mut self, number: usize, mut from: u32, address: u64) -> Option<Touch> {
        let index = Arc::clone(&self.index);
        let Some(launch) = index.launch(number) else {
            // The launch with the fault was watched whole.
            return if from > 0 { None } else { self.touch_in_whole(number, address) };
        };
        let run = ByteRun::of(address, 1).next()?;
        let mut bytes = ByteSet::default();
        bytes.insert(run.range());
        while let Some(block) = launch.next(run.page, &bytes, from) {
            if !launch.reads(run.page, &bytes, block) {
                return Some(Touch::Written);
            }
            let clean = Arc::clone(&self.clean);
            self.memory.reset(&clean, Version { event: launch.event, block });
            self.memory.set_trace(Some(AccessTrace::watching(address)));
            self.execute(number, block, None, &mut NoHook, &mut Progress::default());
            let touch = self.memory.set_trace(None).and_then(|trace| trace.first_touch());
            if touch.is_some() {
                return touch;
            }
            from = block + 1;
        }
        None
    }

    /// As [`touch_in`](Self::touch_in), for a launch that is not in the index.
    fn touch_in_whole(&mut self, number: usize, address: u64) -> Option<Touch> {
        let golden = self.golden;
        let launch = &golden.launches[number];
        let clean = Arc::clone(&self.clean);
        self.memory.reset(&clean, Version::before(launch.event as u32));
        self.memory.set_trace(Some(AccessTrace::watching(address)));
        self.prepared = Some(number);
        let (runnable, fuel) = (golden.runnable(launch), fuel(golden, launch));
        run(&mut self.executor, &mut self.memory, &runnable, fuel, None, |_| {});
        self.memory.set_trace(None).and_then(|trace| trace.first_touch())
    }
}
