//! The formats in which values are stored.

/// A field of a stored number of floating point, the most significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BitField {
    /// The sign.
    Sign,
    /// The exponent.
    Exponent,
    /// The mantissa (the fraction).
    Mantissa,
}

impl BitField {
    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sign => "sign",
            Self::Exponent => "exponent",
            Self::Mantissa => "mantissa",
        }
    }
}

/// How a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ValueFormat {
    /// 32 bits: 8 of the exponent, 23 of the fraction.
    #[default]
    Fp32,
    /// 16 bits: 5 of the exponent, 10 of the fraction.
    Fp16,
    /// 16 bits: 8 of the exponent, 7 of the fraction.
    Bf16,
}

impl ValueFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fp32, Self::Fp16, Self::Bf16];

    /// The word of commands and names.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
        }
    }

    /// Reads the word of commands and names.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }

    /// How many bits a value has.
    #[must_use]
    pub fn bits(self) -> u32 {
        if self == Self::Fp32 { 32 } else { 16 }
    }

    /// The field that a bit is in; bits are numbered from the least significant one.
    #[must_use]
    pub fn field(self, bit: u32) -> BitField {
        let mantissa = match self {
            Self::Fp32 => 23,
            Self::Fp16 => 10,
            Self::Bf16 => 7,
        };
        match bit {
            bit if bit < mantissa => BitField::Mantissa,
            bit if bit + 1 < self.bits() => BitField::Exponent,
            _ => BitField::Sign,
        }
    }

    /// The stored bits of the value that is nearest, ties to even; too large ones are infinite.
    #[must_use]
    pub fn stored(self, value: f32) -> u32 {
        let bits = value.to_bits();
        match self {
            Self::Fp32 => bits,
            Self::Fp16 => u32::from(half(bits)),
            // A NaN whose fraction lies in the lower half alone stays one.
            Self::Bf16 if value.is_nan() => bits >> 16 | u32::from(bits & 0x7f_0000 == 0),
            Self::Bf16 => (bits + 0x7fff + (bits >> 16 & 1)) >> 16,
        }
    }

    /// The value of stored bits.
    #[must_use]
    pub fn value(self, stored: u32) -> f32 {
        match self {
            Self::Fp32 => f32::from_bits(stored),
            Self::Fp16 => of_half(stored & 0xffff),
            Self::Bf16 => f32::from_bits(stored << 16),
        }
    }

    /// The value that is left of one that an operator makes, when it is stored.
    #[must_use]
    #[inline]
    pub fn kept(self, value: f32) -> f32 {
        match self {
            _ if value.is_nan() => f32::NAN,
            Self::Fp32 => value,
            Self::Fp16 | Self::Bf16 => self.value(self.stored(value)),
        }
    }
}

fn half(bits: u32) -> u16 {
    let (sign, magnitude) = ((bits >> 16) as u16 & 0x8000, bits & 0x7fff_ffff);
    let found = match magnitude {
        0x7f80_0001.. => 0x7c00 | ((magnitude >> 13 & 0x3ff) as u16).max(1),
        // 65,520 lies halfway between the largest number and the next, which there is not.
        0x477f_f000.. => 0x7c00,
        // The step of numbers from 0.5 to 1 is that of the numbers below 2⁻¹⁴ of the format.
        ..0x3880_0000 => ((f32::from_bits(magnitude) + 0.5).to_bits() - 0.5_f32.to_bits()) as u16,
        _ => ((magnitude + 0xfff + (magnitude >> 13 & 1) - 0x3800_0000) >> 13) as u16,
    };
    sign | found
}

fn of_half(half: u32) -> f32 {
    let (sign, exponent, fraction) = (half >> 15 << 31, half >> 10 & 31, half & 0x3ff);
    let magnitude = match exponent {
        0 => (fraction as f32 / 16_777_216.0).to_bits(),
        31 => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stored_word_of_16_bits_is_the_value_that_it_stands_for() {
        for format in [ValueFormat::Fp16, ValueFormat::Bf16] {
            for word in 0..=0xffff {
                assert_eq!(format.stored(format.value(word)), word, "{} {word:#x}", format.word());
            }
        }
        let fp16 = [0x3c00, 0xc000, 0x0001, 0x0400, 0x7bff, 0x7c00].map(|word| ValueFormat::Fp16.value(word));
        assert_eq!(fp16, [1.0, -2.0, 5.960_464_5e-8, 6.103_515_6e-5, 65504.0, f32::INFINITY]);
        assert_eq!(ValueFormat::Bf16.value(0x3f80), 1.0);
    }

    #[test]
    fn the_fields_of_a_format_are_one_sign_bit_the_exponent_and_the_mantissa() {
        for (format, sizes) in
            [(ValueFormat::Fp32, [1, 8, 23]), (ValueFormat::Fp16, [1, 5, 10]), (ValueFormat::Bf16, [1, 8, 7])]
        {
            let of = |field| (0..format.bits()).filter(|&bit| format.field(bit) == field).count();
            assert_eq!([BitField::Sign, BitField::Exponent, BitField::Mantissa].map(of), sizes, "{}", format.word());
            assert_eq!(format.field(format.bits() - 1), BitField::Sign);
        }
    }

    #[test]
    fn values_between_two_words_go_to_the_nearer_and_ties_to_the_even_one() {
        for format in [ValueFormat::Fp16, ValueFormat::Bf16] {
            // Positive finite words are in the order of their values.
            let largest = if format == ValueFormat::Fp16 { 0x7bff } else { 0x7f7f };
            for word in 0..largest {
                let [low, high] = [word, word + 1].map(|word| f64::from(format.value(word)));
                let middle = (low + high) / 2.0;
                // 24 bits hold the middle of two words exactly, except of the least ones of BF16.
                if f64::from(middle as f32) != middle {
                    continue;
                }
                let middle = middle as f32;
                assert_eq!(format.stored(middle), word + (word & 1), "{} {word:#x}", format.word());
                assert_eq!(format.stored(middle.next_down()), word, "{} {word:#x}", format.word());
                assert_eq!(format.stored(middle.next_up()), word + 1, "{} {word:#x}", format.word());
                assert_eq!(format.stored(-middle), (word + (word & 1)) | 0x8000);
            }
        }
        assert_eq!([65519.9, 65520.0, f32::MAX].map(|it| ValueFormat::Fp16.stored(it)), [0x7bff, 0x7c00, 0x7c00]);
        assert_eq!(ValueFormat::Bf16.stored(f32::MAX), 0x7f80);
        assert!(ValueFormat::ALL.iter().all(|format| format.kept(-f32::NAN).to_bits() == f32::NAN.to_bits()));
    }
}
