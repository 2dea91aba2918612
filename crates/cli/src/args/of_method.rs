//! Commands that published methods add: their options become options of the command line.

use super::study_options::StudyOptions;
use super::{Args, Command};
use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, Args as Group, CommandFactory, FromArgMatches};
use methods::{CommandOption, Options, registry};
use std::ffi::OsString;
use std::path::PathBuf;

/// The command that a command line names.
#[derive(Debug)]
pub(crate) enum ParsedCommand {
    /// A command of the program.
    Own(Command),
    /// A command that a method adds.
    MethodArgs(MethodArgs),
    /// A command that a method adds and that reads files.
    FileArgs(FileArgs),
    /// A command that a method adds and that is about the inputs of an application.
    InputArgs(InputArgs),
}

/// The arguments of every command of a method about the inputs of an application.
#[derive(Debug, Group)]
pub(crate) struct InputArgs {
    /// The command.
    #[arg(skip)]
    pub(crate) name: &'static str,
    /// What is said of its own options.
    #[arg(skip)]
    pub(crate) options: Options,
    /// A bundled workload with a space of inputs, or an executable built with `nvcc -cudart shared`
    #[arg(value_name = "APP")]
    pub(crate) app: String,
    /// What may vary in its command line, as TOML [default: that of the bundled workload]
    #[arg(long, value_name = "F.toml")]
    pub(crate) space: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) kept: StudyOptions,
    /// Write the plots into this directory, as SVG
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of every command of a method that reads files.
#[derive(Debug, Group)]
pub(crate) struct FileArgs {
    /// The command.
    #[arg(skip)]
    pub(crate) name: &'static str,
    /// What is said of its own options.
    #[arg(skip)]
    pub(crate) options: Options,
    /// The files to read
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of every command of a method.
#[derive(Debug, Group)]
pub(crate) struct MethodArgs {
    /// The command.
    #[arg(skip)]
    pub(crate) name: &'static str,
    /// What is said of its own options.
    #[arg(skip)]
    pub(crate) options: Options,
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE")]
    pub(crate) capsule: String,
    #[command(flatten)]
    pub(crate) kept: StudyOptions,
    /// Leave undecided the runs that the recorded application would have to finish
    #[arg(long)]
    pub(crate) no_app: bool,
    /// Write what is plotted, as SVG
    #[arg(long, value_name = "F.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// The whole command line: the program's own commands, and those that methods add.
pub(crate) fn command() -> clap::Command {
    let of = |command: &methods::Command| {
        let own = MethodArgs::augment_args(clap::Command::new(command.name)).about(command.about);
        let own = own.args(command.options.iter().map(option));
        command.without.iter().fold(own, |own, (key, _)| own.mut_arg(key, |arg| arg.hide(true)))
    };
    let reading = |reader: &methods::Reader| {
        let own = FileArgs::augment_args(clap::Command::new(reader.name)).about(reader.about);
        own.mut_arg("files", |files| files.value_name(reader.files)).args(reader.options.iter().map(option))
    };
    let about_inputs = |it: &methods::InputCommand| {
        let own = InputArgs::augment_args(clap::Command::new(it.name)).about(it.about);
        own.args(it.options.iter().map(option))
    };
    let all = Args::command().subcommands(registry::commands().map(of));
    all.subcommands(registry::readers().map(reading)).subcommands(registry::input_commands().map(about_inputs))
}

/// What is said of the options of a command.
fn options(all: &'static [CommandOption], matches: &clap::ArgMatches) -> Options {
    let value = |it: &CommandOption| Some((it.key, matches.get_one::<String>(it.key)?.clone()));
    Options {
        values: all.iter().filter_map(value).collect(),
        said: all.iter().map(|it| it.key).filter(|key| is_written(key, matches)).collect(),
    }
}

fn is_written(key: &str, matches: &clap::ArgMatches) -> bool {
    matches.value_source(key) == Some(ValueSource::CommandLine)
}

/// Refuses an option that a command does not take.
fn refused(command: &methods::Command, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
    match command.without.iter().find(|(key, _)| is_written(key, matches)) {
        Some((key, why)) => {
            let text = format!("`beamline {}` takes no --{}: {why}\n", command.name, key.replace('_', "-"));
            Err(clap::Error::raw(ErrorKind::ArgumentConflict, text))
        }
        None => Ok(()),
    }
}

fn option(it: &CommandOption) -> Arg {
    let mut arg = Arg::new(it.key).long(it.key).value_name(it.value).help(it.about).allow_negative_numbers(true);
    if !it.words.is_empty() {
        arg = arg.value_parser(
            it.words.iter().map(|(word, about)| PossibleValue::new(*word).help(*about)).collect::<Vec<_>>(),
        );
    }
    match it.default {
        Some(default) => arg.default_value(default),
        None => arg,
    }
}

impl ParsedCommand {
    /// Reads a command line.
    pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let matches = command().try_get_matches_from(words)?;
        if let Some((name, own)) = matches.subcommand() {
            if let Some(it) = registry::commands().find(|command| command.name == name) {
                refused(it, own)?;
                let mut options = options(it.options, own);
                // Methods that draw nothing refuse it.
                options.said.extend(is_written("seed", own).then_some("seed"));
                return Ok(Self::MethodArgs(MethodArgs {
                    name: it.name,
                    options,
                    ..MethodArgs::from_arg_matches(own)?
                }));
            }
            if let Some(it) = registry::input_commands().find(|command| command.name == name) {
                let options = options(it.options, own);
                return Ok(Self::InputArgs(InputArgs { name: it.name, options, ..InputArgs::from_arg_matches(own)? }));
            }
            if let Some(it) = registry::readers().find(|reader| reader.name == name) {
                let options = options(it.options, own);
                return Ok(Self::FileArgs(FileArgs { name: it.name, options, ..FileArgs::from_arg_matches(own)? }));
            }
        }
        Ok(Self::Own(Args::from_arg_matches(&matches)?.command))
    }
}
