//! Communication between the lanes of a warp: shuffles, votes, matches and reductions.
//!
//! A lane that reads one which does not take part reads zero, as an H100 does: the PTX ISA leaves that value open.

use crate::program::{Micro, MicroKind, NOWHERE};
use ::lanes::level::Level;
use ::lanes::registers::{LANES, Registers, Sizes, Slot, bits_of, has, lanes};
use isa::op::{Reduction, Shuffle, Vote};
use isa::{Type, Width};

/// Lanes that execute an instruction at another place of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elsewhere {
    pub(crate) micro: Micro,
    pub(crate) mask: u32,
}

/// Executes an instruction for the lanes that came to it together, and for those that came to others like it.
pub(crate) fn execute<L: Level>(
    level: L,
    registers: &mut Registers,
    micro: &Micro,
    mask: u32,
    elsewhere: &[Elsewhere],
) {
    if elsewhere.is_empty() {
        return execute_here(level, registers, micro, mask);
    }
    let all = || std::iter::once((micro, mask)).chain(elsewhere.iter().map(|other| (&other.micro, other.mask)));
    // What each lane names lies in other rows: it is brought together in rows of their own.
    let (sources, destination) = operands(micro.kind);
    let sizes = Sizes { pred: OWN_ROWS, b16: 0, b32: OWN_ROWS, b64: OWN_ROWS, b128: 0 };
    let mut own = Registers::new(sizes);
    for (micro, mask) in all() {
        for ((index, &width), &row) in (0..).zip(&sources).zip(&micro.src) {
            if let Some(width) = width {
                copy((&*registers, row), (&mut own, index), width, mask);
            }
        }
    }
    let together = all().fold(0, |together, (_, mask)| together | mask);
    let common = Micro { src: [0, 1, 2, 3], dst: OWN_DESTINATION, second: OWN_SECOND, ..*micro };
    execute_here(level, &mut own, &common, together);
    for (micro, mask) in all() {
        if let Some(width) = destination {
            copy((&own, OWN_DESTINATION), (&mut *registers, micro.dst), width, mask);
        }
        if writes_second(micro.kind) {
            copy((&own, OWN_SECOND), (&mut *registers, micro.second), Width::Pred, mask);
        }
    }
}

/// Rows in which what lanes at different instructions name is brought together: sources first, then these two.
const OWN_DESTINATION: u16 = 4;
const OWN_SECOND: u16 = 5;
const OWN_ROWS: u16 = 6;

/// The widths of the sources and of the destination.
fn operands(kind: MicroKind) -> ([Option<Width>; 4], Option<Width>) {
    let (b32, pred) = (Some(Width::B32), Some(Width::Pred));
    match kind {
        MicroKind::Shuffle(_) => ([b32; 4], b32),
        MicroKind::Vote(Vote::Ballot) => ([pred, b32, None, None], b32),
        MicroKind::Vote(_) => ([pred, b32, None, None], pred),
        MicroKind::Match { wide: true, .. } => ([Some(Width::B64), b32, None, None], b32),
        MicroKind::Match { .. } | MicroKind::Redux(..) => ([b32, b32, None, None], b32),
        MicroKind::Elect => ([b32, None, None, None], b32),
        _ => ([None; 4], None),
    }
}

/// Whether an instruction has a predicate beside its destination.
fn writes_second(kind: MicroKind) -> bool {
    matches!(kind, MicroKind::Shuffle(_) | MicroKind::Match { all: true, .. } | MicroKind::Elect)
}

/// Copies what some lanes hold in a row into another, if there is one.
fn copy((from, source): (&Registers, u16), (to, target): (&mut Registers, u16), width: Width, mask: u32) {
    if target != NOWHERE {
        let slot = |index| Slot { width, index };
        lanes(mask).for_each(|lane| to.set(slot(target), lane, from.get(slot(source), lane)));
    }
}

/// Executes an instruction for lanes that are at it.
fn execute_here<L: Level>(level: L, registers: &mut Registers, micro: &Micro, mask: u32) {
    match micro.kind {
        MicroKind::Shuffle(mode) => level.run(
            #[inline(always)]
            || shuffle(registers, micro, mode, mask),
        ),
        MicroKind::Vote(mode) => vote(registers, micro, mode, mask),
        MicroKind::Match { all, wide } => match_sync(registers, micro, all, wide, mask),
        MicroKind::Elect => elect(registers, micro, mask),
        MicroKind::Redux(op, ty) => redux(registers, micro, op, ty, mask),
        _ => {}
    }
}

/// `shfl.sync` (PTX ISA §9.7.9.6).
#[inline(always)]
fn shuffle(registers: &mut Registers, micro: &Micro, mode: Shuffle, mask: u32) {
    macro_rules! each {
        ($($variant:ident)*) => {
            match mode {
                $(Shuffle::$variant => {
                    shuffle_by(registers, micro, mask, |lane, by, clamp| source_lane(Shuffle::$variant, lane, by, clamp));
                })*
            }
        };
    }
    each!(Up Down Bfly Idx);
}

/// A loop of its own for each mode, over all lanes, which vectorises but for the reads.
#[inline(always)]
fn shuffle_by(registers: &mut Registers, micro: &Micro, mask: u32, source: impl Fn(u32, u32, u32) -> (u32, bool)) {
    let [value, lane_row, clamp, _] = micro.src.map(|row| &registers.b32[usize::from(row)].0);
    let (mut from, mut in_range) = ([0; LANES], 0u32);
    for lane in 0..LANES {
        let (other, inside) = source(lane as u32, lane_row[lane], clamp[lane]);
        from[lane] = if inside { other } else { lane as u32 };
        in_range |= u32::from(inside) << lane;
    }
    let mut result = [0; LANES];
    for lane in 0..LANES {
        let from = from[lane] as usize % LANES;
        result[lane] = if has(mask, from) { value[from] } else { 0 };
    }
    write_b32(registers, micro.dst, &result, mask);
    write_pred(registers, micro.second, in_range, mask);
}

