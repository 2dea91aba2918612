//! Putting on record what the threads of a warp do in the golden run.

use simt::Hook;
use simt::Interest;
use simt::Moment;
use simt::registers::{LANES, has, lanes};
use simt::replica::guide::{Part, Ports, Record};

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

    fn keep(&mut self, moment: &Moment<'_>, outputs: bool) {
        let ports = &self.ports[moment.site as usize];
        if ports.part == Part::Own {
            return;
        }
        let slots = if outputs { &ports.outputs } else { &ports.inputs };
        for lane in lanes(moment.executing) {
            self.records[lane].values.extend(slots.iter().map(|slot| moment.registers.get(*slot, lane)));
        }
    }
}

impl Hook for Recorder<'_> {
    fn wants(&self, warp: u32) -> bool {
        warp == self.warp
    }

    fn before(&mut self, moment: Moment<'_>) -> Interest {
        for lane in lanes(moment.active) {
            self.records[lane].path.push((moment.site, has(moment.executing, lane)));
        }
        self.keep(&moment, false);
        Interest::Stay
    }

    fn after(&mut self, moment: Moment<'_>) -> Interest {
        self.keep(&moment, true);
        Interest::Stay
    }
}
