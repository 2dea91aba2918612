//! The report as Markdown: the numbers of the page, as tables, for a pull request or a notebook.

use campaign::names::printable;
use campaign::summary::Rate;

use crate::document::{RateAccount, Report};
use crate::findings::{place, said};
use crate::limits::limits;
use crate::number::{interval, plain};
use crate::races::{self, MEANING};
use crate::table::markdown as table;

/// Rows of a table.
const ROWS: usize = 20;

/// Text that is to stand as it is: what Markdown or HTML would take for markup is escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '!' | '~' | '$' => out.extend(['\\', c]),
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Code in a table: a code span that its text cannot leave.
pub(crate) fn code(text: &str) -> String {
    // A span ends at as many backticks as it began with, and a table at a bar, even in a span.
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let pad = if text.is_empty() || text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{}{pad}{ticks}", text.replace('|', "\\|"))
}

/// The rates of an account: SDC, bad ones where outputs are judged, DUE, masked, undecided.
fn rates(account: &RateAccount) -> Vec<String> {
    let outcomes = &account.outcomes;
    let rates = [Some(outcomes.sdc), account.bad, Some(outcomes.due), Some(outcomes.masked), Some(outcomes.undecided)];
    rates.iter().flatten().map(|rate: &Rate| said(rate)).collect()
}

fn row(names: Vec<String>, account: &RateAccount) -> Vec<String> {
    names.into_iter().chain([plain(account.runs)]).chain(rates(account)).collect()
}

/// How much a list leaves out, as a paragraph; nothing where it leaves out nothing.
pub(crate) fn left_out(more: u64) -> String {
    if more > 0 { format!("\n{} more are left out here.\n", plain(more)) } else { String::new() }
}

fn list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    items.into_iter().map(|item| format!("- {}\n", escaped(item))).collect()
}

