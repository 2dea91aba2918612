//! The instruction set that a place is in.

use std::fmt;

/// The name of an instruction set, such as `ptx` or `sass-sm_90`: lower-case letters, digits, `-`, `_` and `.`.
///
/// Places of different instruction sets have the same form and nothing to do with each other: the tenth instruction of a
/// thread is another in PTX than in what an assembler made of it. So an id says which it speaks of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Isa {
    length: u8,
    letters: [u8; LONGEST],
}

/// The letters of the longest name.
const LONGEST: usize = 23;

impl Isa {
    /// PTX.
    pub const PTX: Self = Self::known("ptx");

    /// The machine code of NVIDIA's GPUs, of an architecture that is not known.
    pub const SASS: Self = Self::known("sass");

    /// The instruction set of this name, which must be one.
    const fn known(name: &str) -> Self {
        let (bytes, mut letters, mut at) = (name.as_bytes(), [0; LONGEST], 0);
        while at < bytes.len() {
            letters[at] = bytes[at];
            at += 1;
        }
        Self { length: bytes.len() as u8, letters }
    }

    /// The instruction set of this name; `None` if it cannot be the name of one.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
        let is_name = (1..=LONGEST).contains(&name.len()) && name.bytes().all(plain);
        is_name.then(|| Self::known(name))
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        std::str::from_utf8(&self.letters[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl Default for Isa {
    fn default() -> Self {
        Self::PTX
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Isa({})", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_it_was_made_of() {
        for name in ["ptx", "sass-sm_90", "x86-64", "a.b", "abcdefghijklmnopqrstuvw"] {
            assert_eq!(Isa::new(name).unwrap().to_string(), name);
        }
        assert_eq!(Isa::new("ptx"), Some(Isa::PTX));
        for text in ["", "PTX", "a b", "a,b", "a=b", "größe", "abcdefghijklmnopqrstuvwx"] {
            assert_eq!(Isa::new(text), None, "{text}");
        }
    }
}
