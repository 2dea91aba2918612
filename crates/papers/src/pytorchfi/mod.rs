//! The page of PyTorchFI: the chapter's claims with our network, by operand, layer, bit and pattern.

mod clock;
mod defects;
mod measured;
mod plots;
mod sensitive;
mod statements;
mod survey;
mod tables;
#[cfg(test)]
mod tests;

use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};
use crate::statements::tally;
use measured::{Measured, NETWORK, measure};
use methods::kit::StudyError;

/// The kind of campaigns whose runs hit each element with the same chance.
const ALL: &str = "all";

/// The kind of campaigns whose layers have as many runs each.
const LAYER: &str = "layer";

/// The kind of campaigns of patterns and of other models.
const PATTERN: &str = "pattern";

/// The page.
pub static PAGE: MethodPage = MethodPage {
    method: "pytorchfi",
    template: include_str!("page.md"),
    runs: &[
        PageCampaign { name: ALL, count: 400_000, about: "runs of an operand, each element with the same chance" },
        PageCampaign { name: LAYER, count: 20_000, about: "runs of an operand of a layer" },
        PageCampaign { name: PATTERN, count: 200_000, about: "runs of a pattern or of another model" },
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
    let found = measure(threads, shop.campaigns.stop, [ALL, LAYER, PATTERN].map(said), BLOCKS)?;
    Ok(if only.is_some() { Vec::new() } else { pieces(&found) })
}

fn pieces(found: &Measured) -> Pieces {
    let parts = statements::statements(found);
    let mut pieces: Pieces = vec![
        ("say-tally".to_owned(), Piece::Text(tally(&parts, "network"))),
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
