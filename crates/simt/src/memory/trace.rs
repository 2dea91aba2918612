//! Which bytes of global memory a block reads and writes, exactly; or which of its threads does; or what is first done
//! to one byte.

use super::bytes::ByteSet;
use super::owners::Owners;
use super::page::Pieces;
use super::window::DEVICE_BASE;
use super::window::PAGE;
use std::collections::BTreeMap;

/// Neighbouring bytes of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteRun {
    /// The page.
    pub page: u32,
    /// The first byte in the page.
    pub from: u16,
    /// One past the last, at most the size of a page.
    pub to: u16,
}

impl ByteRun {
    /// A range of global memory, cut at page boundaries.
    pub fn of(address: u64, bytes: u64) -> impl Iterator<Item = Self> {
        let first = address.wrapping_sub(DEVICE_BASE);
        Pieces::of(address, bytes as usize).map(move |piece| Self {
            page: ((first + piece.done as u64) / PAGE as u64) as u32,
            from: piece.from as u16,
            to: (piece.from + piece.len) as u16,
        })
    }

    /// The bytes within the page.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        usize::from(self.from)..usize::from(self.to)
    }
}

/// What is done to a byte of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It is read, perhaps to be updated.
    Read,
    /// It is written without being read.
    Written,
}

/// A byte whose first touch is waited for.
#[derive(Clone, Copy, Debug)]
struct Watched {
    page: u32,
    at: usize,
    first: Option<Touch>,
}

/// Bytes touched since the trace was last taken.
#[derive(Debug, Default)]
pub struct AccessTrace {
    read: Touched,
    written: Touched,
    /// Notes the first touch of one byte instead.
    watched: Option<Watched>,
    /// Notes who touched them instead.
    owners: Option<Owners>,
    /// The first thread of the warp that runs.
    first: u16,
}

/// The bytes touched of each page; the page touched last is at hand.
#[derive(Debug, Default)]
struct Touched {
    last: Option<(u32, Box<ByteSet>)>,
    others: BTreeMap<u32, Box<ByteSet>>,
}

impl Touched {
    fn note(&mut self, page: u32, from: usize, to: usize) {
        if self.last.as_ref().is_none_or(|(last, _)| *last != page) {
            let set = self.others.remove(&page).unwrap_or_default();
            if let Some((last, set)) = self.last.replace((page, set)) {
                self.others.insert(last, set);
            }
        }
        if let Some((_, set)) = &mut self.last {
            set.insert(from..to);
        }
    }

    fn take(&mut self) -> Vec<ByteRun> {
        self.others.extend(self.last.take());
        let pages = std::mem::take(&mut self.others);
        let run =
            |page, range: std::ops::Range<usize>| ByteRun { page, from: range.start as u16, to: range.end as u16 };
        pages.iter().flat_map(|(&page, set)| set.runs().map(move |range| run(page, range))).collect()
    }
}

impl Watched {
    fn note(&mut self, page: u32, from: usize, to: usize, touch: Touch) {
        if page == self.page && (from..to).contains(&self.at) {
            self.first = self.first.or(Some(touch));
        }
    }
}

impl AccessTrace {
    /// A trace that notes which thread of a block touches what, in addition to what is noted there.
    #[must_use]
    pub fn by_thread(owners: Owners) -> Self {
        Self { owners: Some(owners), ..Self::default() }
    }

    /// A trace that notes what is first done to the byte at an address of global memory.
    #[must_use]
    pub fn watching(address: u64) -> Self {
        let watched = |run: ByteRun| Watched { page: run.page, at: usize::from(run.from), first: None };
        Self { watched: ByteRun::of(address, 1).next().map(watched), ..Self::default() }
    }

    /// What was first done to the byte that is watched.
    #[must_use]
    pub fn first_touch(&self) -> Option<Touch> {
        self.watched.and_then(|watched| watched.first)
    }

    /// Whether it notes which thread touches what.
    pub(crate) fn is_by_thread(&self) -> bool {
        self.owners.is_some()
    }

    /// Who touched what, for a trace by thread.
    #[must_use]
    pub fn into_owners(self) -> Option<Owners> {
        self.owners
    }

    /// The warp that runs from now on, by its first thread.
    pub(crate) fn set_first(&mut self, thread: u32) {
        self.first = thread as u16;
    }

    /// Notes a read of bytes of a page by a lane.
    pub(crate) fn read(&mut self, lane: usize, page: u32, from: usize, to: usize) {
        match (&mut self.owners, &mut self.watched) {
            (Some(owners), _) => owners.note(self.first + lane as u16, page, from, to, false),
            (None, Some(watched)) => watched.note(page, from, to, Touch::Read),
            (None, None) => self.read.note(page, from, to),
        }
    }

    /// Notes a write of bytes of a page by a lane.
    pub(crate) fn wrote(&mut self, lane: usize, page: u32, from: usize, to: usize) {
        match (&mut self.owners, &mut self.watched) {
            (Some(owners), _) => owners.note(self.first + lane as u16, page, from, to, true),
            (None, Some(watched)) => watched.note(page, from, to, Touch::Written),
            (None, None) => self.written.note(page, from, to),
        }
    }

    /// Notes that a lane updated bytes of a page in place.
    pub(crate) fn updated(&mut self, _: usize, page: u32, from: usize, to: usize) {
        match (&mut self.owners, &mut self.watched) {
            (Some(owners), _) => owners.note_update(page, from, to),
            (None, Some(watched)) => watched.note(page, from, to, Touch::Read),
            (None, None) => {
                self.read.note(page, from, to);
                self.written.note(page, from, to);
            }
        }
    }

    /// What was read and what was written, ascending; forgets both.
    pub fn take(&mut self) -> (Vec<ByteRun>, Vec<ByteRun>) {
        (self.read.take(), self.written.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_touch_of_a_watched_byte_is_kept() {
        let mut trace = AccessTrace::watching(DEVICE_BASE + 7 * PAGE as u64 + 60);
        trace.read(0, 7, 56, 60);
        trace.wrote(0, 6, 0, PAGE);
        assert_eq!(trace.first_touch(), None);
        trace.wrote(3, 7, 60, 64);
        trace.read(0, 7, 60, 64);
        assert_eq!(trace.first_touch(), Some(Touch::Written));
        let mut trace = AccessTrace::watching(DEVICE_BASE);
        trace.updated(0, 0, 0, 4);
        assert_eq!(trace.first_touch(), Some(Touch::Read));
    }

    #[test]
    fn neighbouring_accesses_are_one_run() {
        let mut trace = AccessTrace::default();
        for lane in (0..32).rev() {
            trace.read(0, 7, 60 + lane * 4, 64 + lane * 4);
            trace.read(0, 9, 0, 1);
        }
        trace.read(0, 7, 4092, 4096);
        trace.wrote(0, 2, 0, 4096);
        let (read, written) = trace.take();
        let run = |page, from, to| ByteRun { page, from, to };
        assert_eq!(read, [run(7, 60, 188), run(7, 4092, 4096), run(9, 0, 1)]);
        assert_eq!(written, [run(2, 0, 4096)]);
        assert_eq!(trace.take(), (vec![], vec![]));
    }
}
