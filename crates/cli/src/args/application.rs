//! What is said of an application, by those who irradiate it and by those who irradiate its capsule.

use campaign::CommandLine;
use clap::Args as Group;

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
    /// What was said of an application, with its command.
    pub(crate) fn live(&self, app: CommandLine) -> campaign::Live {
        campaign::Live {
            app,
            directory: self.directory.clone(),
            file: self.file.clone(),
            judge: self.judge.clone(),
            timeout: self.timeout,
            in_place: self.in_place,
        }
    }
}
