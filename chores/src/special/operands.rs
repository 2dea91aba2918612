//! Operands that a number stands for, the same on a GPU and here.
//!
//! Of 32 bits the number is the operand; of a double it is the upper half, and the lower is made of it; of a pair of 16
//! bits it is the lower, and the upper is its complement. Two operands are a mixed number's halves (the finalizer of
//! SplitMix64: G. L. Steele, D. Lea and C. H. Flood, OOPSLA 2014): random bits, one in sixteen with a whole power of two,
//! zero or infinity in the first place, one in the second, one in both.

use isa::{Alu, Type};

/// What a number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// One operand of 16 bits.
    Short,
    /// Two of 16 bits in one register.
    Pair,
    /// One of 32 bits.
    Word,
    /// One of 64 bits.
    Double,
    /// Two of 32 bits.
    Two,
}

/// What makes the lower half of a double.
const LOWER: u32 = 0x9e37_79b1;
/// The three multipliers of SplitMix64.
const MIX: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];
/// Sign and exponent.
const WHOLE: u64 = 0xff80_0000;

impl Operands {
    /// Those of an instruction.
    pub(super) fn of(alu: Alu) -> Self {
        match alu.sources() {
            [_, _] => Self::Two,
            [Type::F64] => Self::Double,
            [Type::F16x2 | Type::Bf16x2] => Self::Pair,
            [Type::F16 | Type::Bf16] => Self::Short,
            _ => Self::Word,
        }
    }

    /// How many numbers stand for all that there are; of two operands, for as many as of one.
    pub(super) fn count(self) -> u64 {
        match self {
            Self::Short | Self::Pair => 1 << 16,
            Self::Word | Self::Double | Self::Two => 1 << 32,
        }
    }

    /// The operands, as bits; the second is of no meaning where there is one.
    pub(super) fn at(self, number: u32) -> [u64; 2] {
        match self {
            Self::Short | Self::Word => [number.into(), 0],
            Self::Pair => [u64::from(number & 0xffff | !number << 16), 0],
            Self::Double => [u64::from(number) << 32 | u64::from(number.wrapping_mul(LOWER)), 0],
            Self::Two => two(number),
        }
    }

    /// PTX that makes the operands `%a` and `%b` of the number in `%n`.
    pub(super) fn ptx(self) -> String {
        match self {
            Self::Short => "cvt.u16.u32 %a, %n;".to_owned(),
            Self::Word => "mov.b32 %a, %n;".to_owned(),
            Self::Pair => "and.b32 %a, %n, 65535; not.b32 %m, %n; shl.b32 %m, %m, 16; or.b32 %a, %a, %m;".to_owned(),
            Self::Double => format!("mul.lo.u32 %m, %n, {LOWER}; mov.b64 %a, {{%m, %n}};"),
            Self::Two => mixing(),
        }
    }
}

fn two(number: u32) -> [u64; 2] {
    let mut mixed = (u64::from(number) + 1).wrapping_mul(MIX[0]);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(MIX[1]);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(MIX[2]);
    mixed ^= mixed >> 31;
    let whole = |turns: &[u32]| if turns.contains(&(number & 15)) { WHOLE } else { 0xffff_ffff };
    [mixed & whole(&[0, 2]), mixed >> 32 & whole(&[1, 2])]
}

fn mixing() -> String {
    let [first, second, third] = MIX;
    format!(
        "cvt.u64.u32 %x, %n; add.u64 %x, %x, 1; mul.lo.u64 %x, %x, {first};
    shr.u64 %y, %x, 30; xor.b64 %x, %x, %y; mul.lo.u64 %x, %x, {second};
    shr.u64 %y, %x, 27; xor.b64 %x, %x, %y; mul.lo.u64 %x, %x, {third};
    shr.u64 %y, %x, 31; xor.b64 %x, %x, %y; mov.b64 {{%a, %b}}, %x;
    and.b32 %m, %n, 15; setp.eq.u32 %p, %m, 2; setp.eq.or.u32 %q, %m, 0, %p; setp.eq.or.u32 %p, %m, 1, %p;
    @%q and.b32 %a, %a, {WHOLE}; @%p and.b32 %b, %b, {WHOLE};"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pair_in_sixteen_has_a_whole_power_of_two_in_the_first_place() {
        let whole = |place: usize| (0..1600).filter(|&number| two(number)[place] & 0x7f_ffff == 0).count();
        assert_eq!((whole(0), whole(1)), (200, 200));
    }

    #[test]
    fn a_number_is_the_upper_half_of_a_double_and_the_lower_one_of_a_pair() {
        assert_eq!(Operands::Double.at(0x10)[0], 0x0000_0010_e377_9b10);
        assert_eq!(Operands::Pair.at(0x1234)[0], 0xedcb_1234);
    }
}
