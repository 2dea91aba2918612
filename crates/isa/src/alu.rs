//! The pure instructions, made from the [table](crate::table): their names, operand types and scalar results.

use crate::table::prelude::*;
use crate::types::Type;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A Rust type that can stand in the table as an operand.
pub trait Lane: Copy {
    /// How its bits are read, and how wide its register is.
    const TYPE: Type;
    /// The value in the low bits of `bits`.
    fn from_bits128(bits: u128) -> Self;
    /// The bits, in the low end, extended as the type says to at least 16 bits.
    fn to_bits128(self) -> u128;
}

macro_rules! lanes {
    ($($t:ident $ty:ident, $read:expr, $write:expr;)*) => { $(impl Lane for $t {
        const TYPE: Type = Type::$ty;
        #[inline(always)]
        fn from_bits128(bits: u128) -> Self {
            let read: fn(u128) -> Self = $read;
            read(bits)
        }
        #[inline(always)]
        fn to_bits128(self) -> u128 {
            let write: fn(Self) -> u128 = $write;
            write(self)
        }
    })* };
}
lanes! {
    bool Pred, |bits| bits & 1 == 1, u128::from;
    u8 U8, |bits| bits as u8, u128::from;
    i8 S8, |bits| bits as i8, |x| u128::from(x as i16 as u16);
    u16 U16, |bits| bits as u16, u128::from;
    i16 S16, |bits| bits as i16, |x| u128::from(x as u16);
    u32 U32, |bits| bits as u32, u128::from;
    i32 S32, |bits| bits as i32, |x| u128::from(x as u32);
    u64 U64, |bits| bits as u64, u128::from;
    i64 S64, |bits| bits as i64, |x| u128::from(x as u64);
    u128 B128, |bits| bits, |x| x;
    F16 F16, |bits| F16(bits as u16), |x| u128::from(x.0);
    F16x2 F16x2, |bits| Pair::from_bits(bits as u32), |x| u128::from(x.bits());
    Bf16 Bf16, |bits| Bf16(bits as u16), |x| u128::from(x.0);
    Bf16x2 Bf16x2, |bits| Pair::from_bits(bits as u32), |x| u128::from(x.bits());
    f32 F32, |bits| f32::from_bits(bits as u32), |x| u128::from(x.to_bits());
    f64 F64, |bits| f64::from_bits(bits as u64), |x| u128::from(x.to_bits());
}

/// Calls a function of the table on operands given as bits.
macro_rules! call {
    (rare $($line:tt)*) => { call!($($line)*) };
    (looked ($a:ty) -> $d:ty, $f:expr, $s:ident) => { call!(($a) -> $d, |a| $f(interpolator::at, a), $s) };
    (looked ($a:ty, $b:ty) -> $d:ty, $f:expr, $s:ident) => { call!(($a, $b) -> $d, |a, b| $f(interpolator::at, a, b), $s) };
    (($a:ty) -> $d:ty, $f:expr, $s:ident) => {{
        let f: fn($a) -> $d = $f;
        f(<$a>::from_bits128($s[0])).to_bits128()
    }};
    (($a:ty, $b:ty) -> $d:ty, $f:expr, $s:ident) => {{
        let f: fn($a, $b) -> $d = $f;
        f(<$a>::from_bits128($s[0]), <$b>::from_bits128($s[1])).to_bits128()
    }};
    (($a:ty, $b:ty, $c:ty) -> $d:ty, $f:expr, $s:ident) => {{
        let f: fn($a, $b, $c) -> $d = $f;
        f(<$a>::from_bits128($s[0]), <$b>::from_bits128($s[1]), <$c>::from_bits128($s[2])).to_bits128()
    }};
    (($a:ty, $b:ty, $c:ty, $e:ty) -> $d:ty, $f:expr, $s:ident) => {{
        let f: fn($a, $b, $c, $e) -> $d = $f;
        f(<$a>::from_bits128($s[0]), <$b>::from_bits128($s[1]), <$c>::from_bits128($s[2]), <$e>::from_bits128($s[3]))
            .to_bits128()
    }};
}

use crate::class::AluClass;

