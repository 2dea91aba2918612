//! What is added to every register of a warp from one iteration of a loop to the next.

use super::progression::low;
use super::value::Range;
use ::lanes::registers::{LANES, Registers, Slot, has};
use isa::Width;

/// The steps of one register.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    by_lane: [u64; LANES],
    /// Lanes of which nothing is known.
    unknown: u32,
    /// Lanes that were written since the iteration began.
    written: u32,
    /// Between which numbers a value lies whose step is unknown, where that is known, by lane.
    within: Vec<(usize, Range)>,
}

const CONSTANT: Row = Row { by_lane: [0; LANES], unknown: 0, written: 0, within: Vec::new() };

/// The steps of all registers.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    files: [Vec<Row>; 5],
}

const WIDTHS: [Width; 5] = [Width::Pred, Width::B16, Width::B32, Width::B64, Width::B128];

fn file(width: Width) -> usize {
    WIDTHS.iter().position(|&other| other == width).unwrap_or(0)
}

impl Steps {
    /// What seems to be added, by the registers of a warp at the start of three iterations that follow each other.
    pub(super) fn guess(lanes: u32, [first, second, third]: [&Registers; 3]) -> Self {
        let rows = |width: Width| match width {
            Width::Pred => third.pred.len(),
            Width::B16 => third.b16.len(),
            Width::B32 => third.b32.len(),
            Width::B64 => third.b64.len(),
            Width::B128 => third.b128.len(),
        };
        let row = |width: Width, index: usize| {
            let slot = Slot { width, index: index as u16 };
            let mut row = CONSTANT;
            for lane in ::lanes::registers::lanes(lanes) {
                let [a, b, c] = [first, second, third].map(|registers| registers.get(slot, lane));
                match width {
                    Width::Pred | Width::B128 => row.unknown |= u32::from(a != b || b != c) << lane,
                    _ => {
                        let bits = width.bits();
                        let [early, late] = [(a, b), (b, c)].map(|(x, y)| low((y as u64).wrapping_sub(x as u64), bits));
                        row.by_lane[lane] = late;
                        row.unknown |= u32::from(early != late) << lane;
                    }
                }
            }
            row
        };
        Self { files: WIDTHS.map(|width| (0..rows(width)).map(|index| row(width, index)).collect()) }
    }

    fn row(&self, slot: Slot) -> &Row {
        &self.files[file(slot.width)][usize::from(slot.index)]
    }

    /// What is added to a register in a lane; `None` where it is not known.
    pub(super) fn get(&self, slot: Slot, lane: usize) -> Option<u64> {
        let row = self.row(slot);
        (!has(row.unknown, lane)).then_some(row.by_lane[lane])
    }

    /// Between which numbers a register lies in a lane, where its step is not known.
    pub(super) fn within(&self, slot: Slot, lane: usize) -> Option<Range> {
        self.row(slot).within.iter().find(|(other, _)| *other == lane).map(|(_, range)| *range)
    }

    /// Whether a register holds what it held before this iteration.
    pub(super) fn is_carried(&self, slot: Slot, lane: usize) -> bool {
        !has(self.row(slot).written, lane)
    }

    /// The instruction that was executed has written a register.
    pub(super) fn set(&mut self, slot: Slot, lane: usize, step: Option<u64>) {
        let row = &mut self.files[file(slot.width)][usize::from(slot.index)];
        row.written |= 1 << lane;
        row.by_lane[lane] = step.unwrap_or(0);
        row.unknown = (row.unknown & !(1 << lane)) | (u32::from(step.is_none()) << lane);
        row.within.retain(|(other, _)| *other != lane);
    }

    /// What was just written, and has no step, lies between these numbers.
    pub(super) fn bound(&mut self, slot: Slot, lane: usize, range: Range) {
        let row = &mut self.files[file(slot.width)][usize::from(slot.index)];
        if has(row.unknown, lane) {
            row.within.push((lane, range));
        }
    }

    /// Compares what an iteration has come to with what was supposed at its start and with the registers before and after
    /// it, and forgets in what was supposed all that does not agree; whether all did.
    pub(super) fn is_borne_out(&mut self, found: &Self, lanes: u32, before: &Registers, after: &Registers) -> bool {
        let mut agrees = true;
        for (width, (rows, found)) in WIDTHS.iter().zip(self.files.iter_mut().zip(&found.files)) {
            for (index, (row, found)) in rows.iter_mut().zip(found).enumerate() {
                let slot = Slot { width: *width, index: index as u16 };
                // What was supposed to lie in a range has to do so at the end, too.
                let holds = |(lane, range): &(usize, Range)| {
                    found.within.iter().any(|(other, found)| other == lane && range.contains(found))
                };
                if !row.within.iter().all(holds) {
                    row.within.clear();
                    agrees = false;
                }
                for lane in ::lanes::registers::lanes(lanes & !row.unknown) {
                    let by = after.get(slot, lane).wrapping_sub(before.get(slot, lane)) as u64;
                    let same = !has(found.unknown, lane) && found.by_lane[lane] == row.by_lane[lane];
                    if !same || low(by, width.bits()) != row.by_lane[lane] {
                        row.unknown |= 1 << lane;
                        agrees = false;
                    }
                }
            }
        }
        agrees
    }

    /// Supposes that registers of which nothing else is known lie where an iteration has left them, whatever they held at
    /// its start; whether that says anything new.
    pub(super) fn suppose_ranges(&mut self, found: &Self) -> bool {
        let mut new = false;
        for (row, found) in self.files.iter_mut().flatten().zip(found.files.iter().flatten()) {
            if row.within.is_empty() && !found.within.is_empty() && row.unknown == found.unknown {
                row.within.clone_from(&found.within);
                new = true;
            }
        }
        new
    }

    /// The registers that grow in a lane, and by how much.
    pub(super) fn moving(&self, lane: usize) -> impl Iterator<Item = (Slot, u64)> + '_ {
        let rows = WIDTHS.iter().zip(&self.files).flat_map(|(&width, rows)| {
            rows.iter().enumerate().map(move |(index, row)| (Slot { width, index: index as u16 }, row))
        });
        let step = move |row: &Row| (!has(row.unknown, lane)).then_some(row.by_lane[lane]).filter(|&step| step != 0);
        rows.filter_map(move |(slot, row)| Some((slot, step(row)?)))
    }

    /// Puts registers so many iterations ahead, as far as is known how.
    pub(super) fn advance(&self, registers: &mut Registers, lanes: u32, iterations: u64) {
        for lane in ::lanes::registers::lanes(lanes) {
            self.moving(lane).for_each(|(slot, step)| advance(registers, slot, step, lane, iterations));
        }
    }
}

/// Puts a lane of a register so many steps ahead.
pub(super) fn advance(registers: &mut Registers, slot: Slot, step: u64, lane: usize, times: u64) {
    let bits = (registers.get(slot, lane) as u64).wrapping_add(step.wrapping_mul(times));
    registers.set(slot, lane, u128::from(low(bits, slot.width.bits())));
}
