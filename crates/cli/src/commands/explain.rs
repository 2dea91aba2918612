//! The story of a fault as text.

use crate::out::number;
use campaign::story::{Change, Deed, Line, Share, Spread, Step, Story};
use campaign::{End, FirstUse};
use std::fmt::Write;

/// Steps that are shown, at most.
const SHOWN: usize = 24;

/// The story as a page of text.
pub(crate) fn render(story: &Story) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = tell(&mut text, story);
    text
}

fn tell(text: &mut String, story: &Story) -> std::fmt::Result {
    let site = &story.site;
    let place = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    writeln!(text, "{}", site.id)?;
    writeln!(
        text,
        "launch {} of {}, block {}, thread {}, its instruction {}\n",
        site.launch,
        kernel(&site.kernel),
        place(story.block),
        place(story.thread),
        number(site.dynamic)
    )?;
    match &story.instruction {
        Some(line) => instruction(text, line)?,
        None => writeln!(text, "  the thread executes no such instruction")?,
    }
    struck(text, story)?;
    steps(text, story)?;
    path(text, story)?;
    memory(text, story)?;
    ending(text, story)
}

/// A kernel's plain name.
fn kernel(name: &str) -> &str {
    fault::base_name(name)
}

/// `file.cu:12`, without directories.
fn source_place(line: &Line) -> Option<String> {
    let file = line.file.as_deref()?;
    Some(format!("{}:{}", file.rsplit('/').next().unwrap_or(file), line.line?))
}

fn instruction(text: &mut String, line: &Line) -> std::fmt::Result {
    if let Some(place) = source_place(line) {
        writeln!(text, "  {place}    {}", line.source.as_deref().unwrap_or("(the source is not in the capsule)"))?;
    }
    writeln!(text, "  pc {}    {}\n", line.pc, line.ptx)
}

fn struck(text: &mut String, story: &Story) -> std::fmt::Result {
    let site = &story.site;
    let Some(landed) = story.observation.landed else {
        return writeln!(text, "Nothing was hit: {} is not there, or has not these bits.", site.target);
    };
    let others = match landed.threads {
        1 => String::new(),
        threads => format!(", and so in {} more threads of the warp", threads - 1),
    };
    let change = story.steps.first().and_then(|step| step.writes.first());
    let ty = change.map_or("", |change| change.ty.as_str());
    let what = match site.model.as_str() {
        "flip" if site.bits.contains('+') => format!("bits {} of {}", site.bits, site.target),
        "flip" => format!("bit {} of {}", site.bits, site.target),
        model => format!("{} ({model})", site.target),
    };
    let (before, after) = (value(ty, landed.before), value(ty, landed.after));
    if landed.before == landed.after {
        writeln!(text, "The fault: {what} was {before} and stays so{others}.")
    } else {
        writeln!(text, "The fault: {what}: {before} became {after}{others}.")
    }
}

fn steps(text: &mut String, story: &Story) -> std::fmt::Result {
    let steps: Vec<&Step> = story.steps.iter().skip(1).collect();
    if steps.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nWhat the thread did with it, by instructions after the fault:")?;
    let shown = &steps[..steps.len().min(SHOWN)];
    let width = shown.iter().map(|step| step.at.ptx.len()).max().unwrap_or(0).min(60);
    for step in shown {
        let place = source_place(&step.at).unwrap_or_default();
        let changes: Vec<String> = step.writes.iter().map(change).collect();
        let line = format!(
            "  {:>6}  {:<9} {:<width$}  {}  {place}",
            format!("+{}", step.after),
            deed(step.what),
            step.at.ptx,
            changes.join(", ")
        );
        writeln!(text, "{}", line.trim_end())?;
    }
    let more = (steps.len() - shown.len()) as u64 + story.steps_left_out;
    if more > 0 { writeln!(text, "  … and {} more steps", number(more)) } else { Ok(()) }
}

fn deed(deed: Deed) -> &'static str {
    match deed {
        Deed::Hit => "hit",
        Deed::Spreads => "spreads",
        Deed::Absorbs => "absorbs",
        Deed::Receives => "receives",
        Deed::Stores => "stores",
        Deed::Decides => "decides",
        Deed::Diverges => "diverges",
        Deed::Dies => "dies",
        Deed::Replaces => "replaces",
    }
}

fn change(change: &Change) -> String {
    let Change { register, ty, golden, found } = change;
    format!("{register}: {} → {}", value(ty, *golden), value(ty, *found))
}

