//! `beamline beam`

use crate::args;
use crate::failure::{Code, Coded, Failure};
use crate::{interrupt, out};
use anyhow::{Context as _, anyhow};
use process::{Limits, ProcessEnd, Reaper};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use study::{Cell, Study, Table};

/// Seconds that a run may take before one has ended by itself.
const FIRST: f64 = 600.0;
/// How many times the longest run a run may take.
const TIMES: f64 = 3.0;
/// Seconds that a run may take at least.
const LEAST: f64 = 1.0;
/// Seconds that the command after a crash or a hang may take.
const AFTER: f64 = 600.0;
/// Bytes of output that a process may write.
const MOST_OUTPUT: u64 = 1 << 30;
/// Characters of the output of the command after a crash that the log keeps.
const KEPT: usize = 10_000;

/// Runs an application again and again under a watchdog.
pub(crate) fn beam(args: &args::Beam) -> Result<Code, Failure> {
    let log = Arc::new(BeamLog::open(&args.log).code(Code::Usage)?);
    let stopped = Arc::clone(&log);
    // The run in hand is ended with this process, which is no event of the beam.
    interrupt::end_on_interrupt(move || {
        if stopped.stop().is_err() {
            out::note("the log could not be written: its last run counts as a crash");
        }
    })?;
    let watchdog = Watchdog { args, log: &log, reaper: Reaper::new().code(Code::Refused)? };
    let total = watchdog.run()?;
    if args.json {
        out::json(&total.json())?;
    } else {
        out::text(&report::study::text(&total.study(&args.log)))?;
    }
    Ok(Code::Done)
}

/// The log of an application, to which the watchdog adds lines.
struct BeamLog {
    path: PathBuf,
    /// The file, and where the lines of the run in hand begin in it.
    file: Mutex<(File, u64)>,
}

impl BeamLog {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::options().append(true).create(true).read(true).open(path);
        let file = file.with_context(|| format!("open the log {}", path.display()))?;
        Ok(Self { path: path.to_owned(), file: Mutex::new((file, 0)) })
    }

    fn with<T>(&self, work: impl FnOnce(&mut (File, u64)) -> io::Result<T>) -> anyhow::Result<T> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut file).with_context(|| format!("use the log {}", self.path.display()))
    }

    /// A run begins: its lines are those that follow.
    fn begin(&self) -> anyhow::Result<()> {
        self.with(|(file, begin)| {
            *begin = file.seek(SeekFrom::End(0))?;
            Ok(())
        })
    }

    /// The line with which the run in hand started, if it wrote one.
    fn start(&self) -> anyhow::Result<Option<Map<String, Value>>> {
        self.with(|(file, begin)| start_after(file, *begin))
    }

    fn add(&self, line: &Value) -> anyhow::Result<()> {
        self.with(|(file, _)| {
            file.write_all(format!("{line}\n").as_bytes())?;
            file.sync_data()
        })
    }

    /// Says that the run in hand was stopped by the user.
    fn stop(&self) -> anyhow::Result<()> {
        match self.start()? {
            Some(start) => self.add(&event("stopped", &start)),
            None => Ok(()),
        }
    }
}

/// The last line of a log after a place that is the start of a run.
fn start_after(file: &mut File, begin: u64) -> io::Result<Option<Map<String, Value>>> {
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let starts = text.lines().rev().filter_map(|line| serde_json::from_str::<Map<String, Value>>(line).ok());
    Ok(starts.into_iter().find(|line| line.get("event").is_some_and(|event| event == "start")))
}

/// An event of the run that started with a line.
fn event(name: &str, start: &Map<String, Value>) -> Value {
    let run = start.get("run").map(|run| ("run".to_owned(), run.clone()));
    [("event".to_owned(), Value::from(name))].into_iter().chain(run).collect::<Map<_, _>>().into()
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunEnd {
    /// By itself, with a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It took too long.
    Hang,
}

impl RunEnd {
    fn of(end: &ProcessEnd) -> Self {
        match (end.status, end.code(), end.signal()) {
            (None, _, _) => Self::Hang,
            (_, _, Some(signal)) => Self::Signal(signal),
            (_, code, _) => Self::Code(code.unwrap_or(-1)),
        }
    }

    fn words(self) -> String {
        match self {
            Self::Code(code) => format!("ended with code {code}"),
            Self::Signal(signal) => format!("crashed by signal {signal}"),
            Self::Hang => "hung".to_owned(),
        }
    }
}

/// Runs that were made.
#[derive(Debug, Default)]
struct Total {
    /// By end, in the order in which they were first seen.
    ends: Vec<(RunEnd, u64)>,
    /// Seconds in which the application ran.
    running: f64,
    /// Seconds in all.
    seconds: f64,
}

impl Total {
    fn count(&mut self, end: RunEnd) {
        match self.ends.iter_mut().find(|(known, _)| *known == end) {
            Some((_, count)) => *count += 1,
            None => self.ends.push((end, 1)),
        }
    }

    fn runs(&self) -> u64 {
        self.ends.iter().map(|(_, count)| count).sum()
    }

    fn json(&self) -> Value {
        let ends = self.ends.iter().map(|(end, count)| json!({ "end": end.words(), "runs": count }));
        json!({
            "format": "beamline.beam/1", "runs": self.runs(), "ends": ends.collect::<Vec<_>>(), "seconds_running": self.running,
            "seconds": self.seconds,
        })
    }

    fn study(&self, log: &Path) -> Study {
        let mut study = Study::new("beam", "", "");
        let mut table = Table::new("Runs under the watchdog", &["end", "runs"]);
        table.rows = self.ends.iter().map(|(end, count)| vec![Cell::Text(end.words()), Cell::Count(*count)]).collect();
        table.notes.push(format!(
            "The application ran for {:.1} of {:.1} seconds. The fluence of its rates is the flux of the beam times the seconds in which it ran.",
            self.running, self.seconds
        ));
        table.notes.push(format!("`beamline events {}` tells what went wrong in them.", log.display()));
        study.tables.push(table);
        study
    }
}

/// An application under a watchdog.
struct Watchdog<'a> {
    args: &'a args::Beam,
    log: &'a BeamLog,
    reaper: Reaper,
}

