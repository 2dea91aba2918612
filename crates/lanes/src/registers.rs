//! The registers of a warp: a row of 32 lanes each, in one file per width.
//!
//! A predicate is one 32-bit mask. Rows are aligned to cache lines, so that a lane loop touches as few as can be.

use isa::Width;
use isa::semantics::format::{Bf16, Bf16x2, F16, F16x2, Pair};

/// Lanes of a warp.
pub const LANES: usize = 32;

/// A mask with every lane.
pub const FULL: u32 = u32::MAX;

/// One register of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct RegisterRow<T>(pub [T; LANES]);

/// Where a register is: its width and its index in the file of that width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Which file.
    pub width: Width,
    /// Which row.
    pub index: u16,
}

/// How many rows each file has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Predicates.
    pub pred: u16,
    /// 16-bit rows.
    pub b16: u16,
    /// 32-bit rows.
    pub b32: u16,
    /// 64-bit rows.
    pub b64: u16,
    /// 128-bit rows.
    pub b128: u16,
}

impl Sizes {
    /// The next free row of a width, or `None` where the file is full.
    pub fn allocate(&mut self, width: Width) -> Option<Slot> {
        let next = match width {
            Width::Pred => &mut self.pred,
            Width::B16 => &mut self.b16,
            Width::B32 => &mut self.b32,
            Width::B64 => &mut self.b64,
            Width::B128 => &mut self.b128,
        };
        let index = *next;
        *next = next.checked_add(1)?;
        Some(Slot { width, index })
    }
}

/// The registers of one warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// Predicates, a bit per lane.
    pub pred: Vec<u32>,
    /// 16-bit registers.
    pub b16: Vec<RegisterRow<u16>>,
    /// 32-bit registers.
    pub b32: Vec<RegisterRow<u32>>,
    /// 64-bit registers.
    pub b64: Vec<RegisterRow<u64>>,
    /// 128-bit registers.
    pub b128: Vec<RegisterRow<u128>>,
}

impl Registers {
    /// All registers zero.
    #[must_use]
    pub fn new(sizes: Sizes) -> Self {
        Self {
            pred: vec![0; usize::from(sizes.pred)],
            b16: vec![RegisterRow([0; LANES]); usize::from(sizes.b16)],
            b32: vec![RegisterRow([0; LANES]); usize::from(sizes.b32)],
            b64: vec![RegisterRow([0; LANES]); usize::from(sizes.b64)],
            b128: vec![RegisterRow([0; LANES]); usize::from(sizes.b128)],
        }
    }

    /// Becomes a copy of others, in the memory that these have.
    pub fn copy_from(&mut self, other: &Self) {
        self.pred.clone_from(&other.pred);
        self.b16.clone_from(&other.b16);
        self.b32.clone_from(&other.b32);
        self.b64.clone_from(&other.b64);
        self.b128.clone_from(&other.b128);
    }

    /// Gives every lane what one of them has.
    pub fn spread(&mut self, lane: usize) {
        self.pred.iter_mut().for_each(|mask| *mask = if has(*mask, lane) { FULL } else { 0 });
        self.b16.iter_mut().for_each(|row| row.0 = [row.0[lane]; LANES]);
        self.b32.iter_mut().for_each(|row| row.0 = [row.0[lane]; LANES]);
        self.b64.iter_mut().for_each(|row| row.0 = [row.0[lane]; LANES]);
        self.b128.iter_mut().for_each(|row| row.0 = [row.0[lane]; LANES]);
    }

    /// The bits of one lane of a register.
    #[must_use]
    pub fn get(&self, slot: Slot, lane: usize) -> u128 {
        let index = usize::from(slot.index);
        match slot.width {
            Width::Pred => u128::from((self.pred[index] >> lane) & 1),
            Width::B16 => u128::from(self.b16[index].0[lane]),
            Width::B32 => u128::from(self.b32[index].0[lane]),
            Width::B64 => u128::from(self.b64[index].0[lane]),
            Width::B128 => self.b128[index].0[lane],
        }
    }

    /// Sets one lane of a register.
    pub fn set(&mut self, slot: Slot, lane: usize, bits: u128) {
        let index = usize::from(slot.index);
        match slot.width {
            Width::Pred => {
                let bit = 1u32 << lane;
                self.pred[index] = if bits & 1 == 1 { self.pred[index] | bit } else { self.pred[index] & !bit };
            }
            Width::B16 => self.b16[index].0[lane] = bits as u16,
            Width::B32 => self.b32[index].0[lane] = bits as u32,
            Width::B64 => self.b64[index].0[lane] = bits as u64,
            Width::B128 => self.b128[index].0[lane] = bits,
        }
    }

    /// Sets every lane of a register.
    pub fn broadcast(&mut self, slot: Slot, bits: u128) {
        let index = usize::from(slot.index);
        match slot.width {
            Width::Pred => self.pred[index] = if bits & 1 == 1 { FULL } else { 0 },
            Width::B16 => self.b16[index] = RegisterRow([bits as u16; LANES]),
            Width::B32 => self.b32[index] = RegisterRow([bits as u32; LANES]),
            Width::B64 => self.b64[index] = RegisterRow([bits as u64; LANES]),
            Width::B128 => self.b128[index] = RegisterRow([bits; LANES]),
        }
    }
}

