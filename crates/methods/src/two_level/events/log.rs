//! What a microbenchmark logs, line by line: runs, each with what it came to.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A line of a log.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line {
    Start {
        program: String,
        threads: u32,
        chain: Option<u32>,
    },
    BeforeKernel,
    /// The host waits for the kernel.
    Alive {
        finished_blocks: Option<serde_json::Value>,
    },
    AfterKernel,
    Mismatch(Mismatch),
    CudaError {
        name: String,
    },
    /// Whoever watches the program ended it, because it took too long.
    Hang {
        silent: Option<serde_json::Value>,
    },
    /// The watchdog saw it end without a word.
    Crash,
    /// The user ended it: it tells nothing of the beam.
    Stopped,
    End {
        mismatches: Option<u64>,
    },
}

/// A thread whose accumulator was not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Mismatch {
    /// Its block.
    pub block: u32,
    /// The thread, linear in the block.
    pub thread: u32,
    /// The values of the chain, as the GPU had them.
    #[serde(deserialize_with = "words")]
    pub values: Vec<u32>,
    /// What each instruction gives for the values that were its inputs.
    #[serde(deserialize_with = "words")]
    pub computed: Vec<u32>,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Completed,
    /// By an error of CUDA, of this name.
    Failed(String),
    /// It had to be ended.
    Hang,
    /// It died without a word.
    Crash,
    /// The user ended it.
    Stopped,
    /// The log ends: nothing is known.
    #[default]
    Cut,
}

/// A run of a microbenchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The program.
    pub program: String,
    /// Threads of a block.
    pub threads: u32,
    /// Whether the kernel had been started.
    pub started: bool,
    /// Whether the kernel had come to its end.
    pub finished: bool,
    /// How many instructions of a record are tested ones: the first; all, where the log does not say.
    pub chain: Option<u32>,
    /// What was recorded.
    pub mismatches: Vec<Mismatch>,
    /// How many mismatches there were beyond those that were recorded.
    pub unrecorded: u64,
    /// Its words while its kernel ran.
    pub heartbeat: Heartbeat,
    /// How it ended.
    pub ended: Ended,
}

/// Signs of life of a run while its kernel runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heartbeat {
    /// How many times the host said that it was alive.
    pub beats: u64,
    /// Blocks that had finished, as it said last.
    pub finished_blocks: Option<u64>,
    /// Seconds for which the log had been silent when the run was ended for its hang.
    pub silent: Option<f64>,
}

/// Values written as `"0x0000000d"`.
fn words<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let word = |text: &String| text.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let wrong = |text: &String| serde::de::Error::custom(format!("`{text}` is no value such as 0x0000000d"));
    texts.iter().map(|text| word(text).ok_or_else(|| wrong(text))).collect()
}

/// The contents of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// The runs, by the order of their starts.
    pub runs: Vec<Run>,
    /// Lines that were not written to their end, that follow something on their line, or that are not text.
    pub torn: u64,
    /// Events that mean nothing, or belong to no run. Each is left out, and nothing else is.
    pub refused: u64,
    /// The reasons for the first of them, with the numbers of their lines.
    pub reasons: Vec<String>,
}

/// Reasons that a log keeps.
const REASONS: usize = 5;

/// Threads that a block can have.
const THREADS: std::ops::RangeInclusive<u32> = 1..=1024;

/// Seconds of silence that are believed: a year.
const MOST_SILENT: f64 = 3.2e7;

/// Blocks of a grid along its first axis, at most.
const MOST_BLOCKS: u64 = (1 << 31) - 1;

/// How an event begins.
const EVENT: &str = "{\"event\"";

/// What stands for bytes that are no text.
const NO_TEXT: char = '\u{fffd}';

/// An event, and the run that it names.
struct Event {
    run: Option<String>,
    line: Line,
}

/// What a line is.
enum Found {
    Event(Event),
    /// It was not written to its end, or has something before it; whole events may stand in what is left of it.
    Torn(Vec<Event>),
    /// Another program's.
    Other,
}

fn found(line: &str) -> Result<Found, String> {
    let starts = line.starts_with('{');
    if !starts && !line.contains(EVENT) {
        // A logger writes text; whatever else stands there may have been an event.
        let is_text = !line.contains([NO_TEXT, '\0']);
        return Ok(if is_text { Found::Other } else { Found::Torn(Vec::new()) });
    }
    match serde_json::from_str::<serde_json::Value>(line) {
        Ok(value) if !line.contains(NO_TEXT) => match value.get("event") {
            None => Ok(Found::Other),
            Some(_) => event(value).map(Found::Event),
        },
        _ => Ok(Found::Torn(line.match_indices(EVENT).filter_map(|(at, _)| whole(&line[at..])).collect())),
    }
}

