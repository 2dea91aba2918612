//! How corruption spreads beyond the thread: launch by launch in memory, and to the host.

use crate::full::Witness;
use crate::golden::Golden;
use crate::variables::variables;
use campaign::story::{CopyDifference, LaunchCorruption, Outside, Patch, Share};
use simt::memory::{ByteSet, GlobalMemory, PAGE, Version, address_of};
use std::collections::BTreeMap;

/// Sees what differs from the golden run.
pub(super) struct CorruptionRecorder<'g> {
    golden: &'g Golden,
    /// What allocations are called, by where they start and how many bytes they have.
    names: BTreeMap<(u64, u64), String>,
    pub(super) launches: Vec<LaunchCorruption>,
    pub(super) copies: Vec<CopyDifference>,
}

impl<'g> CorruptionRecorder<'g> {
    pub(super) fn new(golden: &'g Golden) -> Self {
        let names = variables(golden).into_iter().map(|it| ((it.address, it.bytes), it.name)).collect();
        Self { golden, names, launches: Vec::new(), copies: Vec::new() }
    }
}

impl Witness for CorruptionRecorder<'_> {
    fn launched(&mut self, number: usize, memory: &mut GlobalMemory) {
        let launch = &self.golden.launches[number];
        let after = Version::before(launch.event as u32 + 1);
        let (mut bytes, mut outside) = (0, None::<Outside>);
        let mut by_allocation: BTreeMap<u64, Share> = BTreeMap::new();
        let written: Vec<u32> = memory.written().map(|(page, _)| page).collect();
        for page in written {
            let golden = self.golden.history.page(page, after);
            let Some(found) = memory.numbered(page) else { continue };
            let differing = ByteSet::differing(golden.as_deref().unwrap_or(&[0; PAGE]), found);
            let start = address_of(page);
            for at in differing.runs().flatten() {
                bytes += 1;
                let address = start + at as u64;
                match memory.allocations().holding(address) {
                    Some((from, of)) => by_allocation.entry(from).or_insert(Share { count: 0, of }).count += 1,
                    None => {
                        let Outside { bytes, first } = outside.unwrap_or(Outside { bytes: 0, first: address });
                        outside = Some(Outside { bytes: bytes + 1, first: first.min(address) });
                    }
                }
            }
        }
        if bytes > 0 {
            let patch = |(address, bytes): (u64, Share)| Patch {
                address,
                name: self.names.get(&(address, bytes.of)).cloned(),
                bytes,
            };
            self.launches.push(LaunchCorruption {
                launch: number as u32,
                kernel: launch.program.name.clone(),
                blocks: None,
                bytes,
                allocations: by_allocation.into_iter().map(patch).collect(),
                outside,
            });
        }
    }

    fn copied(&mut self, copy: usize, launches: usize, found: &[u8]) {
        let golden = &self.golden.copies[copy];
        let count = golden.bytes.iter().zip(found).filter(|(golden, found)| golden != found).count() as u64;
        if count > 0 {
            self.copies.push(CopyDifference {
                after_launches: launches as u32,
                output: golden.output.map(|output| self.golden.outputs[output].name.clone()),
                bytes: Share { count, of: golden.bytes.len() as u64 },
            });
        }
    }
}
