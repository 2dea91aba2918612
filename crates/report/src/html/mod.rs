//! The report as one page: no file beside it, nothing loaded from anywhere.
//!
//! Everything can be read without scripts; a small one adds sorting, tooltips and a choice of theme. Text is escaped by
//! `maud`, without exception: only our own style and script are put in as they are.

mod breakdowns;
mod chart;
mod fate;
mod method;
mod overview;
mod page;
mod sites;
mod source;
mod table;

use maud::html;

use crate::document::Report;
pub(crate) use page::{Section, page};
pub(crate) use table::{table, track_of};

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
            @if let Some((first, _)) = self.provenance.faults.split_once(". ") { p { (first) "." } }
        };
        page(&format!("{title}: what faults do"), &header, &sections, &self.provenance.version)
    }
}
