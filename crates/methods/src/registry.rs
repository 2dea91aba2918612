//! Every method there is.

use campaign::{Aim, SelectionWords, TargetError};
use inject::CapsuleTarget;
use std::sync::Arc;

use crate::approxilyzer;
use crate::druto;
use crate::gpu_qin;
use crate::left_open;
use crate::method::{Applied, Command, InputCommand, Method, Reader, StudyOffer};
use crate::minotaur;
use crate::regional;
use crate::two_level;

/// The methods.
#[rustfmt::skip] // One line each.
pub static METHODS: &[&dyn Method] = &[
    &gpu_qin::GpuQinMethod,
    &two_level::TwoLevelMethod,
    &regional::RegionalMethod,
    &approxilyzer::ApproxilyzerMethod,
    &minotaur::MinotaurMethod,
    &druto::DrutoMethod,
];

/// The method that a selection names, applied to a capsule; none if it names none.
///
/// # Errors
/// If there is no such method, or it cannot choose what the selection says.
pub fn apply(capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Option<Box<dyn Applied>>, TargetError> {
    let Some(word) = &words.method else { return Ok(None) };
    find(word)?.apply(capsule, words).map(Some)
}

/// Whether the words of a selection that names a method mean something, as far as that can be told without a capsule.
///
/// # Errors
/// As [`apply`].
pub fn check(words: &SelectionWords) -> Result<(), TargetError> {
    words.method.as_deref().map_or(Ok(()), |word| find(word)?.check(words))
}

/// The word of a method as the configuration of a campaign has it: it means the same later and from anywhere.
///
/// # Errors
/// If there is no such method, its settings mean nothing, or a file that they name cannot be read.
pub fn lasting(word: &str) -> Result<String, TargetError> {
    find(word)?.lasting(word)
}

/// What the faults of a selection are: what the words say themselves, or what their method aims at.
///
/// # Errors
/// If there is no such method, or its words mean no settings.
pub fn aims(words: &SelectionWords) -> Result<Vec<Aim>, TargetError> {
    match &words.method {
        None => Ok(vec![Aim::from(words.clone())]),
        Some(word) => find(word)?.aims(words),
    }
}

/// The method of a word such as `name:key=value`.
///
/// # Errors
/// If there is none.
pub fn find(word: &str) -> Result<&'static dyn Method, TargetError> {
    let name = word.split_once(':').map_or(word, |(name, _)| name);
    let known = || planners().map(|method| format!("{} ({})", method.name(), method.about())).collect::<Vec<_>>();
    let found = METHODS.iter().find(|method| method.name() == name);
    found.copied().ok_or_else(|| TargetError::new(format!("use the method `{name}`: there is {}", known().join(", "))))
}

/// The methods that choose sites of campaigns.
pub fn planners() -> impl Iterator<Item = &'static dyn Method> {
    METHODS.iter().copied().filter(|method| method.chooses_sites())
}

/// All studies, of all methods and of what the ISA leaves open.
pub fn studies() -> impl Iterator<Item = &'static StudyOffer> {
    METHODS.iter().flat_map(|method| method.studies()).chain(left_open::STUDIES)
}

/// All commands that methods add.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    METHODS.iter().flat_map(|method| method.commands())
}

/// All commands that methods add and that are about the inputs of an application.
pub fn input_commands() -> impl Iterator<Item = &'static InputCommand> {
    METHODS.iter().flat_map(|method| method.input_commands())
}

/// All commands that methods add and that read files.
pub fn readers() -> impl Iterator<Item = &'static Reader> {
    METHODS.iter().flat_map(|method| method.readers())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_methods_studies_or_commands_have_one_name() {
        let unlike = |names: Vec<&str>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
        assert!(unlike(METHODS.iter().map(|method| method.name()).collect()));
        assert!(unlike(studies().map(|study| study.name).collect()));
        let commands = commands().map(|command| command.name);
        let commands = commands.chain(input_commands().map(|command| command.name));
        assert!(unlike(commands.chain(readers().map(|reader| reader.name)).collect()));
    }

    #[test]
    fn a_method_that_there_is_not_is_answered_with_those_that_there_are() {
        for method in METHODS {
            assert_eq!(find(method.name()).unwrap().name(), method.name());
            assert_eq!(find(&format!("{}:x=1", method.name())).unwrap().name(), method.name());
        }
        let error = find("weather:x=1").err().unwrap().to_string();
        assert!(error.starts_with("use the method `weather`: there is "), "{error}");
        assert!(planners().all(|method| error.contains(method.name())));
    }
}
