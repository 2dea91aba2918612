//! A comparison as a page, as Markdown and as text for a terminal.

use campaign::names::printable;
use maud::{Markup, html};

use super::{CampaignComparison, Contrast};
use crate::findings::said;
use crate::html::{Section, page, table, track_of};
use crate::markdown;
use crate::number::{interval, percent, plain};

/// Contrasts of a list.
const ROWS: usize = 60;

/// `+1.20 (0.40–2.00)` in points of percent.
fn change(contrast: &Contrast) -> String {
    let signed = |value: f64| format!("{}{}", if value > 0.0 { "+" } else { "" }, percent(value).replace('-', "−"));
    match (contrast.difference, contrast.low, contrast.high) {
        (Some(found), Some(low), Some(high)) if low == found && high == found => signed(found),
        (Some(found), Some(low), Some(high)) => format!("{} ({} to {})", signed(found), signed(low), signed(high)),
        _ => "–".to_owned(),
    }
}

/// What may be said of it.
fn verdict(contrast: &Contrast) -> &'static str {
    if let Some(why) = contrast.not_comparable {
        return why;
    }
    match contrast.difference {
        Some(found) if contrast.clear && found > 0.0 => "more in B",
        Some(found) if contrast.clear && found < 0.0 => "less in B",
        Some(_) => "not told apart",
        None => "not known",
    }
}

fn p_value(contrast: &Contrast) -> String {
    match contrast.adjusted {
        None => "–".to_owned(),
        Some(p) if p < 0.0001 => "< 0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
    }
}

impl CampaignComparison {
    /// The lists with their titles.
    fn lists(&self) -> [(&'static str, &'static str, &[Contrast]); 5] {
        [
            ("outcomes", "Outcomes", &self.outcomes),
            ("kinds", "Kinds", &self.kinds),
            ("kernels", "Kernels", &self.kernels),
            ("groups", "Instruction groups", &self.groups),
            ("lines", "Source lines", &self.lines),
        ]
    }

    fn introduction(&self) -> String {
        format!(
            "B less A, in points of percent, with the {} of the difference (Newcombe's, from two Wilson intervals). p is of the \
             score test that there is no difference (Fisher's where few runs are expected), adjusted for the other tests of its list (Holm).",
            interval(self.level)
        )
    }

    /// The comparison as one self-contained page.
    #[must_use]
    pub fn to_html(&self, version: &str) -> String {
        let title = format!("{} and {}", self.a.dir, self.b.dir);
        let header = html! { h1 { (title) } button id="theme" type="button" hidden { "theme" } };
        let mut sections = vec![self.html_summary()];
        for (id, title, contrasts) in self.lists() {
            let rows: Vec<Markup> = contrasts.iter().take(ROWS).map(html_row).collect();
            let heads = html! {
                th scope="col" data-s { "of" } th scope="col" data-s { "outcome" }
                th.n scope="col" data-s { "A" } th {} th.n scope="col" data-s { "B" } th {}
                th.n scope="col" data-s { "B − A (" (interval(self.level)) ")" } th.n scope="col" data-s { "p" } th scope="col" data-s { "" }
            };
            let more = (contrasts.len() - rows.len()) as u64;
            sections.push(Section { id, title, body: table(&format!("t-{id}"), title, &heads, &rows, more, "rates") });
        }
        page(&title, &header, &sections, version)
    }

    fn html_summary(&self) -> Section {
        let side = |name: &str, side: &super::Side| {
            html! {
                dt { (name) } dd { (side.dir) ": " (side.capsule.name) ", " (plain(side.runs.landed)) " landed of " (plain(side.runs.planned)) }
                dt { "digest" } dd.mono { (side.capsule.digest) }
                dt { "made by" } dd.mono { (side.repeat) }
            }
        };
        let body = html! {
            @for warning in &self.warnings { p.note { (warning) } }
            dl { (side("A", &self.a)) (side("B", &self.b))
                @for setting in &self.settings {
                    dt { (setting.key) } dd { (setting.a.as_deref().unwrap_or("–")) " → " (setting.b.as_deref().unwrap_or("–")) }
                }
            }
            p.small.soft { (self.introduction()) }
        };
        Section { id: "summary", title: "What is compared", body }
    }

