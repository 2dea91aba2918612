//! What the first pass finds.

use super::line::Strings;
use isa::{FunctionId, Module};
use std::collections::HashMap;

/// What a name means outside of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Global {
    /// A variable of the module, by index.
    Variable(u32),
    /// A function; an alias is the function behind it.
    Function(FunctionId),
}

/// What the first pass found: the module without bodies, and where the bodies are.
pub(super) struct Outline<'a> {
    pub(super) module: Module,
    pub(super) names: HashMap<&'a str, Global>,
    pub(super) strings: Strings<'a>,
    /// Index of the function, and the tokens between its braces.
    pub(super) bodies: Vec<(usize, std::ops::Range<usize>)>,
}
