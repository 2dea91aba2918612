//! The page of the method: its searches and studies with our workloads, and what the paper says judged.

mod rules;
mod searches;
mod statements;
mod survey;
mod tables;
#[cfg(test)]
mod tests;

use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};
use crate::statements::tally;
use methods::kit::StudyError;
use survey::{BUDGET, FAULTS, INPUTS, Measured, REPEAT, SEARCHED};

/// The page.
pub static PAGE: MethodPage = MethodPage {
    method: "druto",
    template: include_str!("page.md"),
    runs: &[
        PageCampaign { name: REPEAT, count: 10, about: "seeds of searches with and without pruning" },
        PageCampaign { name: BUDGET, count: SEARCHED, about: "inputs of each of these searches" },
        PageCampaign { name: INPUTS, count: 30, about: "random inputs of the studies" },
        PageCampaign { name: FAULTS, count: 50, about: "faults in each instruction and thread" },
    ],
    make,
};

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    let all = survey::survey(shop, only)?;
    Ok(if only.is_some() { Vec::new() } else { pieces(&all) })
}

fn pieces(all: &[Measured]) -> Pieces {
    let parts = statements::statements(all);
    let mut pieces: Pieces = vec![
        ("ranges".to_owned(), Piece::Table(tables::ranges(all))),
        ("plot-rates".to_owned(), Piece::Plot(tables::plot_of_rates(all))),
        ("ranks".to_owned(), Piece::Table(tables::ranks(all))),
        ("say-proxy".to_owned(), Piece::Text(tables::proxy(all))),
        ("model".to_owned(), Piece::Table(tables::model(all))),
        ("launches".to_owned(), Piece::Table(tables::launches(all))),
        ("searches".to_owned(), Piece::Table(tables::searches(all))),
        ("plot-courses".to_owned(), Piece::Plot(tables::plot_of_courses(all))),
        ("protection".to_owned(), Piece::Table(tables::protection(all))),
        ("plot-coverage".to_owned(), Piece::Plot(tables::plot_of_coverage(all))),
        ("say-commands".to_owned(), Piece::Text(tables::commands(all))),
        ("say-seeds".to_owned(), Piece::Text(tables::seeds(all))),
        ("say-studied".to_owned(), Piece::Text(tables::studied(all))),
        ("say-recorded".to_owned(), Piece::Text(tables::recorded(all))),
        ("say-tally".to_owned(), Piece::Text(tally(&parts, "kernels"))),
    ];
    pieces.extend(parts.iter().map(|part| (part.name.to_owned(), Piece::Table(part.table()))));
    pieces
}
