//! What has to be known beside the numbers, said from the numbers.

use crate::filr::agreement::OracleAgreement;
use crate::filr::certainty::Reading;
use crate::filr::choice::TechniqueChoice;
use crate::filr::deploy::{Deployed, DeployedPoint, Deployment, DeploymentCoverage};
use crate::filr::document::{FilrSweep, FlrCurve, Injections, MapRow, Sets};
use crate::filr::order::Order;

/// SDCs below which a coverage is coarse.
const FEW_SDCS: u64 = 300;

/// Images that are right below which a set is small.
const FEW_IMAGES: u64 = 100;

/// Images with an SDC below which drawing images again says too little.
const FEW_IMAGES_WITH_SDCS: u64 = 10;

/// Half of the width of an interval from which on a coverage is said to be uncertain.
const WIDE: f64 = 0.02;

/// Everything that has to be said.
pub(crate) fn notes(
    sets: &Sets,
    injections: &Injections,
    maps: &[MapRow],
    flr: &[FlrCurve],
    filr: &[FilrSweep],
    (choices, target): (&[TechniqueChoice], f64),
    deployment: Option<&Deployment>,
) -> Vec<String> {
    let mut notes = Vec::new();
    about_sets(sets, &mut notes);
    about_injections(injections, maps, &mut notes);
    about_orders(flr, &mut notes);
    for sweep in filr {
        about_growth(sweep, &mut notes);
    }
    match deployment {
        None => notes.push("Nothing was measured on the deployment set: there was no combination, or the network gets none of its images right.".to_owned()),
        Some(deployment) => about_deployment(deployment, &mut notes),
    }
    about_choices(choices, target, &mut notes);
    notes
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn about_sets(sets: &Sets, notes: &mut Vec<String>) {
    let (chance, accuracy) = (1.0 / sets.classes.max(1) as f64, sets.accuracy);
    let share = accuracy.share.unwrap_or(0.0);
    notes.push(format!(
        "The network gets {} of {} images of the analysis set right ({}); faults are injected into these only, reruns are counted over all.",
        accuracy.count, accuracy.of, percent(share)
    ));
    if sets.also_analysed > 0 {
        notes.push(format!(
            "{} of {} images of the deployment set are also in the analysis set, pixel by pixel: they are not other images.",
            sets.also_analysed, sets.deployment
        ));
    }
    if accuracy.low <= 2.0 * chance {
        notes.push(format!(
            "The accuracy may be below twice chance ({}): which images are right is then chance, and so are coverage and thresholds.",
            percent(chance)
        ));
    }
    if accuracy.count < FEW_IMAGES {
        notes.push(format!(
            "The analysis set has {} images that are right, less than {FEW_IMAGES}: it is too small for a claim about other images.",
            accuracy.count
        ));
    }
}

fn about_injections(injections: &Injections, maps: &[MapRow], notes: &mut Vec<String>) {
    let sdcs = injections.sdcs;
    notes.push(format!(
        "{sdcs} of {} injections changed the class, in {} of {} feature maps and {} images.",
        injections.all,
        injections.maps_with_sdcs,
        maps.len(),
        injections.images_with_sdcs
    ));
    if sdcs == 0 {
        notes
            .push("There is no SDC to protect from, so that nothing is chosen: more injections are needed.".to_owned());
        return;
    }
    if (injections.images_with_sdcs as u64) < FEW_IMAGES_WITH_SDCS {
        notes.push(format!(
            "Less than {FEW_IMAGES_WITH_SDCS} images of the analysis set have an SDC: the choice is theirs, and not that of images in general."
        ));
    }
    if sdcs < FEW_SDCS {
        notes.push(format!(
            "So few SDCs make coverage coarse: one of them is {} on average.",
            percent(1.0 / sdcs as f64)
        ));
    }
    let without: Vec<&MapRow> = maps.iter().filter(|map| map.p_mismatch.count == 0).collect();
    let unseen = maps.iter().filter(|map| map.p_mismatch.count <= 1).count();
    notes.push(format!(
        "100 % is of the SDCs that were seen: {unseen} feature maps had one or none, and more injections may find SDCs in others and raise the overhead."
    ));
    if !without.is_empty() {
        let chance = (3.0 / injections.per_map as f64).min(1.0);
        let most: f64 = without.iter().map(|map| map.v_orig).sum::<f64>() * chance;
        notes.push(format!(
            "{} feature maps had no SDC in {} injections each; at a chance of {} (the bound at 95 %) they would add up to {} of the vulnerability that was seen.",
            without.len(), injections.per_map, percent(chance), percent(most / injections.v_cnn)
        ));
    }
}

fn about_orders(flr: &[FlrCurve], notes: &mut Vec<String>) {
    let loss = flr.iter().find(|curve| curve.by == Order::Loss).and_then(|curve| curve.agreement);
    if let Some(OracleAgreement { distance, .. }) = loss {
        notes.push(format!(
            "The order by the change of the cross entropy is {distance:.4} from that of the oracle, which is made of the same injections: its own noise counts as truth."
        ));
    }
}

/// Whether more injections made the combination dearer.
fn about_growth(sweep: &FilrSweep, notes: &mut Vec<String>) {
    let (Some(combination), Some(half)) = (&sweep.combination, sweep.overhead_from_half) else { return };
    notes.push(format!(
        "The combination by {} runs costs {} with all injections and {} with the first half of them{}",
        word(sweep.reading),
        percent(combination.overhead),
        percent(half),
        if combination.overhead > half + WIDE { ": the overhead still grows with their number." } else { "." }
    ));
}

fn word(reading: Reading) -> &'static str {
    match reading {
        Reading::FaultFree => "fault-free",
        Reading::Faulty => "faulty",
    }
}