fn event(value: serde_json::Value) -> Result<Event, String> {
    let run = match value.get("run") {
        None => None,
        Some(run) => Some(run.as_str().ok_or("its `run` is no text")?.to_owned()),
    };
    let line = serde_json::from_value(value).map_err(|error| error.to_string())?;
    Ok(Event { run, line })
}

/// The event at the beginning of a text, if it was written to its end.
fn whole(text: &str) -> Option<Event> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    let value = values.next()?.ok()?;
    if text[..values.byte_offset()].contains(NO_TEXT) {
        return None;
    }
    event(value).ok()
}

/// Reads a log. Lines that are no JSON objects, and objects without an event, are other programs' and passed over; those
/// that were not written to their end, that follow something on their line (such as the zeros that a power cut leaves), or that
/// are not text are counted, and so are events that mean nothing. An event belongs to the run that its `run` names, without one to the
/// run that started last.
#[must_use]
pub fn read(text: &str) -> Log {
    let mut log = Log::default();
    let mut open = BTreeMap::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in (1..).zip(text.lines()) {
        let events = match found(line.trim()) {
            Ok(Found::Event(event)) => vec![event],
            Ok(Found::Other) => Vec::new(),
            Ok(Found::Torn(events)) => {
                log.torn += 1;
                events
            }
            Err(why) => {
                log.refuse(number, &why);
                Vec::new()
            }
        };
        for event in events {
            if let Err(why) = log.add(&mut open, event) {
                log.refuse(number, why);
            }
        }
    }
    log.runs.retain(|run| run.ended != Ended::Stopped);
    log
}

impl Log {
    fn refuse(&mut self, line: u64, why: &str) {
        self.refused += 1;
        if self.reasons.len() < REASONS {
            self.reasons.push(format!("line {line}: {why}"));
        }
    }

    /// Adds an event to its run. `open` has the run of each name that starts gave.
    fn add(&mut self, open: &mut BTreeMap<Option<String>, usize>, event: Event) -> Result<(), &'static str> {
        if let Line::Start { program, threads, chain } = event.line {
            if program.is_empty() || program.chars().any(char::is_control) {
                return Err("the name of its program is empty, or has characters that cannot be printed");
            }
            if !THREADS.contains(&threads) {
                return Err("a block has 1 to 1024 threads");
            }
            open.insert(event.run, self.runs.len());
            self.runs.push(Run { program, threads, chain, ..Run::default() });
            return Ok(());
        }
        let run = match &event.run {
            None => self.runs.last_mut(),
            Some(_) => open.get(&event.run).map(|&index| &mut self.runs[index]),
        };
        run.ok_or("an event before any start of its run")?.add(event.line)
    }
}