/// Bits as a value of a type.
fn value(ty: &str, bits: u128) -> String {
    match ty {
        "f32" => format!("{:?}", f32::from_bits(bits as u32)),
        "f64" => format!("{:?}", f64::from_bits(bits as u64)),
        "s16" => (bits as i16).to_string(),
        "s32" => (bits as i32).to_string(),
        "s64" => (bits as i64).to_string(),
        "u8" | "u16" | "u32" => bits.to_string(),
        "pred" => (if bits == 0 { "false" } else { "true" }).to_owned(),
        _ => format!("{bits:#x}"),
    }
}

fn path(text: &mut String, story: &Story) -> std::fmt::Result {
    if story.observation.landed.is_none() {
        return Ok(());
    }
    let path = &story.path;
    writeln!(text, "\nThe thread:")?;
    match story.observation.first_use {
        FirstUse::Read { after: 0 } => writeln!(text, "  the instruction that was hit read the value")?,
        FirstUse::Read { after } => writeln!(text, "  first read {} instructions later", number(after))?,
        FirstUse::Overwritten { after } => {
            writeln!(text, "  overwritten unread {} instructions later", number(after))?;
        }
        FirstUse::Never => writeln!(text, "  never read")?,
    }
    writeln!(text, "  at most {} registers corrupted at a time", path.most_registers)?;
    if let Some(after) = path.clean_after {
        writeln!(text, "  nothing corrupted left in its registers {} instructions after the fault", number(after))?;
    }
    if let Some(after) = path.left_after {
        writeln!(text, "  went another way {} instructions after the fault", number(after))?;
    }
    if path.golden != path.found {
        writeln!(text, "  executed {} instructions instead of {}", number(path.found), number(path.golden))?;
    }
    if let Some(Share { count, of }) = story.threads {
        writeln!(text, "  {count} of {of} threads of its block computed something else")?;
    }
    if path.shared_bytes > 0 {
        writeln!(text, "  {} bytes of the block's shared memory differ at its end", number(path.shared_bytes))?;
    }
    Ok(())
}

fn memory(text: &mut String, story: &Story) -> std::fmt::Result {
    if story.observation.landed.is_none() || (story.launches.is_empty() && story.copies.is_empty()) {
        return Ok(());
    }
    writeln!(text, "\nMemory, launch by launch:")?;
    for spread in &story.launches {
        writeln!(text, "  launch {:>3}  {:<20}  {}", spread.launch, kernel(&spread.kernel), spread_words(spread))?;
    }
    for copy in &story.copies {
        let output = copy.output.as_deref().map_or(String::new(), |name| format!(", the output {name}"));
        let Share { count, of } = copy.bytes;
        let (count, of) = (number(count), number(of));
        writeln!(
            text,
            "  after {} launches the host reads {count} of {of} bytes otherwise{output}",
            copy.after_launches
        )?;
    }
    Ok(())
}

fn spread_words(spread: &Spread) -> String {
    let blocks = match spread.blocks {
        Some(Share { count, of }) => format!("in {} of {} blocks; ", number(count), number(of)),
        None => String::new(),
    };
    if spread.bytes == 0 {
        return format!("{blocks}no byte of device memory differs when it ends");
    }
    let patches: Vec<String> = spread
        .allocations
        .iter()
        .map(|patch| {
            let name = patch.name.clone().unwrap_or_else(|| format!("{:#x}", patch.address));
            format!("{} of {} in {name}", number(patch.bytes.count), number(patch.bytes.of))
        })
        .collect();
    format!("{blocks}{} bytes differ when it ends: {}", number(spread.bytes), patches.join(", "))
}

fn ending(text: &mut String, story: &Story) -> std::fmt::Result {
    writeln!(text)?;
    let at = |at: &campaign::Place| {
        let line = at.line.map_or_else(String::new, |line| format!(", line {line}"));
        let after = number(at.after);
        format!(
            "in {}, instruction {}{line}, {after} instructions of the thread after first use",
            kernel(&at.kernel),
            at.pc
        )
    };
    match &story.observation.end {
        End::Completed => writeln!(text, "The program ran to its end.")?,
        End::Trapped { trap, at: place } => writeln!(text, "It died of {trap} {}.", at(place))?,
        End::Hang { at: place } => writeln!(text, "It hung {}.", at(place))?,
        End::Detected { by } => writeln!(text, "It was detected by {by}.")?,
    }
    for output in story.observation.outputs.iter().filter(|output| output.differing > 0) {
        writeln!(
            text,
            "Output {}: {} of {} elements differ, largest error {:.3e} absolute, {:.3e} relative, {:.3e} in L2.",
            output.name,
            number(output.differing),
            number(output.elements),
            output.max_abs,
            output.max_rel,
            output.rel_l2
        )?;
    }
    if story.observation.host_visible {
        writeln!(text, "The host saw a difference before the end.")?;
    }
    let kind = story.kind.as_deref().map_or_else(String::new, |kind| format!(", {kind}"));
    writeln!(text, "Outcome: {}{kind}.", story.outcome)
}
