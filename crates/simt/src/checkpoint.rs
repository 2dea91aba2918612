//! Checkpoints: the state of a block between two rounds, kept and compared.
//!
//! A checkpoint holds what the rest of the block depends on, except global memory and what belongs to the launch:
//! control, live registers ([`Liveness`]), local and shared memory, barriers, and how much each thread has executed. Two
//! runs of a block that agree in a checkpoint, and in global memory, execute the same from there on: counts of
//! instructions are compared too, because fuel, clocks and turns depend on them.

use crate::barrier::Barriers;
use crate::control::{CallFrame, Control, Group};
use crate::liveness::Liveness;
use crate::program::Program;
use crate::state::BlockState;
use crate::warp::Warp;
use ::lanes::registers::{FULL, LANES, RegisterRow, Registers, Slot, bits_of};
use isa::Width;

/// The state of a block after some rounds.
#[derive(Debug)]
pub struct Checkpoint {
    round: u32,
    warps: Vec<WarpState>,
    /// Shared memory without the zeros at its end.
    shared: Box<[u8]>,
    barriers: Barriers,
}

/// The state of a warp in a checkpoint.
#[derive(Debug)]
struct WarpState {
    /// The rows that are live, and what they hold, by width.
    rows: Box<[Slot]>,
    values: Registers,
    /// The lanes in which they are compared.
    compared: u32,
    /// Local memory without the zeros at its end.
    local: Box<[[u32; LANES]]>,
    groups: Vec<Group>,
    frames: Vec<CallFrame>,
    free_frames: Vec<u32>,
    live: u32,
    counts: [u32; LANES],
    issued: u64,
    fuel_check: u64,
    fair: u32,
}

impl Checkpoint {
    /// Rounds that the block had had.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Instructions that a thread of the block had executed.
    #[must_use]
    pub fn executed(&self, thread: u32) -> u64 {
        let (warp, lane) = (thread as usize / LANES, thread as usize % LANES);
        self.warps.get(warp).map_or(0, |warp| warp.counts[lane].into())
    }

    /// Instructions that all threads had executed.
    #[must_use]
    pub fn executed_by_all(&self) -> u64 {
        self.warps.iter().flat_map(|warp| warp.counts).map(u64::from).sum()
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.shared.len() + self.warps.iter().map(WarpState::bytes).sum::<usize>()
    }
}

impl BlockState {
    /// The state of the block that runs, to be gone on from; `None` where it cannot be kept.
    #[must_use]
    pub fn checkpoint(&self, program: &Program, liveness: &Liveness, round: u32) -> Option<Checkpoint> {
        let kept = |warp: &Warp| (!liveness.is_recursive()).then(|| WarpState::of(warp, program, liveness));
        let warps = self.warps.iter().map(kept).collect::<Option<Vec<_>>>()?;
        let used = self.shared.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        Some(Checkpoint { round, warps, shared: self.shared[..used].into(), barriers: self.barriers })
    }

    /// Goes back to a checkpoint of the block that was just started; returns how many rounds it has had.
    pub(crate) fn restore(&mut self, checkpoint: &Checkpoint) -> u32 {
        for (warp, kept) in self.warps.iter_mut().zip(&checkpoint.warps) {
            kept.restore(warp);
        }
        self.shared[..checkpoint.shared.len()].copy_from_slice(&checkpoint.shared);
        self.barriers = checkpoint.barriers;
        checkpoint.round
    }

    /// Whether what the rest of the block depends on, but for global memory, is as in a checkpoint of the same round.
    #[must_use]
    pub fn agrees(&self, checkpoint: &Checkpoint) -> bool {
        let pairs = || self.warps.iter().zip(&checkpoint.warps);
        let (same, rest) = self.shared.split_at(checkpoint.shared.len());
        pairs().all(|(warp, kept)| kept.control_agrees(&warp.control))
            && pairs().all(|(warp, kept)| kept.registers_agree(&warp.registers))
            && self.barriers == checkpoint.barriers
            && *same == *checkpoint.shared
            && rest.iter().all(|&byte| byte == 0)
            && pairs().all(|(warp, kept)| kept.local_agrees(&warp.local))
    }
}

impl WarpState {
    fn of(warp: &Warp, program: &Program, liveness: &Liveness) -> Self {
        let rows = liveness.rows(program, warp);
        let used = warp.local.iter().rposition(|word| *word != [0; LANES]).map_or(0, |last| last + 1);
        let control = &warp.control;
        Self {
            values: packed(&rows, &warp.registers),
            rows: rows.into(),
            compared: if liveness.reads_across_lanes() { FULL } else { control.live },
            local: warp.local[..used].into(),
            groups: control.groups.clone(),
            frames: control.frames.clone(),
            free_frames: control.free_frames.clone(),
            live: control.live,
            counts: control.counts,
            issued: control.issued,
            fuel_check: control.fuel_check,
            fair: control.fair,
        }
    }

