//! Running an unmodified application on the simulated GPU.
//!
//! The application was linked with `nvcc -cudart shared`, so its loader looks for `libcudart.so.12` or `.13`.
//! [`Application`] checks that this is so, has the loader load our runtime first (`LD_PRELOAD`) and lets it find
//! stand-ins of those names (`LD_LIBRARY_PATH`), fixes its address space, and passes what our runtime should do in the
//! environment. Nothing of the application is changed, and nothing is printed: what is wrong is a [`RunError`] with a
//! line of help.

mod elf;
mod error;
mod guard;
#[expect(unsafe_code, reason = "a system call between fork and exec")]
mod layout;
mod locate;
mod place;
mod stub;
mod survey;
mod versions;

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{env, fs};

pub use error::{NotAProgram, RunError};

/// The variable that tells our runtime where to write a capsule.
pub(crate) const RECORD: &str = "BEAMLINE_RECORD";
/// The variable that tells our runtime which process started the one that is recorded: others of its family are left out.
pub(crate) const RECORDER: &str = "BEAMLINE_RECORDER";
/// The variable with which the runtime says nothing of its own, whatever it holds.
pub const SILENT: &str = "BEAMLINE_SILENT";

/// The variable that asks our runtime to explain errors.
pub(crate) const EXPLAIN: &str = "BEAMLINE_EXPLAIN";

/// An application to be run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Application {
    /// The program: a path, or a name to be looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where to write the capsule, if one is wanted.
    pub record: Option<PathBuf>,
    /// Whether every CUDA call that fails is explained in a line on standard error.
    pub explain: bool,
}

/// How an application ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApplicationEnd {
    /// Its exit status; 128 and the number of the signal if one ended it, as shells say.
    pub status: i32,
    /// Whether the capsule that was asked for is in its place.
    pub recorded: bool,
}

impl Application {
    /// Runs it to its end, with our standard input and outputs. The capsule appears in its place only if no signal ended the
    /// application, whatever code it returned: some programs end well with another than 0. Until then it is written beside it, and what was there before stays.
    ///
    /// # Errors
    /// It is not an application that we can run, something of ours is missing, the system cannot start it, or the
    /// capsule cannot be put in its place.
    pub fn run(&self) -> Result<ApplicationEnd, RunError> {
        let prepared = self.prepare()?;
        let place = prepared.record.clone();
        let written = place.as_deref().map(beside);
        let prepared = prepared.recording(written.as_deref())?;
        let path = prepared.program.clone();
        let mut command = prepared.command();
        let status = guarded(&mut command).map_err(|error| RunError::Start { path, error })?;
        let recorded = match (written, place) {
            (Some(written), Some(place)) => keep(&written, &place, status.code().is_some())?,
            _ => false,
        };
        Ok(ApplicationEnd { status: status_code(status), recorded })
    }

    /// The command that starts it, for those who want its outputs for themselves.
    ///
    /// # Errors
    /// It is not an application that we can run, or something of ours is missing.
    pub fn command(&self) -> Result<Command, RunError> {
        Ok(self.prepare()?.command())
    }

    /// Checks it once, for those who start it many times.
    ///
    /// # Errors
    /// As [`command`](Self::command).
    pub fn prepare(&self) -> Result<PreparedApplication, RunError> {
        let program = resolve(&self.program)?;
        survey::check(&program)?;
        let placed = place::prepare(&locate::runtime()?)?;
        Ok(PreparedApplication {
            program,
            name: self.program.clone(),
            args: self.args.clone(),
            preload: joined(&placed.preload, "LD_PRELOAD"),
            libraries: joined(placed.directory.as_os_str(), "LD_LIBRARY_PATH"),
            record: self.record.as_deref().map(record_path).transpose()?,
            explain: self.explain,
        })
    }
}

/// An application that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedApplication {
    program: PathBuf,
    /// As it was called.
    name: OsString,
    args: Vec<OsString>,
    preload: OsString,
    libraries: OsString,
    record: Option<PathBuf>,
    explain: bool,
}

