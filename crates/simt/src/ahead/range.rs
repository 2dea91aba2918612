//! Between which numbers a value lies of which no more is known.

use super::value::{Range, Source, is_conversion, number};
use isa::alu::Alu;

/// The range of what an instruction computes.
pub(super) fn range(alu: Alu, sources: &[Source]) -> Option<Range> {
    let types = alu.sources();
    let bits = alu.destination().width().bits();
    let all = |at: usize| sources[at].range(types[at].width().bits());
    let constant = |at: usize| (sources[at].step == Some(0)).then_some(sources[at].bits);
    let (a, b) = (all(0), || all(1));
    let found = match alu {
        Alu::AndB16 | Alu::AndB32 | Alu::AndB64 => {
            Range { zeros: a.zeros.max(b().zeros), ..Range::between(0, a.high.min(b().high)) }
        }
        Alu::OrB16 | Alu::OrB32 | Alu::OrB64 | Alu::XorB16 | Alu::XorB32 | Alu::XorB64 => {
            let high = (a.high | b().high).checked_add(1)?.checked_next_power_of_two()? - 1;
            Range { zeros: a.zeros.min(b().zeros), ..Range::between(0, high) }
        }
        Alu::ShrU16 | Alu::ShrU32 | Alu::ShrU64 => {
            let by = constant(1).filter(|by| *by < 64)?;
            Range { zeros: a.zeros.saturating_sub(by as u32), ..Range::between(a.low >> by, a.high >> by) }
        }
        Alu::ShlB16 | Alu::ShlB32 | Alu::ShlB64 => {
            let by = constant(1).filter(|by| *by < 64)?;
            let high = a.high.checked_mul(1 << by)?;
            Range { zeros: (a.zeros + by as u32).min(63), ..Range::between(a.low << by, high) }
        }
        Alu::AddB16 | Alu::AddB32 | Alu::AddB64 => sum(a, b())?,
        Alu::SubB16 | Alu::SubB32 | Alu::SubB64 => {
            let zeros = a.zeros.min(b().zeros);
            Range { zeros, ..Range::between(a.low.checked_sub(b().high)?, a.high - b().low) }
        }
        Alu::MulLoB16 | Alu::MulLoB32 | Alu::MulLoB64 | Alu::MulWideU16 | Alu::MulWideU32 => product(a, b())?,
        Alu::MulWideS16 | Alu::MulWideS32 if is_positive(a, bits / 2) && is_positive(b(), bits / 2) => product(a, b())?,
        Alu::MadLoB16 | Alu::MadLoB32 | Alu::MadLoB64 | Alu::MadWideU16 | Alu::MadWideU32 => {
            sum(product(a, b())?, all(2))?
        }
        Alu::MadWideS16 | Alu::MadWideS32 if is_positive(a, bits / 2) && is_positive(b(), bits / 2) => {
            sum(product(a, b())?, all(2))?
        }
        Alu::MinU16 | Alu::MinU32 | Alu::MinU64 => Range::between(a.low.min(b().low), a.high.min(b().high)),
        Alu::MaxU16 | Alu::MaxU32 | Alu::MaxU64 => Range::between(a.low.max(b().low), a.high.max(b().high)),
        Alu::MinS16 | Alu::MinS32 | Alu::MinS64 if is_positive(a, bits) && is_positive(b(), bits) => {
            Range::between(a.low.min(b().low), a.high.min(b().high))
        }
        Alu::MinS16 | Alu::MinS32 | Alu::MinS64 => {
            Range { most: a.most(bits).min(b().most(bits)), ..Range::of_bits(bits) }
        }
        Alu::MaxS16 | Alu::MaxS32 | Alu::MaxS64 if is_positive(a, bits) || is_positive(b(), bits) => {
            let low = [a, b()].into_iter().filter(|range| is_positive(*range, bits)).map(|range| range.low).max()?;
            let most = a.most(bits).max(b().most(bits)).min(i64::MAX >> (64 - bits));
            Range::between(low, u64::try_from(most).ok()?)
        }
        Alu::RemU16 | Alu::RemU32 | Alu::RemU64 => Range::between(0, constant(1)?.checked_sub(1)?),
        Alu::BfeU32 | Alu::BfeU64 => Range::of_bits(constant(2)?.min(64) as u32),
        Alu::SelpB16 | Alu::SelpB32 | Alu::SelpB64 => {
            Range { zeros: a.zeros.min(b().zeros), ..Range::between(a.low.min(b().low), a.high.max(b().high)) }
        }
        Alu::MovB16 | Alu::MovB32 | Alu::MovB64 => a,
        Alu::PopcB32 | Alu::PopcB64 | Alu::ClzB32 | Alu::ClzB64 => Range::between(0, 64),
        _ if is_conversion(alu) => {
            let ((from, signed), (to, _)) = (number(types[0])?, number(alu.destination())?);
            // What has no sign, or fits, stays what it is.
            let same = if to > from { !signed || is_positive(a, from) } else { a.high <= Range::of_bits(to).high };
            same.then_some(a)?
        }
        _ => return None,
    };
    found.within(bits)
}