    /// The comparison as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let escaped = markdown::escaped;
        let mut text = format!("# {} and {}\n\n", escaped(&self.a.dir), escaped(&self.b.dir));
        for (name, side) in [("A", &self.a), ("B", &self.b)] {
            text += &format!(
                "- {name}: {}, {} landed of {}, {}\n",
                escaped(&side.capsule.name),
                plain(side.runs.landed),
                plain(side.runs.planned),
                markdown::code(&side.repeat)
            );
        }
        for warning in &self.warnings {
            text += &format!("\n> {}\n", escaped(warning));
        }
        text += &format!("\n{}\n", escaped(&self.introduction()));
        for (_, title, contrasts) in self.lists().into_iter().filter(|(_, _, contrasts)| !contrasts.is_empty()) {
            let rows: Vec<Vec<String>> = contrasts.iter().take(ROWS).map(row).collect();
            let rows: Vec<Vec<String>> =
                rows.iter().map(|row| row.iter().map(|cell| escaped(cell)).collect()).collect();
            let more = markdown::left_out((contrasts.len() - rows.len()) as u64);
            text += &format!("\n## {title}\n\n{}{more}", crate::table::markdown(&HEADER, "<<>>>><", &rows));
        }
        printable(&text).into_owned()
    }

    /// The comparison as text for a terminal.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (name, side) in [("A", &self.a), ("B", &self.b)] {
            let runs = &side.runs;
            text += &format!(
                "{name}: {}, {}, {} landed of {}\n",
                side.dir,
                side.capsule.name,
                plain(runs.landed),
                plain(runs.planned)
            );
        }
        for setting in &self.settings {
            text += &format!(
                "   {}: {} → {}\n",
                setting.key,
                setting.a.as_deref().unwrap_or("–"),
                setting.b.as_deref().unwrap_or("–")
            );
        }
        for warning in &self.warnings {
            text += &format!("note: {warning}\n");
        }
        for (_, _, contrasts) in self.lists().into_iter().filter(|(_, _, contrasts)| !contrasts.is_empty()) {
            let rows: Vec<Vec<String>> = contrasts.iter().take(ROWS).map(row).collect();
            text += &format!("\n{}", crate::table::plain(&HEADER, "<<>>>><", &rows));
            if rows.len() < contrasts.len() {
                text += &format!("{} more are left out here\n", plain((contrasts.len() - rows.len()) as u64));
            }
        }
        text + &format!("\n{}\n", self.introduction())
    }
}

const HEADER: [&str; 7] = ["of", "outcome", "A", "B", "B − A", "p", ""];

fn row(contrast: &Contrast) -> Vec<String> {
    vec![
        contrast.name.clone(),
        contrast.class.clone(),
        said(&contrast.a),
        said(&contrast.b),
        change(contrast),
        p_value(contrast),
        verdict(contrast).to_owned(),
    ]
}

fn html_row(contrast: &Contrast) -> Markup {
    let sort = |value: Option<f64>| value.unwrap_or(-2.0);
    html! {
        th scope="row" { (contrast.name) } td { (contrast.class) }
        td.n data-v=(sort(contrast.a.rate)) { (said(&contrast.a)) } td.p { (track_of(&contrast.class, &contrast.a)) }
        td.n data-v=(sort(contrast.b.rate)) { (said(&contrast.b)) } td.p { (track_of(&contrast.class, &contrast.b)) }
        td.n data-v=(sort(contrast.difference)) { (change(contrast)) }
        td.n data-v=(sort(contrast.adjusted)) { (p_value(contrast)) }
        td.l { @if contrast.clear { strong { (verdict(contrast)) } } @else { span.soft { (verdict(contrast)) } } }
    }
}
