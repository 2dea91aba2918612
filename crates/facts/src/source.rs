//! Source positions, as line tables give them.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The files of a line table, by the number that its positions use.
pub type Files = BTreeMap<u32, String>;

/// A source position, with the call site it was inlined at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// Number of the file in the line table.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where unknown.
    pub column: u32,
    /// Where the function that holds this line was inlined, if it was.
    pub inlined: Option<Arc<Inlined>>,
}

/// The place a function was inlined at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inlined {
    /// The inlined function: its mangled name, as the string section of the line table has it.
    pub function: Arc<str>,
    /// The position of the call.
    pub at: Loc,
}

impl Loc {
    /// The position in the function that was not inlined: the outermost call site.
    #[must_use]
    pub fn outermost(&self) -> &Loc {
        self.inlined.as_ref().map_or(self, |inlined| inlined.at.outermost())
    }

    /// This position and those of the calls that it was inlined by, the innermost first.
    fn chain(&self) -> impl Iterator<Item = &Loc> {
        std::iter::successors(Some(self), |loc| loc.inlined.as_ref().map(|inlined| &inlined.at))
    }
}

/// A source position, and the files that it speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The position.
    pub loc: Loc,
    /// The files of the program.
    pub files: Arc<Files>,
}

impl Source {
    /// The path of the file, if the line table names it.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.path(&self.loc)
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.loc.line
    }

    /// The places that the instruction comes from, each a path and a line: its own, then the calls that it was inlined
    /// by, the innermost first.
    pub fn places(&self) -> impl Iterator<Item = (Option<&str>, u32)> {
        self.loc.chain().map(|loc| (self.path(loc), loc.line))
    }

    fn path(&self, loc: &Loc) -> Option<&str> {
        self.files.get(&loc.file).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_followed_out_to_the_calls_that_it_was_inlined_by() {
        let at = |file, line, inlined| Loc { file, line, column: 1, inlined };
        let call = Inlined { function: "f".into(), at: at(1, 40, None) };
        let source = Source { loc: at(2, 7, Some(Arc::new(call))), files: Arc::new([(1, "k.cu".to_owned())].into()) };
        assert_eq!(source.places().collect::<Vec<_>>(), [(None, 7), (Some("k.cu"), 40)]);
        assert_eq!((source.file(), source.line(), source.loc.outermost().line), (None, 7, 40));
    }
}
