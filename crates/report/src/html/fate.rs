//! What becomes of corruptions: how long they live, where they kill, how large they grow.

use maud::{Markup, html};

use super::chart;
use super::page::{Section, figure};
use super::table::{left_out, said, share_cells, share_heads, table};
use crate::document::{Curve, DeathShare, Histogram, Latencies, Named, Report};
use crate::number::count;

/// Curves that a chart can show apart.
const CURVES: usize = 8;

/// What is said where only single runs could tell.
fn absent(title: &'static str, id: &'static str) -> Section {
    let body = html! { p.soft { "An exhaustive campaign keeps counts and no single runs, so it does not tell." } };
    Section { id, title, body }
}

pub(super) fn deaths(report: &Report) -> Section {
    let (Some(deaths), Some(latencies)) = (&report.deaths, &report.latencies) else {
        return absent("Deaths and latencies", "fates");
    };
    let heads = html! {
        th scope="col" data-s { "cause" } th scope="col" data-s { "kernel" } th.n scope="col" data-s { "pc" }
        th scope="col" data-s { "instruction" } th.n scope="col" data-s { "line" } th.n scope="col" data-s { "runs" }
        (share_heads("of all DUE", report))
    };
    let row = |death: &DeathShare| {
        html! {
            th scope="row" { (death.kind.replace('_', " ")) } td { (death.kernel.as_deref().map_or("–", |kernel| report.kernel(kernel))) }
            td.n data-v=[death.pc] { @if let Some(pc) = death.pc { (pc) } }
            td.c { code { (death.text.as_deref().unwrap_or("")) } }
            td.n data-v=[death.line] { @if let Some(line) = death.line { (line) } }
            td.n data-v=(death.share.count) { (count(death.share.count)) }
            (share_cells(&death.share, report.exact()))
        }
    };
    let rows: Vec<Markup> = deaths.rows.iter().map(row).collect();
    let body = html! {
        (table("deaths", "Causes of death, and where the program was", &heads, &rows, deaths.left_out, "causes"))
        (curves(latencies))
    };
    Section { id: "fates", title: "Deaths and latencies", body }
}

fn curves(latencies: &Latencies) -> Markup {
    html! {
        h3 { "From the fault to its first use" }
        p.soft { "Of the values hit, " (said(&latencies.overwritten)) " were overwritten before anything read them and "
            (said(&latencies.never_used)) " were never used again. The others were read after so many instructions of their thread:" }
        @if !latencies.to_use.is_empty() {
            (figure(&chart::curves(&latencies.to_use, "instructions from the fault to the first read", "cumulative distribution of the distance to the first read"),
                "Share of values read within so many instructions, by what they came to."))
            (quantiles("to-use", "Instructions from the fault to the first read", &latencies.to_use))
        }
        h3 { "From the first use to the end" }
        @if latencies.to_end.is_empty() { p.soft { "No run ended early." } } @else {
            @let drawn = &latencies.to_end[..latencies.to_end.len().min(CURVES)];
            @let more = left_out((latencies.to_end.len() - drawn.len()) as u64, "causes").map_or_else(String::new, |more| format!(" {more} The table has all."));
            (figure(&chart::curves(drawn, "instructions from the first use to the end", "cumulative distribution of the distance to the end"),
                &format!("Share of early ends within so many instructions of the thread, by cause.{more}")))
            (quantiles("to-end", "Instructions from the first use to the end", &latencies.to_end))
        }
    }
}

fn quantiles(id: &str, caption: &str, curves: &[Curve]) -> Markup {
    let heads = html! {
        th scope="col" { "" } th.n scope="col" { "runs" } th.n scope="col" { "half within" } th.n scope="col" { "90 % within" }
        th.n scope="col" { "99 % within" }
    };
    let row = |curve: &Curve| {
        html! {
            th scope="row" { (curve.name.replace('_', " ")) }
            td.n { (count(curve.total)) } td.n { (count(curve.half)) } td.n { (count(curve.nine_tenths)) } td.n { (count(curve.ninety_nine)) }
        }
    };
    table(id, &format!("{caption}, exact to an eighth"), &heads, &curves.iter().map(row).collect::<Vec<_>>(), 0, "")
}

pub(super) fn magnitudes(report: &Report) -> Section {
    let title = "Size of corruptions";
    let Some(magnitudes) = &report.magnitudes else { return absent(title, "magnitudes") };
    if magnitudes.runs == 0 {
        return Section { id: "magnitudes", title, body: html! { p.soft { "No run was silently corrupted." } } };
    }
    let charts: [(&Histogram, &str, &str); 4] = [
        (
            &magnitudes.max_relative,
            "largest relative error of an element",
            "Of each corrupted run, the worst element: |found − golden| / |golden|, infinite where the golden element is zero.",
        ),
        (
            &magnitudes.l2,
            "relative error of the output as a whole",
            "‖found − golden‖₂ / ‖golden‖₂ of the worst output.",
        ),
        (&magnitudes.elements, "elements that differ", "How many elements of the outputs differ."),
        (&magnitudes.share, "share of elements that differ", "Which part of all elements differs."),
    ];
    let heads = html! { th scope="col" data-s { "output" } th.n scope="col" data-s { "runs" } (share_heads("of all SDC", report)) };
    let row = |output: &Named| {
        html! {
            th scope="row" { (output.name) } td.n data-v=(output.share.count) { (count(output.share.count)) }
            (share_cells(&output.share, report.exact()))
        }
    };
    let body = html! {
        p.soft { "Of " (count(magnitudes.runs)) " silently corrupted runs, " (said(&magnitudes.new_nan)) " made an element NaN and "
            (said(&magnitudes.new_infinite)) " made one infinite. A bar stands on the decade from its label to the next." }
        @for (histogram, axis, caption) in charts {
            h3 { (capital(axis)) }
            (figure(&chart::histogram(histogram, axis, &format!("distribution of the {axis}")), caption))
        }
        (table("outputs", "Outputs that differ", &heads, &magnitudes.outputs.rows.iter().map(row).collect::<Vec<_>>(), magnitudes.outputs.left_out, "outputs"))
    };
    Section { id: "magnitudes", title, body }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
