//! The source with a margin: where faults hit, and what came of them.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::page::Section;
use super::table::{ClassStyle, account_cells, account_heads, left_out, said, table, track};
use crate::document::{InstructionRates, LineRates, Report};
use crate::findings::file_name;
use crate::input::SourceText;
use crate::number::{bounds, count, rate};

/// Lines that are shown around one that was hit.
const AROUND: usize = 3;
/// A stretch of other lines that is longer is left out, but for its ends.
const LONGEST_GAP: usize = 120;

/// What is known of the lines of a file.
type Hits<'a> = BTreeMap<usize, &'a LineRates>;

pub(super) fn section(report: &Report) -> Section {
    let body = html! {
        @if let Some(why) = &report.shown.without_source {
            p.note { "The source is not shown: " (why) ". What is known of its lines is in the table of lines." }
        }
        @let files = files(report);
        @if files.is_empty() && report.shown.without_source.is_none() {
            p.soft { "No source of the lines that were hit is in the capsule: record an application that was compiled with " code { "-lineinfo" } " where its source can be read." }
        }
        @if !files.is_empty() {
            p.soft { "Before each line: how many " (report.what()) " hit it and the rate of ● " (report.bad_name().unwrap_or("SDC"))
                @if !report.exact() { " with its interval" } ". Open a line for all outcomes and its instructions." }
        }
        @for (source, hits) in files { h3 { (source.path) } (file(report, source, &hits)) }
    };
    Section { id: "source", title: "Source", body }
}

/// The sources that were hit, in the order of what parts are ranked by.
fn files(report: &Report) -> Vec<(&SourceText, Hits<'_>)> {
    let hits = |source: &SourceText| -> Hits<'_> {
        let of = report.shown.all_lines.iter().filter(|line| line.file.as_deref() == Some(&source.path));
        of.filter_map(|line| Some((line.line? as usize, line))).collect()
    };
    let mut files: Vec<(&SourceText, Hits<'_>)> =
        report.shown.sources.iter().map(|source| (source, hits(source))).filter(|(_, hits)| !hits.is_empty()).collect();
    files.sort_by_key(|(_, hits)| {
        let sum = |count: fn(&LineRates) -> u64| hits.values().map(|line| count(line)).sum::<u64>();
        std::cmp::Reverse((sum(|line| line.account.worst().count), sum(|line| line.account.outcomes.sdc.count)))
    });
    files
}

fn file(report: &Report, source: &SourceText, hits: &Hits<'_>) -> Markup {
    let lines: Vec<&str> = source.text.lines().collect();
    let near = |number: usize| hits.range(number.saturating_sub(AROUND)..=number + AROUND).next().is_some();
    let numbered: Vec<(usize, &str)> = (1..).zip(lines).collect();
    let label = format!("{} with its vulnerability", file_name(&source.path));
    html! {
        div.src tabindex="0" role="region" aria-label=(label) { div {
            @for stretch in numbered.chunk_by(|a, b| near(a.0) == near(b.0)) {
                @if near(stretch[0].0) { @for (number, text) in stretch { (line(report, *number, text, hits.get(number).copied())) } }
                @else { (gap(stretch)) }
            }
        } }
    }
}

/// Lines that nothing hit, folded.
fn gap(lines: &[(usize, &str)]) -> Markup {
    let (first, last) = (lines[0].0, lines[lines.len() - 1].0);
    let shown = |lines: &[(usize, &str)]| html! { @for (number, text) in lines { (plain(*number, text)) } };
    html! {
        details.gap {
            summary { "lines " (first) " to " (last) ": no faults" }
            @if lines.len() <= LONGEST_GAP { (shown(lines)) } @else {
                (shown(&lines[..LONGEST_GAP / 2]))
                @if let Some(more) = left_out((lines.len() - LONGEST_GAP) as u64, "lines") { p.small.soft { (more) } }
                (shown(&lines[lines.len() - LONGEST_GAP / 2..]))
            }
        }
    }
}

fn plain(number: usize, text: &str) -> Markup {
    html! { div.ln { span.no { (number) } span {} span {} span {} span {} code { (text) } } }
}

fn line(report: &Report, number: usize, text: &str, hit: Option<&LineRates>) -> Markup {
    let Some(hit) = hit else { return plain(number, text) };
    let worst = hit.account.worst();
    html! {
        details.ln.hit id=(format!("L{number}")) {
            summary {
                span.no { (number) }
                span.r.q { (count(hit.account.runs)) }
                span { (track(ClassStyle::Sdc, worst)) }
                span.r.v { (rate(worst.rate)) }
                span.r.q { @if worst.rate.is_some() && !report.exact() { (bounds(worst.low, worst.high)) } }
                code { (text) }
            }
            div.more { (more(report, hit)) }
        }
    }
}

/// What an opened line says.
fn more(report: &Report, hit: &LineRates) -> Markup {
    let of_line = |part: &&InstructionRates| part.file == hit.file && part.line == hit.line;
    let heads = html! { th.n scope="col" { "pc" } th scope="col" { "instruction" } (account_heads(report)) };
    let row = |part: &InstructionRates| {
        html! {
            td.n { (part.pc) } td.c { code { (part.text.as_deref().unwrap_or(&part.opcode)) } } (account_cells(&part.account, report))
        }
    };
    let rows: Vec<Markup> = report.shown.all_instructions.iter().filter(of_line).take(24).map(row).collect();
    let all = report.shown.all_instructions.iter().filter(of_line).count();
    html! {
        p.small {
            @for of in ClassStyle::all(report) {
                @let rate = of.rate(&hit.account);
                (of.sign()) (of.name()) " " (count(rate.count)) ", " (said(rate)) " · "
            }
            "behind " (said(&hit.share_of_sdc)) " of all SDC"
            @if let Some(share) = &hit.share_of_bad { ", " (said(share)) " " (report.of_all_worst()) }
        }
        (table("", "Its instructions", &heads, &rows, (all - rows.len()) as u64, "instructions"))
    }
}
