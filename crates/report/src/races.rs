//! The data races of the fault-free run, in sentences that text, Markdown and page share.

use campaign::{DataRace, RacedMemory, Racers, RacingAccess};

use crate::findings::place;
use crate::number::plain;

/// What a race means for the numbers.
pub(crate) const MEANING: &str = "The fault-free run has data races: accesses to the same bytes whose order nothing decides. \
     Their kernels run with their warps interleaved, in one of the orders that a GPU may choose.";

/// How far races were looked for.
pub(crate) fn unsearched(part: &str) -> String {
    format!(
        "Data races were {part}; where they were not, a race can be hidden, and its kernel runs one warp after the other."
    )
}

/// A race in words. `short_name` gives the name that people use for a kernel.
pub(crate) fn said<'a>(race: &'a DataRace, short_name: impl Fn(&'a str) -> &'a str) -> String {
    let who = match race.between {
        Racers::Warps => "warps of a block",
        Racers::Blocks => "blocks",
    };
    let memory = match race.memory {
        RacedMemory::Shared => "shared",
        RacedMemory::Global => "global",
    };
    let at = |access: &RacingAccess| match access.line {
        Some(_) => place(access.file.as_deref(), access.line),
        None => format!("instruction {}", access.pc),
    };
    let [first, second] = &race.accesses;
    format!(
        "{}: {who} race in {memory} memory at {} and {} ({} words)",
        short_name(&race.kernel),
        at(first),
        at(second),
        plain(race.words)
    )
}
