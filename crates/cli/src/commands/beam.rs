//! `beamline beam`

use crate::args;
use crate::commands::beam_log::{BeamLog, RunLines, event, locked, now};
use crate::failure::{Code, Coded, Failure};
use crate::{interrupt, out};
use anyhow::{Context as _, anyhow};
use process::{Limits, ProcessEnd, Reaper};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use study::{Cell, Study, Table};

/// Seconds that a run may take before one has ended by itself.
const FIRST: f64 = 600.0;
/// How many times the longest run a run may take.
const TIMES: f64 = 3.0;
/// Seconds that a run may take at least: the first start after a reset of the GPU takes long.
const LEAST: f64 = 60.0;
/// Seconds that the command after a crash or a hang may take.
const AFTER: f64 = 600.0;
/// Bytes of output that the command after a crash may write.
const MOST_OUTPUT: u64 = 1 << 30;
/// Characters of the output of the command after a crash that the log keeps.
const KEPT: usize = 10_000;

/// Runs an application again and again under a watchdog.
pub(crate) fn beam(args: &args::Beam) -> Result<Code, Failure> {
    let log = Arc::new(BeamLog::open(&args.log).code(Code::Usage)?);
    let total = Arc::new(Mutex::new(Total::new()));
    let (stopped, counted, path, as_json) = (Arc::clone(&log), Arc::clone(&total), args.log.clone(), args.json);
    // The run in hand is ended with this process, which is no event of the beam.
    interrupt::end_on_interrupt(move || {
        if stopped.stop().is_err() {
            out::note("the log could not be written: its last run counts as a hang");
        }
        // Nothing is left to do where the summary cannot be printed.
        let _ = locked(&counted).show(&path, as_json);
    })?;
    let watchdog = Watchdog { args, log: &log, total: &total, reaper: Reaper::new().code(Code::Refused)? };
    let ended = watchdog.run();
    let total = locked(&total);
    if ended.is_ok() || total.runs() > 0 {
        total.show(&args.log, args.json)?;
    }
    ended.map(|()| Code::Done)
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunEnd {
    /// By itself, with a code.
    Code(i32),
    /// By itself, with a code, but without an end in the log.
    Failed(i32),
    /// By a signal.
    Signal(i32),
    /// It took too long.
    Hang,
}

impl RunEnd {
    /// The end of a process; `has_end` says whether the log has its end.
    fn of(end: &ProcessEnd, has_end: bool) -> Self {
        match (end.status, end.code(), end.signal()) {
            (None, _, _) => Self::Hang,
            (_, _, Some(signal)) => Self::Signal(signal),
            (_, code, _) if has_end => Self::Code(code.unwrap_or(-1)),
            (_, code, _) => Self::Failed(code.unwrap_or(-1)),
        }
    }

    fn words(self) -> String {
        match self {
            Self::Code(code) => format!("ended with code {code}"),
            Self::Failed(code) => format!("failed with code {code}"),
            Self::Signal(signal) => format!("crashed by signal {signal}"),
            Self::Hang => "hung".to_owned(),
        }
    }
}

/// Runs that were made.
#[derive(Debug)]
struct Total {
    /// The moment at which the watchdog began.
    since: Instant,
    /// By end, in the order in which they were first seen.
    ends: Vec<(RunEnd, u64)>,
    /// Seconds in which the application ran.
    running: f64,
    /// The moment at which the run in hand began.
    begun: Option<Instant>,
}

impl Total {
    fn new() -> Self {
        Self { since: moment(), ends: Vec::new(), running: 0.0, begun: None }
    }

    /// Seconds since the watchdog began.
    fn seconds(&self) -> f64 {
        self.since.elapsed().as_secs_f64()
    }

    fn count(&mut self, end: RunEnd) {
        match self.ends.iter_mut().find(|(known, _)| *known == end) {
            Some((_, count)) => *count += 1,
            None => self.ends.push((end, 1)),
        }
    }

    fn runs(&self) -> u64 {
        self.ends.iter().map(|(_, count)| count).sum()
    }

    /// Seconds in which the application ran, the run in hand among them.
    fn seconds_running(&self) -> f64 {
        self.running + self.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64())
    }

    fn show(&self, log: &Path, as_json: bool) -> Result<(), Failure> {
        if as_json { out::json(&self.json()) } else { out::text(&report::study::text(&self.study(log))) }
    }

    fn json(&self) -> Value {
        let ends = self.ends.iter().map(|(end, count)| json!({ "end": end.words(), "runs": count }));
        json!({
            "format": "beamline.beam/1", "runs": self.runs(), "ends": ends.collect::<Vec<_>>(),
            "seconds_running": self.seconds_running(), "seconds": self.seconds(),
        })
    }

    fn study(&self, log: &Path) -> Study {
        let mut study = Study::new("beam", "", "");
        let mut table = Table::new("Runs under the watchdog", &["end", "runs"]);
        table.rows = self.ends.iter().map(|(end, count)| vec![Cell::Text(end.words()), Cell::Count(*count)]).collect();
        table.notes.push(format!(
            "The application ran for {:.1} of {:.1} seconds. The fluence of its rates is the flux of the beam times the seconds in which it ran.",
            self.seconds_running(),
            self.seconds()
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
    total: &'a Mutex<Total>,
    reaper: Reaper,
}

impl Watchdog<'_> {
    fn total(&self) -> MutexGuard<'_, Total> {
        locked(self.total)
    }

    fn run(&self) -> Result<(), Failure> {
        let (mut longest, mut failed) = (None::<f64>, 0);
        let mut known = self.log.last_start().code(Code::Refused)?;
        loop {
            let (runs, seconds) = {
                let total = self.total();
                (total.runs(), total.seconds())
            };
            let is_over = self.args.runs.is_some_and(|most| runs >= most)
                || self.args.seconds.is_some_and(|most| seconds >= most);
            if is_over {
                return Ok(());
            }
            let most = longest.map_or(FIRST, |longest| (TIMES * longest).max(LEAST));
            let ended = self.start(self.args.timeout.unwrap_or(most))?;
            let lines = self.log.end().code(Code::Refused)?;
            let end = RunEnd::of(&ended, lines.has_end);
            {
                let mut total = self.total();
                total.begun = None;
                total.running += ended.seconds;
                total.count(end);
            }
            let says_nothing = lines.start.is_none() && !lines.is_emptied;
            if says_nothing && (known.is_none() || matches!(end, RunEnd::Failed(0))) {
                return Err(self.no_start(end, &ended));
            }
            known = self.write_end(end, ended.seconds, lines, known, runs).code(Code::Refused)?;
            if let RunEnd::Code(_) = end {
                longest = Some(longest.unwrap_or(0.0).max(ended.seconds));
                failed = 0;
            } else {
                out::note(&format!("run {} {} after {:.1} s", runs + 1, end.words(), ended.seconds));
                self.after()?;
                failed += 1;
            }
            if failed == self.args.give_up {
                let error = anyhow!("go on: the last {failed} runs did not come to their end; the GPU may be lost");
                let help =
                    "reset it, and start the same command again: it adds to the log; --after resets it by itself";
                return Err(Failure::new(Code::Refused, error).help(help));
            }
        }
    }

    /// Runs the application once. What it prints goes nowhere: the log is what is kept.
    fn start(&self, seconds: f64) -> Result<ProcessEnd, Failure> {
        let program = self.args.command.first().cloned().unwrap_or_default();
        let mut command = Command::new(&program);
        command.args(self.args.command.iter().skip(1)).stdout(Stdio::null());
        let limits = Limits { time: Duration::from_secs_f64(seconds), file_bytes: u64::MAX, files: &[] };
        let started = || format!("start {}", Path::new(&program).display());
        self.log.begin().code(Code::Refused)?;
        self.total().begun = Some(moment());
        process::run_unheard(command, &limits, &self.reaper).with_context(started).code(Code::Refused)
    }

    fn no_start(&self, end: RunEnd, ended: &ProcessEnd) -> Failure {
        let log = self.args.log.display();
        let said = String::from_utf8_lossy(&ended.stderr);
        let said = said.lines().last().map_or_else(String::new, |line| format!("; its last words: {line}"));
        let error = anyhow!("watch the application: a run {} and wrote no start to {log}{said}", end.words());
        Failure::new(Code::Refused, error).help(format!(
            "give it {log}, too: it has to append a line `{{\"event\":\"start\",\"program\":\"NAME\",\"threads\":N}}` at the beginning of each run"
        ))
    }

    /// Writes how a run ended, and returns its start. A run that ended badly, and whose start does not stand in the log, has one written,
    /// as the one before it; if the log was emptied meanwhile, its kernel is taken to have begun.
    fn write_end(
        &self,
        end: RunEnd,
        seconds: f64,
        lines: RunLines,
        known: Option<Map<String, Value>>,
        number: u64,
    ) -> anyhow::Result<Option<Map<String, Value>>> {
        let is_good = matches!(end, RunEnd::Code(_));
        let start = match (lines.start, known) {
            (None, Some(mut before)) if !is_good => {
                let named = lines.run.unwrap_or_else(|| format!("watchdog-{}-{number}", now()).into());
                before.insert("run".to_owned(), named);
                self.log.add(&Value::from(before.clone()))?;
                if lines.is_emptied {
                    self.log.add(&event("before_kernel", &before))?;
                }
                Some(before)
            }
            (start, known) => start.or(known),
        };
        let Some(start) = start else {
            out::note(&format!("the log was emptied during run {}, and its start is lost", number + 1));
            return Ok(None);
        };
        match end {
            RunEnd::Hang => {
                let mut hang = event("hang", &start);
                hang["silent"] = lines.silent.into();
                self.log.add(&hang)?;
            }
            // An error of CUDA stands in the log already, and says more.
            RunEnd::Signal(_) | RunEnd::Failed(_) => self.log.add(&event("crash", &start))?,
            RunEnd::Code(_) => {}
        }
        let run = start.get("run");
        self.log.add(&json!({ "watchdog": end.words(), "run": run, "seconds": seconds, "at": now() }))?;
        Ok(Some(start))
    }

    /// Runs the command that follows a crash or a hang.
    fn after(&self) -> Result<(), Failure> {
        let Some(after) = &self.args.after else { return Ok(()) };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", after]);
        let limits = Limits { time: Duration::from_secs_f64(AFTER), file_bytes: MOST_OUTPUT, files: &[] };
        let ended = process::run(command, &limits, &self.reaper).with_context(|| format!("run `{after}`"));
        let ended = ended.code(Code::Refused)?;
        let end = RunEnd::of(&ended, true);
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

#[expect(clippy::disallowed_methods, reason = "a beam has hours, and the fluence of a run is by its time")]
fn moment() -> Instant {
    Instant::now()
}
