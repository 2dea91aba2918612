//! What does the activation window leave out?

use super::cells::rate;
use crate::gpu_qin::estimate::estimates;
use crate::gpu_qin::measure::measure;
use crate::gpu_qin::settings::Settings;
use crate::kit::StudySubject;
use crate::kit::{Campaigns, StudyError};
use study::{Cell, Mark, Plot, Point, Series, Study, Table, Vertical};

/// The windows that are compared.
const WINDOWS: [Option<u64>; 9] =
    [Some(1), Some(4), Some(16), Some(64), Some(200), Some(400), Some(1600), Some(6400), None];

pub(super) fn study(subjects: &[StudySubject], runs: u64, campaigns: &mut Campaigns<'_>) -> Result<Study, StudyError> {
    let mut study = Study::new(
        "window",
        "The activation window",
        format!(
            "One campaign of {runs} runs, sites chosen as published; the window only decides which faults count as \
             activated, so that every window is applied to the same runs. Activation is the share of injected faults that \
             are read within the window."
        ),
    );
    let columns = ["kernel", "window", "activated", "activation", "SDC rate", "crash rate"];
    let mut table = Table::new("Activation and rates by window", &columns);
    let mut series = Vec::new();
    for subject in subjects {
        let open = Settings { window: None, ..Settings::default() };
        let measured = measure(campaigns, &subject.capsule, open, runs)?;
        let by_window = WINDOWS
            .map(|window| (window, estimates(&measured.grouping, Settings { window, ..open }, &measured.trials)));
        for (number, kernel) in measured.grouping.kernels.iter().enumerate() {
            let name = fault::base_name(&kernel.kernel);
            let mut points = Vec::new();
            for (window, estimates) in &by_window {
                let kernel = &estimates.kernels[number];
                let activation = kernel.activation();
                table.rows.push(vec![
                    Cell::text(name),
                    Cell::text(window.map_or("none".to_owned(), |window| window.to_string())),
                    Cell::Count(kernel.activated),
                    activation.map_or(Cell::None, Cell::Share),
                    rate(kernel.rates.map(|rates| rates.sdc)),
                    rate(kernel.rates.map(|rates| rates.crash)),
                ]);
                if let (Some(window), Some(y)) = (window, activation) {
                    points.push(Point { x: *window as f64, y, bounds: None });
                }
            }
            series.push(Series { name: name.to_owned(), mark: Mark::Steps, points });
        }
    }
    study.tables.push(table);
    study.plots.push(Plot {
        name: "window".to_owned(),
        title: "Faults activated within a window".to_owned(),
        x: "activation window (instructions of the thread)".to_owned(),
        logarithmic: true,
        names: Vec::new(),
        y: "share of injected faults (%)".to_owned(),
        vertical: Vertical::Shares,
        series,
    });
    Ok(study)
}
