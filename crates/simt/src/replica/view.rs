//! Global memory as the lanes of a replica see it: as it was before the block, with what each wrote itself.

use super::guide::Position;
use super::log::{Log, Row};
use crate::access::{Addresses, Word, read_row, write_row};
use crate::memory::window::{LOCAL_BASE, SHARED_BASE, within};
use crate::memory::{GlobalMemory, Owners, PAGE};
use crate::program::AccessPlan;
use crate::trap::TrapKind;
use ::lanes::registers::{LANES, Registers, has, lanes};
use isa::Space;

/// Writes by lanes that no longer run alike, at most: the lanes that go on beyond escape. Each is looked at when the
/// bytes near it are read.
const MAX_ROWS: usize = 4096;

/// How the thread in a lane ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneEnd {
    /// It ran to its end.
    Exited,
    /// It did something wrong at an instruction.
    Trapped {
        /// What.
        kind: TrapKind,
        /// The instruction, as an index into the program's instructions.
        instruction: u32,
        /// The address, where it is about one.
        address: Option<u64>,
    },
    /// It came to something in which other threads have a part.
    Escaped,
}

/// Why a lane stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The thread did something wrong, with an address if it is about one.
    Trapped(TrapKind, Option<u64>),
    /// Others have a part in what it does now.
    Escaped,
}

/// The lanes that an access stops, and why.
pub(super) struct Stopped {
    pub(super) lanes: u32,
    pub(super) why: [Stop; LANES],
}

impl Stopped {
    const NONE: Self = Self { lanes: 0, why: [Stop::Escaped; LANES] };

    fn add(&mut self, lane: usize, why: Stop) {
        self.lanes |= 1 << lane;
        self.why[lane] = why;
    }
}

/// Calls the function for elements of this many bytes.
macro_rules! by_size {
    ($bytes:expr, $self:ident.$function:ident($($argument:expr),*)) => {
        match $bytes {
            1 => $self.$function::<u8>($($argument),*),
            2 => $self.$function::<u16>($($argument),*),
            4 => $self.$function::<u32>($($argument),*),
            8 => $self.$function::<u64>($($argument),*),
            _ => $self.$function::<u128>($($argument),*),
        }
    };
}

/// What the lanes see and did.
#[derive(Debug, Default)]
pub(super) struct View {
    thread: u16,
    pub(super) log: Log,
    pub(super) ends: [Option<LaneEnd>; LANES],
    pub(super) strayed: [u64; LANES],
    /// The instructions that all lanes came to together, and whether they executed them.
    pub(super) path: Vec<(u32, bool)>,
    /// How far they have come along the record, if they go by one.
    pub(super) position: Position,
    /// Lanes that wrote to global memory what is not on record.
    pub(super) dirty: u32,
}

/// An access of some lanes to global memory as it was before the block.
pub(super) struct Access<'a> {
    pub(super) memory: &'a mut GlobalMemory,
    /// Who of the block accesses it.
    pub(super) owners: &'a Owners,
    pub(super) plan: &'a AccessPlan,
    pub(super) at: &'a Addresses,
    pub(super) mask: u32,
}

impl View {
    pub(super) fn start(&mut self, thread: u32) {
        self.thread = thread as u16;
        self.log.clear();
        self.ends = [None; LANES];
        self.strayed = [0; LANES];
        self.path.clear();
        self.position = Position::default();
        self.dirty = 0;
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.thread = other.thread;
        self.log.copy_from(&other.log);
        self.ends = other.ends;
        self.strayed = other.strayed;
        (self.position, self.dirty) = (other.position, other.dirty);
    }

    /// The thread, linear in its block.
    pub(super) fn thread(&self) -> u16 {
        self.thread
    }

    /// Whether some lane may have written these bytes.
    pub(super) fn may_hold(&self, address: u64, bytes: u64) -> bool {
        self.log.may_hold(address, bytes)
    }

    /// All lanes did alike until now.
    pub(super) fn fold(&mut self) {
        self.log.fold();
    }

    /// A lane stops at an instruction.
    pub(super) fn stop(&mut self, lane: usize, why: Stop, instruction: u32) {
        self.ends[lane] = Some(match why {
            Stop::Trapped(kind, address) => LaneEnd::Trapped { kind, instruction, address },
            Stop::Escaped => LaneEnd::Escaped,
        });
    }

    /// Loads every element of the plan.
    pub(super) fn load(&mut self, access: &mut Access<'_>, registers: &mut Registers) -> Stopped {
        by_size!(access.plan.bytes, self.load_as(access, registers))
    }

    fn load_as<W: Word>(&mut self, access: &mut Access<'_>, registers: &mut Registers) -> Stopped {
        let Access { plan, at, mask, .. } = *access;
        let mut words = [[W::default(); LANES]; 8];
        let mut stopped = Stopped::NONE;
        let count = plan.values.len();
        let first = mask.trailing_zeros() as usize % LANES;
        let alike = (0..LANES).fold(true, |alike, lane| alike & ((at[lane] == at[first]) | !has(mask, lane)));
        if alike && !self.log.may_hold(at[first], (W::BYTES * count) as u64) {
            match self.read::<W>(access, first) {
                Ok((values, strayed)) => {
                    words.iter_mut().zip(values).for_each(|(words, value)| *words = [value; LANES]);
                    lanes(mask).for_each(|lane| self.strayed[lane] += strayed);
                }
                Err(why) => lanes(mask).for_each(|lane| stopped.add(lane, why)),
            }
        } else {
            for lane in lanes(mask) {
                match self.read::<W>(access, lane) {
                    Ok((values, strayed)) => {
                        words.iter_mut().zip(values).for_each(|(words, value)| words[lane] = value);
                        self.strayed[lane] += strayed;
                    }
                    Err(why) => stopped.add(lane, why),
                }
            }
        }
        for (slot, words) in plan.values.iter().zip(&words) {
            if let Some(slot) = *slot {
                write_row(registers, slot, words, plan.signed, mask & !stopped.lanes);
            }
        }
        stopped
    }

