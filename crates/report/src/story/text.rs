//! A story as a page of text.

use campaign::story::{Line, Story, StoryStep};

use super::words;
use crate::number::plain;

/// Steps that are shown, at most; and launches, and copies.
const SHOWN: usize = 24;

/// The story of a fault as text. `short_name` gives the name that people use for a kernel.
#[must_use]
pub fn story(story: &Story, short_name: fn(&str) -> &str) -> String {
    let site = &story.site;
    let place = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    let mut text = format!(
        "{}\nlaunch {} of {}, block {}, thread {}, its instruction {}\n\n",
        site.id.as_deref().unwrap_or_default(),
        site.number("launch").unwrap_or_default(),
        short_name(&site.spot.kernel),
        place(story.block),
        place(story.thread),
        plain(site.number("dynamic").unwrap_or_default())
    );
    text +=
        &story.instruction.as_ref().map_or_else(|| "  the thread executes no such instruction\n\n".into(), instruction);
    text += &format!("{}\n", words::fault(story));
    text += &steps(story);
    text += &list("\nThe thread:", words::thread(story));
    let launches = story.launches.iter().map(|corruption| {
        format!(
            "launch {:>3}  {:<20}  {}",
            corruption.launch,
            short_name(&corruption.kernel),
            words::corruption(corruption)
        )
    });
    let memory = if story.observation.landed.is_some() {
        let copies = words::abridged(words::copies(story), SHOWN, "copies");
        words::abridged(launches.collect(), SHOWN, "launches").into_iter().chain(copies).collect()
    } else {
        vec![]
    };
    text += &list("\nMemory, launch by launch:", memory);
    text + "\n" + &words::end(story, &|name| short_name(name).to_owned()).join("\n") + "\n"
}

/// A title and lines under it; nothing without lines.
fn list(title: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines = lines.into_iter().map(|line| format!("  {line}\n"));
    format!("{title}\n{}", lines.collect::<String>())
}

fn instruction(line: &Line) -> String {
    let source = line.source.as_deref().unwrap_or("(the source is not in the capsule)");
    let source = words::place(line).map_or_else(String::new, |place| format!("  {place}    {source}\n"));
    format!("{source}  pc {}    {}\n\n", line.pc, line.ptx)
}

fn steps(story: &Story) -> String {
    let steps: Vec<&StoryStep> = story.steps.iter().skip(1).collect();
    let shown = &steps[..steps.len().min(SHOWN)];
    let width = shown.iter().map(|step| step.at.ptx.len()).max().unwrap_or(0).min(60);
    let line = |step: &&StoryStep| {
        let changes: Vec<String> = step.writes.iter().map(words::change).collect();
        let (after, propagation) = (format!("+{}", step.after), words::propagation(step.what));
        let place = words::place(&step.at).unwrap_or_default();
        let line = format!("{after:>6}  {propagation:<9} {:<width$}  {}  {place}", step.at.ptx, changes.join(", "));
        line.trim_end().to_owned()
    };
    let mut lines: Vec<String> = shown.iter().map(line).collect();
    let more = (steps.len() - shown.len()) as u64 + story.steps_left_out;
    if more > 0 {
        lines.push(format!("… and {} more steps", plain(more)));
    }
    list("\nWhat the thread did with it, by instructions after the fault:", lines)
}
