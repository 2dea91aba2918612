//! The page of FLR, ILR and FILR: the figures of the thesis' Chapter 6 with our network, its statements judged.

mod plots;
mod seeds;
mod statements;
mod tables;
#[cfg(test)]
mod tests;
mod times;
mod topologies;

use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};
use crate::statements::tally;
use methods::kit::StudyError;
use nn::filr::error_models::{ModelVulnerability, error_models};
use nn::filr::{Filr, FilrError, Settings, analyse};
use nn::{NetworkTarget, ValueFormat, bundled};

use seeds::Measured;

/// The kind of runs that are injections into each feature map.
const INJECTIONS: &str = "map";

/// The kind of runs that are images of which every fault is judged.
const IMAGES: &str = "images";

/// The kind of runs that are injections into each feature map by each model of errors.
const MODELS: &str = "model";

/// The page.
pub static PAGE: MethodPage = MethodPage {
    method: "filr",
    template: include_str!("page.md"),
    runs: &[
        PageCampaign { name: INJECTIONS, count: 12_288, about: "injections into each feature map" },
        PageCampaign { name: IMAGES, count: 200, about: "images of which every fault is judged" },
        PageCampaign { name: MODELS, count: 4096, about: "injections into each feature map by each model of errors" },
    ],
    make,
};

/// The network of most tables and figures.
const NETWORK: &str = "fashion";

/// The networks beside it: a plain stack of convolutions, and fire modules.
const OTHER_NETWORKS: [&str; 2] = ["fashion-vgg", "fashion-fire"];

/// The seeds; each divides the images anew. Every fault is judged for the first.
const SEEDS: u64 = 5;

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    let takes = |network: &str| only.is_none_or(|only| only == network);
    let mut measured = Measured::default();
    if takes(NETWORK) {
        let target = open(NETWORK)?;
        measured.network = of_seeds(shop, &target)?;
        measured.models = by_model(shop, &target)?;
    }
    for network in OTHER_NETWORKS.into_iter().filter(|network| takes(network)) {
        measured.others.push(of_seeds(shop, &open(network)?)?);
    }
    Ok(if only.is_some() { Vec::new() } else { pieces(&measured) })
}

fn open(network: &str) -> Result<NetworkTarget, StudyError> {
    bundled::open(network).map_err(|error| StudyError::Words(error.to_string()))
}

/// The analysis of a network by each seed; every fault of some images is judged for the first seed of the first network.
fn of_seeds(shop: &PageContext<'_, '_>, target: &NetworkTarget) -> Result<Vec<Filr>, StudyError> {
    let of_seed = |seed| {
        let exhaustive_images =
            if target.network().name() == NETWORK && seed == 1 { said(shop, IMAGES) as usize } else { 0 };
        let settings = Settings { exhaustive_images, ..settings(shop, INJECTIONS, seed) };
        analyse(target, &settings, shop.campaigns.stop, &mut |_, _| {}).map_err(ended)
    };
    (1..=SEEDS).map(of_seed).collect()
}

fn by_model(shop: &PageContext<'_, '_>, target: &NetworkTarget) -> Result<Vec<[ModelVulnerability; 4]>, StudyError> {
    let network = bundled::NETWORKS.iter().find(|it| it.name == NETWORK);
    let floats = network.map(|it| it.open_float(ValueFormat::Fp32)).transpose();
    let Some(floats) = floats.map_err(|error| StudyError::Words(error.to_string()))? else { return Ok(Vec::new()) };
    let of_seed = |seed| {
        let settings = settings(shop, MODELS, seed);
        error_models(target, &floats, &settings, shop.campaigns.stop, &mut |_, _| {}).map_err(ended)
    };
    (1..=SEEDS).map(of_seed).collect()
}

fn said(shop: &PageContext<'_, '_>, runs: &str) -> u64 {
    shop.runs.get(runs).copied().unwrap_or_default()
}

fn settings(shop: &PageContext<'_, '_>, runs: &str, seed: u64) -> Settings {
    Settings { injections_per_map: said(shop, runs), seed, threads: shop.campaigns.workers(), ..Settings::default() }
}

fn ended(error: FilrError) -> StudyError {
    match error {
        FilrError::Stopped => StudyError::Unkept,
        error => StudyError::Words(error.to_string()),
    }
}

fn pieces(measured: &Measured) -> Pieces {
    let parts = statements::statements(measured);
    let all = &measured.network[..];
    let mut pieces: Pieces = vec![
        ("say-tally".to_owned(), Piece::Text(tally(&parts, "network"))),
        ("networks".to_owned(), Piece::Table(tables::networks(measured))),
        ("models".to_owned(), Piece::Table(tables::models(&measured.models))),
        ("topologies".to_owned(), Piece::Table(topologies::table())),
        ("times".to_owned(), Piece::Table(times::table())),
        ("few".to_owned(), Piece::Table(tables::few(all))),
        ("say-sets".to_owned(), Piece::Text(tables::sets(all))),
        ("say-truth".to_owned(), Piece::Text(tables::truth_sentence(all))),
        ("orders".to_owned(), Piece::Table(tables::orders(all))),
        ("convergence".to_owned(), Piece::Table(tables::convergence(all))),
        ("needed".to_owned(), Piece::Table(tables::needed(all))),
        ("sampling".to_owned(), Piece::Table(tables::sampling(all))),
        ("costs".to_owned(), Piece::Table(tables::costs(all))),
        ("predictions".to_owned(), Piece::Table(tables::predictions(all))),
        ("reruns".to_owned(), Piece::Table(tables::reruns(all))),
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