    /// The elements that a lane reads, and how many of them lie outside every allocation.
    fn read<W: Word>(&self, access: &mut Access<'_>, lane: usize) -> Result<([W; 8], u64), Stop> {
        let (address, count) = (access.at[lane], access.plan.values.len());
        let bytes = W::BYTES * count;
        let misaligned = !address.is_multiple_of(bytes as u64);
        if misaligned && count > 1 {
            return Err(Stop::Trapped(TrapKind::MisalignedAddress, Some(address)));
        }
        let page = access.memory.page_number(address).ok_or_else(|| unmapped(access.plan, address))?;
        if misaligned {
            return Err(Stop::Trapped(TrapKind::MisalignedAddress, Some(address)));
        }
        let from = address as usize % PAGE;
        if !access.owners.may_read(self.thread, page, from, from + bytes) {
            return Err(Stop::Escaped);
        }
        let mut raw = [0; 128];
        if let Some(page) = access.memory.page(address) {
            raw[..bytes].copy_from_slice(&page[from..from + bytes]);
        }
        if self.log.may_hold(address, bytes as u64) {
            self.log.patch(lane, address, &mut raw[..bytes]);
        }
        let mut values = [W::default(); 8];
        for (value, raw) in values.iter_mut().zip(raw[..bytes].chunks_exact(W::BYTES)) {
            *value = W::read(raw);
        }
        let strayed = strays::<W>(access.memory, address, count);
        if strayed > 0 && access.memory.is_strict() {
            return Err(Stop::Trapped(TrapKind::IllegalAddress, Some(address)));
        }
        Ok((values, strayed))
    }

    /// Stores every element of the plan.
    pub(super) fn store(&mut self, access: &Access<'_>, registers: &Registers) -> Stopped {
        by_size!(access.plan.bytes, self.store_as(access, registers))
    }

    fn store_as<W: Word>(&mut self, access: &Access<'_>, registers: &Registers) -> Stopped {
        let Access { plan, at, mask, .. } = *access;
        let mut stopped = Stopped::NONE;
        for lane in lanes(mask) {
            match self.may_store::<W>(access, lane) {
                Ok(()) => {
                    let strayed = strays::<W>(access.memory, at[lane], plan.values.len());
                    self.strayed[lane] += strayed;
                    if strayed > 0 && access.memory.is_strict() {
                        stopped.add(lane, Stop::Trapped(TrapKind::IllegalAddress, Some(at[lane])));
                    }
                }
                Err(why) => stopped.add(lane, why),
            }
        }
        self.note_as::<W>(registers, plan, at, mask & !stopped.lanes);
        stopped
    }

    /// The lanes of a mask wrote what is on record.
    pub(super) fn wrote(&mut self, registers: &Registers, plan: &AccessPlan, address: u64, mask: u32) {
        let at = &[address; LANES];
        by_size!(plan.bytes, self.note_as(registers, plan, at, mask));
    }

    fn note_as<W: Word>(&mut self, registers: &Registers, plan: &AccessPlan, at: &Addresses, mask: u32) {
        if mask == 0 {
            return;
        }
        for (slot, index) in plan.values.iter().zip(0u64..) {
            let Some(slot) = *slot else { continue };
            let words = read_row::<W>(registers, slot).map(W::to_u128);
            // Sixteen bytes are two writes.
            for part in 0..W::BYTES.div_ceil(8) as u64 {
                let value = words.map(|word| (word >> (64 * part)) as u64);
                let address = at.map(|address| address.wrapping_add(index * W::BYTES as u64 + 8 * part));
                self.log.push(Row { mask, bytes: W::BYTES.min(8) as u8, address, value });
            }
        }
    }

    fn may_store<W: Word>(&self, access: &Access<'_>, lane: usize) -> Result<(), Stop> {
        let address = access.at[lane];
        let bytes = W::BYTES * access.plan.values.len();
        if !address.is_multiple_of(bytes as u64) {
            return Err(Stop::Trapped(TrapKind::MisalignedAddress, Some(address)));
        }
        let page = access.memory.page_number(address).ok_or_else(|| unmapped(access.plan, address))?;
        let from = address as usize % PAGE;
        let alone = access.owners.may_write(self.thread, page, from, from + bytes);
        if alone && self.log.rows() < MAX_ROWS { Ok(()) } else { Err(Stop::Escaped) }
    }
}

/// What is wrong with an access where nothing is mapped. In a window of the generic address space others would be asked:
/// the lane escapes.
fn unmapped(plan: &AccessPlan, address: u64) -> Stop {
    let in_window = [SHARED_BASE, LOCAL_BASE].iter().any(|&base| within(address, base));
    let beyond = plan.space == Space::Generic && address >> 32 == SHARED_BASE >> 32;
    if in_window || beyond || plan.space == Space::Const {
        Stop::Escaped
    } else {
        Stop::Trapped(TrapKind::IllegalAddress, Some(address))
    }
}

/// How many of the elements at an address lie outside every allocation.
fn strays<W: Word>(memory: &GlobalMemory, address: u64, count: usize) -> u64 {
    let from = address as usize % PAGE;
    if memory.held(address).covers(from, from + W::BYTES * count) {
        return 0;
    }
    let each = (0..count as u64).map(|index| address + index * W::BYTES as u64);
    each.filter(|&at| !memory.allocations().contains(at, W::BYTES as u64)).count() as u64
}
