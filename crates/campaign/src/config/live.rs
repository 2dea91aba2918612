//! What is to be known of an application that live runs start, and how its command line is written.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Choices, ConfigError, Size};

/// The application that live runs start, and how what it leaves is judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// The program and its arguments.
    pub app: CommandLine,
    /// The directory that it is started for: relative names mean what they mean there.
    pub directory: Option<String>,
    /// The files that it leaves, by names that are relative to the directory.
    pub file: Vec<String>,
    /// The command of the shell that says whether what it left is good.
    pub judge: Option<String>,
    /// The seconds that it may take.
    pub timeout: Option<f64>,
    /// It runs in the directory itself.
    pub in_place: bool,
}

/// A program and its arguments, written as for a shell that knows only quotes and the backslash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine(Vec<String>);

/// Why a text is no command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACommand {
    /// It is empty.
    #[error("read the command of the application: it is empty")]
    Empty,
    /// A quotation has no end.
    #[error("read the command `{0}`: a quotation is open at its end")]
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

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_alphanumeric() || "_-+=./:,@%^".contains(c);
        for (index, word) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { " " })?;
            if !word.is_empty() && word.chars().all(plain) {
                f.write_str(word)?;
            } else {
                write!(f, "'{}'", word.replace('\'', r"'\''"))?;
            }
        }
        Ok(())
    }
}

impl FromStr for CommandLine {
    type Err = NotACommand;

    fn from_str(text: &str) -> Result<Self, NotACommand> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match (quote, letter) {
                (Some(open), _) if letter == open => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(letter);
                    word.get_or_insert_default();
                }
                (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
                (None, _) if letter.is_whitespace() => words.extend(word.take()),
                _ => word.get_or_insert_default().push(letter),
            }
        }
        if quote.is_some() {
            return Err(NotACommand::Open(text.to_owned()));
        }
        words.extend(word);
        Self::new(words)
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

impl Choices {
    /// What the choices say of an application, if they name one.
    pub(super) fn live(&self) -> Result<Option<Live>, ConfigError> {
        let Some(app) = self.app.clone() else {
            let alone = [
                ("file", !self.file.is_empty()),
                ("judge", self.judge.is_some()),
                ("timeout", self.timeout.is_some()),
                ("in-place", self.in_place == Some(true)),
                ("directory", self.directory.is_some()),
            ];
            return match alone.into_iter().find(|(_, given)| *given) {
                Some((key, _)) => Err(ConfigError::NoApp { key }),
                None => Ok(None),
            };
        };
        if let Some(seconds) = self.timeout.filter(|seconds| !(*seconds > 0.0 && *seconds <= 1e6)) {
            return Err(ConfigError::Timeout { seconds });
        }
        let inside = |name: &&String| {
            let mut parts = name.split('/');
            !name.is_empty() && parts.all(|part| !part.is_empty() && part != ".." && part != ".")
        };
        if let Some(name) = self.file.iter().find(|name| !inside(name)) {
            return Err(ConfigError::OutsideFile { name: name.clone() });
        }
        let in_place = self.in_place.unwrap_or(false);
        if in_place && self.jobs.is_some_and(|jobs| jobs != 1) {
            return Err(ConfigError::InPlaceJobs);
        }
        Ok(Some(Live {
            app,
            directory: self.directory.clone(),
            file: self.file.clone(),
            judge: self.judge.clone(),
            timeout: self.timeout,
            in_place,
        }))
    }
}

/// Checks what an application cannot be combined with.
pub(super) fn check(size: Size) -> Result<(), ConfigError> {
    if size == Size::Exhaustive { Err(ConfigError::ExhaustiveLive) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_read_as_a_shell_reads_it() {
        let cases: [(&str, &[&str]); 5] = [
            ("./app --n 5", &["./app", "--n", "5"]),
            ("  'my app'  \"a 'b'\" '' ", &["my app", "a 'b'", ""]),
            (r#"a\ b "c\"d" 'e\f'"#, &["a b", "c\"d", r"e\f"]),
            ("x=$HOME;y", &["x=$HOME;y"]),
            ("a'b'c", &["abc"]),
        ];
        for (text, words) in cases {
            let line: CommandLine = text.parse().unwrap();
            assert_eq!(line.words(), words, "{text}");
            assert_eq!(line.to_string().parse(), Ok(line));
        }
        assert_eq!("".parse::<CommandLine>(), Err(NotACommand::Empty));
        assert_eq!("'' a".parse::<CommandLine>(), Err(NotACommand::Empty));
        assert!(matches!("a 'b".parse::<CommandLine>(), Err(NotACommand::Open(_))));
    }
}
