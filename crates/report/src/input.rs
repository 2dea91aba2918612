//! What a report is made from besides the results: texts, as plain data.
//!
//! The report knows no capsule and no PTX. Who has them hands them over; a report without them says so.

use std::collections::BTreeMap;

use campaign::{Config, Description};

/// What the caller knows beside the results.
#[derive(Clone, Debug)]
pub struct Context {
    /// Version of the program, for the provenance.
    pub version: String,
    /// The directory of the campaign, as in commands that repeat something.
    pub dir: String,
    /// Source files by the paths that line tables use.
    pub sources: Vec<SourceText>,
    /// Instructions as text.
    pub listing: Vec<ListedInstruction>,
    /// The faults in the words of their target system; empty sentences are left out.
    pub description: Description,
    /// Why there are no sources and no instructions, if there are none.
    pub without_source: Option<String>,
    /// The name that people use for a kernel, such as `gemm` for a mangled one; documents keep the whole name.
    pub short_name: fn(&str) -> &str,
    /// The sentence for a fault of the campaign, from its text id; none where the id alone is what there is to read.
    pub fault_sentence: fn(&Config, &str) -> Option<String>,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            version: String::new(),
            dir: String::new(),
            sources: Vec::new(),
            listing: Vec::new(),
            description: Description::default(),
            without_source: None,
            short_name: |name| name,
            fault_sentence: |_, _| None,
        }
    }
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Its path as line tables spell it.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A static instruction as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedInstruction {
    /// The function that it is in: a kernel, or what kernels call.
    pub function: String,
    /// Its index there.
    pub pc: u32,
    /// Its mnemonic.
    pub opcode: String,
    /// The source line, where known.
    pub line: Option<u32>,
    /// The instruction as PTX.
    pub text: String,
}

/// Finds the text of instructions.
#[derive(Debug)]
pub(crate) struct Listing<'a>(BTreeMap<u32, Vec<&'a ListedInstruction>>);

impl<'a> Listing<'a> {
    pub(crate) fn new(listing: &'a [ListedInstruction]) -> Self {
        let mut by_pc: BTreeMap<u32, Vec<&ListedInstruction>> = BTreeMap::new();
        for instruction in listing {
            by_pc.entry(instruction.pc).or_default().push(instruction);
        }
        Self(by_pc)
    }

    /// The text of an instruction that a launch of `kernel` executes: in the kernel itself, or else in the only
    /// function that has such an instruction at this place.
    pub(crate) fn text(&self, kernel: &str, pc: u32, opcode: &str, line: Option<u32>) -> Option<&'a str> {
        let at = self.0.get(&pc)?;
        let mut like = at.iter().filter(|it| it.opcode == opcode && it.line == line);
        if let Some(own) = like.clone().find(|it| it.function == kernel) {
            return Some(&own.text);
        }
        let first = like.next()?;
        like.all(|other| other.text == first.text).then_some(&first.text)
    }

    /// The instruction at a place of which the mnemonic is not known.
    pub(crate) fn at(&self, function: &str, pc: u32, line: Option<u32>) -> Option<&'a ListedInstruction> {
        self.0.get(&pc)?.iter().copied().find(|it| it.function == function && it.line == line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_kernel_s_own_or_the_only_one() {
        let listed = |function: &str, opcode: &str, text: &str| ListedInstruction {
            function: function.into(),
            pc: 3,
            opcode: opcode.into(),
            line: Some(1),
            text: text.into(),
        };
        let all = [listed("k", "add", "add k"), listed("f", "add", "add f"), listed("f", "mul", "mul f")];
        let listing = Listing::new(&all);
        assert_eq!(listing.text("k", 3, "add", Some(1)), Some("add k"));
        assert_eq!(listing.text("k", 3, "mul", Some(1)), Some("mul f"));
        assert_eq!(listing.text("other", 3, "add", Some(1)), None);
        assert_eq!(listing.text("k", 3, "add", Some(2)), None);
    }
}
