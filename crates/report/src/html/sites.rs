//! The instructions and bits that corrupt most, each with a fault that repeats it.

use maud::{Markup, html};

use super::page::Section;
use super::table::{account_cells, account_heads, share_cells, share_heads, table};
use crate::document::{Capped, InstructionRates, Report, SiteRates};
use crate::findings::place;

pub(super) fn section(report: &Report) -> Section {
    let worst = report.worst_name();
    let body = html! {
        (instructions(report))
        (sites("most", &format!("Bits of operands by their share of all {worst} corruptions"), &report.most_corrupting, report))
        (sites("surest", &format!("Bits of operands by the lower bound of their rate of {worst} corruption"), &report.surest_corrupting, report))
        (examples(report))
    };
    Section { id: "sites", title: "Instructions", body }
}

/// An instruction as PTX, or its mnemonic.
fn code(text: Option<&str>, opcode: &str) -> Markup {
    html! { td.c { code title=[text] { (text.unwrap_or(opcode)) } } }
}

fn instructions(report: &Report) -> Markup {
    let heads = html! {
        th scope="col" data-s { "kernel" } th.n scope="col" data-s { "pc" } th scope="col" data-s { "instruction" }
        th scope="col" data-s { "line" } (account_heads(report))
    };
    let row = |part: &InstructionRates| {
        html! {
            th scope="row" title=(part.kernel) { (report.kernel(&part.kernel)) } td.n data-v=(part.pc) { (part.pc) } (code(part.text.as_deref(), &part.opcode))
            td.l { (place(part.file.as_deref(), part.line)) } (account_cells(&part.account, report))
        }
    };
    let rows: Vec<Markup> = report.instructions.rows.iter().map(row).collect();
    let caption = format!("By static instruction, most {} corruptions first", report.worst_name());
    table("instructions", &caption, &heads, &rows, report.instructions.left_out, "instructions")
}

fn sites(id: &str, caption: &str, sites: &Capped<SiteRates>, report: &Report) -> Markup {
    let heads = html! {
        th scope="col" data-s { "kernel" } th.n scope="col" data-s { "pc" } th scope="col" data-s { "instruction" }
        th scope="col" data-s { "operand" } th.n scope="col" data-s { "bit" } th scope="col" data-s { "line" }
        (share_heads(&report.of_all_worst(), report)) (account_heads(report))
    };
    let row = |site: &SiteRates| {
        html! {
            th scope="row" title=(site.kernel) { (report.kernel(&site.kernel)) } td.n data-v=(site.pc) { (site.pc) } (code(site.text.as_deref(), &site.opcode))
            td { (site.target) } td.n data-v=(site.bit) { (site.bit) } td.l { (place(site.file.as_deref(), site.line)) }
            (share_cells(site.share_of_worst(), report.exact())) (account_cells(&site.account, report))
        }
    };
    let rows: Vec<Markup> = sites.rows.iter().map(row).collect();
    table(id, caption, &heads, &rows, sites.left_out, "bits with silent corruptions")
}

/// Bits of which an example is repeated.
const EXAMPLES: usize = 5;

/// Commands that repeat an example of each of the first sites.
fn examples(report: &Report) -> Markup {
    let commands: Vec<(&SiteRates, &str)> = report
        .most_corrupting
        .rows
        .iter()
        .filter_map(|site| Some((site, site.command.as_deref()?)))
        .take(EXAMPLES)
        .collect();
    if report.exact() {
        return html! { p.small.soft { "An exhaustive campaign keeps no faults by name. To have examples, run a sampled campaign on the lines above with " code { "--lines" } "." } };
    }
    html! {
        @if !commands.is_empty() {
            h3 { "See one happen" }
            p.soft { "Each of these repeats a fault of one of the first " (commands.len()) " bits of the first table of bits above, and tells what it does." }
            @for (site, command) in commands {
                p.small.soft style="margin:.6rem 0 0" {
                    @match &site.sentence {
                        Some(sentence) => (sentence),
                        None => { (report.kernel(&site.kernel)) ", instruction " (site.pc) ", " (site.target) " bit " (site.bit) },
                    }
                }
                code.cmd tabindex="0" { (command) }
            }
        }
    }
}
