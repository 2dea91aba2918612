//! Scalar types, widths of registers and state spaces, in the words of the PTX ISA.
//!
//! A [`Type`] says how bits are read; a register only has a width. References: PTX ISA 9.0, §5.2 (types), §5.1 (state
//! spaces).

/// Declares an enum whose variants print and parse as one word each.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* #[doc = concat!("`", $word, "`")] $variant),* }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word that stands for this value.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// The value that `word` stands for.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
pub use words;

words! {
    /// A scalar type: how the bits of an operand are read.
    Type {
        Pred = "pred",
        B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
        U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        F16 = "f16", F16x2 = "f16x2", Bf16 = "bf16", Bf16x2 = "bf16x2",
        F32 = "f32", F64 = "f64",
    }
}

impl Type {
    /// Width in bits; a predicate has one.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::B8 | Self::U8 | Self::S8 => 8,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::B32 | Self::U32 | Self::S32 | Self::F16x2 | Self::Bf16x2 | Self::F32 => 32,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 64,
            Self::B128 => 128,
        }
    }

    /// Width in memory, in bytes.
    #[must_use]
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether widening copies the sign bit.
    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Whether nothing is said of the bits but how many they are.
    #[must_use]
    pub fn is_bits(self) -> bool {
        matches!(self, Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128)
    }

    /// Whether the bits are a floating-point number or a pair of them.
    #[must_use]
    pub fn is_float(self) -> bool {
        use Type::{Bf16, Bf16x2, F16, F16x2, F32, F64};
        matches!(self, F16 | F16x2 | Bf16 | Bf16x2 | F32 | F64)
    }

    /// The width as a register sees it.
    #[must_use]
    pub fn width(self) -> Width {
        match self.bits() {
            1 => Width::Pred,
            8 | 16 => Width::B16,
            32 => Width::B32,
            64 => Width::B64,
            _ => Width::B128,
        }
    }
}

/// The width of a register. There are none of 8 bits: an 8-bit value is the low byte of a wider one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// One bit per thread.
    Pred,
    /// 16 bits.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
    /// 128 bits.
    B128,
}

impl Width {
    /// Width in bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::B16 => 16,
            Self::B32 => 32,
            Self::B64 => 64,
            Self::B128 => 128,
        }
    }
}

words! {
    /// A state space of memory.
    Space {
        Generic = "generic",
        Global = "global",
        Shared = "shared",
        Local = "local",
        Const = "const",
        Param = "param",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_parses_to_the_value_that_prints_it() {
        for &ty in Type::ALL {
            assert_eq!(Type::from_word(ty.word()), Some(ty));
        }
        assert_eq!(Type::from_word("u33"), None);
    }

    #[test]
    fn an_eight_bit_value_lives_in_a_sixteen_bit_register() {
        assert_eq!(Type::S8.width(), Width::B16);
        assert_eq!(Type::S8.bytes(), 1);
    }
}
