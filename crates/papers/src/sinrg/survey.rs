//! The measurements of the page: campaigns on workloads as they are and protected, and times that were recorded on GPUs.

use campaign::config::SelectionWords;
use campaign::{Results, Subject};
use methods::hardening::{
    ChoiceOutcome, Coverage, DetectionSummary, DynamicCounts, ExecutedCode, HardenedTimes, ProtectionDemand,
    ProtectionForecast, Scheme, harden_opened, harden_opened_with_loads, tally_by_instruction,
};
use methods::kit::{FinishedCampaign, OpenedCapsule, StudyError};
use serde_json::{Value, json};
use stats::{Confidence, Interval, Proportion};

use super::applications::{ProtectedApplication, applications};
use crate::documents::{at, number, text};
use crate::page::PageContext;

/// Those workloads of the chapter that are bundled.
pub(super) const CHAPTER: [&str; 15] = [
    "backprop",
    "bfs",
    "btree",
    "gaussian",
    "hotspot",
    "kmeans",
    "lavamd",
    "lud",
    "matmul",
    "nn",
    "nw",
    "pathfinder",
    "srad_v1",
    "srad_v2",
    "streamcluster",
];

/// Those of them on which campaigns are run.
pub(super) const INJECTED: [&str; 12] =
    ["backprop", "bfs", "btree", "gaussian", "hotspot", "kmeans", "lud", "matmul", "nn", "nw", "pathfinder", "srad_v1"];

/// That of them which the chapter puts under a beam (Figure 4.8).
pub(super) const BEAM: &str = "matmul";

/// Those that are protected in part, each by these schemes: kernels without loops, and with.
pub(super) const IN_PART: [&str; 7] = ["nn", "gaussian", "hotspot", "lud", "matmul", "nw", "pathfinder"];
const SCHEMES_IN_PART: [Scheme; 2] = [Scheme::FastsigDrdv, Scheme::FastsigSriv];

/// The budgets for duplicates, as shares of the dynamic instructions.
const BUDGETS: [f64; 4] = [0.05, 0.1, 0.2, 0.5];

/// The kind of campaigns that measure.
pub(super) const RUNS: &str = "each";
/// The kind of campaigns that choose what is protected in part.
pub(super) const CHOOSERS: &str = "choosers";
/// The kind of campaigns with faults in the instructions that were there before protection.
pub(super) const ORIGINALS: &str = "originals";
/// The seed of those that choose: what measures must not have chosen.
const CHOOSERS_SEED: u64 = 1;

/// The ends of a campaign's runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunEnds {
    pub(super) landed: u64,
    pub(super) sdc: u64,
    /// Detected by protection.
    pub(super) detected: u64,
    /// Crashes and hangs.
    pub(super) other: u64,
}

/// A workload protected by a scheme.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProtectedWorkload {
    pub(super) scheme: &'static str,
    /// The digest of the hardened capsule.
    pub(super) digest: String,
    /// Static instructions of the kernels before and after.
    pub(super) before: u64,
    pub(super) after: u64,
    pub(super) dynamic: DynamicCounts,
    pub(super) ends: RunEnds,
}

/// A workload as it is, and protected.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InjectedWorkload {
    pub(super) name: String,
    pub(super) executed: u64,
    pub(super) ends: RunEnds,
    pub(super) protected: Vec<ProtectedWorkload>,
    /// The same with loads that are executed twice, by DRDV; of the workload of Figure 4.8 alone.
    pub(super) loads: Option<ProtectedWorkload>,
}