impl PreparedApplication {
    /// The command that starts it.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg0(if self.name.is_empty() { self.program.as_os_str() } else { &self.name }).args(&self.args);
        command.env("LD_PRELOAD", &self.preload).env("LD_LIBRARY_PATH", &self.libraries);
        match &self.record {
            Some(path) => command.env(RECORD, path).env(RECORDER, std::process::id().to_string()),
            None => command.env_remove(RECORD),
        };
        if self.explain {
            command.env(EXPLAIN, "1");
        }
        command.env_remove(crate::live::VARIABLE);
        layout::fix(&mut command);
        command
    }

    /// The same, recorded into a file or not.
    ///
    /// # Errors
    /// If there is no directory for the file.
    pub fn recording(mut self, path: Option<&Path>) -> Result<Self, RunError> {
        self.record = path.map(record_path).transpose()?;
        Ok(self)
    }

    /// The same with other arguments.
    #[must_use]
    pub fn with_arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.args = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// The same, told that this is its name.
    #[must_use]
    pub fn called(mut self, name: impl Into<OsString>) -> Self {
        self.name = name.into();
        self
    }

    /// The same, found from any directory.
    #[must_use]
    pub fn anywhere(mut self) -> Self {
        self.program = std::path::absolute(&self.program).unwrap_or(self.program);
        self
    }
}

/// Runs a command to its end, and does not leave it behind if we end before.
fn guarded(command: &mut Command) -> std::io::Result<ExitStatus> {
    let guard = guard::Guard::start();
    layout::end_with_parent(command, guard.as_ref().map(guard::Guard::line));
    command.spawn()?.wait()
}

/// The program that a name or path means.
fn resolve(name: &OsStr) -> Result<PathBuf, RunError> {
    let path = Path::new(name);
    if name.as_encoded_bytes().contains(&b'/') {
        check_file(path)?;
        return Ok(path.to_owned());
    }
    let directories = env::var_os("PATH").unwrap_or_default();
    let mut candidates = env::split_paths(&directories).map(|directory| directory.join(name));
    let found = candidates.find(|candidate| check_file(candidate).is_ok());
    found
        .filter(|_| !name.is_empty())
        .ok_or_else(|| RunError::NotFound { name: name.to_string_lossy().into_owned(), here: path.is_file() })
}

/// Checks that a path names a file that may be executed.
fn check_file(path: &Path) -> Result<(), RunError> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => RunError::NotFound { name: path.display().to_string(), here: false },
        _ => RunError::Unreadable { path: path.into(), error },
    })?;
    let found = if !metadata.is_file() {
        NotAProgram::NotAFile
    } else if metadata.permissions().mode() & 0o111 == 0 {
        NotAProgram::NotExecutable
    } else {
        return Ok(());
    };
    Err(RunError::NotAProgram { path: path.into(), found })
}

/// The path of a capsule as it holds in every directory that the application may change to.
fn record_path(path: &Path) -> Result<PathBuf, RunError> {
    let missing = || RunError::NoRecordDirectory { path: path.into() };
    let absolute = std::path::absolute(path).map_err(|_| missing())?;
    if absolute.parent().is_some_and(Path::is_dir) { Ok(absolute) } else { Err(missing()) }
}

/// A new entry before the ones that the variable has already.
fn joined(first: &OsStr, variable: &str) -> OsString {
    let mut list = first.to_owned();
    if let Some(rest) = env::var_os(variable).filter(|rest| !rest.is_empty()) {
        list.push(":");
        list.push(rest);
    }
    list
}

/// Where a capsule is written until the application has ended well.
fn beside(place: &Path) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    PathBuf::from(name)
}

/// Puts what was recorded in its place, or throws it away; whether there was anything, and it is in its place.
fn keep(written: &Path, place: &Path, good: bool) -> Result<bool, RunError> {
    if !written.exists() {
        return Ok(false);
    }
    let kept = if good { fs::rename(written, place) } else { fs::remove_file(written) };
    kept.map_err(|error| RunError::Keep { path: place.into(), error })?;
    Ok(good)
}

fn status_code(status: ExitStatus) -> i32 {
    let by_signal = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(by_signal).unwrap_or(1)
}