impl Watchdog<'_> {
    fn run(&self) -> Result<Total, Failure> {
        let (mut total, mut longest, mut failed, mut known) = (Total::default(), None::<f64>, 0, None);
        #[expect(clippy::disallowed_methods, reason = "a beam has hours, and runs have limits of time")]
        let begun = Instant::now();
        while self.args.runs.is_none_or(|runs| total.runs() < runs)
            && self.args.seconds.is_none_or(|seconds| begun.elapsed().as_secs_f64() < seconds)
        {
            let most = longest.map_or(FIRST, |longest| (TIMES * longest).max(LEAST));
            let most = self.args.timeout.unwrap_or(most);
            self.log.begin().code(Code::Refused)?;
            let ended = self.start(most)?;
            let end = RunEnd::of(&ended);
            let start = self.log.start().code(Code::Refused)?;
            if start.is_none() && known.is_none() {
                return Err(self.no_start(end, &ended));
            }
            self.write_end(end, ended.seconds, start.as_ref(), &mut known, total.runs()).code(Code::Refused)?;
            total.running += ended.seconds;
            total.count(end);
            if matches!(end, RunEnd::Code(_)) {
                longest = Some(longest.unwrap_or(0.0).max(ended.seconds));
                failed = 0;
                continue;
            }
            out::note(&format!("run {} {} after {:.1} s", total.runs(), end.words(), ended.seconds));
            self.after()?;
            failed += 1;
            if failed == self.args.give_up {
                let error = anyhow!("go on: the last {failed} runs did not end by themselves; the GPU may be lost");
                let help =
                    "reset it, and start the same command again: it adds to the log; --after resets it by itself";
                return Err(Failure::new(Code::Refused, error).help(help));
            }
        }
        total.seconds = begun.elapsed().as_secs_f64();
        Ok(total)
    }

    /// Runs the application once.
    fn start(&self, seconds: f64) -> Result<ProcessEnd, Failure> {
        let program = self.args.command.first().cloned().unwrap_or_default();
        let mut command = Command::new(&program);
        command.args(self.args.command.iter().skip(1));
        let limits = Limits { time: Duration::from_secs_f64(seconds), file_bytes: u64::MAX, files: &[] };
        let started = || format!("start {}", Path::new(&program).display());
        process::run(command, &limits, &self.reaper).with_context(started).code(Code::Refused)
    }

    fn no_start(&self, end: RunEnd, ended: &ProcessEnd) -> Failure {
        let log = self.args.log.display();
        let said = String::from_utf8_lossy(&ended.stderr);
        let said = said.lines().last().map_or_else(String::new, |line| format!("; its last words: {line}"));
        let error = anyhow!("watch the application: its first run {} and wrote no start to {log}{said}", end.words());
        Failure::new(Code::Refused, error).help(format!(
            "give it {log}, too: it has to append a line `{{\"event\":\"start\",\"program\":\"NAME\",\"threads\":N}}` at the beginning of each run"
        ))
    }

    /// Writes how a run ended. A run that did not come to its start has one written, as those before it.
    fn write_end(
        &self,
        end: RunEnd,
        seconds: f64,
        start: Option<&Map<String, Value>>,
        known: &mut Option<Map<String, Value>>,
        number: u64,
    ) -> anyhow::Result<()> {
        let start = match (start, &known) {
            (None, Some(before)) => {
                let mut start = before.clone();
                start.insert("run".to_owned(), format!("watchdog-{}-{number}", now()).into());
                self.log.add(&Value::from(start.clone()))?;
                start
            }
            (start, _) => start.cloned().unwrap_or_default(),
        };
        if end == RunEnd::Hang {
            self.log.add(&event("hang", &start))?;
        }
        self.log.add(&json!({ "watchdog": end.words(), "run": start.get("run"), "seconds": seconds, "at": now() }))?;
        *known = Some(start);
        Ok(())
    }

    /// Runs the command that follows a crash or a hang.
    fn after(&self) -> Result<(), Failure> {
        let Some(after) = &self.args.after else { return Ok(()) };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", after]);
        let limits = Limits { time: Duration::from_secs_f64(AFTER), file_bytes: MOST_OUTPUT, files: &[] };
        let ended = process::run(command, &limits, &self.reaper).with_context(|| format!("run `{after}`"));
        let ended = ended.code(Code::Refused)?;
        let end = RunEnd::of(&ended);
        if end != RunEnd::Code(0) {
            out::note(&format!("`{after}` {}", end.words()));
        }
        let kept = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(KEPT).collect::<String>();
        let line = json!({
            "watchdog": "after", "command": after, "end": end.words(), "output": kept(&ended.stdout), "errors": kept(&ended.stderr), "at": now(),
        });
        self.log.add(&line).code(Code::Refused)
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