/// Whether a lane is in a mask.
#[inline(always)]
#[must_use]
pub fn has(mask: u32, lane: usize) -> bool {
    (mask >> lane) & 1 == 1
}

/// All bits if a lane is in a mask, none if it is not, as a number of any size. Where 32 lanes choose between two
/// numbers, arithmetic with it becomes a few vector instructions, and a choice may not.
#[inline(always)]
#[must_use]
pub fn bits_of(mask: u32, lane: usize) -> i64 {
    -i64::from((mask >> lane) & 1)
}

/// The lanes of a mask, from the lowest.
pub fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

/// A type that a row of registers can be read and written as.
pub(crate) trait Cell: Copy + Default {
    fn load(registers: &Registers, index: u16) -> [Self; LANES];
    fn store(registers: &mut Registers, index: u16, values: &[Self; LANES], mask: u32);
    fn load_one(registers: &Registers, index: u16, lane: usize) -> Self;
    fn store_one(registers: &mut Registers, index: u16, lane: usize, value: Self);
}

/// Gives a closure its argument type while keeping its own type, so that it is inlined.
fn typed<A, B, F: Fn(A) -> B>(f: F) -> F {
    f
}

macro_rules! cells {
    ($($t:ident in $file:ident : $stored:ident, $read:expr, $write:expr;)*) => { $(impl Cell for $t {
        #[inline(always)]
        fn load(registers: &Registers, index: u16) -> [Self; LANES] {
            let read = typed::<$stored, $t, _>($read);
            let row = &registers.$file[usize::from(index)].0;
            std::array::from_fn(|lane| read(row[lane]))
        }

        #[inline(always)]
        fn store(registers: &mut Registers, index: u16, values: &[Self; LANES], mask: u32) {
            let write = typed::<$t, $stored, _>($write);
            let row = &mut registers.$file[usize::from(index)].0;
            if mask == FULL {
                for lane in 0..LANES {
                    row[lane] = write(values[lane]);
                }
            } else {
                for lane in 0..LANES {
                    let new = bits_of(mask, lane) as $stored;
                    row[lane] = (write(values[lane]) & new) | (row[lane] & !new);
                }
            }
        }

        #[inline(always)]
        fn load_one(registers: &Registers, index: u16, lane: usize) -> Self {
            typed::<$stored, $t, _>($read)(registers.$file[usize::from(index)].0[lane % LANES])
        }

        #[inline(always)]
        fn store_one(registers: &mut Registers, index: u16, lane: usize, value: Self) {
            registers.$file[usize::from(index)].0[lane % LANES] = typed::<$t, $stored, _>($write)(value);
        }
    })* };
}
cells! {
    u8 in b16: u16, |x| x as u8, u16::from;
    i8 in b16: u16, |x| x as i8, |x| x as u16;
    u16 in b16: u16, |x| x, |x| x;
    i16 in b16: u16, |x| x as i16, |x| x as u16;
    u32 in b32: u32, |x| x, |x| x;
    i32 in b32: u32, |x| x as i32, |x| x as u32;
    F16 in b16: u16, F16, |x| x.0;
    Bf16 in b16: u16, Bf16, |x| x.0;
    F16x2 in b32: u32, Pair::from_bits, Pair::bits;
    Bf16x2 in b32: u32, Pair::from_bits, Pair::bits;
    f32 in b32: u32, f32::from_bits, f32::to_bits;
    u64 in b64: u64, |x| x, |x| x;
    i64 in b64: u64, |x| x as i64, |x| x as u64;
    f64 in b64: u64, f64::from_bits, f64::to_bits;
    u128 in b128: u128, |x| x, |x| x;
}

impl Cell for bool {
    #[inline(always)]
    fn load(registers: &Registers, index: u16) -> [Self; LANES] {
        let mask = registers.pred[usize::from(index)];
        std::array::from_fn(|lane| has(mask, lane))
    }

    #[inline(always)]
    fn store(registers: &mut Registers, index: u16, values: &[Self; LANES], mask: u32) {
        let mut bits = 0u32;
        for lane in 0..LANES {
            bits |= if values[lane] { 1 << lane } else { 0 };
        }
        let old = &mut registers.pred[usize::from(index)];
        *old = (*old & !mask) | (bits & mask);
    }

    #[inline(always)]
    fn load_one(registers: &Registers, index: u16, lane: usize) -> Self {
        has(registers.pred[usize::from(index)], lane)
    }

    #[inline(always)]
    fn store_one(registers: &mut Registers, index: u16, lane: usize, value: Self) {
        let row = &mut registers.pred[usize::from(index)];
        *row = (*row & !(1 << lane)) | (u32::from(value) << lane);
    }
}
