//! Names from a campaign are text, whatever they are.

use crate::made;
use crate::synthetic::{self, Synthetic};
use report::CampaignComparison;

const NAMES: [&str; 4] = [
    "<script>alert(1)</script>",
    "\"onload=\"alert(1)",
    "a|b`c*d_e\n# heading",
    "</style><img src=x onerror=alert(1)>",
];

/// No markup of ours comes from a name: the page has the tags that it has with harmless names.
#[test]
fn a_kernel_called_script_is_harmless() {
    let hostile = |name: &str| Synthetic {
        kernels: vec![name.to_owned(), "other".into()],
        file: name.to_owned(),
        output: name.to_owned(),
        ..Synthetic::default()
    };
    let (_dir, _, plain) = made(synthetic::runs(400), &hostile("kernel"));
    let tags = |html: &str| {
        let mut tags: Vec<String> = html
            .split('<')
            .skip(1)
            .filter_map(|tag| tag.split([' ', '>', '/']).find(|part| !part.is_empty()).map(str::to_owned))
            .collect();
        tags.sort();
        tags.dedup();
        tags
    };
    for name in NAMES {
        let (_dir, _, report) = made(synthetic::runs(400), &hostile(name));
        let html = report.to_html();
        assert_eq!(tags(&html), tags(&plain.to_html()), "{name}");
        assert_eq!(html.matches("<script").count(), 1, "{name}");
        assert!(!html.contains("\"onload=\"alert"), "{name}");
        assert!(!html.contains("<img"), "{name}");
        let markdown = report.to_markdown();
        assert!(
            !markdown.contains("<script") && !markdown.contains("<img") && !markdown.contains("\n# heading"),
            "{markdown}"
        );
        let comparison = CampaignComparison::new(&report, &plain, [name.to_owned(), "b".to_owned()]);
        assert_eq!(comparison.to_html("0").matches("<script").count(), 1, "{name}");
        assert!(!comparison.to_markdown().contains("<script"), "{name}");
        serde_json::from_str::<serde_json::Value>(&report.to_sarif().unwrap()).unwrap();
    }
}

#[test]
fn no_control_character_of_a_name_is_in_what_is_written() {
    let name = "k\u{1b}[2J\u{9b}31m\r\u{202e}x";
    let names = Synthetic {
        kernels: vec![name.to_owned(), "other".into()],
        file: name.to_owned(),
        output: name.to_owned(),
        ..Synthetic::default()
    };
    let (_dir, _, report) = made(synthetic::runs(400), &names);
    let comparison = CampaignComparison::new(&report, &report, [name.to_owned(), "b".to_owned()]);
    let mut table = study::Table::new("t", &[name]);
    table.rows.push(vec![study::Cell::text(name)]);
    table.notes.push(name.to_owned());
    for text in [
        report.to_html(),
        report.to_markdown(),
        comparison.to_html("0"),
        comparison.to_markdown(),
        report::study::markdown(&table),
    ] {
        let wrong = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
        assert!(!text.contains(wrong), "{:?}", text.chars().find(|&c| wrong(c)));
        assert!(text.contains("\\u202ex") || text.contains("\\\\u202ex"));
    }
}
