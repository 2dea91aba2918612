//! Campaigns whose sites a published method chooses: the method is put before what runs them, and its estimates are
//! shown after the summary.

use crate::failure::{Code, Coded, Failure};
use crate::out;
use campaign::{Config, Results, Summary};
use inject::CapsuleTarget;
use methods::gpu_qin::{Estimates, GpuQin, estimates, trials};
use serde::Serialize;
use std::path::Path;

/// Puts the method of a configuration, if it names one, before the target that runs the faults.
pub(crate) fn before<'t>(config: &Config, capsule: &'t CapsuleTarget) -> Result<Option<GpuQin<'t>>, Failure> {
    let method = config.selection.method.is_some();
    method.then(|| GpuQin::new(capsule, &config.selection)).transpose().code(Code::Usage)
}

/// What a method makes of the rows of a campaign.
pub(crate) fn estimate(dir: &Path, method: &GpuQin<'_>) -> Result<Estimates, Failure> {
    let results = Results::open(dir).code(Code::Refused)?;
    of_rows(&results, method)
}

fn of_rows(results: &Results, method: &GpuQin<'_>) -> Result<Estimates, Failure> {
    let trials = trials(results, method).code(Code::Refused)?;
    Ok(estimates(method.grouping(), method.settings(), &trials))
}

/// A summary with the estimates of a method, as one document.
#[derive(Serialize)]
struct Both<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    method: &'a Estimates,
}

/// Prints a summary and a method's estimates.
pub(crate) fn show(summary: &Summary, estimates: &Estimates, json: bool) -> Result<(), Failure> {
    if json {
        return out::json(&Both { summary, method: estimates });
    }
    let text = report::text::summary(summary, fault::base_name);
    out::text(&format!("{text}\n{}", report::gpu_qin::estimates(estimates, fault::base_name)))
}

/// What the method that chose the sites of a campaign makes of its rows, its capsule opened again.
pub(crate) fn of_results(results: &Results, capsule: &CapsuleTarget) -> Result<Estimates, Failure> {
    of_rows(results, &GpuQin::new(capsule, &results.config().selection).code(Code::Refused)?)
}
