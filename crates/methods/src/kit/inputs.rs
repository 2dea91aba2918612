//! Inputs of an application, for methods that choose among them.

use inject::CapsuleTarget;
use space::{Point, Space};
use std::path::{Path, PathBuf};

use super::{OpenedCapsule, StudyError};

/// An application whose command line has parameters.
pub trait Inputs {
    /// What it is called.
    fn name(&self) -> &str;

    /// What may vary.
    fn space(&self) -> &Space;

    /// Runs the application with an input, and repeats its work without a fault.
    ///
    /// # Errors
    /// If no process can be had. That the application refuses the input is no error.
    fn realise(&mut self, point: &Point) -> Result<Realised, StudyError>;

    /// Keeps the capsule of an input in a directory, by a name that does not depend on the session.
    ///
    /// # Errors
    /// If it cannot be written.
    fn keep(&mut self, point: &Point, capsule: &CapsuleTarget, dir: &Path) -> Result<PathBuf, StudyError>;

    /// The command that records an input, for a user.
    fn command(&self, point: &Point) -> String;
}

/// What became of an input.
#[derive(Clone, Debug)]
pub enum Realised {
    /// Its golden run is done; the seconds that the process took.
    Ready(Box<OpenedCapsule>, f64),
    /// There is none, with the reason: it crashed, hung, refused the input, or used no GPU.
    Not(String),
}