/// Whether numbers of so many bits have no sign.
fn is_positive(range: Range, bits: u32) -> bool {
    range.high >> (bits - 1) == 0
}

fn sum(a: Range, b: Range) -> Option<Range> {
    Some(Range { zeros: a.zeros.min(b.zeros), ..Range::between(a.low + b.low, a.high.checked_add(b.high)?) })
}

fn product(a: Range, b: Range) -> Option<Range> {
    let high = a.high.checked_mul(b.high)?;
    Some(Range { zeros: (a.zeros + b.zeros).min(63), ..Range::between(a.low * b.low, high) })
}

/// Whether a comparison of integers comes out the same for all numbers of both ranges.
pub(super) fn is_decided(alu: Alu, sources: &[Source]) -> bool {
    let ty = alu.sources()[0];
    let Some((bits, signed)) = number(ty) else { return false };
    let [a, b] = [sources[0].range(bits), sources[1].range(bits)];
    let comparable = !signed || (is_positive(a, bits) && is_positive(b, bits));
    comparable && (a.high < b.low || b.high < a.low)
}

#[cfg(test)]
mod tests {
    use super::super::progression::low;
    use super::*;

    /// Every instruction of the table is executed on numbers between bounds: its result lies between those that are said.
    #[test]
    fn results_lie_in_the_range_that_is_said() {
        let ends = [0u64, 1, 3, 4, 31, 255, 256, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, u64::MAX];
        let (mut found, mut decided) = (0, 0);
        for &alu in Alu::ALL {
            let types = alu.sources();
            for case in 0..300u64 {
                let random = |salt: u64| case.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(salt * 0x1234_5677) >> 9;
                let sources: Vec<Source> = (0..types.len() as u64)
                    .map(|at| {
                        let bits = types[at as usize].width().bits();
                        let [a, b] =
                            [random(2 * at), random(2 * at + 1)].map(|n| low(ends[n as usize % ends.len()], bits));
                        let zeros = (random(at + 50) % 4) as u32;
                        let range =
                            Range { zeros, ..Range::between(a.min(b) >> zeros << zeros, a.max(b) >> zeros << zeros) };
                        let step = (random(at + 90) % 3 == 0 || bits == 1).then_some(0);
                        Source { bits: range.low, step, within: Some(range) }
                    })
                    .collect();
                let value = |n: u64| -> u64 {
                    let one = |(at, (source, ty)): (usize, (&Source, &isa::Type))| {
                        let range = source.range(ty.width().bits());
                        let moved =
                            range.low + random(n * 8 + at as u64 + 200) % (range.high - range.low).saturating_add(1);
                        let number = if range.zeros > 62 {
                            range.low
                        } else {
                            (moved >> range.zeros << range.zeros).max(range.low)
                        };
                        u128::from(number)
                    };
                    let bits: Vec<u128> = sources.iter().zip(types).enumerate().map(one).collect();
                    low(alu.eval(&bits) as u64, alu.destination().width().bits())
                };
                let is_compared = alu.class() == isa::class::AluClass::Setp && number(types[0]).is_some();
                if is_compared && is_decided(alu, &sources) {
                    decided += 1;
                    assert!((0..20).all(|n| value(n) == value(0)), "{} {sources:?}", alu.pattern());
                }
                let Some(range) = range(alu, &sources) else { continue };
                found += 1;
                for n in 0..20 {
                    let value = value(n);
                    let fits =
                        (range.low..=range.high).contains(&value) && value.trailing_zeros() >= range.zeros.min(16);
                    assert!(fits, "{} {sources:?} gives {value}, not {range:?}", alu.pattern());
                }
            }
        }
        assert!(found > 1000 && decided > 100, "{found} {decided}");
    }
}
