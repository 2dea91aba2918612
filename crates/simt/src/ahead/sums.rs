//! Floating-point sums to which the same is added again and again.
//!
//! Between two powers of two, numbers lie on an even grid and their bits count its points. As long as a sum and what it
//! becomes stay between the same two, a step of the one is a step of the other: rounding does not depend on where on the
//! grid it is done. It does for a tie, which goes to the even neighbour; two points with an odd distance show it.

use super::progression::low;
use super::value::Source;
use isa::alu::Alu;

/// The step of a sum of which one term moves and stays between two powers of two, and for how long it does.
pub(super) fn step(alu: Alu, sources: &[Source], limit: &mut u64) -> Option<u64> {
    let (moving, fraction) = match alu {
        Alu::AddF32 | Alu::AddF32Ftz => (usize::from(sources[0].is_constant()), 23),
        Alu::SubF32 | Alu::SubF32Ftz => (0, 23),
        Alu::FmaF32
        | Alu::FmaF32Ftz
        | Alu::JoinedAddF32
        | Alu::JoinedAddF32Ftz
        | Alu::JoinedRsubF32
        | Alu::JoinedRsubF32Ftz => (2, 23),
        Alu::AddF64 => (usize::from(sources[0].is_constant()), 52),
        Alu::SubF64 => (0, 52),
        Alu::FmaRnF64 | Alu::JoinedAddF64 | Alu::JoinedRaddF64 | Alu::JoinedRsubF64 => (2, 52),
        _ => return None,
    };
    let others = || sources.iter().enumerate().filter(|&(at, _)| at != moving).map(|(_, source)| source);
    if !others().all(|source| source.is_constant()) {
        return None;
    }
    let bits = alu.destination().width().bits();
    let step = sources[moving].step?;
    let sum = |by: u64| {
        let of = |(at, source): (usize, &Source)| source.bits.wrapping_add(if at == moving { by } else { 0 });
        let mut values = [0u128; 4];
        values
            .iter_mut()
            .zip(sources.iter().enumerate().map(of))
            .for_each(|(to, bits_of)| *to = low(bits_of, bits).into());
        alu.eval(&values[..sources.len()]) as u64
    };
    let (from, to) = (low(sources[moving].bits, bits), sum(0));
    let grid = |number: u64| number >> fraction;
    // Neither zero nor too small for a power of two, nor infinite, nor no number.
    let exponents = (1 << (bits - 1 - fraction)) - 1;
    if grid(from) != grid(to) || grid(from) & exponents == 0 || grid(from) & exponents == exponents {
        return None;
    }
    let change = low(step, bits) << (64 - bits);
    let change = i128::from(change as i64 >> (64 - bits));
    if change == 0 {
        return None;
    }
    // Where a sum comes to the power of two itself, it may be rounded on the finer grid below.
    let room = |number: u64, lowest: i128| {
        let at = i128::from(low(number, fraction));
        let left = if change > 0 { (1 << fraction) - 1 - at } else { at - lowest };
        u64::try_from(left.div_euclid(change.abs()) + 1).unwrap_or(0)
    };
    let stays = room(from, 0).min(room(to, 1));
    if stays < 2 || low(to, fraction) == 0 || low(sum(step).wrapping_sub(to), bits) != low(step, bits) {
        return None;
    }
    *limit = stays.min(*limit);
    Some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without order, the same each time.
    fn random() -> impl FnMut() -> u64 {
        let mut state = 1u64;
        move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 32) ^ (state << 20)
        }
    }

    fn float(alu: Alu, random: u64) -> u64 {
        let number = ((random % 2001) as f64 - 1000.0) / f64::from(1u32 << (random >> 40 & 15));
        if alu.destination().width().bits() == 32 { u64::from((number as f32).to_bits()) } else { number.to_bits() }
    }

    #[test]
    fn a_sum_grows_by_its_step_for_as_long_as_is_said() {
        let sums = [
            Alu::AddF32,
            Alu::AddF32Ftz,
            Alu::SubF32,
            Alu::SubF32Ftz,
            Alu::FmaF32,
            Alu::FmaF32Ftz,
            Alu::AddF64,
            Alu::SubF64,
            Alu::FmaRnF64,
            Alu::JoinedAddF32,
            Alu::JoinedAddF32Ftz,
            Alu::JoinedRsubF32,
            Alu::JoinedRsubF32Ftz,
            Alu::JoinedAddF64,
            Alu::JoinedRaddF64,
            Alu::JoinedRsubF64,
        ];
        let mut random = random();
        for alu in sums {
            let (bits, count) = (alu.destination().width().bits(), alu.sources().len());
            let mut known = 0;
            for _ in 0..4000 {
                let moving = match alu {
                    Alu::AddF32 | Alu::AddF32Ftz | Alu::AddF64 => (random() % 2) as usize,
                    Alu::SubF32 | Alu::SubF32Ftz | Alu::SubF64 => 0,
                    _ => 2,
                };
                let by = (random() % 7) as i64 - 3;
                let step = |at| if at == moving { low((by << (random() % 9)).cast_unsigned(), bits) } else { 0 };
                let steps: Vec<u64> = (0..count).map(step).collect();
                let mut sources: Vec<Source> = steps
                    .iter()
                    .map(|&step| Source { bits: float(alu, random()), step: Some(step), within: None })
                    .collect();
                if count == 4 && random().is_multiple_of(2) {
                    let product = if bits == 32 { Alu::MulF32 } else { Alu::MulF64 };
                    sources[3].bits = product.eval(&[sources[0].bits.into(), sources[1].bits.into()]) as u64;
                }
                if steps[moving] == 0 {
                    continue;
                }
                let mut limit = u64::MAX;
                let Some(step) = super::step(alu, &sources, &mut limit) else { continue };
                known += 1;
                let value = |n: u64| {
                    let at = |source: &Source| source.bits.wrapping_add(n.wrapping_mul(source.step.unwrap_or(0)));
                    let values: Vec<u128> = sources.iter().map(|source| low(at(source), bits).into()).collect();
                    alu.eval(&values) as u64
                };
                let last = limit.min(1 << 20) - 1;
                for n in (0..last.min(60)).chain([last / 3, last / 2, last.saturating_sub(1), last]) {
                    let expected = low(value(0).wrapping_add(n.wrapping_mul(step)), bits);
                    assert_eq!(value(n), expected, "{} {sources:?} iteration {n} of {limit}", alu.pattern());
                }
            }
            assert!(known > 500, "{}: {known}", alu.pattern());
        }
    }
}
