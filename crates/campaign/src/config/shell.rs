//! Words as a shell has them: read from one text, and put back into one.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A program and its arguments, written as for a shell that knows only quotes and the backslash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine(Vec<String>);

/// Why a text is no command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACommand {
    /// It is empty.
    #[error("read the command of the application: it is empty")]
    Empty,
    /// A quotation has no end, or a backslash nothing behind it.
    #[error("read the command `{0}`: a quotation is open at its end, or a backslash stands there")]
    Open(String),
}

impl CommandLine {
    /// A program and its arguments.
    ///
    /// # Errors
    /// If there is not even a program.
    pub fn new(words: Vec<String>) -> Result<Self, NotACommand> {
        let named = words.first().is_some_and(|program| !program.is_empty());
        if named { Ok(Self(words)) } else { Err(NotACommand::Empty) }
    }

    /// The program and its arguments.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.0
    }
}

/// A word as a POSIX shell takes it.
#[must_use]
pub fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "_-+=./:,@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

/// Words as one line for a POSIX shell.
pub fn shell_line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shell_line(self.0.iter().map(String::as_str)))
    }
}

impl FromStr for CommandLine {
    type Err = NotACommand;

    fn from_str(text: &str) -> Result<Self, NotACommand> {
        Self::new(shlex::split(text).ok_or_else(|| NotACommand::Open(text.to_owned()))?)
    }
}

impl Serialize for CommandLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CommandLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_read_as_a_shell_reads_it() {
        let cases: [(&str, &[&str]); 6] = [
            ("./app --n 5", &["./app", "--n", "5"]),
            ("  'my app'  \"a 'b'\" '' ", &["my app", "a 'b'", ""]),
            (r#"a\ b "c\"d" 'e\f'"#, &["a b", "c\"d", r"e\f"]),
            ("x=$HOME;y", &["x=$HOME;y"]),
            ("a'b'c", &["abc"]),
            (r#"a '#5' "\n""#, &["a", "#5", r"\n"]),
        ];
        for (text, words) in cases {
            let line: CommandLine = text.parse().unwrap();
            assert_eq!(line.words(), words, "{text}");
            assert_eq!(line.to_string().parse(), Ok(line));
        }
        assert_eq!("".parse::<CommandLine>(), Err(NotACommand::Empty));
        assert_eq!("'' a".parse::<CommandLine>(), Err(NotACommand::Empty));
        assert!(matches!("a 'b".parse::<CommandLine>(), Err(NotACommand::Open(_))));
        assert!(matches!(r"a \".parse::<CommandLine>(), Err(NotACommand::Open(_))));
    }

    #[test]
    fn words_reach_the_shell_as_they_are() {
        let words = ["launch=0,bits=1+2", "it's", "", "$(rm -r ~)"];
        assert_eq!(words.map(quoted), ["launch=0,bits=1+2", r"'it'\''s'", "''", "'$(rm -r ~)'"]);
    }
}
