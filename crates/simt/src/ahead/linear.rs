//! Which pure instructions turn progressions into progressions.

use super::progression::{Progression, low};
use super::range::is_decided;
use super::sums;
use super::value::{Source, is_conversion, number};
use isa::Type;
use isa::alu::Alu;

/// The step of what an instruction computes, if it is known, for as many iterations as `limit` is lowered to.
pub(super) fn step(alu: Alu, sources: &[Source], limit: &mut u64) -> Option<u64> {
    if sources.iter().all(|source| source.is_constant()) {
        return Some(0);
    }
    if (is_equality(alu) || is_comparison(alu)) && is_decided(alu, sources) {
        return Some(0);
    }
    let types = alu.sources();
    let progression = |at: usize| sources[at].progression(types[at]);
    let destination = alu.destination();
    let step = match alu {
        Alu::AddB16 | Alu::AddB32 | Alu::AddB64 => sources[0].step?.wrapping_add(sources[1].step?),
        Alu::SubB16 | Alu::SubB32 | Alu::SubB64 => sources[0].step?.wrapping_sub(sources[1].step?),
        Alu::NegS16 | Alu::NegS32 | Alu::NegS64 | Alu::NotB16 | Alu::NotB32 | Alu::NotB64 => {
            sources[0].step?.wrapping_neg()
        }
        Alu::MovB16 | Alu::MovB32 | Alu::MovB64 => sources[0].step?,
        Alu::MulLoB16 | Alu::MulLoB32 | Alu::MulLoB64 => product(sources[0], sources[1])?,
        Alu::MadLoB16 | Alu::MadLoB32 | Alu::MadLoB64 => {
            product(sources[0], sources[1])?.wrapping_add(sources[2].step?)
        }
        Alu::MulWideU16 | Alu::MulWideS16 | Alu::MulWideU32 | Alu::MulWideS32 => {
            wide_product(progression(0)?, progression(1)?, limit)?
        }
        Alu::MadWideU16 | Alu::MadWideS16 | Alu::MadWideU32 | Alu::MadWideS32 => {
            wide_product(progression(0)?, progression(1)?, limit)?.wrapping_add(sources[2].step?)
        }
        Alu::ShlB16 | Alu::ShlB32 | Alu::ShlB64 if sources[1].is_constant() => {
            let by = low(sources[1].bits, 32);
            if by >= u64::from(destination.width().bits()) { 0 } else { sources[0].step? << by }
        }
        Alu::ShrU16 | Alu::ShrU32 | Alu::ShrU64 | Alu::ShrS16 | Alu::ShrS32 | Alu::ShrS64
            if sources[1].is_constant() =>
        {
            shifted(progression(0)?, low(sources[1].bits, 32), limit)?
        }
        Alu::XorB16 | Alu::XorB32 | Alu::XorB64 if is_same(sources[0], sources[1], destination) => 0,
        Alu::AndB16 | Alu::AndB32 | Alu::AndB64 | Alu::OrB16 | Alu::OrB32 | Alu::OrB64
            if is_same(sources[0], sources[1], destination) =>
        {
            sources[0].step?
        }
        Alu::PrmtB32 if sources[2].is_constant() => sources[whole_word(sources[2].bits)?].step?,
        Alu::AndB16 | Alu::AndB32 | Alu::AndB64 => masked(sources[0], sources[1], destination)?,
        Alu::OrB16 | Alu::OrB32 | Alu::OrB64 | Alu::XorB16 | Alu::XorB32 | Alu::XorB64 => {
            merged(sources[0], sources[1], destination)?
        }
        Alu::SelpB16 | Alu::SelpB32 | Alu::SelpB64 if sources[2].is_constant() => {
            sources[usize::from(sources[2].bits & 1 == 0)].step?
        }
        Alu::MinU16 | Alu::MinS16 | Alu::MinU32 | Alu::MinS32 | Alu::MinU64 | Alu::MinS64 => {
            chosen(progression(0)?, progression(1)?, true, limit)
        }
        Alu::MaxU16 | Alu::MaxS16 | Alu::MaxU32 | Alu::MaxS32 | Alu::MaxU64 | Alu::MaxS64 => {
            chosen(progression(0)?, progression(1)?, false, limit)
        }
        _ if is_equality(alu) => {
            *limit = progression(0)?.meets(progression(1)?).min(*limit);
            0
        }
        _ if is_comparison(alu) => {
            *limit = progression(0)?.crosses(progression(1)?).min(*limit);
            0
        }
        _ if is_conversion(alu) => {
            let from = progression(0)?;
            if number(destination)?.0 > from.bits {
                *limit = from.wraps().min(*limit);
            }
            from.change() as u64
        }
        _ => sums::step(alu, sources, limit)?,
    };
    Some(low(step, destination.width().bits()))
}

