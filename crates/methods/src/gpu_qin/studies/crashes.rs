//! What do crashes come from, and how long after the fault was read? (Paper, Fig. 9 and 10.)

use crate::gpu_qin::crashes::{Cause, causes};
use crate::gpu_qin::measure::measure;
use crate::gpu_qin::settings::{Choice, Settings};
use crate::gpu_qin::trials::Trial;
use crate::kit::StudySubject;
use crate::kit::{Campaigns, StudyError};
use study::{Cell, Mark, Plot, Point, Series, Study, Table, Vertical};

/// Points of a distribution: more are not told apart in a plot.
const POINTS: usize = 60;

/// The columns of a [`row`].
pub const COLUMNS: [&str; 7] = ["kernel", "exception", "crashes", "share", "latency, median", "90 %", "99 %"];

pub(super) fn study(subjects: &[StudySubject], runs: u64, campaigns: &mut Campaigns<'_>) -> Result<Study, StudyError> {
    let mut study = Study::new(
        "crashes",
        "Causes and latencies of crashes",
        format!(
            "A campaign of {runs} runs with the unbiased choice. The latency is the number of instructions that the hit \
             thread executes from the one that first reads the fault to the end of the launch by the exception."
        ),
    );
    let mut table = Table::new("Exceptions", &COLUMNS);
    for subject in subjects {
        let settings = Settings { choice: Choice::Unbiased, ..Settings::default() };
        let measured = measure(campaigns, &subject.capsule, settings, runs)?;
        for (number, kernel) in measured.estimates.kernels.iter().enumerate() {
            let own: Vec<Trial> = measured.trials.iter().filter(|trial| trial.kernel == number).copied().collect();
            let causes = causes(&own, settings.window);
            let name = fault::base_name(&kernel.kernel);
            table.rows.extend(causes.iter().map(|cause| row(name, cause)));
            study.plots.push(plot(subject.name(), name, &causes));
        }
    }
    study.tables.push(table);
    Ok(study)
}

/// A cause of a kernel's crashes.
#[must_use]
pub fn row(kernel: &str, cause: &Cause) -> Vec<Cell> {
    let quantile = |share| cause.quantile(share).map_or(Cell::None, Cell::Count);
    let mut row =
        vec![Cell::text(kernel), Cell::text(cause.trap.clone()), Cell::Count(cause.count), Cell::Share(cause.share)];
    row.extend([0.5, 0.9, 0.99].map(quantile));
    row
}

/// How soon crashes follow, by cause.
#[must_use]
pub fn plot(capsule: &str, kernel: &str, causes: &[Cause]) -> Plot {
    let line = |cause: &Cause| {
        let last = cause.latencies.len();
        let step = last.div_ceil(POINTS).max(1);
        let ranks = (1..=last).filter(|rank| rank % step == 0 || *rank == last || *rank == 1);
        let point =
            |rank: usize| Point { x: cause.latencies[rank - 1] as f64, y: rank as f64 / last as f64, bounds: None };
        Series {
            name: format!("{} ({})", cause.trap, cause.count),
            mark: Mark::Steps,
            points: ranks.map(point).collect(),
        }
    };
    Plot {
        name: format!("crashes-{capsule}-{kernel}"),
        title: format!("{kernel}: how soon crashes follow"),
        x: "latency (instructions of the thread)".to_owned(),
        logarithmic: true,
        names: Vec::new(),
        y: "share of crashes by this exception (%)".to_owned(),
        vertical: Vertical::Shares,
        series: causes.iter().map(line).collect(),
    }
}
