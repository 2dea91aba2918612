//! Prompts, and the text that tokens stand for: 0 is the newline, 1 to 95 are the printable characters of ASCII from the space on.

use serde::Deserialize;

/// The tokens of this alphabet.
pub const ALPHABET: usize = 96;

/// A prompt of a file, a list of which is JSON.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// The text that is continued.
    pub prompt: String,
    /// Its continuation by a reference, if there is one.
    #[serde(default)]
    pub continuation: Option<String>,
}

/// The tokens of a text; none if a character is not of the alphabet.
#[must_use]
pub fn tokens(text: &str) -> Option<Vec<usize>> {
    let token = |byte: u8| match byte {
        b'\n' => Some(0),
        b' '..=b'~' => Some(usize::from(byte - b' ') + 1),
        _ => None,
    };
    text.bytes().map(token).collect()
}

/// The text of tokens; a token beyond the alphabet is `?`.
#[must_use]
pub fn text(tokens: &[usize]) -> String {
    let character = |&token: &usize| match token {
        0 => '\n',
        1..ALPHABET => char::from(b' ' + (token - 1) as u8),
        _ => '?',
    };
    tokens.iter().map(character).collect()
}
