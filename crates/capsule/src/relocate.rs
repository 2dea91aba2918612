//! The same work with its memory elsewhere.
//!
//! A recording names addresses; another device has its allocations at others. [`AddressMap`] says where a range is now,
//! and [`Capsule::relocated`] is the capsule as if it had been recorded there. What a capsule does not tell apart from
//! numbers stays as it is: [`Capsule::pointer_in_data`] finds copied bytes that look like addresses, as those of a program
//! do whose data structures point at each other.

use crate::{Capsule, Event, Region};

/// A range of device memory that lies elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedRange {
    /// Its first byte in the recording.
    pub from: u64,
    /// Its first byte now.
    pub to: u64,
    /// Its size.
    pub bytes: u64,
}

/// Where the ranges of a recording are now. Of ranges that overlap, the one that was added last counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressMap(Vec<MovedRange>);

impl AddressMap {
    /// A map of these ranges.
    #[must_use]
    pub fn new(ranges: Vec<MovedRange>) -> Self {
        Self(ranges)
    }

    /// Adds a range.
    pub fn add(&mut self, range: MovedRange) {
        self.0.push(range);
    }

    /// Removes the range that was added last of those that begin here in the recording, and tells it.
    pub fn remove(&mut self, from: u64) -> Option<MovedRange> {
        let at = self.0.iter().rposition(|range| range.from == from)?;
        Some(self.0.remove(at))
    }

    /// The ranges, in the order in which they were added.
    #[must_use]
    pub fn ranges(&self) -> &[MovedRange] {
        &self.0
    }

    /// Where an address is now. One just past the end of a range goes with it, as the ends of arrays do; one in no range
    /// is what it was.
    #[must_use]
    pub fn place(&self, address: u64) -> u64 {
        let offset = |range: &MovedRange| address.wrapping_sub(range.from);
        let inside = self.0.iter().rev().find(|range| offset(range) < range.bytes.max(1));
        let found = inside.or_else(|| self.0.iter().rev().find(|range| offset(range) == range.bytes));
        found.map_or(address, |range| range.to.wrapping_add(offset(range)))
    }

    /// The arguments of a launch, each word of 8 bytes that is such an address put right.
    #[must_use]
    pub fn arguments(&self, params: &[u8]) -> Vec<u8> {
        let mut params = params.to_vec();
        for word in params.chunks_exact_mut(8) {
            let pointer = u64::from_le_bytes(word.try_into().unwrap_or_default());
            word.copy_from_slice(&self.place(pointer).to_le_bytes());
        }
        params
    }

    /// A region at its place.
    #[must_use]
    pub fn region(&self, region: &Region) -> Region {
        Region { address: self.place(region.address), ..*region }
    }
}

impl Capsule {
    /// The capsule as if each of these ranges had been at its other place: allocations, variables of modules, copies,
    /// fills, and the words of arguments that point there. Bytes that are copied are what they were.
    #[must_use]
    pub fn relocated(&self, ranges: &[MovedRange]) -> Self {
        let map = AddressMap::new(ranges.to_vec());
        let mut capsule = self.clone();
        let globals = capsule.modules.iter_mut().flat_map(|module| &mut module.globals);
        globals.for_each(|symbol| symbol.address = map.place(symbol.address));
        capsule.events.iter_mut().for_each(|event| relocate(event, &map));
        capsule
    }

    /// The first copy to the device whose bytes hold, at a multiple of 8, an address in an allocation or variable of the
    /// capsule: its event, and the offset in its bytes.
    ///
    /// # Errors
    /// If a blob cannot be read.
    pub fn pointer_in_data(&self) -> Result<Option<(usize, usize)>, crate::Error> {
        let allocated = self.events.iter().filter_map(|event| match event {
            Event::Alloc { address, bytes, .. } => Some((*address, *bytes)),
            _ => None,
        });
        let variables = self.modules.iter().flat_map(|module| &module.globals);
        let ranges: Vec<(u64, u64)> = allocated.chain(variables.map(|symbol| (symbol.address, symbol.bytes))).collect();
        let points = |word: u64| ranges.iter().any(|&(start, bytes)| word.wrapping_sub(start) < bytes);
        for (at, event) in self.events.iter().enumerate() {
            let Event::CopyIn { data, .. } = event else { continue };
            let bytes = self.blobs.get(*data)?;
            let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
            if let Some(word) = words.into_iter().position(points) {
                return Ok(Some((at, 8 * word)));
            }
        }
        Ok(None)
    }
}

