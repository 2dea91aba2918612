//! The page of SInRG: the figures of the thesis' Chapter 4 with our workloads and schemes, its statements judged.

mod applications;
mod beam;
mod detected;
mod others;
mod plots;
mod rules;
mod statements;
mod survey;
mod tables;
#[cfg(test)]
mod tests;

use crate::page::{MethodPage, PageCampaign, PageContext, Piece, Pieces};
use crate::statements::tally;
use methods::kit::StudyError;
use survey::{CHOOSERS, IN_PART, ORIGINALS, RUNS, SinrgSurvey};

/// The page.
pub static PAGE: MethodPage = MethodPage {
    method: "sinrg",
    template: include_str!("page.md"),
    runs: &[
        PageCampaign { name: RUNS, count: 1_000, about: "faults in each workload, with each scheme and without" },
        PageCampaign {
            name: ORIGINALS,
            count: 300,
            about: "faults in the instructions that each workload had before, with each scheme",
        },
        PageCampaign { name: CHOOSERS, count: 4_000, about: "faults that choose what is protected in part" },
    ],
    make,
};

fn make(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Pieces, StudyError> {
    let survey = survey::survey(shop, only)?;
    Ok(if only.is_some() { Vec::new() } else { pieces(&survey) })
}

fn pieces(survey: &SinrgSurvey) -> Pieces {
    let parts = statements::statements(survey);
    let mut pieces: Pieces = vec![
        ("growth".to_owned(), Piece::Table(tables::growth(survey))),
        ("classes".to_owned(), Piece::Table(tables::classes(survey))),
        ("outcomes".to_owned(), Piece::Table(tables::outcomes(survey))),
        ("detected".to_owned(), Piece::Table(detected::table(survey))),
        ("loads".to_owned(), Piece::Table(beam::versions(survey))),
        ("times".to_owned(), Piece::Table(tables::times(survey))),
        ("parts".to_owned(), Piece::Table(tables::parts(survey))),
        ("say-devices".to_owned(), Piece::Text(tables::devices(survey))),
        ("say-half".to_owned(), Piece::Text(tables::half(survey))),
        ("say-choice".to_owned(), Piece::Text(tables::choice(survey))),
        ("say-tally".to_owned(), Piece::Text(tally(&parts, "workloads"))),
    ];
    let plot = |name: &&str| (format!("plot-{name}"), Piece::Plot(plots::curve(survey, name)));
    pieces.extend(IN_PART.iter().map(plot));
    pieces.extend(parts.iter().map(|part| (part.name.to_owned(), Piece::Table(part.table()))));
    pieces
}