impl Report {
    /// The report as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}: what faults do\n\n", escaped(&self.summary.capsule.name));
        text += &format!("{}\n\n{}\n\n", escaped(&self.headline()), escaped(&self.account()));
        for warning in self.warnings() {
            text += &format!("> {}\n\n", escaped(&warning));
        }
        let findings = self.findings();
        if !findings.is_empty() {
            text += &format!("## What stands out\n\n{}\n", list(findings.iter().map(String::as_str)));
        }
        text += &self.markdown_outcomes();
        text += &self.markdown_parts();
        text += &self.markdown_sites();
        text += &self.markdown_fates();
        printable(&(text + &self.markdown_method())).into_owned()
    }

    /// The head of a column of rates, with what stands in brackets.
    fn rate_heads(&self) -> Vec<String> {
        let bounds = self.bounds.level.map_or_else(String::new, |level| format!(" ({})", interval(level)));
        let names = [Some("SDC"), self.bad_name(), Some("DUE"), Some("masked"), Some("undecided")];
        names.iter().flatten().map(|name| format!("{name}{bounds}")).collect()
    }

    fn markdown_table(&self, title: &str, names: &[&str], mut rows: Vec<Vec<String>>, left_out: u64) -> String {
        let left_out = left_out + rows.len().saturating_sub(ROWS) as u64;
        rows.truncate(ROWS);
        if rows.is_empty() {
            return String::new();
        }
        let heads = self.rate_heads();
        let header: Vec<&str> =
            names.iter().copied().chain([self.what()]).chain(heads.iter().map(String::as_str)).collect();
        let align = "<".repeat(names.len()) + ">";
        format!("## {title}\n\n{}{}\n", table(&header, &align, &rows), self::left_out(left_out))
    }

    fn markdown_outcomes(&self) -> String {
        let row = |kind: &crate::document::OutcomeKind| {
            vec![escaped(&kind.class), escaped(&kind.kind), plain(kind.share.count), said(&kind.share)]
        };
        let rows: Vec<Vec<String>> = self.kinds.iter().filter(|kind| kind.share.count > 0).map(row).collect();
        let rate = self.bounds.level.map_or_else(|| "rate".to_owned(), |level| format!("rate ({})", interval(level)));
        format!("## Outcomes\n\n{}\n", table(&["class", "kind", self.what(), &rate], "<<>", &rows))
    }

    fn markdown_parts(&self) -> String {
        let named = |parts: &[crate::document::NamedRates]| -> Vec<Vec<String>> {
            parts.iter().map(|part| row(vec![escaped(self.kernel(&part.name))], &part.account)).collect()
        };
        let lines = self.lines.rows.iter();
        let lines =
            lines.map(|line| row(vec![escaped(&place(line.file.as_deref(), line.line))], &line.account)).collect();
        let bits = self.bits.iter().map(|bit| row(vec![bit.bit.to_string()], &bit.account)).collect();
        self.markdown_table("By kernel", &["kernel"], named(&self.kernels), 0)
            + &self.markdown_table("By instruction group", &["group"], named(&self.groups), 0)
            + &self.markdown_table("By source line", &["line"], lines, self.lines.left_out)
            + &self.markdown_table("By bit", &["bit"], bits, 0)
    }

    fn markdown_sites(&self) -> String {
        let instruction = |part: &crate::document::InstructionRates| {
            let names = vec![
                escaped(self.kernel(&part.kernel)),
                part.pc.to_string(),
                code(part.text.as_deref().unwrap_or(&part.opcode)),
            ];
            row(names, &part.account)
        };
        let site = |site: &crate::document::SiteRates| {
            let place = format!("{} {} bit {}", self.kernel(&site.kernel), site.pc, site.bit);
            let names =
                vec![escaped(&place), code(site.text.as_deref().unwrap_or(&site.opcode)), said(site.share_of_worst())];
            row(names, &site.account)
        };
        let instructions = self.instructions.rows.iter().map(instruction).collect();
        let sites = self.most_corrupting.rows.iter().map(site).collect();
        let mut text = self.markdown_table(
            "By instruction",
            &["kernel", "pc", "instruction"],
            instructions,
            self.instructions.left_out,
        );
        text += &self.markdown_table(
            &format!("Bits behind most {} corruptions", self.worst_name()),
            &["place", "instruction", &self.of_all_worst()],
            sites,
            self.most_corrupting.left_out,
        );
        let commands = self.most_corrupting.rows.iter().filter_map(|site| site.command.as_deref()).take(5);
        let commands: Vec<&str> = commands.collect();
        let sentences = self.most_corrupting.rows.iter().filter_map(|site| site.sentence.as_deref()).take(5);
        let sentences: String = sentences.map(|sentence| format!("- {}\n", escaped(sentence))).collect();
        if !commands.is_empty() {
            text += &format!(
                "Faults of the first {} of them, to be repeated:\n\n{}\n",
                commands.len(),
                indented(&commands)
            );
            text += &if sentences.is_empty() { sentences } else { sentences + "\n" };
        }
        text
    }

    fn markdown_fates(&self) -> String {
        let Some(deaths) = &self.deaths else { return String::new() };
        let row = |death: &crate::document::DeathShare| {
            let kernel = death.kernel.as_deref().map_or("–", |kernel| self.kernel(kernel));
            let (pc, line) = (death.pc.map_or_else(String::new, |pc| pc.to_string()), death.line);
            let line = line.map_or_else(String::new, |line| line.to_string());
            vec![escaped(&death.kind), escaped(kernel), pc, line, plain(death.share.count), said(&death.share)]
        };
        let rows: Vec<Vec<String>> = deaths.rows.iter().take(ROWS).map(row).collect();
        if rows.is_empty() {
            return String::new();
        }
        let header = ["cause", "kernel", "pc", "line", self.what(), "of all DUE"];
        let more = deaths.left_out + (deaths.rows.len() - rows.len()) as u64;
        format!("## Causes of death\n\n{}{}\n", table(&header, "<<>", &rows), left_out(more))
    }

    fn markdown_failures(&self) -> String {
        let failures = &self.failures;
        if failures.rows.is_empty() {
            return String::new();
        }
        let rows = failures.rows.iter().map(|failure| format!("{} × {}", plain(failure.count), failure.message));
        let rows: Vec<String> = rows.collect();
        let said = list(rows.iter().map(String::as_str));
        format!("Runs that could not be made:\n\n{said}{}\n", left_out(failures.left_out))
    }

    fn markdown_method(&self) -> String {
        let (summary, provenance) = (&self.summary, &self.provenance);
        let mut text = format!("## Method\n\n{}\n\n{}\n\n", escaped(&provenance.faults), escaped(&self.on_bounds()));
        let limits = limits(&provenance.not_hit, &provenance.machine);
        text += &format!("What the numbers do not say:\n\n{}\n", list(limits.iter().map(String::as_str)));
        if !summary.races.is_empty() {
            let races = summary.races.iter().take(ROWS).map(|race| races::said(race, |name| self.kernel(name)));
            let races: Vec<String> = races.collect();
            let more = left_out((summary.races.len() - races.len()) as u64);
            text += &format!("{}\n\n{}{more}\n", escaped(MEANING), list(races.iter().map(String::as_str)));
        }
        if let Some(part) = &summary.races_unsearched {
            text += &format!("{}\n\n", escaped(&races::unsearched(part)));
        }
        text += &self.markdown_failures();
        text += &format!("Make them again:\n\n{}\n", indented(&[&provenance.repeat]));
        let identity = format!(
            "Capsule {}, digest {}; beamline {}, classifier {}.",
            summary.capsule.name, summary.capsule.digest, provenance.version, provenance.classifier
        );
        text + &escaped(&identity) + "\n"
    }
}

/// Lines of code. A line break in them would end the block.
fn indented(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("    {}\n", line.replace(|c: char| c.is_control(), " "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_name_is_text() {
        assert_eq!(escaped("<script>a|b_c`"), r"&lt;script&gt;a\|b\_c\`");
        assert_eq!(code("a`b|c"), r"``a`b\|c``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code(""), "`  `");
    }
}
