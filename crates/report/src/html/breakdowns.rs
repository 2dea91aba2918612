//! Rates by what was hit: kernels, groups, lines, bits, launches, time.

use maud::{Markup, html};

use super::chart::{self, Mark, Of};
use super::page::{Section, figure};
use super::table::{account_cells, account_heads, left_out, table};
use crate::document::{NamedRates, RateAccount, Report};
use crate::findings::place;
use crate::number::count;

pub(super) fn by_place(report: &Report) -> Section {
    let named = |id: &str, what: &str, parts: &[NamedRates]| {
        let heads = html! { th scope="col" data-s { (what) } (account_heads(report)) };
        let row = |part: &NamedRates| html! { th scope="row" title=(part.name) { (report.kernel(&part.name)) } (account_cells(&part.account, report)) };
        table(id, &format!("By {what}"), &heads, &parts.iter().map(row).collect::<Vec<_>>(), 0, "")
    };
    let body = html! {
        (named("kernels", "kernel", &report.kernels))
        (named("groups", "instruction group", &report.groups))
        (lines(report))
        (launches(report))
    };
    Section { id: "places", title: "Kernels, groups, lines", body }
}

fn lines(report: &Report) -> Markup {
    let heads = html! {
        th scope="col" data-s { "line" }
        (account_heads(report))
    };
    let row = |line: &crate::document::LineRates| {
        html! {
            th scope="row" title=[line.file.as_deref()] { (place(line.file.as_deref(), line.line)) }
            (account_cells(&line.account, report))
        }
    };
    let rows: Vec<Markup> = report.lines.rows.iter().map(row).collect();
    table(
        "lines",
        &format!("By source line, most {} corruptions first", report.worst_name()),
        &heads,
        &rows,
        report.lines.left_out,
        "lines",
    )
}

fn launches(report: &Report) -> Markup {
    let Some(launches) = &report.launches else { return Markup::default() };
    let heads =
        html! { th.n scope="col" data-s { "launch" } th scope="col" data-s { "kernel" } (account_heads(report)) };
    let row = |part: &crate::document::LaunchRates| {
        html! {
            th.n scope="row" data-v=(part.launch) { (part.launch) }
            td { (report.kernel(&part.kernel)) }
            (account_cells(&part.account, report))
        }
    };
    let mark = |part: &crate::document::LaunchRates| {
        mark(
            part.launch.to_string(),
            format!("launch {} of {}", part.launch, report.kernel(&part.kernel)),
            &part.account,
        )
    };
    let marks: Vec<Mark> = launches.rows.iter().map(mark).collect();
    let more = left_out(launches.left_out, "launches").map_or_else(String::new, |more| format!(" {more}"));
    let rows: Vec<Markup> = launches.rows.iter().map(row).collect();
    let listed = table("launches", "By launch", &heads, &rows, launches.left_out, "launches");
    html! {
        @if marks.len() > 1 {
            h3 { "Launches" }
            (figure(&chart::rates(&marks, "launch", "SDC and DUE rates by launch", report.what()), &format!("{}{more}", legend(report))))
        }
        @if rows.len() > 12 { details { summary { "All launches in a table" } (listed) } } @else { (listed) }
    }
}

fn mark(tick: String, name: String, account: &RateAccount) -> Mark {
    Mark { tick, name, runs: account.runs, outcomes: account.outcomes }
}

/// How marks are to be read.
fn legend(report: &Report) -> String {
    let bars = if report.exact() { "" } else { ", each with its interval" };
    format!("● SDC and ▲ DUE{bars}; the grey bars show how many {} each stands on.", report.what())
}

pub(super) fn by_bit(report: &Report) -> Section {
    let marks: Vec<Mark> =
        report.bits.iter().map(|bit| mark(bit.bit.to_string(), format!("bit {}", bit.bit), &bit.account)).collect();
    let heads = html! { th.n scope="col" data-s { "bit" } (account_heads(report)) };
    let row = |bit: &crate::document::BitRates| {
        html! {
            th.n scope="row" data-v=(bit.bit) { (bit.bit) }
            (account_cells(&bit.account, report))
        }
    };
    let rows: Vec<Markup> = report.bits.iter().map(row).collect();
    let body = html! {
        p.soft { "Bit 0 is the lowest. A fault in several bits counts at the lowest of them." }
        @if report.without_bit > 0 { p.small.soft { (count(report.without_bit)) " " (report.what()) " name no bit and are not here." } }
        @if !marks.is_empty() {
            (figure(&chart::rates(&marks, "bit", "SDC and DUE rates by bit", report.what()), &legend(report)))
            (figure(&chart::heat(&report.heat, Of::Sdc, report.what()), "Rate of SDC by instruction group and bit: the larger and the stronger the square, the higher. Point at one for its numbers."))
            (figure(&chart::heat(&report.heat, Of::Due, report.what()), "Rate of DUE, likewise."))
        }
        details { summary { "All bits in a table" } (table("bits-table", "By bit", &heads, &rows, 0, "bits")) }
    };
    Section { id: "bits", title: "Bits", body }
}

pub(super) fn by_time(report: &Report) -> Section {
    let body = match &report.times {
        None => {
            html! { p.soft { "An exhaustive campaign keeps counts and no single runs, so it does not say when faults hit." } }
        }
        Some(times) => html! {
            p.soft { "When the fault hit, counted in instructions that its thread had executed." }
            @for series in &times.rows {
                @let mark = |bin: &crate::document::TimeBin| mark(
                    bin.from.to_string(),
                    format!("{}: instructions {} to {}", report.kernel(&series.kernel), count(bin.from), count(bin.to)),
                    &bin.account,
                );
                @let marks: Vec<Mark> = series.bins.iter().map(mark).collect();
                h3 { (report.kernel(&series.kernel)) }
                (figure(
                    &chart::rates(&marks, "dynamic instruction of the thread", &format!("SDC and DUE rates along {}", report.kernel(&series.kernel)), report.what()),
                    &legend(report),
                ))
                details { summary { "The same as a table" } (time_table(series, report)) }
            }
            @if let Some(more) = left_out(times.left_out, "kernels") { p.small.soft { (more) } }
        },
    };
    Section { id: "time", title: "Time", body }
}

fn time_table(series: &crate::document::TimeSeries, report: &Report) -> Markup {
    let heads = html! { th.n scope="col" data-s { "from" } th.n scope="col" data-s { "to" } (account_heads(report)) };
    let row = |bin: &crate::document::TimeBin| {
        html! {
            th.n scope="row" data-v=(bin.from) { (count(bin.from)) }
            td.n data-v=(bin.to) { (count(bin.to)) }
            (account_cells(&bin.account, report))
        }
    };
    table(
        "",
        &format!("Along the instructions of {}", report.kernel(&series.kernel)),
        &heads,
        &series.bins.iter().map(row).collect::<Vec<_>>(),
        0,
        "",
    )
}
