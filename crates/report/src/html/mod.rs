//! The report as one page: no file beside it, nothing loaded from anywhere.
//!
//! Everything can be read without scripts; a small one adds sorting, tooltips and a choice of theme. Text is escaped by
//! `maud`, without exception: only our own style and script are put in as they are.

mod breakdowns;
mod chart;
mod fate;
mod method;
mod overview;
mod sites;
mod source;
mod table;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::document::Report;
pub(crate) use table::{table, track_of};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A section: its id, its title, its contents.
pub(crate) struct Section {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) body: Markup,
}

impl Report {
    /// The report as one self-contained page.
    #[must_use]
    pub fn to_html(&self) -> String {
        let sections: Vec<Section> = [
            overview::section(self),
            source::section(self),
            breakdowns::by_place(self),
            sites::section(self),
            breakdowns::by_bit(self),
            breakdowns::by_time(self),
            fate::deaths(self),
            fate::magnitudes(self),
        ]
        .into_iter()
        .chain(crate::story::section(self))
        .chain([method::section(self)])
        .collect();
        let title = &self.summary.capsule.name;
        let header = html! {
            h1 { (title) }
            button id="theme" type="button" hidden { "theme" }
            p { (self.provenance.faults.split(". ").next().unwrap_or_default()) "." }
        };
        page(&format!("{title}: what faults do"), &header, &sections, &self.provenance.version)
    }
}

/// A whole page.
pub(crate) fn page(title: &str, header: &Markup, sections: &[Section], version: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="referrer" content="no-referrer";
                // Nothing but what is in the page: a script or an image that got in somehow would not be loaded.
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the report" }
                nav aria-label="sections" { ul { @for section in sections {
                    li { a href=(format!("#{}", section.id)) { (section.title) } }
                } } }
                main id="main" {
                    header { (header) }
                    @for section in sections {
                        section id=(section.id) aria-labelledby=(format!("h-{}", section.id)) {
                            h2 id=(format!("h-{}", section.id)) { (section.title) }
                            (section.body)
                        }
                    }
                }
                footer { "Made by beamline " (version) ". SDC: silent data corruption. DUE: detected unrecoverable error." }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// A figure that scrolls within the page, with its caption.
fn figure(chart: &Markup, caption: &str) -> Markup {
    html! { figure { div.scroll tabindex="0" role="region" aria-label=(caption) { (chart) } figcaption { (caption) } } }
}