fn relocate(event: &mut Event, map: &AddressMap) {
    match event {
        Event::Alloc { address, .. } | Event::Free { address } => *address = map.place(*address),
        Event::CopyIn { to, .. } | Event::Fill { to, .. } => *to = map.region(to),
        Event::CopyOut { from, .. } => *from = map.region(from),
        Event::CopyWithin { to, from } => (*to, *from) = (map.region(to), map.region(from)),
        Event::Launch(launch) => launch.params = map.arguments(&launch.params),
        Event::Load { .. } | Event::Synchronize => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AllocKind, Launch, ModuleId, PlacedSymbol, RecordedModule};

    const MOVED: MovedRange = MovedRange { from: 0x1000, to: 0x9_0000, bytes: 0x100 };

    fn capsule(argument: u64, data: &[u8]) -> Capsule {
        let mut capsule = Capsule::new("moved");
        let data = capsule.blobs.add(data);
        let globals = vec![PlacedSymbol { name: "v".into(), address: 0x1080, bytes: 8 }];
        capsule.modules.push(RecordedModule {
            id: ModuleId(0),
            ptx: None,
            binaries: Vec::new(),
            globals,
            hardened: Vec::new(),
        });
        capsule.events = vec![
            Event::Alloc { address: 0x1000, bytes: 0x100, kind: AllocKind::Device },
            Event::CopyIn { to: Region::linear(0x1010, 16), data },
            Event::Launch(Launch {
                module: ModuleId(0),
                kernel: "k".into(),
                grid: [1; 3],
                block: [1; 3],
                shared_bytes: 0,
                params: argument.to_le_bytes().to_vec(),
                cooperative: false,
            }),
            Event::Free { address: 0x1000 },
        ];
        capsule
    }

    #[test]
    fn everything_that_names_an_address_names_the_new_one() {
        let moved = capsule(0x1020, &[0; 16]).relocated(&[MOVED]);
        let expected = [
            Event::Alloc { address: 0x9_0000, bytes: 0x100, kind: AllocKind::Device },
            Event::Free { address: 0x9_0000 },
        ];
        assert_eq!([&moved.events[0], &moved.events[3]], [&expected[0], &expected[1]]);
        assert_eq!(moved.events[1].writes(), Some(&Region::linear(0x9_0010, 16)));
        assert_eq!(moved.modules[0].globals[0].address, 0x9_0080);
        let Event::Launch(launch) = &moved.events[2] else { panic!("the third event is the launch") };
        assert_eq!(launch.params, 0x9_0020_u64.to_le_bytes());
        let back = MovedRange { from: MOVED.to, to: MOVED.from, bytes: MOVED.bytes };
        assert_eq!(moved.relocated(&[back]), capsule(0x1020, &[0; 16]));
    }

    #[test]
    fn the_end_of_a_range_goes_with_it_unless_another_begins_there() {
        let mut map = AddressMap::new(vec![MOVED]);
        assert_eq!([map.place(0xfff), map.place(0x1100), map.place(0x1101)], [0xfff, 0x9_0100, 0x1101]);
        map.add(MovedRange { from: 0x1100, to: 0x5000, bytes: 8 });
        assert_eq!(map.place(0x1100), 0x5000);
        assert_eq!(map.remove(0x1100).map(|range| range.to), Some(0x5000));
        assert_eq!(map.place(0x1100), 0x9_0100);
    }

    #[test]
    fn data_that_points_into_memory_is_found_and_other_data_is_not() {
        let pointing = [7u64.to_le_bytes(), 0x10ff_u64.to_le_bytes()].concat();
        assert_eq!(capsule(0, &pointing).pointer_in_data().unwrap(), Some((1, 8)));
        assert_eq!(capsule(0, &[0xff; 16]).pointer_in_data().unwrap(), None);
    }
}