/// Whether two sources are the same number in every iteration: a duplicate and its original are, unless one is corrupted.
fn is_same(a: Source, b: Source, ty: Type) -> bool {
    let bits = ty.width().bits();
    let same = |a: u64, b: u64| low(a, bits) == low(b, bits);
    same(a.bits, b.bits) && a.step.zip(b.step).is_some_and(|(a, b)| same(a, b))
}

/// The source that a selector of `prmt` leaves as it is.
fn whole_word(selector: u64) -> Option<usize> {
    match low(selector, 16) {
        0x3210 => Some(0),
        0x7654 => Some(1),
        _ => None,
    }
}

fn is_equality(alu: Alu) -> bool {
    use Alu::{SetpEqB16, SetpEqB32, SetpEqB64, SetpNeB16, SetpNeB32, SetpNeB64};
    matches!(alu, SetpEqB16 | SetpEqB32 | SetpEqB64 | SetpNeB16 | SetpNeB32 | SetpNeB64)
}

fn is_comparison(alu: Alu) -> bool {
    alu.class() == isa::class::AluClass::Setp && alu.sources().iter().all(|&ty| number(ty).is_some())
}

/// The step of a product in which one factor is constant.
fn product(a: Source, b: Source) -> Option<u64> {
    if a.is_constant() {
        Some(a.bits.wrapping_mul(b.step?))
    } else if b.is_constant() {
        Some(b.bits.wrapping_mul(a.step?))
    } else {
        None
    }
}

/// That of a product of twice the bits.
fn wide_product(a: Progression, b: Progression, limit: &mut u64) -> Option<u64> {
    let (constant, moving) = if a.step == 0 { (a, b) } else { (b, a) };
    if constant.step != 0 {
        return None;
    }
    *limit = moving.wraps().min(*limit);
    Some((constant.number() * moving.change()) as u64)
}

/// That of a number shifted to the right: nothing is lost of it that changes.
fn shifted(number: Progression, by: u64, limit: &mut u64) -> Option<u64> {
    if by >= u64::from(number.bits) || low(number.step, by as u32) != 0 {
        return None;
    }
    *limit = number.wraps().min(*limit);
    Some((number.change() >> by) as u64)
}

/// That of the bits which a constant leaves: none that changes, or all from one on.
fn masked(a: Source, b: Source, ty: Type) -> Option<u64> {
    let (mask, moving) = if a.is_constant() { (a.bits, b) } else { (b.bits, a) };
    let (mask, bits) = (low(mask, ty.width().bits()), ty.width().bits());
    if !(a.is_constant() || b.is_constant()) {
        return None;
    }
    let fixed = low(moving.step?, bits).trailing_zeros().min(bits);
    if low(mask, fixed) == mask {
        return Some(0);
    }
    // All bits that change stay.
    (mask >> fixed == low(u64::MAX, bits) >> fixed).then_some(moving.step?)
}

/// That of a number some of whose bits are set or turned by a constant: only those that do not change.
fn merged(a: Source, b: Source, ty: Type) -> Option<u64> {
    let (with, moving) = if a.is_constant() { (a.bits, b) } else { (b.bits, a) };
    if !(a.is_constant() || b.is_constant()) {
        return None;
    }
    let bits = ty.width().bits();
    let fixed = low(moving.step?, bits).trailing_zeros().min(bits);
    (low(low(with, bits), fixed) == low(with, bits)).then_some(moving.step?)
}

