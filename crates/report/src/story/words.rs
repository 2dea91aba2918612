//! What a story says, in sentences that text and page share.

use campaign::story::{Change, LaunchCorruption, Line, Outside, Propagation, Share, Story};
use outcome::{End, FirstUse};

use crate::findings::file_name;
use crate::number::plain;

/// `file.cu:12`, without directories.
pub(crate) fn place(line: &Line) -> Option<String> {
    Some(format!("{}:{}", file_name(line.file.as_deref()?), line.line?))
}

/// What happened to the bits.
pub(crate) fn fault(story: &Story) -> String {
    let site = &story.site;
    let Some(landed) = story.observation.landed else {
        return format!("Nothing was hit: {} is not there, or has not these bits.", site.spot.target);
    };
    let others = match landed.threads {
        1 => String::new(),
        threads => format!(", and so in {} more threads of the warp", threads - 1),
    };
    let change = story.steps.first().and_then(|step| step.writes.first());
    let ty = change.map_or("", |change| change.ty.as_str());
    let (target, bits) = (&site.spot.target, site.text("bits").unwrap_or_default());
    let what = match site.text("model").unwrap_or_default() {
        "flip" if bits.contains('+') => format!("bits {bits} of {target}"),
        "flip" => format!("bit {bits} of {target}"),
        model => format!("{target} ({model})"),
    };
    let (before, after) = (value(ty, landed.before), value(ty, landed.after));
    if landed.before == landed.after {
        format!("The fault: {what} was {before} and stays so{others}.")
    } else {
        format!("The fault: {what}: {before} became {after}{others}.")
    }
}

/// What an instruction did with corrupted values, in a word.
pub(crate) fn propagation(propagation: Propagation) -> &'static str {
    match propagation {
        Propagation::Hit => "hit",
        Propagation::Spreads => "spreads",
        Propagation::Absorbs => "absorbs",
        Propagation::Receives => "receives",
        Propagation::Stores => "stores",
        Propagation::Decides => "decides",
        Propagation::Diverges => "diverges",
        Propagation::Dies => "dies",
        Propagation::Replaces => "replaces",
    }
}

