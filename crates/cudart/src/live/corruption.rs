//! What becomes of bytes on their way to the host in a trial: a run without a fault that finds out whether the host looks at
//! its results.

outcome::words! {
    /// How all bytes that come to the host are corrupted. What a host accepts of one kind it refuses of another: a bound holds
    /// for zeros, what is not a number passes a comparison, copies of a result that are corrupted alike agree, and a host
    /// that mends an error in one place gives up on many.
    pub enum Corruption ("corruption") {
        /// Zeros.
        Zeros = "zeros",
        /// Numbers that are large and positive, of whatever type they are.
        Large = "large",
        /// All bits are inverted: small numbers become large, or are none any more, and signs are others.
        Inverted = "inverted",
        /// One bit of every word flips, drawn at random.
        Words = "words",
        /// One bit flips, drawn at random.
        Bit = "bit",
    }
}

/// Bytes of a word, of which one bit flips.
const WORD: usize = 4;
/// As a number of any width, and as a `float` or `double`, bytes of this value are large.
const LARGE: u8 = 0x7f;

impl Corruption {
    /// Corrupts what comes to the host as the copy with this number. The same copy is always corrupted in the same way.
    pub fn apply(self, copy: u64, bytes: &mut [u8]) {
        match self {
            Self::Zeros => bytes.fill(0),
            Self::Large => bytes.fill(LARGE),
            Self::Inverted => bytes.iter_mut().for_each(|byte| *byte = !*byte),
            Self::Words => (0..).zip(bytes.chunks_mut(WORD)).for_each(|(word, bytes)| flip(drawn(copy, word), bytes)),
            Self::Bit => flip(drawn(copy, 0), bytes),
        }
    }
}

/// Flips a bit of some bytes.
fn flip(drawn: u64, bytes: &mut [u8]) {
    if let Some(bit) = drawn.checked_rem(8 * bytes.len() as u64) {
        bytes[bit as usize / 8] ^= 1 << (bit % 8);
    }
}

/// A number drawn for a word of a copy, by `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014).
fn drawn(copy: u64, word: u64) -> u64 {
    let mut state = (copy << 32 ^ word).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrupted(corruption: Corruption, copy: u64, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        corruption.apply(copy, &mut bytes);
        bytes
    }

    #[test]
    fn every_corruption_changes_bytes_and_is_the_same_each_time() {
        let bytes: Vec<u8> = (1..=99).collect();
        for &corruption in Corruption::ALL {
            let other = corrupted(corruption, 5, &bytes);
            assert!(other != bytes && other.len() == bytes.len(), "{corruption}");
            assert_eq!(other, corrupted(corruption, 5, &bytes), "{corruption}");
            assert!(corrupted(corruption, 5, &[]).is_empty(), "{corruption}");
        }
    }

    #[test]
    fn one_bit_flips_in_every_word_or_in_all() {
        let flipped = |bytes: &[u8]| bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
        let words = corrupted(Corruption::Words, 0, &[0; 34]);
        assert!(words.chunks(4).all(|word| flipped(word) == 1));
        assert!(words[..4] != words[4..8] || words[..4] != words[8..12]);
        assert_eq!(flipped(&corrupted(Corruption::Bit, 3, &[0; 34])), 1);
        assert_ne!(corrupted(Corruption::Words, 1, &[0; 34]), words);
    }
}
