//! Does the loop-iteration cap change the rates? (Paper, Fig. 6.)

use super::cells::rate;
use crate::gpu_qin::measure::measure;
use crate::gpu_qin::settings::{Choice, Settings};
use crate::kit::StudySubject;
use crate::kit::{Campaigns, StudyError};
use study::{Cell, Mark, Plot, Point, Series, Study, Table, Vertical};

/// The caps that are compared; none keeps every iteration.
const CAPS: [Option<u32>; 5] = [Some(16), Some(32), Some(64), Some(128), None];

pub(in crate::gpu_qin) fn study(
    subjects: &[StudySubject],
    runs: u64,
    campaigns: &mut Campaigns<'_>,
) -> Result<Study, StudyError> {
    let mut study = Study::new(
        "iterations",
        "The loop-iteration cap",
        format!(
            "A campaign of {runs} runs for each cap, sites chosen as published in all else, and one of as many with the \
             unbiased choice. An iteration beyond the cap is replaced by a random one of the first so many. Rates are those \
             of equation 1 with the bounds of equation 3."
        ),
    );
    let mut table = Table::new("Rates by cap", &["kernel", "cap", "activated", "SDC rate", "crash rate", "hang rate"]);
    for subject in subjects {
        let mut plotted: Vec<[Series; 2]> = Vec::new();
        let unbiased = Settings { choice: Choice::Unbiased, ..Settings::default() };
        let capped = CAPS.map(|iterations| (iterations, Settings { iterations, ..Settings::default() }));
        let all =
            capped.into_iter().map(|(cap, settings)| (cap.map_or("none".to_owned(), |cap| cap.to_string()), settings));
        for (at, (word, settings)) in all.chain([("unbiased".to_owned(), unbiased)]).enumerate() {
            let measured = measure(campaigns, &subject.capsule, settings, runs)?;
            for (number, kernel) in measured.estimates.kernels.iter().enumerate() {
                let rates = kernel.rates;
                table.rows.push(vec![
                    Cell::text(fault::base_name(&kernel.kernel)),
                    Cell::text(word.clone()),
                    Cell::Count(kernel.activated),
                    rate(rates.map(|rates| rates.sdc)),
                    rate(rates.map(|rates| rates.crash)),
                    rate(rates.map(|rates| rates.hang)),
                ]);
                if plotted.len() <= number {
                    let named = |what: &str| Series {
                        name: format!("{} {what}", fault::base_name(&kernel.kernel)),
                        mark: Mark::Dots,
                        points: Vec::new(),
                    };
                    plotted.push([named("SDC"), named("crash")]);
                }
                if let Some(rates) = rates {
                    for (series, rate) in plotted[number].iter_mut().zip([rates.sdc, rates.crash]) {
                        series.points.push(Point { x: at as f64, y: rate.rate, bounds: Some((rate.low, rate.high)) });
                    }
                }
            }
        }
        let names = CAPS.map(|cap| cap.map_or("none".to_owned(), |cap| cap.to_string())).to_vec();
        study.plots.push(Plot {
            name: format!("iterations-{}", subject.name()),
            title: format!("{}: rates by loop-iteration cap", subject.name()),
            x: "loop-iteration cap".to_owned(),
            logarithmic: false,
            names: names.into_iter().chain(["unbiased".to_owned()]).collect(),
            y: "rate among activated faults (%)".to_owned(),
            vertical: Vertical::Shares,
            series: plotted.into_iter().flatten().collect(),
        });
    }
    study.tables.push(table);
    Ok(study)
}