impl Run {
    fn add(&mut self, line: Line) -> Result<(), &'static str> {
        let after = matches!(line, Line::BeforeKernel) && self.started || self.ended == Ended::Completed;
        if after {
            return Err(
                "an event that its run has had, or after its end: runs that are mixed in one log need a `run` in each event",
            );
        }
        match line {
            Line::BeforeKernel => self.started = true,
            Line::AfterKernel => self.finished = true,
            Line::Mismatch(mismatch) if mismatch.values.len() != mismatch.computed.len() => {
                return Err("as many values as were computed are needed");
            }
            Line::Mismatch(mismatch) if mismatch.thread >= self.threads => {
                return Err("the blocks of its run have no such thread");
            }
            Line::Mismatch(mismatch) => self.mismatches.push(mismatch),
            Line::CudaError { name } => self.ended = Ended::Failed(name),
            // A process that stays behind after its error is stopped by the watchdog.
            Line::Hang { .. } | Line::Crash | Line::Stopped | Line::End { .. }
                if matches!(self.ended, Ended::Failed(_)) => {}
            Line::Stopped if matches!(self.ended, Ended::Hang | Ended::Crash) => {}
            Line::Hang { silent } => {
                let seconds = silent.and_then(|it| it.as_f64());
                self.heartbeat.silent = seconds.filter(|it| (0.0..MOST_SILENT).contains(it));
                self.ended = Ended::Hang;
            }
            Line::Crash => self.ended = Ended::Crash,
            Line::Stopped if self.mismatches.is_empty() => self.ended = Ended::Stopped,
            Line::Stopped => self.ended = Ended::Completed,
            Line::End { mismatches } => {
                self.unrecorded = mismatches.unwrap_or(0).saturating_sub(self.mismatches.len() as u64);
                self.ended = Ended::Completed;
            }
            Line::Alive { finished_blocks } => {
                self.heartbeat.beats += 1;
                let blocks = finished_blocks.and_then(|it| it.as_u64()).filter(|&it| it <= MOST_BLOCKS);
                self.heartbeat.finished_blocks = blocks.or(self.heartbeat.finished_blocks);
            }
            Line::Start { .. } => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_begin_with_a_start_and_end_as_they_say() {
        let start = r#"{"event":"start","program":"iadd","rounds":64,"blocks":4,"threads":64,"chain":41}"#;
        let log = format!(
            "{start}\n{{\"event\":\"before_kernel\"}}\n{{\"event\":\"alive\",\"finished_blocks\":3}}\n{{\"event\":\"mismatch\",\"block\":1,\"thread\":5,\"round\":0,\"values\":[\"0x0d\"],\
             \"computed\":[\"0x05\"]}}\n{{\"event\":\"after_kernel\"}}\n{{\"event\":\"end\",\"mismatches\":1}}\nnoise\n{start}\n\
             {{\"event\":\"before_kernel\"}}\n{{\"event\":\"cuda_error\",\"code\":700,\"name\":\"cudaErrorIllegalAddress\"}}\n{start}\n{start}\n\
             {{\"event\":\"alive\",\"finished_blocks\":\"3\"}}\n{{\"event\":\"hang\",\"silent\":7.5}}\n"
        );
        let Log { runs: found, torn, refused, .. } = read(&log);
        assert_eq!((refused, torn, found[0].chain, found[0].unrecorded), (0, 0, Some(41), 0));
        let ended: Vec<&Ended> = found.iter().map(|run| &run.ended).collect();
        assert_eq!(
            ended,
            [&Ended::Completed, &Ended::Failed("cudaErrorIllegalAddress".into()), &Ended::Cut, &Ended::Hang]
        );
        assert_eq!(found[0].mismatches, [Mismatch { block: 1, thread: 5, values: vec![13], computed: vec![5] }]);
        assert_eq!(found[0].heartbeat, Heartbeat { beats: 1, finished_blocks: Some(3), silent: None });
        assert_eq!(found[3].heartbeat, Heartbeat { beats: 1, silent: Some(7.5), finished_blocks: None });
        assert_eq!((found[0].threads, found[1].started, found[2].started), (64, true, false));
    }

    #[test]
    fn a_run_that_the_user_stopped_is_none_unless_it_saw_something() {
        let start = r#"{"event":"start","program":"iadd","threads":64,"run":"a"}"#;
        let mismatch = r#"{"event":"mismatch","block":0,"thread":1,"values":["0x1"],"computed":["0x3"],"run":"a"}"#;
        let stopped = r#"{"event":"stopped","run":"a"}"#;
        assert_eq!(read(&format!("{start}\n{stopped}\n")).runs, []);
        for (event, ended) in [("hang", Ended::Hang), ("crash", Ended::Crash)] {
            let before = format!("{{\"event\":\"{event}\",\"run\":\"a\"}}");
            assert_eq!(read(&format!("{start}\n{before}\n{stopped}\n")).runs[0].ended, ended);
        }
        let seen = read(&format!("{start}\n{mismatch}\n{stopped}\n")).runs;
        assert_eq!((seen.len(), &seen[0].ended), (1, &Ended::Completed));
        let failed = r#"{"event":"cuda_error","name":"cudaErrorLaunchFailure","run":"a"}"#;
        let seen = read(&format!("{start}\n{failed}\n{stopped}\n")).runs;
        assert_eq!(seen[0].ended, Ended::Failed("cudaErrorLaunchFailure".into()));
    }

    #[test]
    fn events_that_mean_nothing_cost_themselves_alone() {
        let start = r#"{"event":"start","program":"iadd","threads":64}"#;
        let mismatch = |thread: u32, values: &str| {
            format!(r#"{{"event":"mismatch","block":0,"thread":{thread},"values":[{values}],"computed":["0x1"]}}"#)
        };
        for (line, reason) in [
            (r#"{"event":"birth"}"#, "line 2: unknown variant `birth`"),
            (r#"{"event":"end","mismatches":-1}"#, "line 2: invalid value: integer `-1`"),
            (r#"{"event":"hang","run":7}"#, "line 2: its `run` is no text"),
            (r#"{"event":"hang","run":"7"}"#, "line 2: an event before any start"),
            (r#"{"event":"start","program":"iadd","threads":0}"#, "line 2: a block has 1 to 1024 threads"),
            (r#"{"event":"start","program":"i\u001b[2Jadd","threads":64}"#, "line 2: the name of its program"),
            (&mismatch(5, r#""13""#), "line 2: `13`"),
            (&mismatch(5, ""), "line 2: as many values"),
            (&mismatch(99, r#""0x3""#), "line 2: the blocks of its run have no such thread"),
        ] {
            let log = read(&format!("{start}\n{line}\n{{\"event\":\"end\",\"mismatches\":0}}\n"));
            assert_eq!((log.refused, log.runs.len(), &log.runs[0].ended), (1, 1, &Ended::Completed), "{line}");
            assert!(log.reasons[0].starts_with(reason), "{:?}", log.reasons);
        }
        assert_eq!(read(r#"{"event":"end"}"#).reasons, ["line 1: an event before any start of its run"]);
    }

    #[test]
    fn runs_that_are_mixed_in_a_log_are_told_apart_by_their_names() {
        let line = |run: &str, event: &str| format!("{{\"event\":\"{event}\",\"run\":\"{run}\"}}\n");
        let start =
            |run: &str| format!("{{\"event\":\"start\",\"program\":\"iadd\",\"threads\":64,\"run\":\"{run}\"}}\n");
        let (before, after, end) = ("before_kernel", "after_kernel", "end");
        let mixed = [start("a"), line("a", before), start("b"), line("a", after), line("b", before), line("b", "hang")];
        let log = read(&[mixed.concat(), line("a", end), start("a"), line("a", end)].concat());
        let ended: Vec<_> = log.runs.iter().map(|run| (run.started, run.finished, run.ended.clone())).collect();
        let expected = [(true, true, Ended::Completed), (true, false, Ended::Hang), (false, false, Ended::Completed)];
        assert_eq!((ended, log.refused), (expected.to_vec(), 0));

        let unnamed = mixed.concat().replace(",\"run\":\"a\"", "").replace(",\"run\":\"b\"", "");
        let end = "{\"event\":\"end\"}\n";
        let log = read(&[&unnamed, end, end].concat());
        assert!(log.reasons[0].contains("need a `run` in each event"), "{:?}", log.reasons);
    }

    #[test]
    fn lines_that_a_power_cut_tore_are_counted_and_what_is_anothers_passed_over() {
        let start = r#"{"event":"start","program":"iadd","threads":64}"#;
        let log = format!(
            "{start}\n{{\"a\":1}}\n{{\"event\":\"before_kernel\"}}\n{{\"event\":\"misma{start}\n{{\"event\":\"end\",\"mismatches\":7}}\n\
             {start}\n{{\"event\":\"before_ker"
        );
        let found = read(&log);
        let of = |run: &Run| (run.started, run.ended.clone(), run.unrecorded);
        assert_eq!(found.torn, 2);
        let expected = [(true, Ended::Cut, 0), (false, Ended::Completed, 7), (false, Ended::Cut, 0)];
        assert_eq!(found.runs.iter().map(of).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn events_behind_what_is_no_text_are_found() {
        let start = r#"{"event":"start","program":"iadd","threads":64}"#;
        let zeros = "\0".repeat(9);
        let log = format!(
            "\u{feff}{start}\n{{\"event\":\"before_kernel\"}}\n{zeros}{start}\n{{\"event\":\"before_kernel\"}}{{\"event\":\"hang\"}}\n\
             Booting … {start}\n{{\"event\":\"cuda_error\",\"name\":\"a\u{fffd}\"}}\nno {{ event\n\0\0\n\u{fffd}ok\n"
        );
        let found = read(&log);
        let ended: Vec<&Ended> = found.runs.iter().map(|run| &run.ended).collect();
        assert_eq!(ended, [&Ended::Cut, &Ended::Hang, &Ended::Cut]);
        assert_eq!((found.torn, found.runs[1].started), (6, true));
    }
}
