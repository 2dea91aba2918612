//! The frame of a page: its head, its sections, its figures.

use campaign::names::printable;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A section: its id, its title, its contents.
pub(crate) struct Section {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) body: Markup,
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
    // Names and sources are text out of files, and a page is read as a terminal is: nothing in it moves or turns round.
    printable(&page.into_string()).into_owned()
}

/// A figure that scrolls within the page, with its caption.
pub(super) fn figure(chart: &Markup, caption: &str) -> Markup {
    html! { figure { div.scroll tabindex="0" role="region" aria-label=(caption) { (chart) } figcaption { (caption) } } }
}
