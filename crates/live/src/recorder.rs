//! Recordings of one application with many command lines.

use crate::application::{how, start};
use crate::error::{LiveError, tail};
use capsule::Capsule;
use cudart::runner::{Application, PreparedApplication};
use process::{Limits, Reaper};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How large a file may become that a recorded process writes.
const FILE_BYTES: u64 = 4 << 30;

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

    /// Runs it with these arguments, in an empty directory of its own, for at most this time.
    ///
    /// # Errors
    /// If no process can be had, or the recording cannot be read.
    pub fn record(&self, arguments: &[String], time: Duration) -> Result<Recording, LiveError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let place = self.reaper.directory().join(format!("input-{number}"));
        fs::create_dir(&place).map_err(LiveError::Prepare)?;
        let recording = self.record_in(&place, arguments, time);
        // What is left of it goes with the reaper.
        let _ = fs::remove_dir_all(&place);
        recording
    }

    fn record_in(&self, place: &Path, arguments: &[String], time: Duration) -> Result<Recording, LiveError> {
        let path = place.join("recorded.capsule");
        let prepared = self.prepared.clone().with_arguments(arguments).recording(Some(&path))?;
        let limits = Limits { time, file_bytes: FILE_BYTES, files: &[] };
        let ended = start(&prepared, place, None, &limits, &self.reaper).map_err(LiveError::Prepare)?;
        if ended.status.is_none() {
            return Ok(Recording::TimeOver);
        }
        if ended.code() != Some(0) {
            let said = tail(&ended.stderr);
            return Ok(Recording::Ended(if said.is_empty() {
                how(&ended)
            } else {
                format!("{}: {said}", how(&ended))
            }));
        }
        if !path.exists() {
            return Ok(Recording::NotRecorded(tail(&ended.stderr)));
        }
        let bytes = fs::read(&path).map_err(LiveError::Prepare)?;
        Ok(Recording::Done(Box::new(Capsule::from_bytes(bytes)?), ended.seconds))
    }
}
