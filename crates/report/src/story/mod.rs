//! The story of a fault, as text and as a part of the page.

mod text;
mod words;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use maud::{Markup, html};

use crate::document::{Report, run_command};
use crate::html::Section;
use crate::number::plain;
use crate::study::png;
use campaign::story::{Story, StoryStep};
pub use text::story;

/// Steps that a page shows of a story.
const SHOWN: usize = 40;
/// Launches, and copies, that it shows before they are opened.
const OPEN: usize = 12;

/// The section of stories; none if nobody told one.
pub(crate) fn section(report: &Report) -> Option<Section> {
    let body = html! {
        p.soft { "Single faults, followed step by step beside the run without a fault: what was hit, what the thread did with it, how far it came in memory, and how it ended." }
        @for (number, story) in report.stories.iter().enumerate() { (one(report, story, number == 0)) }
    };
    (!report.stories.is_empty()).then_some(Section { id: "stories", title: "Stories", body })
}

fn one(report: &Report, story: &Story, open: bool) -> Markup {
    let kernel = report.kernel(&story.site.spot.kernel);
    let place = story.instruction.as_ref().and_then(words::place);
    let kind = story.kind.as_deref().unwrap_or_default();
    html! {
        details.story open[open] {
            summary { b { (story.outcome) @if !kind.is_empty() { ", " (kind) } } " — " (words::fault(story).trim_start_matches("The fault: "))
                span.soft { " " (kernel) @if let Some(place) = &place { ", " (place) } } }
            @if let Some(line) = &story.instruction {
                @if let Some(source) = &line.source { p { code { (source) } } }
                p.small { "pc " (line.pc) " " code { (line.ptx) } }
            }
            (steps(story))
            ul.find { @for said in words::thread(story) { li { (said) } } }
            @if story.observation.landed.is_some() && !(story.launches.is_empty() && story.copies.is_empty()) {
                @let launches = story.launches.iter().map(|corruption| {
                    format!("launch {}, {}: {}", corruption.launch, report.kernel(&corruption.kernel), words::corruption(corruption))
                });
                (folded(&launches.collect::<Vec<_>>(), "launches"))
                (folded(&words::copies(story), "copies"))
            }
            (pictures(report, story))
            @for said in words::end(story, &|name| report.kernel(name).to_owned()) { p { (said) } }
            code.cmd tabindex="0" { (run_command(&report.summary.config, story.site.id.as_deref().unwrap_or_default())) }
        }
    }
}

/// The pictures of what a fault corrupts, each after the launch at whose end most of it differs.
fn pictures(report: &Report, story: &Story) -> Markup {
    let known = story.site.id.as_ref().and_then(|id| report.pictures.get(id));
    // A picture that cannot be drawn is left out; the sentences say what it would show.
    let drawn = known.into_iter().flatten().filter_map(|it| Some((it, png(it).ok()?)));
    html! {
        @for (picture, bytes) in drawn {
            figure {
                img src={ "data:image/png;base64," (BASE64_STANDARD.encode(bytes)) } alt=(format!("golden, faulty and difference of {}", picture.name));
                figcaption { (picture.name) @for frame in &picture.frames { ", " (frame.caption) } }
            }
        }
    }
}

/// The first of some sentences; more of them open on demand.
fn folded(sentences: &[String], of_what: &str) -> Markup {
    let (first, more) = sentences.split_at(sentences.len().min(OPEN));
    html! {
        @if !first.is_empty() { ul.find { @for said in first { li { (said) } } } }
        @if !more.is_empty() {
            details { summary { (plain(more.len() as u64)) " more " (of_what) } ul.find { @for said in more { li { (said) } } } }
        }
    }
}

fn steps(story: &Story) -> Markup {
    let shown: Vec<&StoryStep> = story.steps.iter().skip(1).take(SHOWN).collect();
    if shown.is_empty() {
        return html! {};
    }
    let more = story.steps.len().saturating_sub(1 + shown.len()) as u64 + story.steps_left_out;
    html! {
        div.scroll tabindex="0" role="region" aria-label="What the thread did with it" {
            table {
                thead { tr {
                    th.n scope="col" { "after" } th scope="col" { "it" } th scope="col" { "instruction" }
                    th scope="col" { "without → with the fault" } th scope="col" { "line" }
                } }
                tbody { @for step in shown { tr {
                    td.n { "+" (step.after) } td { (words::propagation(step.what)) } td { code { (step.at.ptx) } }
                    td { @for change in &step.writes { (words::change(change)) " " } }
                    td.l { (words::place(&step.at).unwrap_or_default()) }
                } } }
            }
        }
        @if more > 0 { p.small.soft { (plain(more)) " more steps are left out here." } }
    }
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn many_launches_are_folded_and_none_is_lost() {
        let sentences: Vec<String> = (0..300).map(|launch| format!("launch {launch}, k: 4 bytes differ")).collect();
        let folded_all = folded(&sentences, "launches").into_string();
        assert_eq!(folded_all.matches("<li>").count(), 300);
        assert!(folded_all.contains("<summary>288 more launches</summary>"), "{folded_all}");
        assert!(!folded(&sentences[..12], "launches").into_string().contains("<details>"));
    }
}
