//! The page of FLR, ILR and FILR: the figures of the thesis' Chapter 6 with our network, its statements judged.

mod plots;
mod seeds;
mod statements;
mod tables;
#[cfg(test)]
mod tests;

use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};
use crate::statements::tally;
use methods::kit::StudyError;
use nn::filr::{Filr, FilrError, Settings, analyse};
use nn::{NetworkTarget, bundled};

/// The kind of runs that are injections into each feature map.
const INJECTIONS: &str = "map";

/// The kind of runs that are images of which every fault is judged.
const IMAGES: &str = "images";

/// The page.
pub static PAGE: MethodPage = MethodPage {
    method: "filr",
    template: include_str!("page.md"),
    runs: &[
        PageCampaign { name: INJECTIONS, count: 12_288, about: "injections into each feature map" },
        PageCampaign { name: IMAGES, count: 200, about: "images of which every fault is judged" },
    ],
    make,
};

/// The network.
const NETWORK: &str = "fashion";

/// The seeds; each divides the images anew. Every fault is judged for the first.
const SEEDS: u64 = 5;

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    if only.is_some_and(|only| only != NETWORK) {
        return Ok(Vec::new());
    }
    let target = bundled::open(NETWORK).map_err(|error| StudyError::Words(error.to_string()))?;
    let all = (1..=SEEDS).map(|seed| of_seed(shop, &target, seed)).collect::<Result<Vec<_>, _>>()?;
    Ok(if only.is_some() { Vec::new() } else { pieces(&all) })
}

fn of_seed(shop: &PageContext<'_, '_>, target: &NetworkTarget, seed: u64) -> Result<Filr, StudyError> {
    let said = |name: &str| shop.runs.get(name).copied().unwrap_or_default();
    let settings = Settings {
        injections_per_map: said(INJECTIONS),
        seed,
        exhaustive_images: if seed == 1 { said(IMAGES) as usize } else { 0 },
        threads: shop.campaigns.workers(),
        ..Settings::default()
    };
    analyse(target, &settings, shop.campaigns.stop, &mut |_, _| {}).map_err(|error| match error {
        FilrError::Stopped => StudyError::Unkept,
        error => StudyError::Words(error.to_string()),
    })
}

fn pieces(all: &[Filr]) -> Pieces {
    let parts = statements::statements(all);
    let mut pieces: Pieces = vec![
        ("say-tally".to_owned(), Piece::Text(tally(&parts, "network"))),
        ("say-sets".to_owned(), Piece::Text(tables::sets(all))),
        ("say-truth".to_owned(), Piece::Text(tables::truth_sentence(all))),
        ("orders".to_owned(), Piece::Table(tables::orders(all))),
        ("convergence".to_owned(), Piece::Table(tables::convergence(all))),
        ("needed".to_owned(), Piece::Table(tables::needed(all))),
        ("costs".to_owned(), Piece::Table(tables::costs(all))),
        ("predictions".to_owned(), Piece::Table(tables::predictions(all))),
        ("deployment".to_owned(), Piece::Table(tables::deployment(all))),
        ("plot-flr".to_owned(), Piece::Plot(plots::flr(all))),
        ("plot-convergence".to_owned(), Piece::Plot(plots::convergence(all))),
        ("plot-ilr".to_owned(), Piece::Plot(plots::ilr(all))),
        ("plot-filr".to_owned(), Piece::Plot(plots::filr(all))),
        ("picture-maps".to_owned(), Piece::Picture(plots::maps(all))),
    ];
    pieces.extend(parts.iter().map(|part| (part.name.to_owned(), Piece::Table(part.table()))));
    pieces
}
