//! What the launches of an application do without a fault, in a form that a process maps and reads where it lies.
//!
//! All numbers are little-endian; tables begin at multiples of 8. A header says where each table is; launches, regions
//! and pages are rows of fixed size. Of memory there are the pages that a launch changed, as they were after it.
//!
//! ```text
//! header    magic, events, launches, regions, most, and the place of each table
//! events    a fingerprint for each
//! launches  shape, instructions, counts (threads, segments: place, number; which: place), printed (place, bytes), pages (place, number),
//!           arguments (place, bytes), behind which stands for each byte whether it is read
//! regions   a region of device memory that outputs are copied from: six numbers, copies (place, number)
//! contents  counts of instructions (u32) as segments that differ and which they are (u32), what was printed, (page, place) pairs, pages, digests of copies
//! ```

use super::device_op::{Fingerprint, shape};
use bytemuck::cast_slice;
use capsule::{Digest, EventKind, Launch, Region};
use counts::{CountsView, SEGMENT};
use simt::memory::{PAGE, Page};
use std::sync::Arc;

const MAGIC: u64 = u64::from_le_bytes(*b"BEAMTAP2");
const HEADER_WORDS: usize = 8;
const LAUNCH_WORDS: usize = 12;
const REGION_WORDS: usize = 8;
const DIGEST_WORDS: usize = 4;

/// A trace, where it lies in memory.
#[derive(Debug, Clone, Copy)]
pub struct GoldenTrace<'a> {
    bytes: &'a [u8],
    events: &'a [u64],
    launches: &'a [u64],
    regions: &'a [u64],
    /// The most instructions that a thread of any launch executed.
    pub most: u32,
}

/// What a launch did.
#[derive(Debug, Clone, Copy)]
pub struct LaunchTrace<'a> {
    /// What tells it from others, all but its arguments.
    pub shape: u64,
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Instructions executed by each.
    pub counts: CountsView<'a, u32>,
    /// What it printed.
    pub printed: &'a [u8],
    /// The numbers of the pages that it changed, each with where its bytes lie in the trace.
    pub pages: &'a [[u64; 2]],
    arguments: &'a [u8],
    /// 1 for each byte of them that the kernel can read, else 0.
    read: &'a [u8],
}

impl LaunchTrace<'_> {
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
pub struct TracedRegion<'a> {
    /// The region.
    pub region: Region,
    digests: &'a [u64],
}

impl<'a> TracedRegion<'a> {
    /// The copy of these bytes, by its number among the copies of the region.
    #[must_use]
    pub fn find(&self, digest: Digest) -> Option<usize> {
        let wanted = words_of(digest);
        self.digests.chunks_exact(DIGEST_WORDS).position(|digest| *digest == wanted)
    }
}

