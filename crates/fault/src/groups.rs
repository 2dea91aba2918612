//! Which instructions a campaign draws from: groups, and the sets that their guest has names for.

use crate::error::SelectionError;
use facts::{Facts, Group, NamedSet};

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionClass {
    /// A group.
    Group(Group),
    /// A set of the guest or of the protection, by its name.
    Set(&'static str),
}

impl InstructionClass {
    /// Reads the word of a campaign on programs whose guest has names for these sets.
    ///
    /// # Errors
    /// If the word means nothing.
    pub fn parse(word: &str, sets: &[NamedSet]) -> Result<Self, SelectionError> {
        let group = Group::from_word(word).map(Self::Group);
        let set = || sets.iter().find(|set| set.name == word).map(|set| Self::Set(set.name));
        group.or_else(set).ok_or_else(|| {
            let names = Group::ALL.iter().map(|group| group.word()).chain(sets.iter().map(|set| set.name));
            let expected = names.collect::<Vec<_>>().join(", ");
            SelectionError::Word { key: "group", found: word.to_owned(), expected }
        })
    }

    /// Whether an instruction is in it.
    #[must_use]
    pub fn holds(self, facts: &Facts) -> bool {
        match self {
            Self::Group(group) => facts.group == group,
            Self::Set(name) => facts.sets.contains(name) || facts.protection.contains(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::Sets;

    const SETS: &[NamedSet] = &[NamedSet { name: "nvbitfi:fp64", meaning: "fp64 arithmetic" }];

    #[test]
    fn instructions_are_in_their_group_and_in_the_sets_that_their_guest_puts_them_in() {
        let facts = Facts { sets: Sets::new(SETS, 1), ..Facts::new("add.f64", Group::Fp64) };
        let holds = |word: &str| InstructionClass::parse(word, SETS).map(|class| class.holds(&facts));
        assert_eq!([holds("fp64"), holds("fp16"), holds("nvbitfi:fp64")], [Ok(true), Ok(false), Ok(true)]);
        let protected = Facts { protection: facts.sets, ..Facts::new("add.f64", Group::Fp64) };
        assert!(InstructionClass::Set("nvbitfi:fp64").holds(&protected));
    }

    #[test]
    fn unknown_words_are_answered_with_all_that_are_known() {
        let message = InstructionClass::parse("nvbitfi:fp16", SETS).unwrap_err().to_string();
        assert!(message.contains("int_add") && message.contains("nvbitfi:fp64"), "{message}");
        assert!(InstructionClass::parse("nvbitfi:fp64", &[]).is_err());
    }
}
