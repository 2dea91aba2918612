//! The arguments of `beamline live`, and what a campaign takes of them.

use super::Choose;
use campaign::config::NotACommand;
use campaign::{Choices, CommandLine, Engine};
use clap::Args as Group;
use inject::Strategy;
use std::ffi::OsString;

/// What is to be known of an application beside its command.
#[derive(Debug, Default, Group)]
pub(crate) struct Application {
    /// A file that the application leaves, to be compared with the golden run's; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Vec<String>,
    /// A shell command that judges what differs: it gets the golden and the faulty file; its code 0 means
    /// acceptable, 1 bad, 2 detectable
    #[arg(long, value_name = "CMD")]
    pub(crate) judge: Option<String>,
    /// Seconds that a run of the application may take [default: 10 times the golden run's and 5 more]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,
    /// Directory that the application is started for [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<String>,
    /// Run in that directory itself, one run at a time, not in a fresh one that links to its files
    #[arg(long)]
    pub(crate) in_place: bool,
}

impl Application {
    /// Adds to the choices what was said.
    pub(crate) fn add_to(&self, choices: Choices) -> Choices {
        Choices {
            file: self.file.clone(),
            judge: self.judge.clone(),
            timeout: self.timeout,
            directory: self.directory.clone(),
            in_place: self.in_place.then_some(true),
            ..choices
        }
    }
}

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
    #[arg(long, value_name = "ENGINE", value_parser = super::engine, conflicts_with = "no_replay")]
    pub(crate) engine: Option<Engine>,
    /// Instructions that a thread may execute beyond ten times its fault-free ones before it counts as hanging
    /// [default: 10000]
    #[arg(long, value_name = "N")]
    pub(crate) fuel: Option<u32>,
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
        Ok(self.choose.add_to(Choices {
            app: if words.is_empty() { None } else { Some(CommandLine::new(words)?) },
            engine: self.engine.clone().or(self.no_replay.then_some(Strategy::Full.into())),
            fuel: self.fuel,
            ..Choices::default()
        }))
    }
}
