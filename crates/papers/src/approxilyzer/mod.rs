//! The page of the method: the tables and figures of the chapter with our workloads, its statements judged.

mod chapter;
mod rules;
mod statements;
mod survey;
mod tables;
#[cfg(test)]
mod tests;
mod tuning;
mod validation;

use crate::page::{MethodPage, PageContext, Piece, Pieces};
use crate::statements::tally;
use methods::kit::StudyError;
use survey::Measured;

/// The page.
pub static PAGE: MethodPage = MethodPage { method: "approxilyzer", template: include_str!("page.md"), runs: &[], make };

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    let all = survey::survey(shop, only)?;
    Ok(if only.is_some() { Vec::new() } else { pieces(&all) })
}

fn pieces(all: &[Measured]) -> Pieces {
    let parts = statements::statements(all);
    let mut pieces: Pieces = vec![
        ("sites".to_owned(), Piece::Table(tables::sites(all))),
        ("outcomes".to_owned(), Piece::Table(tables::outcomes(all))),
        ("categories".to_owned(), Piece::Table(tables::categories(all))),
        ("validation".to_owned(), Piece::Table(validation::table(all))),
        ("tuning".to_owned(), Piece::Table(tables::tuning(all))),
        ("approximable".to_owned(), Piece::Table(tables::approximable(all))),
        ("say-coverage".to_owned(), Piece::Text(tables::coverage(all))),
        ("say-tally".to_owned(), Piece::Text(tally(&parts, "applications"))),
    ];
    for it in all {
        if let Some(curve) = &it.curve {
            let curve = study::Plot {
                name: format!("tuning-{}", it.name),
                title: curve.title.replacen(it.name, it.paper, 1),
                ..curve.clone()
            };
            pieces.push((format!("plot-{}", it.name), Piece::Plot(curve)));
        }
    }
    pieces.extend(parts.iter().map(|part| (part.name.to_owned(), Piece::Table(part.table()))));
    pieces
}
