//! What the launches of an application do without a fault, in a form that a process maps and reads where it lies.
//!
//! All numbers are little-endian; tables begin at multiples of 8. A header says where each table is; launches, regions
//! and pages are rows of fixed size. Of memory there are the pages that a launch changed, as they were after it.
//!
//! ```text
//! header    magic, events, launches, regions, most, and the place of each table
//! events    a fingerprint for each
//! launches  shape, instructions, counts (place, number), printed (place, bytes), pages (place, number),
//!           arguments (place, bytes), behind which stands for each byte whether it is read
//! regions   a region of device memory that outputs are copied from: six numbers, copies (place, number)
//! contents  counts of instructions (u32), what was printed, (page, place) pairs, pages, digests of copies
//! ```

use super::deed::{Fingerprint, fingerprints, shape};
use bytemuck::cast_slice;
use capsule::{Digest, Event, Region};
use inject::Golden;
use simt::memory::PAGE;
use std::collections::BTreeMap;

const MAGIC: u64 = u64::from_le_bytes(*b"BEAMTAP1");
const HEADER_WORDS: usize = 8;
const LAUNCH_WORDS: usize = 10;
const REGION_WORDS: usize = 8;
const DIGEST_WORDS: usize = 4;

/// A tape, where it lies in memory.
#[derive(Debug, Clone, Copy)]
pub struct Tape<'a> {
    bytes: &'a [u8],
    events: &'a [u64],
    launches: &'a [u64],
    regions: &'a [u64],
    /// The most instructions that a thread of any launch executed.
    pub most: u32,
}

/// What a launch did.
#[derive(Debug, Clone, Copy)]
pub struct Launched<'a> {
    /// What tells it from others, all but its arguments.
    pub shape: u64,
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Instructions executed by each.
    pub counts: &'a [u32],
    /// What it printed.
    pub printed: &'a [u8],
    /// The numbers of the pages that it changed, each with where its bytes lie on the tape.
    pub pages: &'a [[u64; 2]],
    arguments: &'a [u8],
    /// 1 for each byte of them that the kernel can read, else 0.
    read: &'a [u8],
}

impl Launched<'_> {
    /// Whether these arguments are the same to the kernel.
    #[must_use]
    pub fn has_arguments(&self, found: &[u8]) -> bool {
        same_arguments(self.arguments, found, self.read.iter().map(|read| *read != 0))
    }
}

/// Whether arguments of a launch are the same in the bytes that are read.
pub fn same_arguments(one: &[u8], other: &[u8], read: impl IntoIterator<Item = bool>) -> bool {
    one.len() == other.len() && one.iter().zip(other).zip(read).all(|((one, other), read)| !read || one == other)
}

/// A region that outputs are copied from, with the digests of all copies of it, in order.
#[derive(Debug, Clone, Copy)]
pub struct Copied<'a> {
    /// The region.
    pub region: Region,
    digests: &'a [u64],
}

impl<'a> Copied<'a> {
    /// The copy of these bytes, by its number among the copies of the region.
    #[must_use]
    pub fn find(&self, digest: Digest) -> Option<usize> {
        let wanted = words_of(digest);
        self.digests.chunks_exact(DIGEST_WORDS).position(|digest| *digest == wanted)
    }
}

impl<'a> Tape<'a> {
    /// The tape that these bytes are, which begin at a multiple of 8; `None` if they are none.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let [magic, events, launches, regions, most, at_events, at_launches, at_regions] =
            *words(bytes, 0, HEADER_WORDS as u64)?
        else {
            return None;
        };
        (magic == MAGIC).then_some(())?;
        Some(Self {
            bytes,
            events: words(bytes, at_events, events)?,
            launches: words(bytes, at_launches, launches.checked_mul(LAUNCH_WORDS as u64)?)?,
            regions: words(bytes, at_regions, regions.checked_mul(REGION_WORDS as u64)?)?,
            most: u32::try_from(most).ok()?,
        })
    }

    /// What was done at a place in the order of all that was.
    #[must_use]
    pub fn event(&self, at: usize) -> Option<Fingerprint> {
        self.events.get(at).copied().map(Fingerprint)
    }

    /// The place of the last launch in the order of all that was done.
    #[must_use]
    pub fn last_launch(&self) -> usize {
        self.events.iter().rposition(|print| Fingerprint(*print).is_launch()).unwrap_or(0)
    }

    /// How many launches there are.
    #[must_use]
    pub fn launches(&self) -> usize {
        self.launches.len() / LAUNCH_WORDS
    }

    /// A launch by its number.
    #[must_use]
    pub fn launch(&self, number: usize) -> Option<Launched<'a>> {
        let row = self.launches.chunks_exact(LAUNCH_WORDS).nth(number)?;
        let [shape, instructions, counts_at, counts, printed_at, printed, pages_at, pages, arguments_at, arguments] =
            *row
        else {
            return None;
        };
        let (arguments, read) =
            self.part(arguments_at, arguments.checked_mul(2)?)?.split_at_checked(usize::try_from(arguments).ok()?)?;
        Some(Launched {
            shape,
            instructions,
            counts: cast_slice(self.part(counts_at, counts.checked_mul(4)?)?),
            printed: self.part(printed_at, printed)?,
            pages: cast_slice(self.part(pages_at, pages.checked_mul(16)?)?),
            arguments,
            read,
        })
    }

    /// The bytes of a page that lies at a place of the tape.
    #[must_use]
    pub fn page(&self, at: u64) -> Option<&'a [u8]> {
        self.part(at, PAGE as u64)
    }

    /// The regions that outputs are copied from.
    pub fn regions(&self) -> impl Iterator<Item = Copied<'a>> {
        let (tape, rows) = (*self, self.regions.chunks_exact(REGION_WORDS));
        rows.filter_map(move |row| {
            let [address, width, height, depth, pitch, slice, at, copies] = *row else { return None };
            let digests = words(tape.bytes, at, copies.checked_mul(DIGEST_WORDS as u64)?)?;
            Some(Copied { region: Region { address, width, height, depth, pitch, slice }, digests })
        })
    }

    fn part(&self, at: u64, bytes: u64) -> Option<&'a [u8]> {
        part(self.bytes, at, bytes)
    }
}

