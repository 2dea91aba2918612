//! Commands that published methods add: their options become options of the command line.

use super::kept::Kept;
use super::{Args, Command};
use clap::builder::PossibleValue;
use clap::{Arg, Args as Group, CommandFactory, FromArgMatches};
use methods::{CommandOption, registry};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    /// A command of the program.
    Own(Command),
    /// A command that a method adds.
    OfMethod(OfMethod),
    /// A command that a method adds and that reads files.
    OfFiles(OfFiles),
}

/// What every command of a method that reads files is told.
#[derive(Debug, Group)]
pub(crate) struct OfFiles {
    /// The command.
    #[arg(skip)]
    pub(crate) name: &'static str,
    /// What is said of its own options, defaults included.
    #[arg(skip)]
    pub(crate) options: BTreeMap<&'static str, String>,
    /// The files to read
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// What every command of a method is told.
#[derive(Debug, Group)]
pub(crate) struct OfMethod {
    /// The command.
    #[arg(skip)]
    pub(crate) name: &'static str,
    /// What is said of its own options, defaults included.
    #[arg(skip)]
    pub(crate) options: BTreeMap<&'static str, String>,
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE")]
    pub(crate) capsule: String,
    #[command(flatten)]
    pub(crate) kept: Kept,
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
        let own = OfMethod::augment_args(clap::Command::new(command.name)).about(command.about);
        own.args(command.options.iter().map(option))
    };
    let reading = |reader: &methods::Reader| {
        let own = OfFiles::augment_args(clap::Command::new(reader.name)).about(reader.about);
        own.mut_arg("files", |files| files.value_name(reader.files)).args(reader.options.iter().map(option))
    };
    Args::command().subcommands(registry::commands().map(of)).subcommands(registry::readers().map(reading))
}

/// What is said of the options of a command.
fn said(options: &'static [CommandOption], matches: &clap::ArgMatches) -> BTreeMap<&'static str, String> {
    options.iter().filter_map(|it| Some((it.key, matches.get_one::<String>(it.key)?.clone()))).collect()
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

impl Asked {
    /// Reads a command line.
    pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let matches = command().try_get_matches_from(words)?;
        if let Some((name, own)) = matches.subcommand() {
            if let Some(it) = registry::commands().find(|command| command.name == name) {
                let options = said(it.options, own);
                return Ok(Self::OfMethod(OfMethod { name: it.name, options, ..OfMethod::from_arg_matches(own)? }));
            }
            if let Some(it) = registry::readers().find(|reader| reader.name == name) {
                let options = said(it.options, own);
                return Ok(Self::OfFiles(OfFiles { name: it.name, options, ..OfFiles::from_arg_matches(own)? }));
            }
        }
        Ok(Self::Own(Args::from_arg_matches(&matches)?.command))
    }
}
