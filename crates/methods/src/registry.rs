//! Every method there is.

use campaign::{Aim, MethodChoice, SelectionWords, TargetError};
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

pub use crate::regional::propagation::worst_frames;

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
    let Some(method) = &words.method else { return Ok(None) };
    find(&method.name)?.apply(capsule, words).map(Some)
}

/// Whether the words of a selection that names a method mean something, as far as that can be told without a capsule.
///
/// # Errors
/// As [`apply`].
pub fn check(words: &SelectionWords) -> Result<(), TargetError> {
    words.method.as_ref().map_or(Ok(()), |method| find(&method.name)?.check(words))
}

/// Makes the settings of the method that a selection names mean the same later and from anywhere: files are read here, once.
///
/// # Errors
/// If the method or one of its settings is unknown, or a file cannot be read.
pub fn lasting(words: &mut SelectionWords) -> Result<(), TargetError> {
    let method = words.method.as_ref().map(|method| find(&method.name)).transpose()?;
    method.map_or(Ok(()), |method| method.lasting(words))
}

/// What the faults of a selection are: what the words say themselves, or what their method aims at.
///
/// # Errors
/// If there is no such method, or its words mean no settings.
pub fn aims(words: &SelectionWords) -> Result<Vec<Aim>, TargetError> {
    match &words.method {
        None => Ok(vec![Aim::from(words.clone())]),
        Some(method) => find(&method.name)?.aims(words),
    }
}

/// The method of this name.
///
/// # Errors
/// If the name is unknown.
pub fn find(name: &str) -> Result<&'static dyn Method, TargetError> {
    let known = || planners().map(|method| format!("{} ({})", method.name(), method.about())).collect::<Vec<_>>();
    let found = METHODS.iter().find(|method| method.name() == name);
    found.copied().ok_or_else(|| TargetError::new(format!("use the method `{name}`: there is {}", known().join(", "))))
}

/// Why the rates of a campaign's runs are not those of its program, if its method says so.
#[must_use]
pub fn rates_elsewhere(choice: Option<&MethodChoice>) -> Option<&'static str> {
    find(&choice?.name).ok()?.rates_elsewhere()
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
    use crate::kit::MethodSettings;
    use campaign::{Choices, Config};
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

    /// Through `campaign.toml`, through the command line, and as the typed settings.
    fn come_back<S: MethodSettings + PartialEq + std::fmt::Debug>(all: &[S]) {
        for settings in all {
            let selection = SelectionWords { method: Some(settings.choice()), ..SelectionWords::default() };
            let choices = Choices { capsule: Some("gemm".to_owned()), selection, ..Choices::default() };
            let config = choices.settle().unwrap();
            let read = Config::from_toml(&config.to_toml().unwrap(), "it").unwrap();
            assert_eq!(read, config);
            assert_eq!(S::read(&read.selection).unwrap(), *settings);
            assert_eq!(S::of(&settings.choice().to_string().parse().unwrap()).unwrap(), *settings);
        }
    }

    #[test]
    fn settings_of_every_method_come_back_from_a_campaign() {
        let gpu_qin = gpu_qin::Settings::default();
        let coverage = gpu_qin::Coverage::Share(0.8);
        come_back(&[gpu_qin, gpu_qin::Settings { iterations: None, window: Some(u64::MAX), coverage, ..gpu_qin }]);
        let two_level = two_level::Settings::default();
        let cells = two_level::Cells::All;
        let (ipa, issue) = ("/a,b=c/d e.toml#0123456789abcdef".to_owned(), "2.50".to_owned());
        come_back(&[two_level.clone(), two_level::Settings { ipa, issue, cells, ..two_level }]);
        let approxilyzer = approxilyzer::Settings::default();
        let apart = approxilyzer::Apart { blocks: true, ..approxilyzer.apart };
        come_back(&[approxilyzer, approxilyzer::Settings { coverage: 1.0, decisions: None, apart, ..approxilyzer }]);
        let region = regional::Region { name: "a, 'b'".into(), iterations: Some("0".into()), ..Default::default() };
        let maps = ["/m.csv", "7", "a,b=c.csv"].map(|path| regional::Settings::Map(path.to_owned()));
        come_back(&[&[regional::Settings::default(), regional::Settings::Regions(vec![region])][..], &maps].concat());
    }

    #[test]
    fn a_method_that_there_is_not_is_answered_with_those_that_there_are() {
        for method in METHODS {
            assert_eq!(find(method.name()).unwrap().name(), method.name());
        }
        let error = find("weather").err().unwrap().to_string();
        assert!(error.starts_with("use the method `weather`: there is "), "{error}");
        assert!(planners().all(|method| error.contains(method.name())));
    }
}