impl<'a> GoldenTrace<'a> {
    /// The trace that these bytes are, which begin at a multiple of 8; `None` if they are none.
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
        self.events.iter().rposition(|print| Fingerprint(*print).kind() == Some(EventKind::Launch)).unwrap_or(0)
    }

    /// How many launches there are.
    #[must_use]
    pub fn launches(&self) -> usize {
        self.launches.len() / LAUNCH_WORDS
    }

    /// A launch by its number.
    #[must_use]
    pub fn launch(&self, number: usize) -> Option<LaunchTrace<'a>> {
        let row = self.launches.chunks_exact(LAUNCH_WORDS).nth(number)?;
        let (counted, [printed_at, printed, pages_at, pages, arguments_at, arguments]) = row.split_last_chunk()?;
        let [shape, instructions, threads, different_at, different, which_at] = *counted else { return None };
        let different = cast_slice(self.part(different_at, different.checked_mul(4)?)?);
        let which = cast_slice(self.part(which_at, threads.div_ceil(SEGMENT as u64).checked_mul(4)?)?);
        let (arguments, read) =
            self.part(*arguments_at, arguments.checked_mul(2)?)?.split_at_checked(usize::try_from(*arguments).ok()?)?;
        Some(LaunchTrace {
            shape,
            instructions,
            counts: CountsView::new(threads, different, which),
            printed: self.part(*printed_at, *printed)?,
            pages: cast_slice(self.part(*pages_at, pages.checked_mul(16)?)?),
            arguments,
            read,
        })
    }

    /// The bytes of a page that lies at a place of the trace.
    #[must_use]
    pub fn page(&self, at: u64) -> Option<&'a [u8]> {
        self.part(at, PAGE as u64)
    }

    /// The regions that outputs are copied from.
    pub fn regions(&self) -> impl Iterator<Item = TracedRegion<'a>> {
        let (trace, rows) = (*self, self.regions.chunks_exact(REGION_WORDS));
        rows.filter_map(move |row| {
            let [address, width, height, depth, pitch, slice, at, copies] = *row else { return None };
            let digests = words(trace.bytes, at, copies.checked_mul(DIGEST_WORDS as u64)?)?;
            Some(TracedRegion { region: Region { address, width, height, depth, pitch, slice }, digests })
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

/// A trace that is being written.
#[derive(Debug)]
pub struct GoldenTraceWriter {
    bytes: Vec<u8>,
    launches: Vec<u64>,
    regions: Vec<u64>,
    most: u32,
}

/// What a launch did, to be written.
#[derive(Debug)]
pub struct LaunchRecord<'a> {
    /// The launch.
    pub launch: &'a Launch,
    /// Instructions executed by each thread.
    pub counts: CountsView<'a, u32>,
    /// What it printed.
    pub printed: &'a [u8],
    /// Whether the kernel can read it, for each byte of its arguments.
    pub read: &'a [bool],
}

impl Default for GoldenTraceWriter {
    fn default() -> Self {
        Self { bytes: vec![0; 8 * HEADER_WORDS], launches: Vec::new(), regions: Vec::new(), most: 0 }
    }
}

impl GoldenTraceWriter {
    /// Adds the next launch. Of memory there are the pages that it changed, by ascending number, as they are after it.
    pub fn launch(&mut self, record: &LaunchRecord<'_>, changed: impl Iterator<Item = (u32, Arc<Page>)>) {
        let LaunchRecord { launch, counts, printed, read } = record;
        let (different, which) = (counts.different(), counts.which());
        let (different_at, which_at) = (self.put(cast_slice(different)), self.put(cast_slice(which)));
        let printed_at = self.put(printed);
        let mut pages: Vec<u64> = Vec::new();
        for (number, page) in changed {
            pages.extend([u64::from(number), self.put(&page[..])]);
        }
        let pages_at = self.put(cast_slice(&pages));
        let both: Vec<u8> = launch.params.iter().copied().chain(read.iter().copied().map(u8::from)).collect();
        let arguments_at = self.put(&both);
        self.launches.extend([shape(launch), counts.total(), counts.threads()]);
        self.launches.extend([different_at, different.len() as u64, which_at]);
        self.launches.extend([printed_at, printed.len() as u64, pages_at, pages.len() as u64 / 2]);
        self.launches.extend([arguments_at, launch.params.len() as u64]);
        self.most = self.most.max(counts.most().unwrap_or(0));
    }

    /// Adds a region that outputs are copied from, with the digests of all copies of it, in order.
    pub fn region(&mut self, region: &Region, copies: impl Iterator<Item = Digest>) {
        let digests: Vec<u64> = copies.flat_map(words_of).collect();
        let (at, count) = (self.put(cast_slice(&digests)), digests.len() / DIGEST_WORDS);
        let Region { address, width, height, depth, pitch, slice } = *region;
        self.regions.extend([address, width, height, depth, pitch, slice, at, count as u64]);
    }

    /// The bytes of the trace; `events` is all that was done, in order.
    #[must_use]
    pub fn finish(mut self, events: &[Fingerprint]) -> Vec<u8> {
        let events: Vec<u64> = events.iter().map(|print| print.0).collect();
        let (launches, regions) = (std::mem::take(&mut self.launches), std::mem::take(&mut self.regions));
        let places = [&events, &launches, &regions].map(|table| self.put(cast_slice(table)));
        let sizes = [events.len(), launches.len() / LAUNCH_WORDS, regions.len() / REGION_WORDS];
        let header = [&[MAGIC], &sizes.map(|size| size as u64)[..], &[u64::from(self.most)], &places[..]].concat();
        self.bytes[..8 * HEADER_WORDS].copy_from_slice(cast_slice(&header));
        self.bytes
    }

    /// Adds bytes behind the others, at a multiple of 8; returns where they are.
    fn put(&mut self, bytes: &[u8]) -> u64 {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        at as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsule::ModuleId;
    use counts::Counts;

    #[test]
    fn what_is_no_tape_is_refused() {
        let aligned = |words: &[u64]| cast_slice::<u64, u8>(words).to_vec();
        assert!(GoldenTrace::read(&[]).is_none());
        let huge = [MAGIC, u64::MAX, 0, 0, 0, 64, 64, 64];
        let empty = [MAGIC, 0, 0, 0, 0, 64, 64, 64];
        for (words, readable) in [(huge, false), ([0; 8], false), (empty, true)] {
            // A vector of words, so that the bytes are aligned.
            let bytes = aligned(&words);
            let copy: Vec<u64> = bytes.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
            assert_eq!(GoldenTrace::read(cast_slice(&copy)).is_some(), readable);
        }
    }

    #[test]
    fn a_tape_is_read_as_it_was_written() {
        let launch = Launch {
            module: ModuleId(1),
            kernel: "k".into(),
            grid: [2, 1, 1],
            block: [1, 1, 1],
            shared_bytes: 0,
            params: vec![1, 2, 3],
            cooperative: false,
        };
        let region = Region { address: 256, width: 8, height: 1, depth: 1, pitch: 8, slice: 8 };
        let digests = [Digest::of(b"first"), Digest::of(b"second")];
        let page = Arc::new([7; PAGE]);
        let counts: Counts<u32> = [5, 9].into_iter().collect();
        let (counts, read) = (counts.view(), [true, false, true]);
        let record = LaunchRecord { launch: &launch, counts, printed: b"hello", read: &read };
        let mut writer = GoldenTraceWriter::default();
        writer.launch(&record, [(3, Arc::clone(&page))].into_iter());
        writer.region(&region, digests.into_iter());
        let bytes = writer.finish(&[Fingerprint(11), Fingerprint(12)]);
        let aligned: Vec<u64> = bytes.chunks_exact(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
        let trace = GoldenTrace::read(cast_slice(&aligned)).unwrap();
        assert_eq!((trace.event(1), trace.event(2), trace.launches(), trace.most), (Some(Fingerprint(12)), None, 1, 9));
        let known = trace.launch(0).unwrap();
        assert_eq!((known.shape, known.instructions, known.counts), (shape(&launch), 14, counts));
        assert_eq!((known.printed, known.pages[0][0]), (&b"hello"[..], 3));
        assert_eq!(trace.page(known.pages[0][1]), Some(&page[..]));
        assert!(known.has_arguments(&[1, 77, 3]) && !known.has_arguments(&[1, 2, 4]));
        let copied = trace.regions().next().unwrap();
        assert_eq!((copied.region, copied.find(digests[1])), (region, Some(1)));
        assert_eq!(copied.find(Digest::of(b"third")), None);
    }
}
