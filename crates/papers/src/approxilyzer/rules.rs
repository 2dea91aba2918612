//! The pieces that statements about all applications are made of.

use super::survey::Measured;
use crate::statements::{Judged, Statement};
use crate::words::percent;

/// A statement with its rule and its verdict.
pub(super) fn statement(claim: &str, paper: &str, ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// The application of this name in the chapter.
pub(super) fn find<'m>(all: &'m [Measured], paper: &str) -> Option<&'m Measured> {
    all.iter().find(|it| it.paper == paper)
}

/// Shares by application, as a text: `LU 68.8 %, FFT 3.0 %`, the largest first.
pub(super) fn ranked(mut shares: Vec<(&str, f64)>) -> (Vec<&str>, String) {
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let text = shares.iter().map(|(name, share)| format!("{name} {}", percent(*share)));
    let text = text.collect::<Vec<_>>().join(", ");
    (shares.into_iter().map(|(name, _)| name).collect(), text)
}
