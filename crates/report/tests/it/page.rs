//! The page stands by itself, is well-formed, and has every section.

use crate::synthetic::{self, Synthetic};
use crate::{made, sampled};
use report::CampaignComparison;

/// Elements without an end tag.
const VOID: [&str; 3] = ["meta", "!DOCTYPE", "br"];

/// Checks that every element is closed, in order; returns the ids.
fn ids_of_well_formed(html: &str) -> Vec<String> {
    let (mut open, mut ids): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let tag = &rest[start + 1..];
        let end = tag.find('>').expect("a tag ends");
        let (inside, after) = (&tag[..end], &tag[end + 1..]);
        let name = inside.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        rest = after;
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes something else");
        } else if !VOID.contains(&name) {
            open.push(name);
            if let Some(id) = inside.split(" id=\"").nth(1) {
                ids.push(id.split('"').next().unwrap().to_owned());
            }
        }
        // Style and script are no markup.
        if !inside.starts_with('/') && (name == "style" || name == "script") {
            rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
        }
    }
    assert!(open.is_empty(), "{open:?} is not closed");
    ids
}

#[test]
fn the_page_is_well_formed_and_its_links_lead_somewhere() {
    let html = sampled(1200).to_html();
    let mut ids = ids_of_well_formed(&html);
    for link in html.split("href=\"#").skip(1) {
        let id = link.split('"').next().unwrap();
        assert!(ids.iter().any(|other| other == id), "#{id} leads nowhere");
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is there twice");
    for id in
        ["summary", "source", "places", "sites", "bits", "time", "fates", "magnitudes", "method", "kernels", "groups"]
    {
        assert!(ids.iter().any(|other| other == id), "no #{id}");
    }
}

#[test]
fn every_kind_of_page_is_well_formed() {
    let (_dir, _, exhaustive) = made(synthetic::exhaustive(), &Synthetic::default());
    ids_of_well_formed(&exhaustive.to_html());
    let (_dir, _, empty) = made(synthetic::runs(9), &Synthetic { stop: true.into(), ..Synthetic::default() });
    ids_of_well_formed(&empty.to_html());
    let comparison = CampaignComparison::new(&sampled(200), &exhaustive, ["a".into(), "b".into()]);
    ids_of_well_formed(&comparison.to_html("0"));
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let html = sampled(300).to_html();
    for word in ["http://", "https://", " src=", "url(h", "@import", "<link"] {
        assert!(!html.contains(word), "`{word}`");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn the_source_shows_the_lines_that_were_hit_and_folds_the_others() {
    let html = sampled(2000).to_html();
    assert!(html.contains("statement_10;") && html.contains("id=\"L10\""));
    assert!(html.contains("lines 1 to 6: no faults"), "{html}");
    // 33 to 200 are 168 lines, of which the ends are kept.
    assert!(html.contains("lines are left out here"));
    assert!(!html.contains("statement_120;"));
    assert!(html.contains("op.f32 %f0, %f1;"));
}

#[test]
fn every_chart_has_words_and_titles() {
    let html = sampled(2000).to_html();
    let charts = html.matches("role=\"img\"").count();
    // The shares, the bits, two maps, the launches, two kernels in time, two curves, four histograms.
    assert_eq!(charts, 13);
    let labelled =
        html.split("role=\"img\"").skip(1).filter(|rest| rest.trim_start().starts_with("aria-label=\"")).count();
    assert_eq!(labelled, charts);
    assert!(html.matches("<title>").count() > 200);
}

#[test]
fn a_million_instructions_would_not_make_the_page_larger() {
    let target = Synthetic { instructions: 3000, ..Synthetic::default() };
    let (_dir, _, report) = made(synthetic::runs(6000), &target);
    let html = report.to_html();
    assert!(html.len() < 1_500_000, "{} bytes", html.len());
    assert!(html.contains("more instructions are left out here"));
    assert_eq!(report.instructions.rows.len(), 100);
}
