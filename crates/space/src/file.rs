//! Files that an application reads, made for each input.

use serde::Deserialize;
use std::path::{Component, Path};

use crate::error::SpaceError;

/// A file that lies in the directory in which the application runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InputFile {
    /// Its name there, which may have directories before it.
    name: String,
    /// Its text.
    text: Option<String>,
    /// The words of a command, whose standard output it is.
    command: Option<Vec<String>>,
    /// The name of a file that it is a copy of.
    from: Option<String>,
}

/// The contents of a file of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum FileSource {
    /// This text.
    Text(String),
    /// The standard output of this command.
    Command(Vec<String>),
    /// A copy of the file of this name.
    Copy(String),
}

impl InputFile {
    /// Its name in the directory of the input.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Checks that it has one source and stays in the directory of the input.
    pub(crate) fn check(&self) -> Result<(), SpaceError> {
        let wrong = |why: &str| Err(SpaceError::InputFile { name: self.name.clone(), why: why.to_owned() });
        let path = Path::new(&self.name);
        let is_plain = path.components().all(|it| matches!(it, Component::Normal(_)));
        if !is_plain || path.file_name().is_none() || self.name.ends_with('/') || self.name.contains('\0') {
            return wrong("its name is a path within the directory of the input, such as graph.txt");
        }
        let sources = [self.text.is_some(), self.command.is_some(), self.from.is_some()];
        if sources.iter().filter(|is_there| **is_there).count() != 1 {
            return wrong("it has one of `text`, `command` (what it prints) and `from` (a file that is copied)");
        }
        if self.command.as_ref().is_some_and(Vec::is_empty) || self.words().any(|word| word.contains('\0')) {
            return wrong("its `command` has words, and no word has a zero byte");
        }
        Ok(())
    }

    /// Its texts, in which `{name}` stands for a parameter.
    pub(crate) fn words(&self) -> impl Iterator<Item = &String> {
        self.text.iter().chain(self.command.iter().flatten()).chain(&self.from)
    }

    /// Its source, each text as `filled` makes it.
    pub(crate) fn source(&self, filled: impl Fn(&str) -> String) -> FileSource {
        match (&self.text, &self.command, &self.from) {
            (Some(text), ..) => FileSource::Text(filled(text)),
            (_, Some(words), _) => FileSource::Command(words.iter().map(|word| filled(word)).collect()),
            (.., from) => FileSource::Copy(from.as_deref().map(filled).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{FileSource, Space};

    fn read(files: &str) -> Result<Space, String> {
        let text = format!(
            "arguments = [\"{{n}}\"]\nparameters = [{{ name = \"n\", kind = \"int\", range = [1, 9], reference = 4 }}]\nfiles = [{files}]"
        );
        Space::read(&text).map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_made_of_the_values_of_a_point() {
        let space = read(
            "{ name = \"a/b.txt\", text = \"{n} {n}\" }, { name = \"c\", command = [\"gen\", \"-{n}\"] }, { name = \"d\", from = \"{n}.bin\" }",
        );
        let space = space.unwrap();
        let point = space.parse("n=7").unwrap();
        let files: Vec<(&str, FileSource)> = space.files(&point).collect();
        let command = FileSource::Command(vec!["gen".to_owned(), "-7".to_owned()]);
        let (text, copy) = (FileSource::Text("7 7".to_owned()), FileSource::Copy("7.bin".to_owned()));
        assert_eq!(files, [("a/b.txt", text), ("c", command), ("d", copy)]);
    }

    #[test]
    fn a_file_has_one_source_and_stays_where_the_application_runs() {
        for (file, part) in [
            ("{ name = \"../a\", text = \"\" }", "within the directory"),
            ("{ name = \"/a\", text = \"\" }", "within the directory"),
            ("{ name = \"\", text = \"\" }", "within the directory"),
            ("{ name = \"a\" }", "it has one of `text`, `command`"),
            ("{ name = \"a\", text = \"\", from = \"b\" }", "it has one of `text`, `command`"),
            ("{ name = \"a\", command = [] }", "its `command` has words"),
            ("{ name = \"a\", text = \"{m}\" }", "there is no parameter `m`"),
            ("{ name = \"a\", txt = \"\" }", "unknown field"),
        ] {
            let error = read(file).unwrap_err();
            assert!(error.contains(part), "{file}: {error}");
        }
    }
}
