//! Which thread of a block reads and writes each byte of global memory.
//!
//! A thread that shares no byte it reads with a writer, and no byte it writes with anyone, could as well run alone.

use super::window::DEVICE_BYTES;
use super::window::PAGE;

/// Nobody, so far.
const NOBODY: u16 = 0;
/// Numbers of pages outside of device memory begin here: who touches those is not told apart.
const FAR: u32 = (DEVICE_BYTES / PAGE as u64) as u32;
/// More than one thread.
const MANY: u16 = u16::MAX;

/// The bytes of a page, each with the thread that accesses it, plus one.
#[derive(Clone, Debug)]
struct Owned {
    reader: [u16; PAGE],
    writer: [u16; PAGE],
}

impl Owned {
    const NONE: Self = Self { reader: [NOBODY; PAGE], writer: [NOBODY; PAGE] };
}

/// The threads of one block by the bytes that they access.
#[derive(Debug, Default)]
pub struct Owners {
    /// For each page, one more than its place in `owned`, or 0.
    places: Vec<u32>,
    /// The pages that are in use, in the order of `owned`.
    pages: Vec<u32>,
    /// May be longer than `pages`: kept for the next block.
    owned: Vec<Box<Owned>>,
    tangled: bool,
    /// Some thread accesses a far page.
    far: bool,
}

impl Owners {
    /// Forgets everything.
    pub fn clear(&mut self) {
        for (page, owned) in self.pages.drain(..).zip(&mut self.owned) {
            self.places[page as usize] = 0;
            **owned = Owned::NONE;
        }
        (self.tangled, self.far) = (false, false);
    }

    /// Whether some byte is written by one thread and accessed by another.
    #[must_use]
    pub fn is_tangled(&self) -> bool {
        self.tangled
    }

    fn of_page(&mut self, page: u32) -> &mut Owned {
        let index = page as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        if self.places[index] == 0 {
            self.pages.push(page);
            self.places[index] = self.pages.len() as u32;
            if self.owned.len() < self.pages.len() {
                self.owned.push(Box::new(Owned::NONE));
            }
        }
        &mut self.owned[self.places[index] as usize - 1]
    }

    /// Notes an access of a thread of the block to bytes of a page.
    pub(crate) fn note(&mut self, thread: u16, page: u32, from: usize, to: usize, written: bool) {
        if page >= FAR {
            return self.note_far();
        }
        let me = thread + 1;
        let owned = self.of_page(page);
        let mut tangled = false;
        for byte in from..to {
            let (reader, writer) = (&mut owned.reader[byte], &mut owned.writer[byte]);
            let own = if written { &mut *writer } else { &mut *reader };
            *own = if *own == NOBODY || *own == me { me } else { MANY };
            let other = |who: u16| who != NOBODY && who != me;
            tangled |= other(*writer) || (*writer == me && other(*reader));
        }
        self.tangled |= tangled;
    }

    /// Notes an access to bytes of a page that are updated in place: they are nobody's own.
    pub(crate) fn note_update(&mut self, page: u32, from: usize, to: usize) {
        if page >= FAR {
            return self.note_far();
        }
        let owned = self.of_page(page);
        owned.reader[from..to].fill(MANY);
        owned.writer[from..to].fill(MANY);
        self.tangled = true;
    }

    fn note_far(&mut self) {
        (self.tangled, self.far) = (true, true);
    }

    fn find(&self, page: u32) -> Option<&Owned> {
        let place = *self.places.get(page as usize)?;
        self.owned.get((place as usize).checked_sub(1)?).map(|owned| &**owned)
    }

    /// Whether no other thread writes any of these bytes of a page.
    #[must_use]
    pub fn may_read(&self, thread: u16, page: u32, from: usize, to: usize) -> bool {
        let mine = |who: &u16| *who == NOBODY || *who == thread + 1;
        let own = self.find(page).is_none_or(|owned| owned.writer[from..to].iter().all(mine));
        own && !(self.far && page >= FAR)
    }

    /// Whether no other thread accesses any of these bytes of a page.
    #[must_use]
    pub fn may_write(&self, thread: u16, page: u32, from: usize, to: usize) -> bool {
        let mine = |who: &u16| *who == NOBODY || *who == thread + 1;
        self.may_read(thread, page, from, to)
            && self.find(page).is_none_or(|owned| owned.reader[from..to].iter().all(mine))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_belongs_to_whoever_alone_accesses_it() {
        let mut owners = Owners::default();
        owners.note(3, 7, 0, 4, false);
        owners.note(4, 7, 0, 4, false);
        owners.note(3, 7, 8, 12, true);
        owners.note(3, 7, 8, 12, false);
        assert!(!owners.is_tangled());
        assert!(owners.may_read(5, 7, 0, 4) && !owners.may_write(3, 7, 0, 4));
        assert!(owners.may_write(3, 7, 8, 12) && owners.may_read(3, 7, 8, 12));
        assert!(!owners.may_read(4, 7, 11, 13) && owners.may_read(4, 7, 12, 13));
        assert!(owners.may_write(0, 9, 0, PAGE));
        owners.note_update(7, 12, 16);
        assert!(!owners.may_read(4, 7, 12, 13));
        owners.clear();
        assert!(owners.may_write(4, 7, 0, 16));
    }

    #[test]
    fn a_writer_and_anyone_else_tangle() {
        let tangled = |accesses: [(u16, bool); 2]| {
            let mut owners = Owners::default();
            accesses.iter().for_each(|&(thread, written)| owners.note(thread, 0, 5, 6, written));
            owners.is_tangled()
        };
        assert!(tangled([(0, true), (1, true)]));
        assert!(tangled([(0, true), (1, false)]));
        assert!(tangled([(0, false), (1, true)]));
        assert!(!tangled([(0, false), (1, false)]));
        assert!(!tangled([(1, false), (1, true)]));
    }
}
