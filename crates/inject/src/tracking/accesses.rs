//! Which arrays the launches of the golden run read and write, and what is done to them between launches.

use super::array::Array;
use crate::index::ByteRange;
use crate::target::CapsuleTarget;
use capsule::{Event, Region};
use simt::memory::{AccessTrace, ByteRun, GlobalMemory};
use simt::{Executor, NoHook};
use std::collections::BTreeSet;

/// What is done to arrays from the end of one launch to the end of the next, in the golden run. Arrays are named by their
/// places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrayAccesses {
    /// The copies within the device before the launch, from one array to another.
    pub copies: BTreeSet<(usize, usize)>,
    /// The arrays that copies and fills write before the launch.
    pub overwritten: BTreeSet<usize>,
    /// The arrays of which the launch reads bytes.
    pub reads: BTreeSet<usize>,
    /// The arrays of which the launch writes bytes.
    pub writes: BTreeSet<usize>,
}

impl CapsuleTarget {
    /// What is done to each of these arrays, by launch: what its blocks read and write is exact.
    #[must_use]
    pub fn array_accesses(&self, arrays: &[Array]) -> Vec<ArrayAccesses> {
        let golden = self.golden_run();
        let index = (!golden.has_blocks_together()).then(|| self.index()).filter(|index| index.has_exact_reads());
        let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
        memory.set_trace(Some(AccessTrace::default()));
        let (mut all, mut begun) = (Vec::new(), 0);
        for (number, launch) in golden.launches().iter().enumerate() {
            let mut found = ArrayAccesses::default();
            golden.capsule().events[begun..launch.event].iter().for_each(|event| found.transfer(event, arrays));
            begun = launch.event;
            if let Some(known) = index.and_then(|index| index.launch(number)) {
                for (place, array) in arrays.iter().enumerate() {
                    let some = |of: &dyn Fn(ByteRange) -> bool| ranges(array).any(of);
                    found.note(place, some(&|ends| known.reads_some(ends)), some(&|ends| known.writes_some(ends)));
                }
            } else {
                golden.rerun(launch, &mut memory, &mut executor, &mut NoHook, |_, _, _| false);
                let (reads, writes) = memory.trace().map(AccessTrace::take).unwrap_or_default();
                for (place, array) in arrays.iter().enumerate() {
                    let meets = |runs: &[ByteRun]| ranges(array).any(|ends| ends.meet(runs, |&run| run));
                    found.note(place, meets(&reads), meets(&writes));
                }
            }
            all.push(found);
        }
        all
    }
}

/// The ranges of bytes of an array.
fn ranges(array: &Array) -> impl Iterator<Item = ByteRange> {
    array.ranges().filter_map(|(address, bytes)| ByteRange::of(address, bytes))
}

impl ArrayAccesses {
    fn note(&mut self, place: usize, read: bool, written: bool) {
        self.reads.extend(read.then_some(place));
        self.writes.extend(written.then_some(place));
    }

    /// Notes what an event that is no launch does.
    fn transfer(&mut self, event: &Event, arrays: &[Array]) {
        let Some(to) = event.writes() else { return };
        let holds = |region: &Region, array: &Array| {
            region.rows().any(|(start, bytes)| {
                let meets = |(address, of): (u64, u64)| {
                    start < address.saturating_add(of) && address < start.saturating_add(bytes)
                };
                meets((array.address, array.bytes())) && array.ranges().any(meets)
            })
        };
        let of = |region: &Region| -> Vec<usize> {
            (0..arrays.len()).filter(|&place| holds(region, &arrays[place])).collect()
        };
        let written = of(to);
        for from in event.reads().map(of).unwrap_or_default() {
            self.copies.extend(written.iter().filter(|&&to| to != from).map(|&to| (from, to)));
        }
        self.overwritten.extend(written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsule::ElementType;

    fn array(address: u64, bytes: u64) -> Array {
        Array {
            name: "a".into(),
            address,
            element: Some(ElementType::U8),
            shape: vec![bytes],
            stride: None,
            launches: None,
        }
    }

    #[test]
    fn copies_between_arrays_and_what_they_overwrite_are_noted() {
        let arrays = [array(1000, 100), array(2000, 100), array(3000, 100)];
        let mut found = ArrayAccesses::default();
        let region = Region::linear;
        found.transfer(&Event::CopyWithin { to: region(2050, 8), from: region(1090, 8) }, &arrays);
        found.transfer(&Event::Fill { to: region(3099, 1), value: 0, width: 1 }, &arrays);
        found.transfer(&Event::Fill { to: region(1100, 100), value: 0, width: 1 }, &arrays);
        assert_eq!(found.copies, BTreeSet::from([(0, 1)]));
        assert_eq!(found.overwritten, BTreeSet::from([1, 2]));
    }
}
