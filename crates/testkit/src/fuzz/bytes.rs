//! Mutations of bytes, whatever they mean.

use super::dice::Dice;

/// Numbers at which sizes and offsets go wrong.
const MAGIC: &[u64] = &[
    0,
    1,
    2,
    7,
    8,
    16,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fff0,
    0xffff_ffff,
    0x1_0000_0000,
    0x3fff_ffff,
    0x4000_0000,
    0x4000_0001,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fff0,
    0xffff_ffff_ffff_ffff,
];

/// No stretch that is moved, copied or removed is longer.
const STRETCH: usize = 256;

/// Changes some bytes; `other` is where a splice takes its bytes from.
pub(super) fn mutate(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    for _ in 0..1 + dice.below(4) {
        change(bytes, other, dice);
    }
}

fn change(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    match dice.below(9) {
        0 | 1 => {
            let bit = dice.below(8);
            let at = dice.below(bytes.len());
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit);
        }
        2 => {
            let (at, value) = (dice.below(bytes.len()), dice.bits() as u8);
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = value);
        }
        3 => {
            let (at, size) = (dice.below(bytes.len()), 1 << dice.below(4));
            set_number(bytes, at, size, dice);
        }
        4 => drop(bytes.drain(dice.stretch(bytes.len(), STRETCH))),
        5 => {
            let copy = bytes[dice.stretch(bytes.len(), STRETCH)].to_vec();
            insert(bytes, &copy, dice);
        }
        6 => insert(bytes, &other[dice.stretch(other.len(), STRETCH)], dice),
        7 => {
            let from = dice.stretch(other.len(), STRETCH);
            let at = dice.below(bytes.len());
            for (to, value) in bytes.iter_mut().skip(at).zip(&other[from]) {
                *to = *value;
            }
        }
        _ => splice(bytes, other, dice),
    }
}

/// Overwrites a little-endian number with one of the magic ones, or moves it by a little.
pub(super) fn set_number(bytes: &mut [u8], at: usize, size: usize, dice: &mut Dice) {
    let Some(place) = bytes.get_mut(at..at + size) else { return };
    let old = place.iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
    let new = match dice.below(4) {
        0 => old.wrapping_add(1 + dice.bits() % 16),
        1 => old.wrapping_sub(1 + dice.bits() % 16),
        2 => dice.bits() >> dice.below(64),
        _ => dice.pick(MAGIC).copied().unwrap_or_default(),
    };
    place.copy_from_slice(&new.to_le_bytes()[..size]);
}

fn insert(bytes: &mut Vec<u8>, inserted: &[u8], dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    bytes.splice(at..at, inserted.iter().copied());
}

/// The head of one and the tail of the other; rarely nothing but the head.
fn splice(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    bytes.truncate(dice.below(bytes.len() + 1));
    if !dice.one_in(3) {
        let from = if dice.one_in(2) { bytes.len().min(other.len()) } else { dice.below(other.len() + 1) };
        bytes.extend_from_slice(&other[from..]);
    }
}
