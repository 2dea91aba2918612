//! The log of an application under a watchdog.

use anyhow::{Context as _, anyhow};
use serde_json::{Map, Value};
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of a log that are read for the lines of a run.
const MOST_READ: u64 = 1 << 26;

/// Bytes by which a place in a log is known.
const KNOWN: u64 = 256;

/// A value that is shared with what happens at Ctrl-C; a panic elsewhere leaves it whole.
pub(super) fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The log of an application, to which the watchdog adds lines.
pub(super) struct BeamLog {
    path: PathBuf,
    file: Mutex<OpenLog>,
}

/// The file of a log.
struct OpenLog {
    file: File,
    /// The place where the lines of the run in hand begin.
    begin: u64,
    /// The last bytes before it, by which a log is known that was emptied.
    before: Vec<u8>,
    /// Whether a run is in hand.
    is_running: bool,
}

/// A file to which lines are added; another one, if the log was moved away.
fn opened(path: &Path) -> io::Result<File> {
    File::options().append(true).create(true).read(true).open(path)
}

/// The number of a file, which it keeps under another name.
fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|it| (it.dev(), it.ino()))
}

/// Locks a log: the runs of two watchdogs cannot be told apart in it.
fn locked_by_us(file: &File, path: &Path) -> anyhow::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(anyhow!("open the log {}: another watchdog writes to it; each needs a log of its own", path.display()))
        }
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("lock the log {}", path.display())),
    }
}

impl BeamLog {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let wrong = || format!("open the log {}", path.display());
        let file = opened(path).with_context(wrong)?;
        if !file.metadata().with_context(wrong)?.is_file() {
            return Err(anyhow!("open the log {}: expected a file", path.display()));
        }
        locked_by_us(&file, path)?;
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(OpenLog { file, begin: 0, before: Vec::new(), is_running: false }),
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut OpenLog) -> io::Result<T>) -> anyhow::Result<T> {
        work(&mut locked(&self.file)).with_context(|| format!("use the log {}", self.path.display()))
    }

    /// A run begins: its lines are those that follow.
    pub(super) fn begin(&self) -> anyhow::Result<()> {
        self.with(|log| {
            let file = opened(&self.path)?;
            // The lock of a log that was moved away goes with it.
            if identity(&file)? != identity(&log.file)? {
                file.try_lock()?;
                log.file = file;
            }
            log.begin = log.file.seek(SeekFrom::End(0))?;
            log.before = last_bytes(&mut log.file, log.begin)?;
            log.is_running = true;
            Ok(())
        })
    }

    /// The lines of the run in hand, which has ended.
    pub(super) fn end(&self) -> anyhow::Result<RunLines> {
        self.with(|log| {
            log.is_running = false;
            let written = log.file.metadata()?.modified()?;
            let is_emptied = last_bytes(&mut log.file, log.begin)? != log.before;
            let lines = lines_after(&mut log.file, if is_emptied { 0 } else { log.begin })?;
            let has_end = lines.iter().any(|line| is_event(line, "end"));
            let run = lines.iter().rev().find_map(|line| line.get("run").cloned());
            let silent = time().duration_since(written).unwrap_or_default().as_secs_f64();
            // Emptying is no word of the run.
            let silent = (!is_emptied || !lines.is_empty()).then_some(silent);
            // Events of a run whose start is not there, in a log that was empty when it began.
            let has_events = lines.iter().any(|line| line.contains_key("event"));
            let start = last_start(lines);
            let is_emptied = is_emptied || start.is_none() && has_events;
            Ok(RunLines { start, run, has_end, silent, is_emptied })
        })
    }

    /// The last start in the log.
    pub(super) fn last_start(&self) -> anyhow::Result<Option<Map<String, Value>>> {
        self.with(|log| Ok(last_start(lines_after(&mut log.file, 0)?)))
    }

    pub(super) fn add(&self, line: &Value) -> anyhow::Result<()> {
        self.with(|log| log.add(line))
    }

    /// Says that the run in hand, if there is one, was stopped by the user.
    pub(super) fn stop(&self) -> anyhow::Result<()> {
        self.with(|log| {
            if !log.is_running {
                return Ok(());
            }
            let start = last_start(lines_after(&mut log.file, log.begin)?);
            start.map_or(Ok(()), |start| log.add(&event("stopped", &start)))
        })
    }
}

/// The lines of a run in a log.
pub(super) struct RunLines {
    /// The line of the start, if the run wrote one.
    pub(super) start: Option<Map<String, Value>>,
    /// The name of the run, as its last line has it.
    pub(super) run: Option<Value>,
    pub(super) has_end: bool,
    /// Seconds since anything was written; unknown where the log was emptied and nothing was written since.
    pub(super) silent: Option<f64>,
    /// Whether the log was emptied since the run began, as log rotation does.
    pub(super) is_emptied: bool,
}

impl OpenLog {
    fn add(&mut self, line: &Value) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.file.sync_data()
    }
}

/// The last bytes of a log before a place, fewer where it ends earlier.
fn last_bytes(file: &mut File, place: u64) -> io::Result<Vec<u8>> {
    let count = place.min(KNOWN);
    file.seek(SeekFrom::Start(place - count))?;
    let mut bytes = Vec::new();
    file.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The lines of a log after a place that are JSON objects; of the last bytes, where there are many.
fn lines_after(file: &mut File, begin: u64) -> io::Result<Vec<Map<String, Value>>> {
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(begin.max(end.saturating_sub(MOST_READ))))?;
    let mut bytes = Vec::new();
    file.take(MOST_READ).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The start of the run that began last.
fn last_start(lines: Vec<Map<String, Value>>) -> Option<Map<String, Value>> {
    lines.into_iter().rev().find(|line| is_event(line, "start"))
}

fn is_event(line: &Map<String, Value>, name: &str) -> bool {
    line.get("event").is_some_and(|event| event == name)
}

/// An event of the run that started with a line.
pub(super) fn event(name: &str, start: &Map<String, Value>) -> Value {
    let run = start.get("run").map(|run| ("run".to_owned(), run.clone()));
    [("event".to_owned(), Value::from(name))].into_iter().chain(run).collect::<Map<_, _>>().into()
}

#[expect(clippy::disallowed_methods, reason = "a beam time is kept by the clock")]
fn time() -> SystemTime {
    SystemTime::now()
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    time().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_emptied_during_a_run_has_the_lines_since() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("beam.log");
        let line =
            |event: &str| format!("{{\"event\":\"{event}\",\"program\":\"iadd\",\"threads\":64,\"run\":\"7\"}}\n");
        for before in [0, 1, 9] {
            std::fs::write(&path, line("start").repeat(before)).unwrap();
            let log = BeamLog::open(&path).unwrap();
            log.begin().unwrap();
            // The one that is emptied may have grown beyond its size.
            for (text, has_start, is_known) in [
                (line("start").repeat(before) + &line("start"), true, true),
                (line("alive").repeat(30) + &line("end"), false, true),
                (String::new(), false, false),
            ] {
                std::fs::write(&path, &text).unwrap();
                let lines = log.end().unwrap();
                let is_emptied = !text.starts_with(&line("start")) && (before > 0 || !text.is_empty());
                assert_eq!(
                    (lines.start.is_some(), lines.has_end, lines.is_emptied, lines.run.is_some()),
                    (has_start, text.contains("end"), is_emptied, is_known),
                    "{before}, {text}"
                );
                assert_eq!(lines.silent.is_some(), !is_emptied || is_known);
            }
        }
    }
}
