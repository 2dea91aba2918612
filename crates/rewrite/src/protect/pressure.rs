//! How many registers a function needs at least, as it can be known before an assembler allocates them.

use crate::protect::undefined::facts;
use facts::{Facts, Flow, RegSet, Width};
use isa::Function;

/// The most words of 32 bits that are live at one place of a function. Predicates have registers of their own.
#[must_use]
pub fn live_words(function: &Function) -> u32 {
    let facts: Vec<Facts> = function.body.iter().map(facts).collect();
    let (flow, registers) = (Flow::of(&facts), function.registers.len());
    let live_in = flow.live_in(&facts, registers);
    let words = |live: &RegSet| -> u32 {
        let widths = live.iter().filter_map(|register| function.registers.get(register.index()));
        let word = |width: Width| if width == Width::Pred { 0 } else { width.bits().div_ceil(32) };
        widths.map(|register| word(register.width())).sum()
    };
    let mut most = 0;
    for (number, block) in flow.blocks.iter().enumerate() {
        let mut live = flow.live_out(number, &live_in, registers);
        most = most.max(words(&live));
        for facts in facts[block.start.index()..block.end.index()].iter().rev() {
            live.step_back(facts);
            most = most.max(words(&live));
        }
    }
    most
}
