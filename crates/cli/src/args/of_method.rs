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
    Args::command().subcommands(registry::commands().map(of))
}

fn option(it: &CommandOption) -> Arg {
    let mut arg = Arg::new(it.key).long(it.key).value_name(it.value).help(it.about);
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
        let added = matches
            .subcommand()
            .and_then(|(name, said)| Some((registry::commands().find(|command| command.name == name)?, said)));
        let Some((command, said)) = added else { return Ok(Self::Own(Args::from_arg_matches(&matches)?.command)) };
        let value = |it: &CommandOption| Some((it.key, said.get_one::<String>(it.key)?.clone()));
        let options = command.options.iter().filter_map(value).collect();
        Ok(Self::OfMethod(OfMethod { name: command.name, options, ..OfMethod::from_arg_matches(said)? }))
    }
}
