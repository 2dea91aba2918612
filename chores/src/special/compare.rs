//! Our results beside a GPU's, computed by the loops that the machine executes.

use super::operands::Operands;
use isa::{Alu, Width};
use lanes::Handlers;
use lanes::level::{LevelName, WithLevel, with_level};
use lanes::registers::{FULL, LANES, Registers, Sizes};

/// Where results differ.
#[derive(Clone, Debug, Default)]
pub(super) struct Differences {
    /// The number of results that differ.
    pub(super) count: u64,
    /// The first of them.
    pub(super) first: Vec<Difference>,
}

/// One result that differs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    /// The operands.
    pub(super) operands: [u64; 2],
    /// Ours.
    pub(super) ours: u64,
    /// The GPU's.
    pub(super) theirs: u64,
}

/// How many are shown.
const SHOWN: usize = 3;

impl Differences {
    /// Takes those of a later part.
    pub(super) fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.first.extend(&other.first);
        self.first.truncate(SHOWN);
    }
}

/// Compares the results of numbers from `from` on, by all cores.
pub(super) fn compare(alu: Alu, from: u32, results: &[u8]) -> Differences {
    let size = alu.destination().bytes() as usize;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = (results.len() / size).div_ceil(cores).next_multiple_of(LANES);
    let mut all = Differences::default();
    std::thread::scope(|scope| {
        let parts = results.chunks(share * size).zip(0..);
        let work = |(results, part): (_, u32)| {
            let part = Part { alu, from: from.wrapping_add(part * share as u32), results };
            scope.spawn(|| with_level(LevelName::best(), part).unwrap_or_default())
        };
        for handle in parts.map(work).collect::<Vec<_>>() {
            all.join(&handle.join().unwrap_or_default());
        }
    });
    all
}

/// What one core compares.
struct Part<'a> {
    alu: Alu,
    from: u32,
    results: &'a [u8],
}

impl WithLevel for Part<'_> {
    type Output = Differences;

    fn with<L: Handlers>(self, level: L) -> Differences {
        let loops = L::loops(FULL);
        let (operands, size) = (Operands::of(self.alu), self.alu.destination().bytes() as usize);
        let mut registers = Registers::new(Sizes { pred: 0, b16: 3, b32: 3, b64: 3, b128: 0 });
        let mut differences = Differences::default();
        for (warp, theirs) in self.results.chunks_exact(size * LANES).enumerate() {
            let first = self.from.wrapping_add((warp * LANES) as u32);
            load(&mut registers, self.alu, |lane| operands.at(first.wrapping_add(lane as u32)));
            loops[self.alu as usize](level, &mut registers, RESULT, &[0, 1, 0, 0], FULL);
            if !same(&registers, self.alu.destination().width(), theirs) {
                for lane in 0..LANES {
                    let operands = operands.at(first.wrapping_add(lane as u32));
                    let theirs = word(&theirs[lane * size..][..size]);
                    note(&mut differences, operands, result(&registers, self.alu, lane), theirs);
                }
            }
        }
        differences
    }
}

/// The row of the result; the operands are in those before.
const RESULT: u16 = 2;

fn load(registers: &mut Registers, alu: Alu, at: impl Fn(usize) -> [u64; 2]) {
    for lane in 0..LANES {
        let [first, second] = at(lane);
        match alu.sources()[0].width() {
            Width::B16 => registers.b16[0].0[lane] = first as u16,
            Width::B64 => registers.b64[0].0[lane] = first,
            _ => {
                registers.b32[0].0[lane] = first as u32;
                registers.b32[1].0[lane] = second as u32;
            }
        }
    }
}

fn same(registers: &Registers, width: Width, theirs: &[u8]) -> bool {
    let row = usize::from(RESULT);
    match width {
        Width::B16 => theirs.as_chunks().0.iter().map(|&bytes| u16::from_le_bytes(bytes)).eq(registers.b16[row].0),
        Width::B64 => theirs.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).eq(registers.b64[row].0),
        _ => theirs.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).eq(registers.b32[row].0),
    }
}

fn result(registers: &Registers, alu: Alu, lane: usize) -> u64 {
    let slot = lanes::registers::Slot { width: alu.destination().width(), index: RESULT };
    registers.get(slot, lane) as u64
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

fn note(differences: &mut Differences, operands: [u64; 2], ours: u64, theirs: u64) {
    if ours != theirs {
        let one = Difference { operands, ours, theirs };
        differences.join(&Differences { count: 1, first: vec![one] });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::kernel::by_spelling;

    #[test]
    fn results_that_are_ours_do_not_differ_and_others_are_counted() {
        for spelling in ["rcp.approx.f32", "div.full.f32", "rsqrt.approx.f64", "ex2.approx.f16", "tanh.approx.bf16x2"] {
            let alu = by_spelling(spelling).expect("the table has it");
            let (from, operands, size) = (0x3f80_1000, Operands::of(alu), alu.destination().bytes() as usize);
            let ours = |number: u32| {
                let [first, second] = operands.at(from + number);
                alu.eval(&[first.into(), second.into()]).to_le_bytes()[..size].to_vec()
            };
            let mut results: Vec<u8> = (0..4096).flat_map(ours).collect();
            assert_eq!(compare(alu, from, &results).count, 0, "{spelling}");
            results[size * 77] ^= 1;
            results[size * 4095] ^= 1;
            let found = compare(alu, from, &results);
            assert_eq!((found.count, found.first[0].operands), (2, operands.at(from + 77)), "{spelling}");
        }
    }
}