/// The time of all kernels of a workload on a GPU, as a multiple of that without protection.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimedWorkload {
    pub(super) name: String,
    pub(super) scheme: String,
    pub(super) device: String,
    /// The digest of the hardened capsule.
    pub(super) digest: String,
    pub(super) ratio: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A workload of which a part is protected.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PartlyProtected {
    pub(super) name: String,
    pub(super) scheme: &'static str,
    pub(super) budget: f64,
    pub(super) forecast: ProtectionForecast,
    /// Instructions executed, before and after.
    pub(super) executed: [u64; 2],
    pub(super) ends: [RunEnds; 2],
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SinrgSurvey {
    pub(super) injected: Vec<InjectedWorkload>,
    pub(super) detected: Vec<DetectedFaults>,
    pub(super) timed: Vec<TimedWorkload>,
    /// Times by the automatic choice, each workload left out of what its tree learned from.
    pub(super) chosen: Vec<ChoiceOutcome>,
    /// The estimated occupancy with FastSig-DRDV and with FastSig-SRIV of each kernel of the chapter's workloads.
    pub(super) occupancies: Vec<[f64; 2]>,
    pub(super) parts: Vec<PartlyProtected>,
    /// Recorded on a GPU, and the sizes of their files.
    pub(super) applications: Vec<ProtectedApplication>,
}

impl RunEnds {
    fn of(results: &Results) -> Result<Self, StudyError> {
        let summary = results.summary()?;
        let detected = summary.due.get("detected").copied().unwrap_or(0);
        Ok(Self {
            landed: summary.runs.landed,
            sdc: summary.outcomes.sdc.count,
            detected,
            other: summary.outcomes.due.count - detected,
        })
    }

    /// The share of these runs, with its bounds.
    pub(super) fn share(self, count: u64) -> (f64, Interval) {
        let bounds = Proportion::from_counts(count, self.landed - count).wilson(Confidence::PERCENT_95);
        (count as f64 / self.landed.max(1) as f64, bounds)
    }
}

/// The rate of silent data corruption times the instructions executed, as a share of what it was, and its bounds if both rates
/// are anywhere in their intervals; none without corruptions before.
pub(super) fn remaining(ends: [RunEnds; 2], executed: [u64; 2]) -> Option<(f64, f64, f64)> {
    let [(before, of_before), (after, of_after)] = ends.map(|ends| ends.share(ends.sdc));
    let longer = executed[1] as f64 / executed[0].max(1) as f64;
    let by = |after: f64, before: f64| after * longer / before;
    (before > 0.0).then(|| (by(after, before), by(of_after.low, of_before.high), by(of_after.high, of_before.low)))
}

impl InjectedWorkload {
    /// It as a scheme protects it.
    pub(super) fn by(&self, scheme: Scheme) -> Option<&ProtectedWorkload> {
        self.protected.iter().find(|it| it.scheme == scheme.word())
    }
}

/// Measures all, or one workload.
pub(super) fn survey(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<SinrgSurvey, StudyError> {
    let table = HardenedTimes::bundled().map_err(StudyError::Refused)?;
    let kernels = table.kernels.iter().filter(|it| CHAPTER.contains(&it.application.as_str()));
    let mut survey = SinrgSurvey {
        timed: timed(&shop.workloads.records("protection")?),
        chosen: table.left_out(),
        occupancies: kernels.map(|it| [it.features.occupancy_first, it.features.occupancy_second]).collect(),
        applications: applications(),
        ..SinrgSurvey::default()
    };
    for name in INJECTED.into_iter().filter(|name| only.is_none_or(|only| only == *name)) {
        let original = shop.workloads.bundled(name)?;
        let injected = injected(shop, name, &original)?;
        if IN_PART.contains(&name) {
            in_part(shop, &injected, &original, &mut survey.parts)?;
        }
        survey.injected.push(injected);
        survey.detected.extend(detected(shop, name, &original)?);
    }
    Ok(survey)
}

fn runs(shop: &PageContext<'_, '_>, kind: &str) -> u64 {
    shop.runs.get(kind).copied().unwrap_or_default()
}

fn injected(
    shop: &mut PageContext<'_, '_>,
    name: &str,
    original: &OpenedCapsule,
) -> Result<InjectedWorkload, StudyError> {
    let count = runs(shop, RUNS);
    let FinishedCampaign { results, .. } = shop.campaigns.sampled(original, "as-it-is", count)?;
    let mut protected = Vec::new();
    for scheme in Scheme::INSTRUCTIONS {
        protected.push(measured(shop, scheme, harden_opened(original, scheme, None)?, count)?);
    }
    let loads = match name {
        BEAM => Some(measured(shop, Scheme::Drdv, harden_opened_with_loads(original, Scheme::Drdv, None)?, count)?),
        _ => None,
    };
    let executed = original.golden_run().thread_instructions();
    Ok(InjectedWorkload { name: name.to_owned(), executed, ends: RunEnds::of(&results)?, protected, loads })
}

/// A campaign on what a scheme has made of a workload.
fn measured(
    shop: &mut PageContext<'_, '_>,
    scheme: Scheme,
    (hardened, coverage): (OpenedCapsule, Coverage),
    count: u64,
) -> Result<ProtectedWorkload, StudyError> {
    let ends = RunEnds::of(&shop.campaigns.sampled(&hardened, "protected", count)?.results)?;
    let (before, after) = (coverage.before, coverage.instructions.all());
    let dynamic = DynamicCounts::of(hardened.golden_run());
    let digest = hardened.digest().to_owned();
    Ok(ProtectedWorkload { scheme: scheme.word(), digest, before, after, dynamic, ends })
}

/// The instructions of a hardened capsule that the capsule before had.
const GROUP: &str = "protection:original";

/// The detected ones of faults in the instructions that a workload had before.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DetectedFaults {
    pub(super) name: String,
    pub(super) scheme: Scheme,
    pub(super) detected: u64,
    pub(super) summary: DetectionSummary,
}

/// The schemes that detect faults.
pub(super) fn detecting() -> impl Iterator<Item = Scheme> {
    Scheme::INSTRUCTIONS.into_iter().chain(Scheme::LANES)
}

/// A campaign on a workload for each scheme.
fn detected(
    shop: &mut PageContext<'_, '_>,
    name: &str,
    original: &OpenedCapsule,
) -> Result<Vec<DetectedFaults>, StudyError> {
    let (count, mut found) = (runs(shop, ORIGINALS), Vec::new());
    for scheme in detecting() {
        let (hardened, _) = harden_opened(original, scheme, None)?;
        let words = SelectionWords { group: vec![GROUP.to_owned()], ..SelectionWords::default() };
        let results = shop.campaigns.drawn(&hardened, ORIGINALS, words, count)?.results;
        let detected = RunEnds::of(&results)?.detected;
        let summary = DetectionSummary::of(&hardened, &results)?;
        found.extend(summary.map(|summary| DetectedFaults { name: name.to_owned(), scheme, detected, summary }));
    }
    Ok(found)
}

/// The choice of a knapsack for each budget, by the corruptions of a campaign with another seed.
fn in_part(
    shop: &mut PageContext<'_, '_>,
    whole: &InjectedWorkload,
    original: &OpenedCapsule,
    parts: &mut Vec<PartlyProtected>,
) -> Result<(), StudyError> {
    let refused = |error: methods::hardening::HardenError| StudyError::Refused(error.to_string());
    let (count, choosers) = (runs(shop, RUNS), runs(shop, CHOOSERS));
    let seed = std::mem::replace(&mut shop.campaigns.seed, CHOOSERS_SEED);
    let chooser = shop.campaigns.sampled(original, "chooser", choosers);
    shop.campaigns.seed = seed;
    let by_instruction = tally_by_instruction(&chooser?.results)?;
    let document = json!({ "format": "beamline.hardened/1", "before": { "by_instruction": by_instruction } });
    let code = ExecutedCode::of(original.golden_run(), false).map_err(refused)?;
    let values = code.values(&document).map_err(refused)?;
    let choose = |budget| code.worth(&values, ProtectionDemand::Overhead(budget)).map(|choice| (budget, choice));
    let choices = BUDGETS.map(choose).into_iter().collect::<Result<Vec<_>, _>>().map_err(refused)?;
    for (scheme, (budget, choice)) in
        SCHEMES_IN_PART.iter().flat_map(|it| choices.iter().map(move |choice| (*it, choice)))
    {
        let (hardened, _) = harden_opened(original, scheme, Some(choice))?;
        let ends = RunEnds::of(&shop.campaigns.sampled(&hardened, "in-part", count)?.results)?;
        parts.push(PartlyProtected {
            name: whole.name.clone(),
            scheme: scheme.word(),
            budget: *budget,
            forecast: code.forecast(choice, Some(&values)),
            executed: [whole.executed, hardened.golden_run().thread_instructions()],
            ends: [whole.ends, ends],
        });
    }
    Ok(())
}

/// The times in records of `beamline harden --gpu --json`, a document a line: those that gave the same results.
pub(super) fn timed(records: &[String]) -> Vec<TimedWorkload> {
    let documents = records.iter().flat_map(|text| text.lines()).filter_map(|line| serde_json::from_str(line).ok());
    let read = |document: &Value| {
        let (scheme, full) = (text(document, "scheme"), text(document, "name"));
        let same = at(document, "gpu.same")? == at(document, "gpu.copies")?;
        let name = full.strip_suffix(scheme)?.strip_suffix('-')?;
        let of = |key: &str| number(document, &format!("gpu.ratio.{key}"));
        let timed = TimedWorkload {
            name: name.to_owned(),
            scheme: scheme.to_owned(),
            device: text(document, "gpu.name").to_owned(),
            digest: text(document, "digest").to_owned(),
            ratio: of("median")?,
            low: of("low")?,
            high: of("high")?,
        };
        same.then_some(timed)
    };
    let mut timed: Vec<TimedWorkload> = documents.filter_map(|document: Value| read(&document)).collect();
    timed.sort_by(|one, two| (&one.name, &one.scheme, &one.device).cmp(&(&two.name, &two.scheme, &two.device)));
    timed
}
