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
        Ok(Self { path: path.to_owned(), file: Mutex::new(OpenLog { file, begin: 0, is_running: false }) })
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
            log.is_running = true;
            Ok(())
        })
    }

    /// The lines of the run in hand, which has ended.
    pub(super) fn end(&self) -> anyhow::Result<RunLines> {
        self.with(|log| {
            log.is_running = false;
            let written = log.file.metadata()?.modified()?;
            let lines = lines_after(&mut log.file, log.begin)?;
            let has_end = lines.iter().any(|line| is_event(line, "end"));
            let silent = time().duration_since(written).unwrap_or_default().as_secs_f64();
            Ok(RunLines { start: last_start(lines), has_end, silent })
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
    pub(super) has_end: bool,
    /// Seconds since anything was written.
    pub(super) silent: f64,
}

impl OpenLog {
    fn add(&mut self, line: &Value) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.file.sync_data()
    }
}

/// The lines of a log after a place that are JSON objects; of the last bytes, where there are many. All lines of a log that is shorter: it
/// was emptied meanwhile, as log rotation does.
fn lines_after(file: &mut File, begin: u64) -> io::Result<Vec<Map<String, Value>>> {
    let end = file.seek(SeekFrom::End(0))?;
    let begin = if begin > end { 0 } else { begin };
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
        let start = "{\"event\":\"start\",\"program\":\"iadd\",\"threads\":64}\n";
        std::fs::write(&path, start.repeat(9)).unwrap();
        let log = BeamLog::open(&path).unwrap();
        log.begin().unwrap();
        File::options().write(true).truncate(true).open(&path).unwrap();
        std::fs::write(&path, format!("{start}{{\"event\":\"end\"}}\n")).unwrap();
        let lines = log.end().unwrap();
        assert!(lines.start.is_some() && lines.has_end);
    }
}