/// The lane that `lane` reads, and whether it lies within the segment.
#[inline(always)]
fn source_lane(mode: Shuffle, lane: u32, by: u32, clamp: u32) -> (u32, bool) {
    let (by, clamp, segment) = (by & 31, clamp & 31, (clamp >> 8) & 31);
    let lowest = lane & segment;
    let bound = lowest | (clamp & !segment);
    match mode {
        Shuffle::Up => {
            let from = lane.wrapping_sub(by);
            // Below lane 0 the difference is negative and below every bound.
            (from & 31, by <= lane && from >= bound)
        }
        Shuffle::Down => (lane + by, lane + by <= bound),
        Shuffle::Bfly => (lane ^ by, lane ^ by <= bound),
        Shuffle::Idx => {
            let from = lowest | (by & !segment);
            (from, from <= bound)
        }
    }
}

/// `vote.sync`
fn vote(registers: &mut Registers, micro: &Micro, mode: Vote, mask: u32) {
    let holds = registers.pred[usize::from(micro.src[0])] & mask;
    match mode {
        Vote::Ballot => write_b32(registers, micro.dst, &[holds; LANES], mask),
        Vote::All => write_pred(registers, micro.dst, if holds == mask { mask } else { 0 }, mask),
        Vote::Any => write_pred(registers, micro.dst, if holds == 0 { 0 } else { mask }, mask),
        Vote::Uni => write_pred(registers, micro.dst, if holds == 0 || holds == mask { mask } else { 0 }, mask),
    }
}

/// `match.sync`
fn match_sync(registers: &mut Registers, micro: &Micro, all: bool, wide: bool, mask: u32) {
    let row = usize::from(micro.src[0]);
    let value = |lane: usize| if wide { registers.b64[row].0[lane] } else { u64::from(registers.b32[row].0[lane]) };
    let same =
        |value_of: u64| lanes(mask).filter(|&lane| value(lane) == value_of).fold(0u32, |m, lane| m | (1 << lane));
    let mut result = [0u32; LANES];
    for lane in lanes(mask) {
        result[lane] = same(value(lane));
    }
    if all {
        let agree = lanes(mask).all(|lane| result[lane] == mask);
        result = [if agree { mask } else { 0 }; LANES];
        write_pred(registers, micro.second, if agree { mask } else { 0 }, mask);
    }
    write_b32(registers, micro.dst, &result, mask);
}

/// `redux.sync`
fn redux(registers: &mut Registers, micro: &Micro, op: Reduction, ty: Type, mask: u32) {
    let row = &registers.b32[usize::from(micro.src[0])].0;
    let signed = ty == Type::S32;
    let combine = |a: u32, b: u32| match op {
        Reduction::Add => a.wrapping_add(b),
        Reduction::Min if signed => (a as i32).min(b as i32) as u32,
        Reduction::Max if signed => (a as i32).max(b as i32) as u32,
        Reduction::Min => a.min(b),
        Reduction::Max => a.max(b),
        Reduction::And => a & b,
        Reduction::Or => a | b,
        Reduction::Xor | Reduction::Popc => a ^ b,
    };
    let total = lanes(mask).map(|lane| row[lane]).reduce(combine).unwrap_or(0);
    write_b32(registers, micro.dst, &[total; LANES], mask);
}

/// `elect.sync`: the lowest lane that comes.
fn elect(registers: &mut Registers, micro: &Micro, mask: u32) {
    let leader = mask.trailing_zeros();
    write_b32(registers, micro.dst, &[leader; LANES], mask);
    write_pred(registers, micro.second, mask & mask.wrapping_neg(), mask);
}

#[inline(always)]
pub(crate) fn write_b32(registers: &mut Registers, row: u16, values: &[u32; LANES], mask: u32) {
    let row = &mut registers.b32[usize::from(row)].0;
    for lane in 0..LANES {
        let new = bits_of(mask, lane) as u32;
        row[lane] = (values[lane] & new) | (row[lane] & !new);
    }
}

pub(crate) fn write_pred(registers: &mut Registers, row: u16, bits: u32, mask: u32) {
    if row != NOWHERE {
        let old = &mut registers.pred[usize::from(row)];
        *old = (*old & !mask) | (bits & mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_read_the_lane_that_the_isa_says() {
        // __shfl_down_sync(.., 4) over a whole warp: clamp 31, segment 0.
        assert_eq!(source_lane(Shuffle::Down, 3, 4, 0x1f), (7, true));
        assert!(!source_lane(Shuffle::Down, 29, 4, 0x1f).1);
        // __shfl_up_sync(.., 4): clamp 0.
        assert_eq!(source_lane(Shuffle::Up, 7, 4, 0), (3, true));
        assert!(!source_lane(Shuffle::Up, 3, 4, 0).1);
        // Width 8: segment mask 0x18.
        assert_eq!(source_lane(Shuffle::Idx, 13, 2, 0x181f), (10, true));
        assert!(!source_lane(Shuffle::Down, 14, 4, 0x181f).1);
        assert_eq!(source_lane(Shuffle::Bfly, 5, 1, 0x1f), (4, true));
    }
}
