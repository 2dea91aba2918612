//! Who accessed a word of memory last.

/// Nobody.
const NOBODY: u32 = u32::MAX;

/// An access to some bytes of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordAccess {
    /// The warp or block.
    pub(super) who: u32,
    /// Its time.
    pub(super) time: u32,
    /// The instruction.
    pub(super) instruction: u32,
    /// Which bytes of the word.
    pub(super) bytes: u8,
    pub(super) writes: bool,
    pub(super) strong: bool,
    /// It is atomic: it reads and writes at once.
    pub(super) updates: bool,
}

impl WordAccess {
    const NONE: Self =
        Self { who: NOBODY, time: 0, instruction: 0, bytes: 0, writes: false, strong: false, updates: false };

    /// Whether two accesses race, if neither knows of the other.
    fn conflicts(&self, other: &Self) -> bool {
        self.who != other.who
            && self.bytes & other.bytes != 0
            && (self.writes || other.writes)
            && (!(self.strong && other.strong) || self.overwrites(other))
    }

    /// Whether both store what they have not looked at: what stays is open then, strong or not.
    pub(super) fn overwrites(&self, other: &Self) -> bool {
        self.writes && other.writes && !self.updates && !other.updates
    }
}

/// The last write to a word, and the last reads by two that read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    write: WordAccess,
    reads: [WordAccess; 2],
}

impl Cell {
    pub(super) const NONE: Self = Self { write: WordAccess::NONE, reads: [WordAccess::NONE; 2] };

    /// Notes an access; the instruction of an earlier one that it races with, if it does. `knows` says whether the one who
    /// accesses knows of it.
    pub(super) fn note(&mut self, access: WordAccess, knows: impl Fn(&WordAccess) -> bool) -> Option<u32> {
        let races = |other: &WordAccess| other.who != NOBODY && access.conflicts(other) && !knows(other);
        let mut found = Some(self.write).filter(&races);
        if access.writes {
            found = found.or_else(|| self.reads.into_iter().find(&races));
            self.write = access;
        } else {
            let [first, second] = &mut self.reads;
            if first.who == access.who || first.who == NOBODY {
                *first = access;
            } else {
                if second.who != access.who && second.who != NOBODY {
                    *first = *second;
                }
                *second = access;
            }
        }
        found.map(|earlier| earlier.instruction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(who: u32, writes: bool, bytes: u8) -> WordAccess {
        WordAccess { who, time: 1, instruction: 10 + who, bytes, writes, strong: false, updates: false }
    }

    #[test]
    fn a_write_races_with_whoever_it_does_not_know_of() {
        let race = |accesses: &[WordAccess], known: bool| {
            let mut cell = Cell::NONE;
            accesses.iter().fold(None, |_, access| cell.note(*access, |_| known))
        };
        assert_eq!(race(&[access(0, true, 15), access(1, true, 15)], false), Some(10));
        assert_eq!(race(&[access(0, true, 15), access(1, true, 15)], true), None);
        assert_eq!(race(&[access(0, true, 15), access(1, false, 1)], false), Some(10));
        assert_eq!(race(&[access(0, false, 15), access(1, false, 15), access(2, true, 8)], false), Some(10));
        assert_eq!(race(&[access(0, false, 15), access(1, false, 15)], false), None);
        assert_eq!(race(&[access(0, true, 15), access(0, false, 15)], false), None);
        assert_eq!(race(&[access(0, true, 1), access(1, true, 2)], false), None);
        let strong = |who| WordAccess { strong: true, ..access(who, true, 15) };
        let update = |who| WordAccess { updates: true, ..strong(who) };
        let load = |who| WordAccess { writes: false, ..strong(who) };
        assert_eq!(race(&[strong(0), strong(1)], false), Some(10));
        assert_eq!(race(&[strong(0), load(1)], false), None);
        assert_eq!(race(&[strong(0), update(1)], false), None);
        assert_eq!(race(&[update(0), update(1)], false), None);
        assert_eq!(race(&[strong(0), access(1, false, 15)], false), Some(10));
    }
}
