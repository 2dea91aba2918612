//! Inputs of an application, for methods that choose among them.

use space::{Point, Space};
use std::path::Path;

use super::{OpenedCapsule, StudyError};

/// An application whose command line has parameters.
pub trait Inputs: Sync {
    /// What it is called.
    fn name(&self) -> &str;

    /// The words of a command line that name it: the application, and the file of its space where there is one.
    fn words(&self) -> String;

    /// The name of the capsule of an input.
    fn capsule_name(&self, point: &Point) -> String {
        format!("{}, {point}", self.name())
    }

    /// What may vary.
    fn space(&self) -> &Space;

    /// Runs the application with an input, and repeats its work without a fault; several threads may do so at once.
    ///
    /// # Errors
    /// If no process can be had. That the application refuses the input is no error.
    fn realise(&self, point: &Point) -> Result<Realised, StudyError>;

    /// A digest of all that its inputs depend on: the program, what may vary, and how outputs are compared.
    fn identity(&self) -> String;

    /// Keeps the capsule of an input in a directory, and opens it from there. The name of the file depends on the application and
    /// the input alone.
    ///
    /// # Errors
    /// If it cannot be written.
    fn keep(&mut self, point: &Point, capsule: &OpenedCapsule, dir: &Path) -> Result<OpenedCapsule, StudyError>;

    /// Opens the capsule of an input that was kept in a directory, if a capsule of this digest is there.
    ///
    /// # Errors
    /// If it is there and cannot be opened.
    fn open_kept(&mut self, point: &Point, digest: &str, dir: &Path) -> Result<Option<OpenedCapsule>, StudyError>;

    /// The command that records an input, for a user.
    fn command(&self, point: &Point) -> String;
}

/// What became of an input.
#[derive(Clone, Debug)]
pub enum Realised {
    /// Its golden run is done; the seconds that the process took.
    Ready(Box<OpenedCapsule>, f64),
    /// There is none, with the reason: it crashed, refused the input, or used no GPU.
    Not(String),
    /// There is none now, with the reason: it took too long, or the machine had no room for it. Another time it may be there, so that
    /// this is not kept.
    NotNow(String),
}
