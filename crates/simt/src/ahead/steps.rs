//! What is added to every register of a warp from one iteration of a loop to the next.

use super::progression::low;
use super::value::Range;
use ::lanes::registers::{Registers, Slot, has, lanes};
use isa::Width;

const WIDTHS: [Width; 5] = [Width::Pred, Width::B16, Width::B32, Width::B64, Width::B128];

/// Where the registers of some lanes are in a row of numbers: one lane after the other, all registers of a width together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Layout {
    lanes: u32,
    /// How many registers of each width a lane has.
    counts: [u16; 5],
}

impl Layout {
    fn of(registers: &Registers, lanes: u32) -> Self {
        let Registers { pred, b16, b32, b64, b128 } = registers;
        let counts = [pred.len(), b16.len(), b32.len(), b64.len(), b128.len()];
        Self { lanes, counts: counts.map(|count| u16::try_from(count).unwrap_or(u16::MAX)) }
    }

    fn of_lane(self) -> usize {
        self.counts.iter().copied().map(usize::from).sum()
    }

    /// The registers of a lane, in order.
    fn slots(self) -> impl Iterator<Item = Slot> {
        WIDTHS
            .into_iter()
            .zip(self.counts)
            .flat_map(|(width, count)| (0..count).map(move |index| Slot { width, index }))
    }

    #[inline]
    fn at(self, slot: Slot, lane: usize) -> usize {
        let before = (self.lanes & ((1 << lane) - 1)).count_ones() as usize;
        let narrower = self.counts.iter().take(slot.width as usize).copied().map(usize::from).sum::<usize>();
        before * self.of_lane() + narrower + usize::from(slot.index)
    }
}

/// What the registers of some lanes hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    layout: Layout,
    bits: Vec<u128>,
}

impl Held {
    pub(super) fn by(registers: &Registers, held: u32) -> Self {
        let layout = Layout::of(registers, held);
        let bits = lanes(held).flat_map(|lane| layout.slots().map(move |slot| registers.get(slot, lane))).collect();
        Self { layout, bits }
    }
}

/// The step of one register in one lane.
#[derive(Clone, Copy, Debug)]
struct Step {
    by: u64,
    is_known: bool,
    /// Whether it was written since the iteration began.
    is_written: bool,
    /// Between which numbers a value lies whose step is unknown, where that is known: which of the ranges, counted from 1.
    within: u32,
}

/// The steps of all registers of the lanes that live.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    layout: Layout,
    steps: Vec<Step>,
    ranges: Vec<Range>,
}

impl Steps {
    /// What seems to be added, by the registers of a warp at the start of three iterations that follow each other; nothing
    /// if a lane has ended meanwhile.
    pub(super) fn guess([first, second, third]: [&Held; 3]) -> Option<Self> {
        let layout = third.layout;
        let slots = lanes(layout.lanes).flat_map(|_| layout.slots());
        let held = first.bits.iter().zip(&second.bits).zip(&third.bits);
        let step = |(slot, ((&a, &b), &c)): (Slot, ((&u128, &u128), &u128))| {
            let (by, is_known) = match slot.width {
                Width::Pred | Width::B128 => (0, a == b && b == c),
                _ => {
                    let bits = slot.width.bits();
                    let [early, late] = [(a, b), (b, c)].map(|(x, y)| low((y as u64).wrapping_sub(x as u64), bits));
                    (late, early == late)
                }
            };
            Step { by, is_known, is_written: false, within: 0 }
        };
        let same = first.layout == layout && second.layout == layout;
        same.then(|| Self { layout, steps: slots.zip(held).map(step).collect(), ranges: Vec::new() })
    }

    fn step(&self, slot: Slot, lane: usize) -> &Step {
        &self.steps[self.layout.at(slot, lane)]
    }

    /// What is added to a register in a lane; `None` where it is not known.
    pub(super) fn get(&self, slot: Slot, lane: usize) -> Option<u64> {
        let step = self.step(slot, lane);
        step.is_known.then_some(step.by)
    }

