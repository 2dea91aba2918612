//! Recordings of one application with many command lines.

use crate::application::{how, start};
use crate::error::{LiveError, tail};
use capsule::Capsule;
use cudart::runner::{Application, PreparedApplication};
use process::{Limits, Reaper};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{fs, io};

/// How large a file may become that a recorded process writes, its outputs and its recording included.
const FILE_BYTES: u64 = 256 << 20;

/// The signal that ends a process whose file becomes larger than it may: SIGXFSZ.
const TOO_LARGE: i32 = 25;

/// Records an application for one command line after the other. Its temporary files go when it is dropped, and also when we
/// end in any other way.
#[derive(Debug)]
pub struct Recorder {
    prepared: PreparedApplication,
    next: AtomicU64,
    reaper: Reaper,
}

/// How a recording ended.
#[derive(Debug)]
pub enum Recording {
    /// With a capsule. How long the process took, in seconds.
    Done(Box<Capsule>, f64),
    /// The application ended with another code than 0, or by a signal: in words that follow its name.
    Ended(String),
    /// It took longer than it may.
    TimeOver,
    /// The machine had no memory or no process left for it.
    NoRoom(String),
    /// It gave the GPU nothing to do, or something that cannot be recorded; with the end of what it said.
    NotRecorded(String),
}

impl Recorder {
    /// Checks an application once, a file.
    ///
    /// # Errors
    /// If it is none that we can run.
    pub fn new(program: &Path) -> Result<Self, LiveError> {
        let run = Application { program: program.into(), ..Application::default() };
        let reaper = Reaper::new().map_err(LiveError::Prepare)?;
        Ok(Self { prepared: run.prepare()?.anywhere(), next: AtomicU64::new(0), reaper })
    }

    /// Runs it with these arguments, for at most this time, in a directory of its own that has these files: the name of each and
    /// what it holds.
    ///
    /// # Errors
    /// If no process can be had.
    pub fn record(
        &self,
        arguments: &[String],
        files: &[(String, Vec<u8>)],
        time: Duration,
    ) -> Result<Recording, LiveError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let place = self.reaper.directory().join(format!("input-{number}"));
        let recording = self.record_in(&place, arguments, files, time);
        // What is left of it goes with the reaper.
        let _ = fs::remove_dir_all(&place);
        match recording {
            Err(LiveError::Prepare(error)) if is_for_want_of_room(&error) => Ok(Recording::NoRoom(error.to_string())),
            recording => recording,
        }
    }

    /// The standard output of a command that makes a file of an input, run in a directory for at most this time; or why there is none.
    ///
    /// # Errors
    /// If no process can be had.
    pub fn printed(
        &self,
        words: &[String],
        directory: &Path,
        time: Duration,
    ) -> Result<Result<Vec<u8>, String>, LiveError> {
        let Some((program, arguments)) = words.split_first() else { return Ok(Ok(Vec::new())) };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(directory);
        let limits = Limits { time, file_bytes: FILE_BYTES, files: &[] };
        let ended = match process::run(command, &limits, &self.reaper) {
            Ok(ended) => ended,
            Err(error) => return Ok(Err(format!("`{program}` cannot be run: {error}"))),
        };
        Ok(match ended.code() {
            Some(0) => Ok(ended.stdout),
            _ if ended.status.is_none() => Err(format!("`{program}` took longer than {} s", time.as_secs_f64())),
            _ => Err(format!("`{program}` {}: {}", how(&ended), tail(&ended.stderr))),
        })
    }

    fn record_in(
        &self,
        place: &Path,
        arguments: &[String],
        files: &[(String, Vec<u8>)],
        time: Duration,
    ) -> Result<Recording, LiveError> {
        fs::create_dir(place).map_err(LiveError::Prepare)?;
        for (name, bytes) in files {
            let path = place.join(name);
            let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, bytes));
            made.map_err(LiveError::Prepare)?;
        }
        // Beside the directory, where the application writes nothing by chance.
        let path = place.with_extension("capsule");
        let prepared = self.prepared.clone().with_arguments(arguments).recording(Some(&path))?;
        let limits = Limits { time, file_bytes: FILE_BYTES, files: &[] };
        let ended = start(&prepared, place, None, &limits, &self.reaper).map_err(LiveError::Prepare)?;
        let bytes = path.exists().then(|| fs::read(&path)).transpose().map_err(LiveError::Prepare)?;
        // What is left of it goes with the reaper.
        let _ = fs::remove_file(&path);
        if ended.status.is_none() {
            return Ok(Recording::TimeOver);
        }
        if ended.signal() == Some(TOO_LARGE) {
            return Ok(Recording::Ended(format!("wrote more than {} MiB", FILE_BYTES >> 20)));
        }
        if ended.code() != Some(0) {
            let said = tail(&ended.stderr);
            return Ok(Recording::Ended(if said.is_empty() {
                how(&ended)
            } else {
                format!("{}: {said}", how(&ended))
            }));
        }
        let Some(bytes) = bytes else { return Ok(Recording::NotRecorded(tail(&ended.stderr))) };
        Ok(match Capsule::from_bytes(bytes) {
            Ok(capsule) => Recording::Done(Box::new(capsule), ended.seconds),
            Err(error) => Recording::NotRecorded(format!("its recording cannot be read: {error}")),
        })
    }
}

/// Whether something failed since the machine has too little of what it needs now.
fn is_for_want_of_room(error: &io::Error) -> bool {
    use io::ErrorKind::{OutOfMemory, QuotaExceeded, StorageFull, WouldBlock};
    matches!(error.kind(), OutOfMemory | QuotaExceeded | StorageFull | WouldBlock)
}
