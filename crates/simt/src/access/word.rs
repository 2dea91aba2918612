//! Elements of memory: 1, 2, 4, 8 or 16 bytes, little-endian.

use ::lanes::registers::{FULL, LANES, Registers, Slot, bits_of, has, lanes};
use isa::Width;

/// An element that a lane loads or stores.
pub(crate) trait Word: bytemuck::Pod + Default {
    /// Its size.
    const BYTES: usize;
    /// Its bits, or the low 64 of them.
    fn to_u64(self) -> u64;
    /// Its bits, extended with the sign.
    fn to_i64(self) -> i64;
    /// Its bits.
    fn to_u128(self) -> u128;
    /// The low bits of `bits`.
    fn from_u64(bits: u64) -> Self;
    /// The low bits of `bits`.
    fn from_u128(bits: u128) -> Self;
    /// One of its 32-bit parts, from the lowest.
    fn part(self, part: usize) -> u32;
    /// With the bits of one of its 32-bit parts, which were zero.
    fn with_part(self, part: usize, bits: u32) -> Self;
    /// The element in the first bytes of a slice.
    fn read(bytes: &[u8]) -> Self;
    /// Writes the element into the first bytes of a slice.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! words {
    ($($unsigned:ident $signed:ident),*) => { $(impl Word for $unsigned {
        const BYTES: usize = size_of::<$unsigned>();
        #[inline(always)]
        fn to_u64(self) -> u64 { self as u64 }
        #[inline(always)]
        fn to_i64(self) -> i64 { self as $signed as i64 }
        #[inline(always)]
        fn to_u128(self) -> u128 { self as u128 }
        #[inline(always)]
        fn from_u64(bits: u64) -> Self { bits as $unsigned }
        #[inline(always)]
        fn from_u128(bits: u128) -> Self { bits as $unsigned }
        #[inline(always)]
        fn part(self, part: usize) -> u32 { (self as u128 >> (32 * part)) as u32 }
        #[inline(always)]
        fn with_part(self, part: usize, bits: u32) -> Self { self | (u128::from(bits) << (32 * part)) as Self }
        #[inline(always)]
        fn read(bytes: &[u8]) -> Self {
            let mut word = [0; Self::BYTES];
            word.copy_from_slice(&bytes[..Self::BYTES]);
            $unsigned::from_le_bytes(word)
        }
        #[inline(always)]
        fn write(self, bytes: &mut [u8]) {
            bytes[..Self::BYTES].copy_from_slice(&self.to_le_bytes());
        }
    })* };
}
words!(u8 i8, u16 i16, u32 i32, u64 i64, u128 i128);

/// Elements that lie one after the other, as many as the bytes hold.
#[inline(always)]
pub(super) fn read_run<W: Word>(bytes: &[u8], words: &mut [W]) {
    if cfg!(target_endian = "little") {
        bytemuck::cast_slice_mut(words).copy_from_slice(bytes);
        return;
    }
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(W::BYTES)) {
        *word = W::read(bytes);
    }
}

/// Writes elements one after the other, as many as the bytes hold.
#[inline(always)]
pub(super) fn write_run<W: Word>(bytes: &mut [u8], words: &[W]) {
    if cfg!(target_endian = "little") {
        bytes.copy_from_slice(bytemuck::cast_slice(words));
        return;
    }
    for (word, bytes) in words.iter().zip(bytes.chunks_exact_mut(W::BYTES)) {
        word.write(bytes);
    }
}

/// Writes loaded elements to a register, extended to its width, where the mask allows.
#[inline(always)]
pub(crate) fn write_row<W: Word>(registers: &mut Registers, slot: Slot, words: &[W; LANES], signed: bool, mask: u32) {
    macro_rules! write {
        ($row:expr, $t:ty) => {{
            let row = $row;
            if mask == FULL && W::BYTES == size_of::<$t>() {
                row.copy_from_slice(bytemuck::cast_slice(words));
            } else if mask == FULL && !signed {
                for lane in 0..LANES {
                    row[lane] = words[lane].to_u64() as $t;
                }
            } else {
                for lane in 0..LANES {
                    let extended = if signed { words[lane].to_i64() as u64 } else { words[lane].to_u64() };
                    let new = bits_of(mask, lane) as $t;
                    row[lane] = (extended as $t & new) | (row[lane] & !new);
                }
            }
        }};
    }
    let index = usize::from(slot.index);
    // The most common of all.
    if mask == FULL && W::BYTES == 4 && slot.width == Width::B32 {
        return registers.b32[index].0.copy_from_slice(bytemuck::cast_slice(words));
    }
    match slot.width {
        Width::B32 => write!(&mut registers.b32[index].0, u32),
        Width::B64 => write!(&mut registers.b64[index].0, u64),
        Width::B16 => write!(&mut registers.b16[index].0, u16),
        Width::B128 => {
            let row = &mut registers.b128[index].0;
            for lane in 0..LANES {
                let new = bits_of(mask, lane) as u128;
                row[lane] = (words[lane].to_u128() & new) | (row[lane] & !new);
            }
        }
        Width::Pred => {
            for lane in lanes(mask) {
                registers.set(slot, lane, u128::from(words[lane].to_u64()));
            }
        }
    }
}

/// A register that is as wide as an element, as these.
#[inline(always)]
pub(super) fn row<W: Word>(registers: &Registers, slot: Slot) -> Option<&[W; LANES]> {
    let index = usize::from(slot.index);
    let row = match (slot.width, W::BYTES) {
        (Width::B32, 4) => bytemuck::cast_slice(&registers.b32[index].0),
        (Width::B64, 8) => bytemuck::cast_slice(&registers.b64[index].0),
        (Width::B16, 2) => bytemuck::cast_slice(&registers.b16[index].0),
        _ => return None,
    };
    row.try_into().ok()
}

/// As [`row`], to be written.
#[inline(always)]
pub(super) fn row_mut<W: Word>(registers: &mut Registers, slot: Slot) -> Option<&mut [W]> {
    let index = usize::from(slot.index);
    Some(match (slot.width, W::BYTES) {
        (Width::B32, 4) => bytemuck::cast_slice_mut(&mut registers.b32[index].0),
        (Width::B64, 8) => bytemuck::cast_slice_mut(&mut registers.b64[index].0),
        (Width::B16, 2) => bytemuck::cast_slice_mut(&mut registers.b16[index].0),
        _ => return None,
    })
}

/// Reads a register of any width as elements, their low bits.
#[inline(always)]
pub(crate) fn read_row<W: Word>(registers: &Registers, slot: Slot) -> [W; LANES] {
    let mut words = [W::default(); LANES];
    macro_rules! read {
        ($row:expr) => {
            for (word, bits) in words.iter_mut().zip($row) {
                *word = W::from_u64(*bits as u64);
            }
        };
    }
    let index = usize::from(slot.index);
    match slot.width {
        Width::B32 => read!(&registers.b32[index].0),
        Width::B64 => read!(&registers.b64[index].0),
        Width::B16 => read!(&registers.b16[index].0),
        Width::B128 => {
            for (word, bits) in words.iter_mut().zip(&registers.b128[index].0) {
                *word = W::from_u128(*bits);
            }
        }
        Width::Pred => {
            for (lane, word) in words.iter_mut().enumerate() {
                *word = W::from_u64(u64::from(has(registers.pred[index], lane)));
            }
        }
    }
    words
}
