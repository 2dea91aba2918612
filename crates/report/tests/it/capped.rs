//! Lists that are cut say how much they leave out: what is there and what is said to be left out are all that there is.

use crate::made;
use crate::synthetic::{self, Synthetic};
use report::{CampaignComparison, Report};
use std::collections::BTreeSet;

/// A campaign of which every list is long.
fn long() -> (Report, usize, usize, usize) {
    let target = Synthetic {
        kernels: (0..30).map(|kernel| format!("kernel_{kernel}")).collect(),
        instructions: 600,
        launches: 20,
        races: 60,
        every_trap: true,
        ..Synthetic::default()
    };
    let (_dir, results, report) = made(synthetic::runs(9000), &target);
    let (mut launches, mut lines, mut instructions) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let visit = &mut |row: campaign::Row| {
        launches.insert(row.site.labels.number(0));
        lines.insert(row.site.spot.line);
        instructions.insert((row.site.spot.kernel, row.site.spot.pc));
    };
    results.visit(visit).unwrap();
    (report, launches.len(), lines.len(), instructions.len())
}

/// The number in `12 more … left out here`, at the first place in a text that says so; 0 where none does.
fn left_out(text: &str) -> usize {
    let Some((before, _)) = text.split_once(" more ").filter(|(_, after)| after.contains("left out here")) else {
        return 0;
    };
    let digits = before.chars().rev().take_while(|c| c.is_ascii_digit() || matches!(c, '\u{202f}' | ' '));
    let digits: String = digits.filter(char::is_ascii_digit).collect();
    digits.chars().rev().collect::<String>().parse().unwrap_or_else(|_| panic!("no number: {before}"))
}

/// Rows of a table of a page, and what is said to be left out behind it.
fn of_table(html: &str, id: &str) -> usize {
    let table = html.split(&format!("<table id=\"{id}\">")).nth(1).unwrap_or_else(|| panic!("no table {id}"));
    let (table, behind) = table.split_once("</table></div>").unwrap();
    let said = behind.strip_prefix("<p class=\"small soft\">").and_then(|said| said.split("</p>").next());
    table.split("<tbody>").nth(1).unwrap().matches("<tr>").count() + said.map_or(0, left_out)
}

/// Rows of a table of Markdown under a title, and what is said to be left out.
fn of_markdown(markdown: &str, title: &str) -> usize {
    let section = markdown.split(&format!("## {title}\n")).nth(1).unwrap_or_else(|| panic!("no {title}"));
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ")).count() - 2;
    rows + left_out(section)
}

/// Marks of a chart, and what its caption says is left out.
fn of_chart(html: &str, label: &str) -> usize {
    let chart = html.split(&format!("aria-label=\"{label}\"")).nth(1).unwrap_or_else(|| panic!("no {label}"));
    let (chart, behind) = chart.split_once("</svg>").unwrap();
    chart.matches("<rect class=\"bar\"").count() + left_out(behind.split("</figcaption>").next().unwrap())
}

#[test]
fn every_launch_is_in_the_chart_or_counted_as_left_out() {
    let launches = |launches: u64| {
        let target = Synthetic { launches, ..Synthetic::default() };
        made(synthetic::runs(8000), &target).2.to_html()
    };
    let (all, many) = (launches(200), launches(300));
    assert!(!all.contains("more launches"), "400 launches are all shown");
    for (html, count) in [(all, 400), (many, 600)] {
        assert_eq!(of_chart(&html, "SDC and DUE rates by launch"), count);
        assert_eq!(of_table(&html, "launches"), count);
    }
}

#[test]
fn every_long_list_of_the_page_is_whole_or_says_what_it_leaves_out() {
    let (report, launches, lines, instructions) = long();
    let html = report.to_html();
    assert_eq!(of_chart(&html, "SDC and DUE rates by launch"), launches);
    let sites = report.most_corrupting.rows.len() + report.most_corrupting.left_out as usize;
    let deaths = report.deaths.as_ref().unwrap();
    let deaths = deaths.rows.len() + deaths.left_out as usize;
    for (id, count) in [
        ("launches", launches),
        ("lines", lines),
        ("instructions", instructions),
        ("kernels", 30),
        ("most", sites),
        ("surest", sites),
        ("deaths", deaths),
    ] {
        assert_eq!(of_table(&html, id), count, "{id}");
    }
    let times = report.times.as_ref().unwrap();
    assert!(times.left_out > 0 && html.contains(&format!("{} more kernels are left out here", times.left_out)));
    let races = html.split("id=\"races\"").nth(1).unwrap().split_once("</ul>").unwrap();
    assert_eq!(races.0.matches("<li>").count() + left_out(races.1.split("</p>").next().unwrap()), 60);
    // The chart has as many curves as can be told apart, the table all.
    let causes = report.latencies.as_ref().unwrap().to_end.len();
    assert!(causes > 8, "{causes}");
    assert_eq!(of_table(&html, "to-end"), causes);
    assert!(html.contains(&format!("{} more causes are left out here. The table has all.", causes - 8)));
}

#[test]
fn every_long_list_of_the_markdown_and_of_the_text_says_what_it_leaves_out() {
    let (report, _, lines, instructions) = long();
    let markdown = report.to_markdown();
    let deaths = report.deaths.as_ref().unwrap();
    for (title, count) in [
        ("By source line", lines),
        ("By instruction", instructions),
        ("By kernel", 30),
        ("By bit", report.bits.len()),
        ("Causes of death", deaths.rows.len() + deaths.left_out as usize),
    ] {
        assert_eq!(of_markdown(&markdown, title), count, "{title}");
    }
    let method = markdown.split("## Method").nth(1).unwrap();
    assert_eq!(method.matches(" race in shared memory").count() + left_out(method), 60);
    assert!(method.contains(" × replay the run: &lt;out of luck&gt;"), "{method}");
    let text = report::text::summary(&report.summary, |name| name);
    let known = lines - 1;
    assert!(text.contains(&format!("{} more lines are left out here", known - 10)), "{text}");
    assert!(text.contains("  50 more are left out here\n"), "{text}");
}

#[test]
fn a_comparison_has_every_line_of_both_and_its_views_count_what_they_leave_out() {
    let (report, _, lines, _) = long();
    let comparison = CampaignComparison::new(&report, &report, ["a".into(), "b".into()]);
    // Each line for SDC and for DUE; what has no line is no line.
    assert_eq!(comparison.lines.len(), 2 * (lines - 1));
    assert_eq!(of_table(&comparison.to_html("0"), "t-lines"), comparison.lines.len());
    assert_eq!(of_markdown(&comparison.to_markdown(), "Source lines"), comparison.lines.len());
    let text = comparison.to_text();
    let rest = text.rsplit("\n\n").nth(1).unwrap();
    assert!(rest.ends_with(&format!("{} more are left out here", comparison.lines.len() - 60)), "{rest}");
}
