//! From what a process reported and left to the observation of its run.

use crate::golden_trace::output_regions;
use capsule::Region;
use cudart::live::report::{LiveReport, Note, OutputCopy};
use fault::Fault;
use inject::Golden;
use outcome::{End, Host, Observation, OutputDiff, Tier};
use process::ProcessEnd;

/// Where the outputs of a golden run are found among the copies of a run.
#[derive(Debug)]
pub(crate) struct Outputs {
    regions: Vec<(Region, Vec<usize>)>,
}

impl Outputs {
    /// The outputs of a golden run.
    pub(crate) fn of(golden: &Golden) -> Self {
        Self { regions: output_regions(golden) }
    }

    /// Compares the outputs of a run. The host may have made more or fewer copies of a region than in the golden run: an
    /// output is found by its number from the end among the copies of its region.
    fn compare(&self, golden: &Golden, report: &LiveReport) -> Vec<OutputDiff> {
        let mut outputs: Vec<(usize, OutputDiff)> = Vec::new();
        for (number, (_, recorded)) in (0u32..).zip(&self.regions) {
            let found: Vec<&OutputCopy> =
                report.copies.iter().filter(|(at, _)| *at == number).map(|(_, copy)| copy).collect();
            for (at, &copy) in recorded.iter().enumerate() {
                let Some(output) = golden.copies()[copy].output else { continue };
                let place = found.len().checked_sub(recorded.len() - at);
                let bytes = match place.map(|place| found[place]) {
                    Some(OutputCopy::Known(number)) => {
                        let known = recorded.get(usize::try_from(*number).unwrap_or(usize::MAX));
                        known.map(|&copy| &golden.copies()[copy].bytes)
                    }
                    Some(OutputCopy::Other(bytes)) => Some(bytes),
                    None => None,
                };
                let difference = match bytes {
                    Some(bytes) => golden.compare(output, bytes),
                    None => golden.missing(output),
                };
                outputs.push((output, difference));
            }
        }
        outputs.sort_by_key(|(output, _)| *output);
        outputs.into_iter().map(|(_, difference)| difference).collect()
    }
}

/// The observation of a run, without the verdict of a judge; or why there is none.
pub(crate) fn observe(
    golden: &Golden,
    outputs: &Outputs,
    fault: &Fault,
    ended: &ProcessEnd,
    report: &LiveReport,
    host: Host,
    good: i32,
) -> Result<Observation, String> {
    if let Some(reason) = failure(report) {
        return Err(reason.to_owned());
    }
    let injected = report.notes.iter().find_map(|note| match note {
        Note::Injected { landed, first_use } => Some((*landed, *first_use)),
        _ => None,
    });
    let (landed, first_use) = injected.ok_or_else(|| not_injected(fault, ended, report))?;
    let end = end(ended, report, good);
    let stopped = matches!(end, End::TimedOut | End::Hang { .. } | End::OutOfFuel { .. });
    let status = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal)).filter(|_| !stopped);
    if landed.is_none() && (end != End::Completed || host.differs()) {
        return Err(
            "repeat the application: the fault hit nothing, and yet it behaved otherwise than in its golden run"
                .to_owned(),
        );
    }
    let compared = if end == End::Completed { outputs.compare(golden, report) } else { Vec::new() };
    Ok(Observation {
        landed,
        first_use,
        end,
        outputs: compared,
        host_visible: report.counters.visible,
        strayed: report.counters.strayed,
        instructions: report.counters.instructions,
        tier: Tier::Live,
        host: Some(Host { status, ..host }),
    })
}

/// Why the process gave up, if it did.
pub(crate) fn failure(report: &LiveReport) -> Option<&str> {
    report.notes.iter().find_map(|note| match note {
        Note::Failure(reason) => Some(reason.as_str()),
        _ => None,
    })
}

/// Why there is nothing to say about the fault.
fn not_injected(fault: &Fault, ended: &ProcessEnd, report: &LiveReport) -> String {
    let (launches, launch) = (report.counters.launches, fault.launch);
    if ended.status.is_none() {
        return format!("run launch {launch} of the application in time: allow it more with `timeout`");
    }
    format!("repeat the application: it ended after {launches} launches, before launch {launch}, in which the fault is")
}

/// How the run ended: well with the code of the golden run. What a kernel did comes first: whatever the application did then, it did of that.
fn end(ended: &ProcessEnd, report: &LiveReport, good: i32) -> End {
    let kernel = report.notes.iter().find_map(|note| match note {
        Note::Ended(end) => Some(end.clone()),
        _ => None,
    });
    kernel.unwrap_or_else(|| match (ended.code(), ended.signal()) {
        (Some(code), _) if code == good => End::Completed,
        (Some(code), _) => End::Exited { code },
        (None, Some(signal)) => End::Signalled { signal },
        (None, None) => End::TimedOut,
    })
}
