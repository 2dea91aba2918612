//! What the numbers of a campaign do not say: it follows from what was hit, from what executed the instructions, and
//! from whether the host was in the loop. Every view takes its sentences from here.

use campaign::Summary;

use crate::number::plain;

const CONDITIONAL: &str = "They are conditional: given that such a fault happens. How often it does, in a beam or in the \
    field, is another question; nothing here is a failure rate in time.";
const ONE_INPUT: &str = "An outcome is for one input. Another input has other rates.";

/// What the numbers do not say, in sentences; `not_hit` and `machine` are what the report says of that.
pub(crate) fn limits(not_hit: &str, machine: &[String]) -> Vec<String> {
    let own = [CONDITIONAL, not_hit].into_iter().filter(|sentence| !sentence.is_empty()).map(str::to_owned);
    own.chain(machine.iter().cloned()).chain([ONE_INPUT.to_owned()]).collect()
}

/// What a summary counts.
pub(crate) fn counted(summary: &Summary) -> &'static str {
    if summary.exhaustive.is_some() { "faults" } else { "runs" }
}

/// What corruptions are called that no criterion accepts; `None` where nothing is judged.
pub(crate) fn bad_name(summary: &Summary) -> Option<&'static str> {
    let unjudged = summary.sdc.get("unjudged").is_some_and(|count| *count > 0);
    summary.config.is_judged().then_some(if unjudged { "bad or unjudged" } else { "bad" })
}

/// What is to be said of corruptions that the criteria do not reach: a sentence without its capital and its full stop.
pub(crate) fn of_unjudged(summary: &Summary) -> Option<String> {
    let unjudged = summary.sdc.get("unjudged").copied().filter(|count| *count > 0)?;
    summary.config.is_judged().then(|| {
        format!(
            "{} {} corrupted an output that has no criterion: they are unjudged, and count with the bad ones",
            plain(unjudged),
            counted(summary)
        )
    })
}

/// What is to be said of the host, if it saw anything: a sentence without its capital and its full stop.
pub(crate) fn of_host(summary: &Summary) -> Option<String> {
    let (what, visible, resolved) = (counted(summary), summary.host_visible, summary.resolved);
    let undecided = summary.outcomes.undecided.count;
    let bounds = "the bounds of each rate are those of none and of all of them; `--app` asks the application";
    let saw = format!("in {} {what} the host saw a difference before the end", plain(visible));
    let judged = "judged with the host in the loop";
    let assumed = "assumed to act as in the golden run";
    match (visible, resolved) {
        (0, _) => None,
        _ if undecided > 0 && resolved == 0 => Some(format!(
            "{saw} and was not asked what it would have done; {} are undecided: {bounds}",
            plain(undecided)
        )),
        _ if undecided > 0 => Some(format!(
            "{saw}; {} of them were {judged}, and {} are undecided: {bounds}",
            plain(resolved),
            plain(undecided)
        )),
        (_, 0) => Some(format!("{saw} and was {assumed}")),
        _ if visible == resolved => Some(format!("{saw}; all of them were {judged}")),
        _ => Some(format!("{saw}; {} of them were {judged}, in the others it was {assumed}", plain(resolved))),
    }
}