/// A register and its two values.
pub(crate) fn change(change: &Change) -> String {
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

/// So many instructions.
fn instructions(count: u64) -> String {
    if count == 1 { "1 instruction".to_owned() } else { format!("{} instructions", plain(count)) }
}

/// What became of the thread.
pub(crate) fn thread(story: &Story) -> Vec<String> {
    if story.observation.landed.is_none() {
        return Vec::new();
    }
    let path = &story.path;
    let mut said = vec![match story.observation.first_use {
        FirstUse::Read { after: 0 } => "the instruction that was hit read the value".to_owned(),
        FirstUse::Read { after } => format!("first read {} later", instructions(after)),
        FirstUse::Overwritten { after } => format!("overwritten unread {} later", instructions(after)),
        FirstUse::Never => "never read".to_owned(),
    }];
    if path.most_registers > 0 {
        said.push(format!("at most {} registers corrupted at a time", path.most_registers));
    }
    if let Some(after) = path.clean_after {
        said.push(format!("nothing corrupted left in its registers {} after the fault", instructions(after)));
    }
    if let Some(after) = path.left_after {
        said.push(format!("went another way {} after the fault", instructions(after)));
    }
    if path.golden != path.found {
        said.push(format!("executed {} instructions instead of {}", plain(path.found), plain(path.golden)));
    }
    if let Some(Share { count, of }) = story.threads {
        said.push(format!("{} of {} threads of its block computed something else", plain(count), plain(of)));
    }
    if path.shared_bytes > 0 {
        said.push(format!("{} bytes of the block's shared memory differ at its end", plain(path.shared_bytes)));
    }
    said
}

/// How far the corruption is in a launch.
pub(crate) fn corruption(corruption: &LaunchCorruption) -> String {
    let blocks = match corruption.blocks {
        Some(Share { count, of }) => format!("in {} of {} blocks; ", plain(count), plain(of)),
        None => String::new(),
    };
    if corruption.bytes == 0 {
        return format!("{blocks}no byte of device memory differs when it ends");
    }
    let patches = corruption.allocations.iter().map(|patch| {
        let name = patch.name.clone().unwrap_or_else(|| format!("{:#x}", patch.address));
        format!("{} of {} in {name}", plain(patch.bytes.count), plain(patch.bytes.of))
    });
    let outside = corruption.outside.map(|outside| {
        let Outside { bytes, first } = outside;
        format!("{} outside of every allocation, the first at {first:#x}", plain(bytes))
    });
    let patches: Vec<String> = patches.chain(outside).collect();
    format!("{blocks}{} bytes differ when it ends: {}", plain(corruption.bytes), patches.join(", "))
}

/// What the host reads otherwise.
pub(crate) fn copies(story: &Story) -> Vec<String> {
    let said = story.copies.iter().map(|copy| {
        let output = copy.output.as_deref().map_or(String::new(), |name| format!(", the output {name}"));
        let (count, of) = (plain(copy.bytes.count), plain(copy.bytes.of));
        format!("after {} launches the host reads {count} of {of} bytes otherwise{output}", copy.after_launches)
    });
    said.collect()
}

/// At most `most` of many lines, the first and the last; in their middle stands how many are not there.
pub(crate) fn abridged(mut lines: Vec<String>, most: usize, of_what: &str) -> Vec<String> {
    if lines.len() > most {
        let (first, left_out) = (most - most / 4, lines.len() - most);
        let said = format!("… {} more {of_what} are left out here …", plain(left_out as u64));
        lines.splice(first..first + left_out, [said]);
    }
    lines
}

/// How it ended.
pub(crate) fn end(story: &Story, name: &dyn Fn(&str) -> String) -> Vec<String> {
    let at = |at: &outcome::ProgramPoint| {
        let line = at.line.map_or_else(String::new, |line| format!(", line {line}"));
        let (kernel, after) = (name(&at.kernel), instructions(at.after));
        format!("in {kernel}, instruction {}{line}, {after} of the thread after first use", at.pc)
    };
    let mut said = vec![match &story.observation.end {
        End::Completed => "The program ran to its end.".to_owned(),
        End::Trapped { trap, at: place, address } => {
            let address = address.map_or_else(String::new, |address| format!(" at address {address:#x},"));
            format!("It died of {trap}{address} {}.", at(place))
        }
        End::Hang { at: place, endless: true } => format!("It hung: a loop that never ends, {}.", at(place)),
        End::Hang { at: place, endless: false } => {
            format!("It hung: a loop that nothing in reach ends, {}.", at(place))
        }
        End::OutOfFuel { at: place } => format!("It was stopped out of fuel {}.", at(place)),
        End::Detected { by } => format!("It was detected by {by}."),
        End::Exited { code } => format!("The application returned {code}."),
        End::Signalled { signal } => format!("The application was ended by signal {signal}."),
        End::TimedOut => "The application was stopped at its limit of time.".to_owned(),
    }];
    for output in story.observation.outputs.iter().filter(|output| output.differing > 0) {
        said.push(format!(
            "Output {}: {} of {} elements differ, largest error {:.3e} absolute, {:.3e} relative, {:.3e} in L2.",
            output.name,
            plain(output.differing),
            plain(output.elements),
            output.max_abs,
            output.max_rel,
            output.rel_l2
        ));
    }
    if story.observation.host_visible {
        said.push("The host saw a difference before the end.".to_owned());
    }
    let kind = story.kind.as_deref().map_or_else(String::new, |kind| format!(", {kind}"));
    said.push(format!("Outcome: {}{kind}.", story.outcome));
    said
}

#[cfg(test)]
mod tests {
    use super::abridged;

    #[test]
    fn of_many_lines_the_first_and_the_last_stay_and_the_others_are_counted() {
        let lines = |count: usize| (0..count).map(|line| line.to_string()).collect::<Vec<_>>();
        assert_eq!(abridged(lines(8), 8, "launches"), lines(8));
        let expected = ["0", "1", "2", "3", "4", "5", "… 1 192 more launches are left out here …", "1198", "1199"];
        assert_eq!(abridged(lines(1200), 8, "launches"), expected);
    }
}
