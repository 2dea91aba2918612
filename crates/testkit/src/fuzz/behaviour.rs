//! What a reader did with an input, so that inputs that make it do something new can be told.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What a reader did with one input.
#[derive(Clone, Debug, Default)]
pub struct ReadResult {
    /// Why the input was refused, if it was.
    reason: Option<String>,
    shapes: Vec<u64>,
}

impl ReadResult {
    /// The input was read.
    #[must_use]
    pub fn accepted() -> Self {
        Self { reason: None, shapes: vec![shape("accepted")] }
    }

    /// The input was refused with this message.
    #[must_use]
    pub fn refused(message: String) -> Self {
        Self { shapes: vec![shape(&message)], reason: Some(message) }
    }

    /// The input was refused for many reasons, which are to be noted one by one.
    #[must_use]
    pub fn of_many(reasons: String) -> Self {
        Self { shapes: Vec::new(), reason: Some(reasons) }
    }

    /// Something else that was seen.
    pub fn note(&mut self, what: &str) {
        self.shapes.push(shape(what));
    }

    /// Something else that was seen, told from all that is not spelled the same.
    pub fn note_exactly(&mut self, what: &str) {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        self.shapes.push(hasher.finish());
    }

    /// Whether the input was read.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.reason.is_none()
    }

    /// The message of a refusal.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.reason.as_deref().unwrap_or_default()
    }
}

/// All that a reader did, each thing once.
#[derive(Clone, Debug, Default)]
pub struct Behaviours(BTreeSet<u64>);

impl Behaviours {
    /// Adds what was done with an input; whether some of it is new.
    pub(super) fn extend(&mut self, verdict: ReadResult) -> bool {
        let before = self.0.len();
        self.0.extend(verdict.shapes);
        self.0.len() > before
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// How many things.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A number for all messages that differ in nothing but what they quote, and in their numbers.
pub(super) fn shape(message: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut rest = message;
    while let Some(at) = rest.find(['`', '"']) {
        words(&rest[..at], &mut hasher);
        // What is quoted ends with the mark that it begins with, and may hold the other.
        let (mark, quoted) = rest[at..].split_at(1);
        rest = quoted.split_once(mark).map_or("", |(_, after)| after);
    }
    words(rest, &mut hasher);
    hasher.finish()
}

/// The words and marks of a text; all words with a digit, numbers and digests, count as one.
fn words(text: &str, hasher: &mut DefaultHasher) {
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let number = word.bytes().any(|byte| byte.is_ascii_digit());
        (if number { "0" } else { word }).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_shape_of_their_words() {
        assert_eq!(shape("expected `a`, found 12 in 0x1f"), shape("expected `bcd`, found 3 in 0xab"));
        assert_eq!(shape("found `\"a b\"`, not `c`"), shape("found `\"`, not `d`"));
        assert_eq!(shape("digest 3af0…"), shape("digest beef1…"));
        assert_ne!(shape("expected 12"), shape("found 12"));
    }

    #[test]
    fn a_verdict_is_new_once() {
        let mut all = Behaviours::default();
        assert!(all.extend(ReadResult::refused("at byte 5".to_owned())));
        assert!(!all.extend(ReadResult::refused("at byte 67".to_owned())));
        assert!(all.extend(ReadResult::accepted()));
        assert_eq!(all.len(), 2);
    }
}