    fn restore(&self, warp: &mut Warp) {
        let (from, to) = (&self.values, &mut warp.registers);
        let mut next = Next::default();
        for slot in &self.rows {
            let (at, index) = (next.of(slot.width), usize::from(slot.index));
            match slot.width {
                Width::Pred => to.pred[index] = from.pred[at],
                Width::B16 => to.b16[index] = from.b16[at],
                Width::B32 => to.b32[index] = from.b32[at],
                Width::B64 => to.b64[index] = from.b64[at],
                Width::B128 => to.b128[index] = from.b128[at],
            }
        }
        if warp.local.len() < self.local.len() {
            warp.local.resize(self.local.len(), [0; LANES]);
        }
        warp.local[..self.local.len()].copy_from_slice(&self.local);
        let control = &mut warp.control;
        control.groups.clone_from(&self.groups);
        control.frames.clone_from(&self.frames);
        control.free_frames.clone_from(&self.free_frames);
        control.live = self.live;
        control.counts = self.counts;
        control.issued = self.issued;
        control.fuel_check = self.fuel_check;
        control.fair = self.fair;
    }

    fn control_agrees(&self, control: &Control) -> bool {
        control.issued == self.issued
            && control.counts == self.counts
            && control.live == self.live
            && control.groups == self.groups
            && control.fuel_check == self.fuel_check
            && control.fair == self.fair
            && control.free_frames == self.free_frames
            && control.frames.len() == self.frames.len()
            && control.frames.iter().zip(&self.frames).all(|(one, other)| one.is_like(other))
    }

    fn registers_agree(&self, registers: &Registers) -> bool {
        let (kept, mask) = (&self.values, self.compared);
        let mut next = Next::default();
        self.rows.iter().all(|slot| {
            let (at, index) = (next.of(slot.width), usize::from(slot.index));
            match slot.width {
                Width::Pred => (registers.pred[index] ^ kept.pred[at]) & mask == 0,
                Width::B16 => same_row(&registers.b16[index], &kept.b16[at], mask),
                Width::B32 => same_row(&registers.b32[index], &kept.b32[at], mask),
                Width::B64 => same_row(&registers.b64[index], &kept.b64[at], mask),
                Width::B128 => same_row(&registers.b128[index], &kept.b128[at], mask),
            }
        })
    }

    /// Nobody reads the local memory of a thread that has ended.
    fn local_agrees(&self, local: &[[u32; LANES]]) -> bool {
        let zero = [0; LANES];
        (0..local.len().max(self.local.len())).all(|word| {
            let (one, other) = (local.get(word).unwrap_or(&zero), self.local.get(word).unwrap_or(&zero));
            one == other || (0..LANES).all(|lane| bits_of(self.live, lane) == 0 || one[lane] == other[lane])
        })
    }

    fn bytes(&self) -> usize {
        let Registers { pred, b16, b32, b64, b128 } = &self.values;
        let registers = size_of_val(&pred[..])
            + size_of_val(&b16[..])
            + size_of_val(&b32[..])
            + size_of_val(&b64[..])
            + size_of_val(&b128[..]);
        let control = size_of_val(&self.groups[..]) + size_of_val(&self.frames[..]);
        size_of::<Self>() + registers + control + size_of_val(&self.rows[..]) + size_of_val(&self.local[..])
    }
}

/// The place of the next row of each width.
#[derive(Default)]
struct Next([usize; 5]);

impl Next {
    fn of(&mut self, width: Width) -> usize {
        let next = &mut self.0[match width {
            Width::Pred => 0,
            Width::B16 => 1,
            Width::B32 => 2,
            Width::B64 => 3,
            Width::B128 => 4,
        }];
        *next += 1;
        *next - 1
    }
}

/// What some rows hold, by width and in their order.
fn packed(rows: &[Slot], registers: &Registers) -> Registers {
    let mut packed = Registers::default();
    for slot in rows {
        let index = usize::from(slot.index);
        match slot.width {
            Width::Pred => packed.pred.push(registers.pred[index]),
            Width::B16 => packed.b16.push(registers.b16[index]),
            Width::B32 => packed.b32.push(registers.b32[index]),
            Width::B64 => packed.b64.push(registers.b64[index]),
            Width::B128 => packed.b128.push(registers.b128[index]),
        }
    }
    packed
}

fn same_row<T: Copy + PartialEq>(one: &RegisterRow<T>, other: &RegisterRow<T>, mask: u32) -> bool {
    one == other || (0..LANES).all(|lane| bits_of(mask, lane) == 0 || one.0[lane] == other.0[lane])
}
