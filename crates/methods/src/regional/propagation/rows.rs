//! What each run did to each variable, as a CSV.

use campaign::names::cell;
use inject::Array;
use serde::Serialize;

use super::follow::TrackedRun;

/// What a run did to a variable.
#[derive(Clone, Debug, Serialize)]
struct Row {
    run: usize,
    region: String,
    fault: String,
    class: &'static str,
    variable: String,
    /// The launch after which it differs first, its kernel, and the elements then.
    first_launch: u32,
    first_kernel: String,
    first_elements: u64,
    /// After the last launch of the program; none where it is right again, or the run did not come there.
    elements: u64,
    rows: u64,
    columns: u64,
    /// None where the type of the elements is not known.
    max_abs: Option<f64>,
    sum_abs: Option<f64>,
}

/// The rows of many runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows(Vec<Row>);

impl Rows {
    /// Adds what a run did; a run that corrupted nothing has no row.
    pub(super) fn add(&mut self, region: &str, fault: &str, it: &TrackedRun, kernels: &[&str], arrays: &[Array]) {
        for (place, array) in arrays.iter().enumerate() {
            let Some(ends) = it.ends.get(&place) else { continue };
            let last = ends.last.as_ref();
            let known = |error: f64| array.element.map(|_| error);
            self.0.push(Row {
                run: it.run,
                region: cell(region).into_owned(),
                fault: cell(fault).into_owned(),
                class: it.class().word(),
                variable: cell(&array.name).into_owned(),
                first_launch: ends.launch,
                first_kernel: cell(kernels[ends.launch as usize]).into_owned(),
                first_elements: ends.first.elements,
                elements: last.map_or(0, |last| last.elements),
                rows: last.map_or(0, |last| last.extent.rows),
                columns: last.map_or(0, |last| last.extent.columns),
                max_abs: known(last.map_or(0.0, |last| last.max_abs)),
                sum_abs: known(last.map_or(0.0, |last| last.sum_abs)),
            });
        }
    }

    /// The text, in the order of runs.
    pub(super) fn text(mut self) -> Result<String, String> {
        // Of a run, variables stay in their order.
        self.0.sort_by_key(|row| row.run);
        let mut writer = csv::Writer::from_writer(Vec::new());
        self.0.iter().try_for_each(|row| writer.serialize(row)).map_err(|error| error.to_string())?;
        let bytes = writer.into_inner().map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }
}
