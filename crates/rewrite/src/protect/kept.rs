//! Shadows whose comparisons hardware would make: which of them have to be kept alive.
//!
//! A shadow that another duplicate reads is alive if the result of that one is. So the ends of chains are kept, and as much more
//! as a loop needs whose values only go round. A register that several instructions write is kept wherever it is compared: which
//! of its values a duplicate reads is not followed.

use crate::protect::eligible::Treatment;
use crate::protect::pieces::TreatedPiece;
use crate::protect::select::Shadowed;
use facts::Reg;
use isa::Function;

/// By register, whether its shadow is gathered where a duplicate writes it.
pub(super) fn gathered(function: &Function, pieces: &[TreatedPiece], shadowed: &Shadowed) -> Vec<bool> {
    let count = function.registers.len();
    let (mut compared, mut writers, mut doubled) = (vec![false; count], vec![0_u32; count], vec![false; count]);
    let mut flows: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for piece in pieces {
        let twice = matches!(piece.treatment, Treatment::Duplicate | Treatment::Constant);
        for instruction in &function.body[piece.range.clone()] {
            let written: Vec<usize> = instruction.writes().map(|(_, register)| register.index()).collect();
            let read = instruction.reads().filter(|register| shadowed.is_compared(*register)).map(Reg::index);
            for &register in &written {
                writers[register] += 1;
                doubled[register] |= twice;
            }
            if twice {
                flows.push((read.collect(), written));
            } else if piece.treatment == Treatment::Alone {
                read.for_each(|register| compared[register] = true);
            }
        }
    }
    let wanted = |register: &usize| compared[*register] && doubled[*register];
    let read: Vec<bool> = (0..count).map(|register| flows.iter().any(|(from, _)| from.contains(&register))).collect();
    let mut kept: Vec<bool> =
        (0..count).map(|register| wanted(&register) && (writers[register] > 1 || !read[register])).collect();
    let mut alive = kept.clone();
    reach(&flows, &mut alive);
    for register in (0..count).filter(wanted) {
        if !alive[register] {
            (kept[register], alive[register]) = (true, true);
            reach(&flows, &mut alive);
        }
    }
    kept
}

/// Adds what duplicates read that write something alive.
fn reach(flows: &[(Vec<usize>, Vec<usize>)], alive: &mut [bool]) {
    let mut changed = true;
    while changed {
        changed = false;
        for (read, written) in flows.iter().rev().filter(|(read, _)| !read.is_empty()) {
            if written.iter().any(|&register| alive[register]) {
                for &register in read {
                    changed |= !alive[register];
                    alive[register] = true;
                }
            }
        }
    }
}