    /// Between which numbers a register lies in a lane, where its step is not known.
    pub(super) fn within(&self, slot: Slot, lane: usize) -> Option<Range> {
        self.range(self.step(slot, lane))
    }

    fn range(&self, step: &Step) -> Option<Range> {
        self.ranges.get((step.within as usize).checked_sub(1)?).copied()
    }

    /// Whether a register holds what it held before this iteration.
    pub(super) fn is_carried(&self, slot: Slot, lane: usize) -> bool {
        !self.step(slot, lane).is_written
    }

    /// How many registers there are of which no step is known.
    pub(super) fn unknown(&self) -> usize {
        self.steps.iter().filter(|step| !step.is_known).count()
    }

    /// The instruction that was executed has written a register.
    pub(super) fn set(&mut self, slot: Slot, lane: usize, step: Option<u64>) {
        let at = self.layout.at(slot, lane);
        self.steps[at] = Step { by: step.unwrap_or(0), is_known: step.is_some(), is_written: true, within: 0 };
    }

    /// What was just written, and has no step, lies between these numbers.
    pub(super) fn bound(&mut self, slot: Slot, lane: usize, range: Range) {
        let step = &mut self.steps[self.layout.at(slot, lane)];
        if !step.is_known {
            self.ranges.push(range);
            step.within = self.ranges.len() as u32;
        }
    }

    /// Compares what an iteration has come to with what was supposed at its start and with the registers before and after
    /// it, and forgets in what was supposed all that does not agree; whether all did.
    pub(super) fn is_borne_out(&mut self, found: &Self, of: u32, before: &Held, after: &Held) -> bool {
        let layout = self.layout;
        let mut agrees = before.layout == layout && after.layout == layout;
        if !agrees {
            return false;
        }
        for (lane, slot) in lanes(of).flat_map(|lane| layout.slots().map(move |slot| (lane, slot))) {
            let at = layout.at(slot, lane);
            let (mut supposed, now) = (self.steps[at], found.steps[at]);
            // What was supposed to lie in a range has to do so at the end, too.
            if let Some(range) = self.range(&supposed)
                && !found.range(&now).is_some_and(|found| range.contains(&found))
            {
                (supposed.within, agrees) = (0, false);
            }
            let by = low(after.bits[at].wrapping_sub(before.bits[at]) as u64, slot.width.bits());
            if supposed.is_known && !(now.is_known && now.by == supposed.by && by == supposed.by) {
                (supposed.is_known, agrees) = (false, false);
            }
            self.steps[at] = supposed;
        }
        agrees
    }

    /// Supposes that registers of which nothing else is known lie where an iteration has left them, whatever they held at
    /// its start; whether that says anything new.
    pub(super) fn suppose_ranges(&mut self, found: &Self) -> bool {
        let mut new = false;
        for (supposed, now) in self.steps.iter_mut().zip(&found.steps) {
            if supposed.within == 0
                && supposed.is_known == now.is_known
                && let Some(range) = found.range(now)
            {
                self.ranges.push(range);
                supposed.within = self.ranges.len() as u32;
                new = true;
            }
        }
        new
    }

    /// The registers that grow in a lane, and by how much.
    pub(super) fn moving(&self, lane: usize) -> impl Iterator<Item = (Slot, u64)> + '_ {
        let alive = has(self.layout.lanes, lane);
        let step = move |slot: Slot| self.get(slot, lane).filter(|&step| step != 0).map(|step| (slot, step));
        self.layout.slots().filter(move |_| alive).filter_map(step)
    }

    /// Puts registers so many iterations ahead, as far as is known how.
    pub(super) fn advance(&self, registers: &mut Registers, of: u32, iterations: u64) {
        for lane in lanes(of) {
            self.moving(lane).for_each(|(slot, step)| advance(registers, slot, step, lane, iterations));
        }
    }
}

/// Puts a lane of a register so many steps ahead.
pub(super) fn advance(registers: &mut Registers, slot: Slot, step: u64, lane: usize, times: u64) {
    let bits = (registers.get(slot, lane) as u64).wrapping_add(step.wrapping_mul(times));
    registers.set(slot, lane, u128::from(low(bits, slot.width.bits())));
}
