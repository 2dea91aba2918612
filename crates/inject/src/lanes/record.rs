//! Putting on record what the threads of a warp do in the golden run.

use simt::Hook;
use simt::InstructionContext;
use simt::Interest;
use simt::registers::{LANES, has, lanes};
use simt::replica::guide::{Ports, Record, Sharing};

/// A hook that keeps a record of every lane of one warp.
pub(super) struct Recorder<'a> {
    ports: &'a [Ports],
    warp: u32,
    records: Vec<Record>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(ports: &'a [Ports], warp: u32) -> Self {
        Self { ports, warp, records: vec![Record::default(); LANES] }
    }

    /// The records, by lane.
    pub(super) fn finish(self) -> Vec<Record> {
        self.records
    }

    fn keep(&mut self, context: &InstructionContext<'_>, outputs: bool) {
        let ports = &self.ports[context.instruction as usize];
        if ports.sharing == Sharing::Own {
            return;
        }
        let slots = if outputs { &ports.outputs } else { &ports.inputs };
        for lane in lanes(context.executing) {
            self.records[lane].values.extend(slots.iter().map(|slot| context.registers.get(*slot, lane)));
        }
    }
}

impl Hook for Recorder<'_> {
    fn wants(&self, warp: u32) -> bool {
        warp == self.warp
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        for lane in lanes(context.active) {
            self.records[lane].path.push((context.instruction, has(context.executing, lane)));
        }
        self.keep(&context, false);
        Interest::Stay
    }

    fn after(&mut self, context: InstructionContext<'_>) -> Interest {
        self.keep(&context, true);
        Interest::Stay
    }
}
