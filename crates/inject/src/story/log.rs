//! What the threads of a block do, put down for a comparison.

use simt::registers::{LANES, Slot, has, lanes};
use simt::{Hook, InstructionContext, Interest, Program};

/// Instructions of the thread that are kept, at most; what comes later is not told.
const LONGEST: usize = 1 << 20;

/// An instruction that the thread came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Which.
    pub(crate) instruction: u32,
    /// Whether it executed it.
    pub(crate) executed: bool,
    /// What its destinations held afterwards, in their order.
    pub(crate) values: Vec<u128>,
}

/// What was put down.
#[derive(Debug)]
pub(crate) struct Log {
    /// By instruction, the rows that the instruction writes.
    writes: Vec<Vec<Slot>>,
    /// By instruction, whether a thread ends there.
    ends: Vec<bool>,
    thread: u32,
    /// The instruction of the thread from which on entries are kept, and how many it has executed.
    from: u64,
    begun: u64,
    /// Instructions of the thread, with those of loops that were not seen.
    pub(crate) executed: u64,
    pub(crate) entries: Vec<Entry>,
    /// By thread, a digest of everything that it computed.
    pub(crate) digests: Vec<u64>,
    /// Shared memory when a warp last came to its end.
    pub(crate) shared: Vec<u8>,
}

impl Log {
    pub(crate) fn new(program: &Program, thread: u32, from: u64, threads: usize) -> Self {
        let of = |(number, instruction): (u32, &simt::program::StaticInstruction)| {
            let written = instruction.facts.iter().flat_map(|facts| facts.writes());
            written.filter_map(|register| program.slot(number, register)).collect()
        };
        Self {
            writes: (0..).zip(&program.instructions).map(of).collect(),
            ends: program.instructions.iter().map(|instruction| program.ends(instruction)).collect(),
            thread,
            from,
            begun: 0,
            executed: 0,
            entries: Vec::new(),
            digests: vec![0; threads.next_multiple_of(LANES)],
            shared: Vec::new(),
        }
    }

    /// Whether the entry of the instruction that the thread is at is kept.
    fn keeps(&self) -> bool {
        self.begun > self.from && self.entries.len() <= LONGEST
    }
}

/// Mixes a word into a digest (FNV-1a, by words).
fn mix(digest: &mut u64, word: u64) {
    *digest = (*digest ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
}

impl Hook for Log {
    fn wants(&self, _: u32) -> bool {
        true
    }

    /// It is of what a thread does until its way is its own.
    fn may_miss(&self) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let first = context.warp as usize * LANES;
        for lane in lanes(context.executing) {
            mix(&mut self.digests[first + lane], u64::from(context.instruction) + 1);
        }
        if self.ends[context.instruction as usize] {
            self.shared.clear();
            self.shared.extend_from_slice(context.shared);
        }
        let lane = self.thread as usize % LANES;
        if context.warp == self.thread / LANES as u32 && has(context.active, lane) {
            let executed = has(context.executing, lane);
            self.begun += u64::from(executed);
            if self.keeps() {
                self.entries.push(Entry { instruction: context.instruction, executed, values: Vec::new() });
            }
        }
        Interest::Stay
    }

    fn after(&mut self, context: InstructionContext<'_>) -> Interest {
        let first = context.warp as usize * LANES;
        for lane in lanes(context.executing) {
            let slots = &self.writes[context.instruction as usize];
            let values = slots.iter().map(|slot| context.registers.get(*slot, lane));
            if first + lane == self.thread as usize {
                let keeps = self.keeps();
                if let Some(entry) =
                    self.entries.last_mut().filter(|entry| keeps && entry.instruction == context.instruction)
                {
                    entry.values = values.clone().collect();
                }
            }
            let digest = &mut self.digests[first + lane];
            values.for_each(|value| {
                mix(digest, value as u64);
                mix(digest, (value >> 64) as u64);
            });
        }
        Interest::Stay
    }
}
