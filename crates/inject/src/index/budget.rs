//! What the index may take, and what is left out of it so that it does.
//!
//! The first degree of detail at which the whole index fits is used. What is left out costs time, never exactness: a
//! block that is said to read more than it does runs again without need, and a launch without an index runs whole.

use simt::memory::{ByteRun, PAGE};
use std::sync::atomic::{AtomicU64, Ordering};

/// How exactly reads are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// To the byte.
    Exact,
    /// Neighbouring reads as one, with the bytes between them.
    Joined,
    /// By page.
    Pages,
}

/// What the index holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DetailLevel {
    /// Whether long blocks have checkpoints.
    pub(crate) checkpoints: bool,
    /// How exactly reads are kept.
    pub(crate) reads: Reads,
    /// Whether launches that do not fit are left out.
    pub(crate) partial: bool,
}

impl DetailLevel {
    /// All degrees, the most exact first.
    pub(crate) const ALL: [Self; 5] = [
        Self { checkpoints: true, reads: Reads::Exact, partial: false },
        Self { checkpoints: false, reads: Reads::Exact, partial: false },
        Self { checkpoints: false, reads: Reads::Joined, partial: false },
        Self { checkpoints: false, reads: Reads::Pages, partial: false },
        Self { checkpoints: false, reads: Reads::Pages, partial: true },
    ];
}

/// Bytes between two reads that are joined, at most.
const GAP: u16 = 64;

impl Reads {
    /// The reads of a block, ascending, as they are kept.
    pub(super) fn kept(self, mut reads: Vec<ByteRun>) -> Vec<ByteRun> {
        let gap = match self {
            Self::Exact => return reads,
            Self::Joined => GAP,
            Self::Pages => PAGE as u16,
        };
        reads.dedup_by(|next, last| {
            let near = next.page == last.page && next.from - last.to <= gap;
            if near {
                last.to = next.to;
            }
            near
        });
        if self == Self::Pages {
            reads.iter_mut().for_each(|run| (run.from, run.to) = (0, PAGE as u16));
        }
        reads
    }
}

/// Bytes that launches share.
#[derive(Debug)]
pub(super) struct Pool {
    limit: u64,
    taken: AtomicU64,
}

impl Pool {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, taken: AtomicU64::new(0) }
    }

    /// Takes bytes; whether there were enough. They are taken in any case.
    pub(super) fn take(&self, bytes: u64) -> bool {
        // Relaxed: the number orders nothing else.
        self.taken.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= self.limit
    }

    pub(super) fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarser_reads_hold_all_finer_ones() {
        let run = |page, from, to| ByteRun { page, from, to };
        let reads = vec![run(1, 0, 4), run(1, 60, 64), run(1, 200, 204), run(2, 8, 12)];
        assert_eq!(Reads::Exact.kept(reads.clone()), reads);
        assert_eq!(Reads::Joined.kept(reads.clone()), [run(1, 0, 64), run(1, 200, 204), run(2, 8, 12)]);
        assert_eq!(Reads::Pages.kept(reads), [run(1, 0, 4096), run(2, 0, 4096)]);
    }

    #[test]
    fn a_pool_that_is_empty_says_so() {
        let pool = Pool::new(10);
        assert!(pool.take(10) && !pool.take(1));
        pool.give_back(11);
        assert!(pool.take(1));
    }
}
