//! The parts of statements that several files make.

use crate::statements::{Judged, Statement, Verdict};

/// A claim with its numbers, ours, and the verdict.
pub(super) fn statement([claim, paper]: [&str; 2], ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// Yes or no where one of both is certain.
pub(super) fn decided(holds: bool, fails: bool) -> Verdict {
    match (holds, fails) {
        (true, _) => Verdict::Holds,
        (_, true) => Verdict::Fails,
        _ => Verdict::Open,
    }
}