/// That of the smaller or larger of two numbers.
fn chosen(a: Progression, b: Progression, smaller: bool, limit: &mut u64) -> u64 {
    *limit = a.crosses(b).min(*limit);
    let first = if smaller { a.number() <= b.number() } else { a.number() >= b.number() };
    if first { a.step } else { b.step }
}

#[cfg(test)]
mod tests {
    use super::super::progression::FOREVER;
    use super::*;

    #[test]
    fn a_copy_and_the_comparison_of_a_duplicate_with_its_original_have_steps() {
        let of = |bits, by| Source { bits, step: Some(by), within: None };
        let step = |alu, sources: &[Source]| step(alu, sources, &mut FOREVER.clone());
        let (moving, ahead) = (of(5, 3), of(6, 3));
        for (selector, expected) in [(0x3210, Some(3)), (0x7654, Some(4)), (0x3201, None)] {
            assert_eq!(step(Alu::PrmtB32, &[moving, of(9, 4), of(selector, 0)]), expected, "{selector:#x}");
        }
        assert_eq!(step(Alu::PrmtB32, &[moving, of(9, 4), of(0x3210, 1)]), None);
        assert_eq!([moving, ahead].map(|other| step(Alu::XorB32, &[moving, other])), [Some(0), None]);
        assert_eq!([moving, ahead].map(|other| step(Alu::OrB32, &[moving, other])), [Some(3), None]);
        assert_eq!([moving, ahead].map(|other| step(Alu::AndB64, &[moving, other])), [Some(3), None]);
    }

    /// Every instruction of the table is executed on progressions for as many iterations as it is said to keep its step.
    #[test]
    fn what_is_said_of_every_instruction_holds_when_it_is_executed() {
        let numbers = [1.5f32, -3.25, 0.1, 1e6, 16_777_215.0].map(|number| u64::from(number.to_bits()));
        let doubles = [1.5f64, -0.3, 1e9].map(f64::to_bits);
        let firsts = [0u64, 1, 5, 7, 100, 0x3210, 0x7654, 0x7ff0, 0x7fff_fff0, 0xffff_fff4, u64::MAX - 20, 1 << 40];
        let firsts: Vec<u64> = firsts.into_iter().chain(numbers).chain(doubles).collect();
        let steps = [0u64, 1, 3, 4, 8, 0x1000, (-1i64) as u64, (-4i64) as u64];
        let mut known = 0;
        for &alu in Alu::ALL {
            let types = alu.sources();
            for case in 0..400u64 {
                let pick = |from: &[u64], at: u64| {
                    from[(case.wrapping_mul(0x9e37_79b9).wrapping_add(at * 7919) >> 3) as usize % from.len()]
                };
                let mut sources: Vec<Source> = (0..types.len() as u64)
                    .map(|at| {
                        let bits = types[at as usize].width().bits();
                        let step = if at > 0 && case % 3 == 0 { 0 } else { pick(&steps, at + 11) };
                        Source {
                            within: None,
                            bits: low(pick(&firsts, at), bits),
                            step: Some(if bits == 1 { 0 } else { low(step, bits) }),
                        }
                    })
                    .collect();
                // The first two are often the same, as a duplicate is.
                if case % 5 == 0 && sources.len() > 1 && types[0].width() == types[1].width() {
                    sources[1] = sources[0];
                }
                let mut limit = FOREVER;
                let Some(step) = step(alu, &sources, &mut limit) else { continue };
                known += u32::from(sources.iter().any(|source| !source.is_constant()));
                let value = |n: u64| {
                    let at = |(source, ty): (&Source, &Type)| {
                        let moved = source.bits.wrapping_add(n.wrapping_mul(source.step.unwrap_or(0)));
                        u128::from(low(moved, ty.width().bits()))
                    };
                    let bits: Vec<u128> = sources.iter().zip(types).map(at).collect();
                    alu.eval(&bits) as u64
                };
                let bits = alu.destination().width().bits();
                for n in 0..limit.min(70) {
                    let expected = low(value(0).wrapping_add(n.wrapping_mul(step)), bits);
                    assert_eq!(low(value(n), bits), expected, "{} {sources:?} iteration {n} of {limit}", alu.pattern());
                }
            }
        }
        assert!(known > 2000, "{known}");
    }
}
