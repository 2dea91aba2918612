//! The page of PyTorchFI: the chapter's claims with our network, by operand, layer, bit and pattern.

mod clock;
mod defects;
mod detector;
mod judging;
mod kernels;
mod measured;
mod networks;
mod plots;
mod sensitive;
mod statements;
mod survey;
mod tables;
#[cfg(test)]
mod tests;
mod trained;

use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};
use crate::statements::tally;
use measured::{Measured, measure};
use methods::kit::StudyError;
use networks::NETWORK;

/// The kind of campaigns whose runs hit each element with the same chance.
const ALL: &str = "all";

/// The kind of campaigns whose layers have as many runs each.
const LAYER: &str = "layer";

/// The kind of campaigns of patterns and of other models.
const PATTERN: &str = "pattern";

/// The kind of campaigns on networks that were trained for the chapter's uses.
const TRAINED: &str = "trained";

/// The kind of campaigns on the detector.
const DETECTOR: &str = "detector";

/// The kind of campaigns on layers as kernels.
const KERNEL: &str = "kernel";

/// The page.
pub static PAGE: MethodPage = MethodPage {
    method: "pytorchfi",
    template: include_str!("page.md"),
    runs: &[
        PageCampaign { name: ALL, count: 400_000, about: "runs of an operand, each element with the same chance" },
        PageCampaign { name: LAYER, count: 20_000, about: "runs of an operand of a layer" },
        PageCampaign { name: PATTERN, count: 200_000, about: "runs of a pattern or of another model" },
        PageCampaign { name: TRAINED, count: 400_000, about: "runs of each trained network and model" },
        PageCampaign { name: DETECTOR, count: 20_000, about: "runs of a kind of fault in the detector" },
        PageCampaign { name: KERNEL, count: 50_000, about: "runs of a layer as a kernel" },
    ],
    make,
};

/// How much is timed: blocks, images of each.
const BLOCKS: [usize; 2] = [16, 300];

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    if only.is_some_and(|only| only != NETWORK) {
        return Ok(Vec::new());
    }
    let threads = shop.campaigns.workers();
    let said = |name: &str| shop.runs.get(name).copied().unwrap_or_default();
    let found =
        measure(threads, shop.campaigns.stop, [ALL, LAYER, PATTERN, TRAINED, DETECTOR, KERNEL].map(said), BLOCKS)?;
    Ok(if only.is_some() { Vec::new() } else { pieces(&found) })
}

fn pieces(found: &Measured) -> Pieces {
    let parts = statements::statements(found);
    let mut pieces: Pieces = vec![
        ("say-tally".to_owned(), Piece::Text(tally(&parts, "network"))),
        ("say-kernels".to_owned(), Piece::Text(kernels::sentence(&found.kernels))),
        ("networks".to_owned(), Piece::Table(networks::table(&found.networks))),
        ("detector".to_owned(), Piece::Table(detector::table(&found.detector))),
        ("injected".to_owned(), Piece::Table(trained::injected(&found.trained))),
        ("robust".to_owned(), Piece::Table(trained::robust(&found.trained))),
        ("kernels".to_owned(), Piece::Table(kernels::table(&found.kernels))),
        ("shapes".to_owned(), Piece::Table(kernels::shapes(&found.kernels))),
        ("picture-scene".to_owned(), Piece::Picture(detector::picture(&found.detector))),
        ("say-detector".to_owned(), Piece::Text(detector::sentence(&found.detector))),
        ("say-early".to_owned(), Piece::Text(tables::early_sentence(found))),
        ("operands".to_owned(), Piece::Table(tables::operands(found))),
        ("layers".to_owned(), Piece::Table(tables::layers(found))),
        ("bits".to_owned(), Piece::Table(tables::bits(found))),
        ("bias-bits".to_owned(), Piece::Table(tables::bias_bits(found))),
        ("patterns".to_owned(), Piece::Table(tables::patterns(found))),
        ("models".to_owned(), Piece::Table(tables::models(found))),
        ("speed".to_owned(), Piece::Table(tables::speed(found))),
        ("early".to_owned(), Piece::Table(tables::early(found))),
        ("times".to_owned(), Piece::Table(tables::times(found))),
        ("defects".to_owned(), Piece::Table(defects::table())),
        ("plot-layers".to_owned(), Piece::Plot(plots::layers(found))),
        ("plot-bits".to_owned(), Piece::Plot(plots::bits(found))),
        ("plot-bias-bits".to_owned(), Piece::Plot(plots::bias_bits(found))),
    ];
    pieces.extend(parts.iter().map(|part| (part.name.to_owned(), Piece::Table(part.table()))));
    pieces
}
