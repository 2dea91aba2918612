//! How the numbers came to be, what they do not say, and how to make them again.

use maud::{Markup, html};

use super::page::Section;
use super::table::left_out;
use crate::document::Report;
use crate::limits::limits;
use crate::number::{count, seconds};
use crate::races::{MEANING, said, unsearched};

pub(super) fn section(report: &Report) -> Section {
    let (summary, provenance) = (&report.summary, &report.provenance);
    let body = html! {
        @if !provenance.faults.is_empty() { p { (provenance.faults) } }
        p { (report.on_bounds()) " Rates are over what landed; a fault that hit nothing is never counted as masked." }
        h3 { "What the numbers do not say" }
        ul.find { @for limit in limits(&provenance.not_hit, &provenance.machine) { li { (limit) } } }
        (races(report))
        h3 { "Make them again" }
        code.cmd tabindex="0" { (provenance.repeat) }
        @if let Some(resume) = &provenance.resume { p { "Go on where it stopped:" } code.cmd tabindex="0" { (resume) } }
        (failures(report))
        h3 { "Provenance" }
        dl {
            dt { "capsule" } dd { (summary.capsule.name) @if !provenance.capsule.is_empty() { " (" (provenance.capsule) ")" } }
            dt { "digest" } dd.mono { (summary.capsule.digest) }
            dt { "golden run" } dd { (count(summary.golden.launches)) " launches, " (count(summary.golden.threads)) " threads, "
                (count(summary.golden.thread_instructions)) " thread-instructions in " (seconds(summary.golden.seconds)) }
            dt { "speed" } dd { (speed(report)) }
            dt { "made with" } dd { "beamline " (provenance.version) ", classifier " (provenance.classifier) }
            @for setting in &provenance.settings { dt { (setting.key) } dd { (setting.value) } }
        }
    };
    Section { id: "method", title: "Method", body }
}

/// Races that are listed.
const RACES: usize = 40;

fn races(report: &Report) -> Markup {
    let all = &report.summary.races;
    html! {
        @if !all.is_empty() {
            h3 { "Data races" }
            p { (MEANING) }
            ul.find id="races" { @for race in all.iter().take(RACES) { li { (said(race, |kernel| report.kernel(kernel))) } } }
            @if let Some(more) = left_out(all.len().saturating_sub(RACES) as u64, "races") { p.small.soft { (more) } }
        }
        @if let Some(part) = &report.summary.races_unsearched { p.small { (unsearched(part)) } }
    }
}

fn failures(report: &Report) -> Markup {
    html! {
        @if !report.failures.rows.is_empty() {
            h3 { "Runs that could not be made" }
            ul.find id="failures" { @for failure in &report.failures.rows { li { (count(failure.count)) " × " (failure.message) } } }
            @if let Some(more) = left_out(report.failures.left_out, report.what()) { p.small.soft { (more) } }
        }
    }
}

/// `17 489 runs per second with 2 workers, 1.2 s in all; by delta 20 000`.
pub(crate) fn speed(report: &Report) -> String {
    let speed = &report.summary.speed;
    let tiers = speed.tiers.iter().filter(|(_, runs)| **runs > 0);
    let tiers: Vec<String> = tiers.map(|(tier, runs)| format!("{tier} {}", count(*runs))).collect();
    format!(
        "{} {} per second with {} workers, {} in all; engine: {}",
        count(speed.runs_per_second.round() as u64),
        report.what(),
        speed.jobs,
        seconds(speed.seconds),
        if tiers.is_empty() { "none".to_owned() } else { tiers.join(", ") }
    )
}
