//! The page of the method: the tables and figures of the chapter with our workloads, its statements judged.

mod statements;
mod survey;
mod tables;
#[cfg(test)]
mod tests;

use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};
use crate::statements::tally;
use methods::kit::StudyError;
use survey::{Measured, PILOTS};

/// The page.
pub static PAGE: MethodPage = MethodPage {
    method: "minotaur",
    template: include_str!("page.md"),
    runs: &[PageCampaign { name: PILOTS, count: 30_000, about: "pilots of each input, at most" }],
    make,
};

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    let all = survey::survey(shop, only)?;
    Ok(if only.is_some() { Vec::new() } else { pieces(&all) })
}

fn pieces(all: &[Measured]) -> Pieces {
    let parts = statements::statements(all);
    let mut pieces: Pieces = vec![
        ("inputs".to_owned(), Piece::Table(tables::inputs(all))),
        ("pilots".to_owned(), Piece::Table(tables::pilots(all))),
        ("accuracy".to_owned(), Piece::Table(tables::accuracy(all))),
        ("explored".to_owned(), Piece::Table(tables::explored(all))),
        ("orders".to_owned(), Piece::Table(tables::orders(all))),
        ("termination".to_owned(), Piece::Table(tables::termination(all))),
        ("speedups".to_owned(), Piece::Table(tables::speedups(all))),
        ("priority".to_owned(), Piece::Table(tables::priority(all))),
        ("approximable".to_owned(), Piece::Table(tables::approximable(all))),
        ("hot".to_owned(), Piece::Table(tables::hot(all))),
        ("say-tally".to_owned(), Piece::Text(tally(&parts, "applications"))),
    ];
    pieces.extend(parts.iter().map(|part| (part.name.to_owned(), Piece::Table(part.table()))));
    pieces
}
