//! Whether what a capsule copies and fills is memory that it set aside: who repeats its work reads no more than that, however
//! much a damaged event says.

use std::collections::BTreeMap;

use crate::validate::{at, describe};
use crate::{Action, Capsule, Error, Event, ModuleId, Origin, Problem, Region};

/// Memory is mapped in pieces of this size, and a copy that goes a little beyond its allocation succeeds within them.
const MAPPED: u64 = 2 << 20;

impl Capsule {
    /// Checks that every copy and fill is within memory that was set aside before, by an allocation or as a variable of a
    /// module; what was given back counts, and so does the rest of the 2 MiB around it.
    ///
    /// # Errors
    ///
    /// With the first event that is not.
    pub fn check_memory(&self) -> Result<(), Error> {
        check(self).map_err(|problem| Error::new(Action::Check, &Origin::Memory, problem))
    }
}

fn check(capsule: &Capsule) -> Result<(), Problem> {
    let mut known = Known::default();
    for (place, event) in capsule.events.iter().enumerate() {
        match event {
            Event::Alloc { address, bytes, .. } => known.add(*address, *bytes),
            Event::Load { module } => known.add_variables(capsule, *module),
            _ => {}
        }
        for region in [event.reads(), event.writes()].into_iter().flatten() {
            known.holds(region).map_err(at(|| format!("event {place} ({})", describe(event))))?;
        }
    }
    Ok(())
}

/// The memory that was set aside so far: where each piece begins and ends. Pieces do not touch.
#[derive(Default)]
struct Known(BTreeMap<u64, u64>);

impl Known {
    fn add(&mut self, address: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let mut start = address / MAPPED * MAPPED;
        let mut end = address.saturating_add(bytes).checked_next_multiple_of(MAPPED).unwrap_or(u64::MAX);
        while let Some((&from, &to)) = self.0.range(..=end).next_back()
            && to >= start
        {
            self.0.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.0.insert(start, end);
    }

    fn add_variables(&mut self, capsule: &Capsule, module: ModuleId) {
        let variables = capsule.module(module).map_or(&[][..], |module| &module.globals);
        variables.iter().for_each(|variable| self.add(variable.address, variable.bytes));
    }

    fn holds(&self, region: &Region) -> Result<(), (String, String)> {
        let Region { address, .. } = *region;
        let span = region.span().unwrap_or(u64::MAX);
        let piece = self.0.range(..=address).next_back();
        if span == 0 || piece.is_some_and(|(_, &end)| address.checked_add(span).is_some_and(|past| past <= end)) {
            return Ok(());
        }
        Err((
            "memory that was allocated, or a variable of a module".to_owned(),
            format!("{span} bytes from {address:#x}, of which some are neither"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AllocKind, Digest};

    const BASE: u64 = 0x7f00_0000_0000;

    fn said(regions: &[Region]) -> String {
        let mut capsule = Capsule::new("memory");
        let alloc = |address, bytes| Event::Alloc { address, bytes, kind: AllocKind::Device };
        capsule.events = vec![alloc(BASE, 1024), alloc(BASE + (8 << 20), 3 << 20)];
        for &from in regions {
            capsule.events.push(Event::CopyOut { from, digest: Digest::of(b""), data: None });
        }
        capsule.validate().unwrap();
        capsule.check_memory().map_or_else(|error| error.problem().to_string(), |()| "sound".to_owned())
    }

    #[test]
    fn a_copy_is_of_memory_that_was_set_aside() {
        let far = BASE + (8 << 20);
        let sound = [
            Region::linear(BASE, 1024),
            Region::linear(BASE + 1024, 4096),
            Region::linear(0, 0),
            Region::linear(far, 3 << 20),
            Region::pitched(far, 1, 1 << 20, 3),
        ];
        assert_eq!(said(&sound), "sound");
        for bits in 32..63 {
            let said = said(&[Region::linear(BASE, 1 << bits)]);
            let expected = "event 2 (copy to the host): expected memory that was allocated, or a variable of a module";
            assert!(said.starts_with(expected), "{said}");
        }
        for wrong in [
            Region::pitched(BASE, 1, 1 << 33, 1),
            Region::linear(far, 5 << 20),
            Region::linear(BASE - 1, 2),
            Region::linear(BASE + (4 << 20), 1),
            Region::pitched(far, 1, 2, 16 << 20),
        ] {
            assert!(said(&[wrong]).contains("of which some are neither"), "{wrong:?}");
        }
    }

    #[test]
    fn memory_that_lies_side_by_side_is_one_piece() {
        let mut known = Known::default();
        for (address, bytes) in [(8 << 20, 1), (0, 1), (4 << 20, 1 << 20), (2 << 20, 1), (u64::MAX - 5, 5)] {
            known.add(address, bytes);
        }
        assert_eq!(known.0.len(), 3, "{:?}", known.0);
        assert!(known.holds(&Region::linear(5, 5 << 20)).is_ok());
        known.add(0, u64::MAX);
        assert_eq!(known.0.len(), 1);
    }
}
