//! The arguments of `beamline live`.

use super::{Choose, Resources};
use campaign::config::NotACommand;
use campaign::{Choices, CommandLine, Engine};
use clap::Args as Group;
use inject::Strategy;
use std::ffi::OsString;

#[derive(Debug, Group)]
pub(crate) struct Live {
    /// Inject this one fault, given by its text id, and tell what was seen
    #[arg(long, value_name = "ID", conflicts_with_all = ["runs", "margin", "out"])]
    pub(crate) fault: Option<String>,
    /// Execute the launches before the faulty one, too, instead of replaying what they did
    #[arg(long)]
    pub(crate) no_replay: bool,
    /// Engine: auto; full, which is --no-replay; or cuda-gdb, which runs the application on a real GPU in NVIDIA's
    /// debugger and hits machine instructions there [default: auto]
    #[arg(long, value_name = "ENGINE", value_parser = super::engine::engine, conflicts_with = "no_replay")]
    pub(crate) engine: Option<Engine>,
    #[command(flatten)]
    pub(crate) resources: Resources,
    #[command(flatten)]
    pub(crate) choose: Choose,
    /// The application and its arguments, after `--`
    #[arg(last = true, value_name = "APP ARGS", num_args = 0..)]
    pub(crate) command: Vec<OsString>,
}

impl Live {
    /// The choices of the command line, in the words of a configuration file.
    ///
    /// # Errors
    /// If the application's command cannot be written into one.
    pub(crate) fn choices(&self) -> Result<Choices, NotACommand> {
        let words = self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<String>>();
        let app = if words.is_empty() { CommandLine::default() } else { CommandLine::new(words)? };
        let engine = self.engine.clone().or(self.no_replay.then_some(Strategy::Full.into()));
        Ok(Choices { engine, ..self.choose.choices(&self.resources, app) })
    }
}
