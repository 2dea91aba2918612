//! A kernel test as it was read.

use super::directive::{
    Buffer, Directive, ExpectedFault, ExpectedPopulation, ExpectedTrap, LaunchDirective, read as read_directive,
};
use crate::vectors::ScriptError;
use std::path::{Path, PathBuf};

/// A kernel test.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// What messages call it: its file name.
    pub name: String,
    /// Where its rendered messages are: the `.expected` file beside it.
    pub expected: PathBuf,
    /// The PTX.
    pub text: String,
    /// The directives, in order.
    pub directives: Vec<Directive>,
}

/// Reads a test from the text of a file.
///
/// # Errors
/// At the first directive that is not understood, or if nothing is tested.
pub fn read(path: &Path, text: &str) -> Result<Script, ScriptError> {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let error = |line: usize, what: String| ScriptError { place: format!("{name}:{}", line + 1), what };
    let mut directives = Vec::new();
    let mut lines = text.lines().enumerate();
    let mut in_head = true;
    while let Some((index, line)) = lines.next() {
        let comment = line.strip_prefix("//").map(str::trim);
        in_head &= comment.is_some() || line.trim().is_empty();
        let Some(comment) = comment.filter(|comment| !comment.is_empty()) else { continue };
        if !in_head {
            if is_directive(comment) && read_directive(comment, &mut directives.clone()).is_ok() {
                return Err(error(index, "a directive after the head; move it before the PTX".to_owned()));
            }
        } else if is_directive(comment) {
            let mut whole = comment.to_owned();
            while whole.ends_with('\\') {
                whole.pop();
                let next = lines.next().and_then(|(_, line)| line.strip_prefix("//"));
                whole.push_str(next.ok_or_else(|| error(index, "the directive does not end".to_owned()))?.trim_end());
            }
            read_directive(&whole, &mut directives).map_err(|what| error(index, what))?;
        } else if !comment.starts_with(|c: char| c.is_ascii_uppercase() || c == '`') {
            return Err(error(index, "neither a directive nor prose, which begins with a capital letter".to_owned()));
        }
    }
    let tests = |directive: &Directive| !matches!(directive, Directive::Buffer(_) | Directive::Read(_));
    if !directives.iter().any(tests) {
        return Err(error(0, "the file tests nothing: it has neither `run` nor `error`".to_owned()));
    }
    Ok(Script { name, expected: path.with_extension("expected"), text: text.to_owned(), directives })
}

/// Prose begins with a capital letter, directives with a small one.
fn is_directive(comment: &str) -> bool {
    comment.chars().next().is_some_and(|c| c.is_ascii_lowercase())
}

impl Script {
    /// The buffers.
    pub fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.directives.iter().filter_map(|directive| match directive {
            Directive::Buffer(buffer) => Some(buffer),
            _ => None,
        })
    }

    /// The launches.
    pub fn runs(&self) -> impl Iterator<Item = &LaunchDirective> {
        self.directives.iter().filter_map(|directive| match directive {
            Directive::Run(run) => Some(run),
            _ => None,
        })
    }

    /// The selections.
    pub fn populations(&self) -> impl Iterator<Item = &ExpectedPopulation> {
        self.directives.iter().filter_map(|directive| match directive {
            Directive::Select(population) => Some(&**population),
            _ => None,
        })
    }

    /// The faults.
    pub fn faults(&self) -> impl Iterator<Item = &ExpectedFault> {
        self.directives.iter().filter_map(|directive| match directive {
            Directive::Inject(fault) => Some(&**fault),
            _ => None,
        })
    }

    /// The trap that must end the last run, if any.
    #[must_use]
    pub fn trap(&self) -> Option<&ExpectedTrap> {
        self.directives.iter().find_map(|directive| match directive {
            Directive::Trap(trap) => Some(trap),
            _ => None,
        })
    }

    /// The kernel that must be refused, if any.
    #[must_use]
    pub fn refused(&self) -> Option<&str> {
        self.directives.iter().find_map(|directive| match directive {
            Directive::Error(kernel) => Some(kernel.as_str()),
            _ => None,
        })
    }
}
