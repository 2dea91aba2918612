//! The first screen: what it came to, and what stands out.

use campaign::summary::Rate;
use maud::{Markup, html};

use super::chart;
use super::page::Section;
use super::table::{ClassStyle, said};
use crate::document::Report;
use crate::number::{bounds, count, rate};

pub(super) fn section(report: &Report) -> Section {
    let outcomes = &report.summary.outcomes;
    let body = html! {
        p.lead { (report.headline()) }
        (chart::shares(outcomes, report.what()))
        div.tiles {
            (tile(report, ClassStyle::Sdc, "sdc", "silent data corruption", &outcomes.sdc))
            (tile(report, ClassStyle::Due, "due", "crash, hang or detected", &outcomes.due))
            (tile(report, ClassStyle::Masked, "masked", "no trace in the output", &outcomes.masked))
            @if outcomes.undecided.count > 0 {
                (tile(report, ClassStyle::Undecided, "undecided", "the application was not asked", &outcomes.undecided))
            }
        }
        p.small.soft id="account" { (report.account()) }
        @for warning in report.warnings() { p.note { (warning) } }
        @let findings = report.findings();
        @if !findings.is_empty() {
            h3 { "What stands out" }
            ul.find { @for finding in &findings { li { (finding) } } }
        }
        p.small.soft { (report.on_bounds()) }
    };
    Section { id: "summary", title: "Summary", body }
}

/// A class with its rate and its kinds.
fn tile(report: &Report, of: ClassStyle, class: &str, meaning: &str, value: &Rate) -> Markup {
    let kinds = report.kinds.iter().filter(|kind| kind.class == class && kind.share.count > 0);
    html! {
        div.tile id=(format!("tile-{class}")) {
            span { (of.sign()) (of.name()) " " span.small.soft style="display:inline" { (meaning) } }
            b data-v=[value.rate] { (rate(value.rate)) }
            span.small.soft {
                @if value.rate.is_some() && !report.exact() { (bounds(value.low, value.high)) " % · " }
                (count(value.count)) " " (report.what())
            }
            ul { @for kind in kinds {
                li { span { (kind.kind.replace('_', " ")) } span { (said(&kind.share)) } }
            } }
        }
    }
}