fn about_deployment(deployment: &Deployment, notes: &mut Vec<String>) {
    let (sdcs, accuracy) = (deployment.sdcs.count, deployment.accuracy);
    if accuracy.count < FEW_IMAGES {
        notes.push(format!(
            "The deployment set has {} images that are right, less than {FEW_IMAGES}: it is too small for a claim about other images.",
            accuracy.count
        ));
    }
    notes.push(format!(
        "On the deployment set {sdcs} of {} injections changed the class, in {} of {} images; those of an image go together, so that the interval over images is the one to go by.",
        deployment.injections, deployment.images_with_sdcs, accuracy.count
    ));
    if sdcs == 0 {
        notes.push("No coverage can be said for the deployment set: it has no SDC.".to_owned());
    }
    if let Some(thesis) = deployment.protections.first() {
        about_readings(thesis, notes);
    }
    for protection in &deployment.protections {
        about_coverage(protection, deployment.images_with_sdcs, notes);
    }
    if (1..FEW_IMAGES_WITH_SDCS).contains(&deployment.images_with_sdcs) {
        notes.push(format!(
            "Less than {FEW_IMAGES_WITH_SDCS} images of the deployment set have an SDC: the intervals over images are rough then."
        ));
    }
    about_predictions("FLR", &deployment.flr, notes);
    let faulty: Vec<DeployedPoint> =
        deployment.ilr.iter().filter(|point| point.reading == Reading::Faulty).copied().collect();
    about_predictions("ILR by faulty runs", &faulty, notes);
}

/// How far the coverage of the analysis set is from that of other images, at most.
fn about_predictions(technique: &str, points: &[DeployedPoint], notes: &mut Vec<String>) {
    let differences = points.iter().filter_map(|point| Some((point, point.covered.share? - point.predicted)));
    let Some((point, difference)) = differences.max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs())) else { return };
    if difference.abs() > WIDE {
        notes.push(format!(
            "The deployment set says up to {:.2} points {} of {technique} than the analysis set predicts: {} where {} was predicted.",
            difference.abs() * 100.0,
            if difference > 0.0 { "more" } else { "less" },
            percent(point.covered.share.unwrap_or(0.0)),
            percent(point.predicted)
        ));
    }
}

/// Choices that miss the target on other images.
fn about_choices(choices: &[TechniqueChoice], target: f64, notes: &mut Vec<String>) {
    for choice in choices {
        let Some(point) = choice.deployed else { continue };
        let share = point.covered.share.unwrap_or(1.0);
        if share < target {
            let [low, high] = point.by_images;
            notes.push(format!(
                "The choice of {} for {} covers {} of the deployment set ({} to {} over images): less than the target.",
                choice.technique.word(),
                percent(target),
                percent(share),
                percent(low),
                percent(high)
            ));
        }
    }
}

/// What the choice by fault-free runs gives when it is deployed.
fn about_readings(protection: &Deployed, notes: &mut Vec<String>) {
    let covered = |reading| protection.coverage.iter().find(|coverage| coverage.reading == reading);
    let (Some(fault_free), Some(faulty)) = (covered(Reading::FaultFree), covered(Reading::Faulty)) else { return };
    let share = |coverage: &DeploymentCoverage| percent(coverage.covered.share.unwrap_or(0.0));
    notes.push(format!(
        "The thesis reads Top2Diff of the fault-free run, which a deployed check does not see. The combination chosen so covers {} of SDCs read so, and {} by the faulty run.",
        share(fault_free), share(faulty)
    ));
}

fn about_coverage(protection: &Deployed, images: u64, notes: &mut Vec<String>) {
    let own = protection.coverage.iter().find(|coverage| coverage.reading == protection.chosen_by);
    let Some(own) = own else { return };
    let by = word(protection.chosen_by);
    let (covered, [low, high]) = (own.covered, own.by_images);
    if covered.count == covered.of {
        notes.push(format!(
            "The combination by {by} runs missed none of {} SDCs of the deployment set: at 95 % up to {} may be missed if they had nothing to do with each other, and up to {} if those of an image are one.",
            covered.of, percent((3.0 / covered.of as f64).min(1.0)), percent((3.0 / images.max(1) as f64).min(1.0))
        ));
    } else if (high - low) / 2.0 > WIDE {
        notes.push(format!(
            "The coverage of the combination by {by} runs lies between {} and {} over images: the deployment set is too small to say it closer.",
            percent(low), percent(high)
        ));
    }
}
