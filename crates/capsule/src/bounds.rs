//! Holding the table of a file to the bounds of the format.

use crate::format::{
    ENTRY_BYTES, MANIFEST_BYTES, PART_BYTES, PartEntry, Placed, TOTAL_BYTES, packed_bound, parts_offset,
};
use crate::{FileSection, Part, Problem};

/// The parts of a sealed table, with their offsets, each within bounds.
pub(crate) fn place(table: &[u8]) -> Result<Vec<Placed>, Problem> {
    let (entries, _) = table.as_chunks::<{ ENTRY_BYTES as usize }>();
    let mut offset = parts_offset(entries.len() as u32);
    let mut total = 0;
    let mut placed = Vec::with_capacity(entries.len());
    for (number, bytes) in (0..).zip(entries) {
        let part = Part(number);
        let entry = PartEntry::decode(bytes);
        check(&entry, part)?;
        total += entry.raw_bytes;
        within("raw bytes of all parts up to this one", part, total, TOTAL_BYTES)?;
        placed.push(Placed { part, offset, entry });
        offset += entry.packed_bytes;
    }
    Ok(placed)
}

/// Refuses a size that a part may not have.
pub(crate) fn within(what: &'static str, part: Part, declared: u64, bound: u64) -> Result<(), Problem> {
    if declared > bound {
        Err(Problem::TooLarge { section: FileSection::Part(part), what, declared, bound })
    } else {
        Ok(())
    }
}

/// The bound of a part's raw bytes.
pub(crate) const fn raw_bound(part: Part) -> u64 {
    if part.0 == 0 { MANIFEST_BYTES } else { PART_BYTES }
}

/// With both sizes bounded, no later sum of at most [`PARTS`](crate::format::PARTS) of them can overflow.
fn check(entry: &PartEntry, part: Part) -> Result<(), Problem> {
    within("raw bytes", part, entry.raw_bytes, raw_bound(part))?;
    within("packed bytes", part, entry.packed_bytes, packed_bound(entry.raw_bytes))
}