fn part(bytes: &[u8], at: u64, length: u64) -> Option<&[u8]> {
    let (start, end) = (usize::try_from(at).ok()?, usize::try_from(at.checked_add(length)?).ok()?);
    start.is_multiple_of(8).then_some(())?;
    bytes.get(start..end)
}

fn words(bytes: &[u8], at: u64, count: u64) -> Option<&[u64]> {
    bytemuck::try_cast_slice(part(bytes, at, count.checked_mul(8)?)?).ok()
}

fn words_of(digest: Digest) -> [u64; DIGEST_WORDS] {
    let bytes = digest.as_bytes();
    std::array::from_fn(|at| bytes[8 * at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word)))
}

/// The regions that the outputs of a golden run are copied from, each with the numbers of all copies of it, in order.
#[must_use]
pub fn output_regions(golden: &Golden) -> Vec<(Region, Vec<usize>)> {
    let from = |event: usize| match &golden.capsule().events[event] {
        Event::CopyOut { from, .. } => Some(*from),
        _ => None,
    };
    let (mut regions, mut known) = (Vec::<(Region, Vec<usize>)>::new(), BTreeMap::new());
    let key = |it: &Region| [it.address, it.width, it.height, it.depth, it.pitch, it.slice];
    for copy in golden.copies().iter().filter(|copy| copy.output.is_some()) {
        let Some(region) = from(copy.event) else { continue };
        known.entry(key(&region)).or_insert_with(|| {
            regions.push((region, Vec::new()));
            regions.len() - 1
        });
    }
    for (number, copy) in golden.copies().iter().enumerate() {
        if let Some(&at) = from(copy.event).and_then(|region| known.get(&key(&region))) {
            regions[at].1.push(number);
        }
    }
    regions
}

/// Writes the tape of a golden run.
///
/// # Errors
/// If some of the capsule's contents cannot be read.
pub fn write(golden: &Golden) -> Result<Vec<u8>, capsule::Error> {
    let mut writer = Writer(vec![0; 8 * HEADER_WORDS]);
    let events: Vec<u64> = fingerprints(golden.capsule())?.into_iter().map(|print| print.0).collect();
    let (mut launches, mut most) = (Vec::new(), 0);
    for launch in golden.launches() {
        let counts = writer.put(cast_slice(&launch.counts));
        let printed = writer.put(&launch.printed);
        let mut pages: Vec<u64> = Vec::new();
        for (number, page) in golden.changed(launch) {
            pages.extend([u64::from(number), writer.put(&page[..])]);
        }
        let row = [shape(golden.recorded(launch)), launch.thread_instructions(), counts, launch.counts.len() as u64];
        launches.extend(row);
        launches.extend([printed, launch.printed.len() as u64, writer.put(cast_slice(&pages)), pages.len() as u64 / 2]);
        let arguments = &golden.recorded(launch).params;
        let read = golden.read_arguments(launch).into_iter().map(u8::from);
        let both: Vec<u8> = arguments.iter().copied().chain(read).collect();
        launches.extend([writer.put(&both), arguments.len() as u64]);
        most = launch.counts.iter().copied().fold(most, u32::max);
    }
    let mut regions = Vec::new();
    let found = output_regions(golden);
    for (Region { address, width, height, depth, pitch, slice }, copies) in &found {
        let digests = copies.iter().flat_map(|&copy| words_of(Digest::of(&golden.copies()[copy].bytes)));
        let digests: Vec<u64> = digests.collect();
        let at = writer.put(cast_slice(&digests));
        regions.extend([*address, *width, *height, *depth, *pitch, *slice, at, copies.len() as u64]);
    }
    let places = [&events, &launches, &regions].map(|table| writer.put(cast_slice(table)));
    let sizes = [events.len(), golden.launches().len(), found.len()].map(|size| size as u64);
    let header = [&[MAGIC], &sizes[..], &[u64::from(most)], &places[..]].concat();
    let mut bytes = writer.0;
    bytes[..8 * HEADER_WORDS].copy_from_slice(cast_slice(&header));
    Ok(bytes)
}

/// Bytes in order, each part at a multiple of 8.
struct Writer(Vec<u8>);

impl Writer {
    fn put(&mut self, bytes: &[u8]) -> u64 {
        let at = self.0.len();
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        at as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_tape_is_refused() {
        let aligned = |words: &[u64]| cast_slice::<u64, u8>(words).to_vec();
        assert!(Tape::read(&[]).is_none());
        let huge = [MAGIC, u64::MAX, 0, 0, 0, 64, 64, 64];
        let empty = [MAGIC, 0, 0, 0, 0, 64, 64, 64];
        for (words, readable) in [(huge, false), ([0; 8], false), (empty, true)] {
            // A vector of words, so that the bytes are aligned.
            let bytes = aligned(&words);
            let copy: Vec<u64> = bytes.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
            assert_eq!(Tape::read(cast_slice(&copy)).is_some(), readable);
        }
    }
}
