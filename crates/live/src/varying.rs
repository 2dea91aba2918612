//! What an application prints otherwise each time, whatever it computes: times, rates, dates.
//!
//! It is found by running the application several times without a fault. A word of a text that has a digit and is not the same
//! each time says nothing about a fault; everything around it still counts.

use std::collections::BTreeSet;

/// Words of a text that are left out when it is compared: the lines they are in, and their numbers there, both from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Varying(BTreeSet<(usize, usize)>);

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

fn words(line: &[u8]) -> Vec<&[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect()
}

fn has_digit(word: &[u8]) -> bool {
    word.iter().any(u8::is_ascii_digit)
}

impl Varying {
    /// Whether two texts are the same but for what varies.
    pub(crate) fn same(&self, one: &[u8], other: &[u8]) -> bool {
        if one == other {
            return true;
        }
        !self.0.is_empty()
            && lines(one).count() == lines(other).count()
            && lines(one).zip(lines(other)).enumerate().all(|(line, (one, other))| self.same_line(line, one, other))
    }

    fn same_line(&self, line: usize, one: &[u8], other: &[u8]) -> bool {
        if one == other {
            return true;
        }
        if self.0.range((line, 0)..=(line, usize::MAX)).next().is_none() {
            return false;
        }
        let (one, other) = (words(one), words(other));
        let alike = |(at, (one, other)): (usize, (&&[u8], &&[u8]))| one == other || self.0.contains(&(line, at));
        one.len() == other.len() && one.iter().zip(&other).enumerate().all(alike)
    }

    /// Leaves out the words in which a text differs from that of another run without a fault; whether that is all in which
    /// they differ.
    pub(crate) fn learn(&mut self, one: &[u8], other: &[u8]) -> bool {
        if self.same(one, other) {
            return true;
        }
        if std::str::from_utf8(one).is_err() || lines(one).count() != lines(other).count() {
            return false;
        }
        let mut found = BTreeSet::new();
        for (line, (one, other)) in lines(one).zip(lines(other)).enumerate() {
            let (one, other) = (words(one), words(other));
            if one.len() != other.len() {
                return false;
            }
            for (at, (one, other)) in one.iter().zip(&other).enumerate().filter(|(_, (one, other))| one != other) {
                if !has_digit(one) || !has_digit(other) {
                    return false;
                }
                found.insert((line, at));
            }
        }
        self.0.extend(found);
        self.same(one, other)
    }

    /// The words that are left out of a text, with their lines counted from 1.
    pub(crate) fn of(&self, text: &[u8]) -> Vec<String> {
        let lines: Vec<&[u8]> = lines(text).collect();
        let word = |&(line, at): &(usize, usize)| {
            let word = String::from_utf8_lossy(words(lines.get(line)?).get(at)?).into_owned();
            Some(format!("`{word}` in line {}", line + 1))
        };
        self.0.iter().filter_map(word).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_vary_are_left_out_and_all_else_counts() {
        let mut varying = Varying::default();
        let golden = b"sum 6048 in 0.31 ms\nTest passed\n";
        assert!(varying.learn(golden, b"sum 6048 in 12.5 ms\nTest passed\n"));
        assert_eq!(varying.of(golden), ["`0.31` in line 1"]);
        assert!(varying.same(golden, b"sum 6048 in  7 ms\nTest passed\n"));
        for other in [
            &b"sum 6047 in 0.31 ms\nTest passed\n"[..],
            b"sum 6048 in 0.31 ms\nTest FAILED\n",
            b"sum 6048 in 0.31 ms\nTest passed\nonce more\n",
            b"sum 6048 in ms\nTest passed\n",
            b"",
        ] {
            assert!(!varying.same(golden, other), "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn what_is_no_number_has_to_be_the_same() {
        for other in [&b"passed 1\n"[..], b"FAILED 1 2\n", b"passed\n"] {
            let mut varying = Varying::default();
            assert!(!varying.learn(b"FAILED 1\n", other), "{}", String::from_utf8_lossy(other));
            assert_eq!(varying, Varying::default());
        }
        assert!(!Varying::default().learn(&[0xff, b'1'], b"22"));
    }
}
