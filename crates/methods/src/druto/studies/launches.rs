//! How alike the launches of a kernel are (Figure 5): the ground of kernel-trace pruning.

use serde_json::json;
use stats::{Confidence, median};
use study::{Cell, Mark, Plot, Point, Series, Table, Vertical};

use super::super::bench::Bench;
use super::studied::{Part, Studied};
use crate::kit::StudyError;

/// The launches of the kernel in one input.
struct Row {
    input: String,
    /// Thread instructions, by launch.
    counts: Vec<u64>,
}

impl Row {
    fn mean(&self) -> f64 {
        self.counts.iter().sum::<u64>() as f64 / self.counts.len().max(1) as f64
    }

    /// The standard deviation, as a share of the mean.
    fn spread(&self) -> Option<f64> {
        let variance = self.counts.iter().map(|&count| (count as f64 - self.mean()).powi(2)).sum::<f64>();
        (self.counts.len() > 1).then(|| (variance / (self.counts.len() as f64 - 1.0)).sqrt() / self.mean())
    }

    /// By how much of the mean launch the middle one differs from it.
    fn pruned(&self) -> f64 {
        let middle = self.counts.get(self.counts.len() / 2).map_or(0.0, |&count| count as f64);
        (middle / self.mean() - 1.0).abs()
    }
}

/// The launches of the reference and of random inputs.
pub(super) fn make(bench: &mut Bench<'_, '_>, studied: &Studied<'_>) -> Result<Part, StudyError> {
    let mut rows = Vec::new();
    let reference = bench.inputs.space().reference();
    for point in std::iter::once(&reference).chain(&studied.subjects.points) {
        let Ok(capsule) = bench.run(point)? else { continue };
        let of_kernel = capsule.golden_run().launches().iter().filter(|it| it.program.name == bench.kernel);
        rows.push(Row { input: point.to_string(), counts: of_kernel.map(|it| it.thread_instructions()).collect() });
    }
    let columns = ["input", "launches", "fewest thread instructions", "most", "spread", "middle from the mean"];
    let mut table = Table::new("Launches of the kernel", &columns);
    let share = |share: Option<f64>| share.map_or(Cell::None, Cell::Share);
    let row = |it: &Row| {
        let (least, most) = (it.counts.iter().min(), it.counts.iter().max());
        let cells = [it.counts.len() as u64, least.copied().unwrap_or(0), most.copied().unwrap_or(0)].map(Cell::Count);
        let shares = [share(it.spread()), Cell::Share(it.pruned())];
        std::iter::once(Cell::text(it.input.as_str())).chain(cells).chain(shares).collect()
    };
    table.rows = rows.iter().take(MOST_ROWS).map(row).collect();
    let differences: Vec<f64> = rows.iter().map(Row::pruned).collect();
    let middle = median(&differences, Confidence::PERCENT_95);
    table.notes.extend(middle.map(|it| {
        format!(
            "Over {} inputs the launch in the middle differs from the mean launch by {:.2} % (median; {:.2}–{:.2}). Spread is the \
             standard deviation as a share of the mean. The counts of all launches come with the golden run, so that pruning saves \
             no time here.",
            rows.len(),
            it.value * 100.0,
            it.low * 100.0,
            it.high * 100.0
        )
    }));
    let one = |it: &Row| json!({ "input": it.input, "launches": it.counts.len(), "spread": it.spread(), "middle_from_mean": it.pruned() });
    let json = json!({ "inputs": rows.iter().map(one).collect::<Vec<_>>() });
    Ok(Part { tables: vec![table], plots: rows.first().map(|it| plot(studied, it)).into_iter().collect(), json })
}

/// Inputs that are shown one by one.
const MOST_ROWS: usize = 12;

fn plot(studied: &Studied<'_>, reference: &Row) -> Plot {
    let most = reference.counts.iter().max().copied().unwrap_or(1).max(1) as f64;
    let point = |(at, count): (u32, &u64)| Point { x: f64::from(at), y: *count as f64 / most, bounds: None };
    Plot {
        name: "launches".to_owned(),
        title: format!("{}: thread instructions of the launches of the reference", studied.name),
        x: "launch".to_owned(),
        logarithmic: false,
        names: Vec::new(),
        y: "thread instructions, % of the largest launch".to_owned(),
        vertical: Vertical::Shares,
        series: vec![Series {
            name: "reference".to_owned(),
            mark: Mark::Dots,
            points: (0..).zip(&reference.counts).map(point).collect(),
        }],
    }
}