macro_rules! declare {
    ($($name:ident $class:ident $($mark:ident)? $pattern:literal ($($in:ty),+) -> $out:ty = $f:expr;)*) => {
        /// A pure instruction: one line of the [table](crate::table).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Alu { $(#[doc = concat!("`", $pattern, "`")] $name),* }

        impl Alu {
            /// Every instruction, in the table's order.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The spellings, with `{a|b}` for alternatives.
            #[must_use]
            pub fn pattern(self) -> &'static str {
                match self { $(Self::$name => $pattern),* }
            }

            /// The class of its line.
            #[must_use]
            pub fn class(self) -> AluClass {
                match self { $(Self::$name => AluClass::$class),* }
            }

            /// The types of the sources, in order.
            #[must_use]
            pub fn sources(self) -> &'static [Type] {
                match self { $(Self::$name => &[$(<$in as Lane>::TYPE),+]),* }
            }

            /// The type of the destination.
            #[must_use]
            pub fn destination(self) -> Type {
                match self { $(Self::$name => <$out as Lane>::TYPE),* }
            }

            /// The result for one lane, bits in, bits out.
            ///
            /// # Panics
            /// If there are fewer sources than [`Alu::sources`] says.
            #[must_use]
            pub fn eval(self, sources: &[u128]) -> u128 {
                match self { $(Self::$name => call!($($mark)? ($($in),+) -> $out, $f, sources)),* }
            }
        }
    };
}
crate::alu_table!(declare);

impl Alu {
    /// The instructions that a text can spell; the others are made by whoever makes programs.
    pub fn spelled() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|alu| alu.class() != AluClass::Joined)
    }
}

/// A pure instruction with the spelling it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AluForm {
    /// The instruction.
    pub alu: Alu,
    /// Index among the alternatives of its pattern, in the order of [`spellings`].
    pub spelling: u8,
}

impl AluForm {
    /// The form with this spelling, for example `add.rn.f32`.
    #[must_use]
    pub fn from_spelling(spelling: &str) -> Option<Self> {
        FORMS.get(spelling).copied()
    }

    /// The spelling.
    #[must_use]
    pub fn spelling(self) -> &'static str {
        &SPELLINGS[self.alu as usize][usize::from(self.spelling)]
    }
}

/// The spellings of each line, in the table's order.
static SPELLINGS: LazyLock<Vec<Vec<String>>> =
    LazyLock::new(|| Alu::ALL.iter().map(|alu| spellings(alu.pattern())).collect());

static FORMS: LazyLock<BTreeMap<&str, AluForm>> = LazyLock::new(|| {
    let forms = Alu::spelled().flat_map(|alu| {
        let spelled = SPELLINGS[alu as usize].iter().enumerate();
        spelled.map(move |(index, spelling)| (spelling.as_str(), AluForm { alu, spelling: index as u8 }))
    });
    forms.collect()
});

/// Every spelling that a pattern stands for.
#[must_use]
pub fn spellings(pattern: &str) -> Vec<String> {
    let Some((head, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let Some((choices, tail)) = rest.split_once('}') else { return vec![pattern.to_owned()] };
    let tails = spellings(tail);
    choices.split('|').flat_map(|choice| tails.iter().map(move |tail| format!("{head}{choice}{tail}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_all_their_alternatives() {
        assert_eq!(spellings("add{|.rn}.{s32|u32}"), ["add.s32", "add.u32", "add.rn.s32", "add.rn.u32"]);
    }

    #[test]
    fn the_table_has_the_breadth_that_compilers_use() {
        let (lines, forms) = (Alu::spelled().count(), FORMS.len());
        assert!(lines >= 1140 && forms >= 1440, "{lines} lines with {forms} forms");
    }

    #[test]
    fn no_two_lines_of_the_table_share_a_spelling() {
        let all: usize = Alu::spelled().map(|alu| spellings(alu.pattern()).len()).sum();
        assert_eq!(all, FORMS.len());
    }

    #[test]
    fn every_form_prints_the_spelling_that_parses_to_it() {
        for (spelling, form) in FORMS.iter() {
            assert_eq!(form.spelling(), *spelling);
        }
    }

    #[test]
    fn evaluation_reads_operands_by_type() {
        let eval = |spelling: &str, sources: &[u128]| AluForm::from_spelling(spelling).unwrap().alu.eval(sources);
        assert_eq!(eval("add.s32", &[0xffff_ffff, 1]), 0);
        assert_eq!(eval("shr.s32", &[0x8000_0000, 99]), 0xffff_ffff);
        assert_eq!(eval("cvt.s32.s8", &[0x1ff]), 0xffff_ffff);
        assert_eq!(eval("cvt.s8.s32", &[0x80]), 0xff80);
        assert_eq!(eval("fma.rn.f32", &[0x3f80_0000, 0x4000_0000, 0x3f80_0000]), 0x4040_0000);
        assert_eq!(eval("setp.lt.s32", &[0xffff_ffff, 0]), 1);
        assert_eq!(eval("mul.wide.s32", &[0xffff_ffff, 2]), 0xffff_ffff_ffff_fffe);
    }
}
