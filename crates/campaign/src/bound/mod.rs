//! Bounds on rates, such as `sdc>0.05`: what a campaign is made to fail by.
//!
//! ```text
//! bound = [ part "/" ] term { "+" term } comparison number [ "%" ]
//! part  = [ "kernel:" ] NAME | "group:" NAME | "line:" FILE ":" NUMBER
//! term  = ( "masked" | "sdc" | "due" ) [ "." KIND ]
//! ```
//!
//! A comparison is `>`, `>=`, `<` or `<=`. Kinds are those of the summary, and besides `sdc.maybe` for all its bins and
//! `due.crash` for all traps. Rates are over what landed, in the whole campaign or in the part. A bound speaks of the true
//! rate, which a sample only bounds: see [`Judgement`]. Each is judged by itself at the campaign's confidence; that all
//! of several judgements hold at once is not claimed.

mod check;
mod parse;
mod verdict;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use outcome::Class;

pub use parse::BoundError;
pub use verdict::{BoundVerdict, Judgement, More};

/// A bound on a rate, with the text that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    text: String,
    scope: Subpopulation,
    terms: Vec<Term>,
    comparison: Comparison,
    limit: f64,
}

/// Of what a rate is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subpopulation {
    /// Of the campaign.
    Whole,
    /// Of the runs in a kernel: its name, or the plain name in a mangled one.
    Kernel(String),
    /// Of the runs in an instruction group.
    Group(String),
    /// Of the runs in a source line: the file, or the end of its path from a slash on, and the line.
    Line(String, u32),
}

/// A class, or one kind of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    class: Class,
    kind: Option<String>,
}

/// When a bound is exceeded: if the rate compares so with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Bound {
    /// Of what the rate is.
    #[must_use]
    pub fn scope(&self) -> &Subpopulation {
        &self.scope
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
