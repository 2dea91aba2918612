//! What a microbenchmark logs, line by line: runs, each with what it came to.

use serde::Deserialize;

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
    AfterKernel,
    Mismatch(Mismatch),
    CudaError {
        name: String,
    },
    /// Whoever watches the program ended it, because it took too long.
    Hang,
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
    /// The log ends: nothing is known.
    #[default]
    Cut,
}

/// A run of a microbenchmark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// How it ended.
    pub ended: Ended,
}

/// Values written as `"0x0000000d"`.
fn words<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let word = |text: &String| text.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let wrong = |text: &String| serde::de::Error::custom(format!("`{text}` is no value such as 0x0000000d"));
    texts.iter().map(|text| word(text).ok_or_else(|| wrong(text))).collect()
}

/// What a log says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The runs, in order.
    pub runs: Vec<Run>,
    /// Lines that were not written to their end.
    pub torn: u64,
}

/// How an event begins.
const EVENT: &str = "{\"event\"";

/// What stands for bytes that are no text.
const NO_TEXT: char = '\u{fffd}';

/// What a line is.
enum Found {
    Event(Line),
    /// It was not written to its end, or has something before it; whole events may stand in what is left of it.
    Torn(Vec<Line>),
    /// Another program's.
    Other,
}

fn found(line: &str) -> Result<Found, String> {
    let starts = line.starts_with('{');
    if !starts && !line.contains(EVENT) {
        return Ok(Found::Other);
    }
    match serde_json::from_str::<serde_json::Value>(line) {
        Ok(value) if !line.contains(NO_TEXT) => match value.get("event") {
            None => Ok(Found::Other),
            Some(_) => serde_json::from_value(value).map(Found::Event).map_err(|error| error.to_string()),
        },
        _ => Ok(Found::Torn(line.match_indices(EVENT).filter_map(|(at, _)| whole(&line[at..])).collect())),
    }
}

/// The event at the beginning of a text, if it was written to its end.
fn whole(text: &str) -> Option<Line> {
    let mut events = serde_json::Deserializer::from_str(text).into_iter::<Line>();
    let event = events.next()?.ok()?;
    (!text[..events.byte_offset()].contains(NO_TEXT)).then_some(event)
}

/// Reads a log. Lines that are no JSON objects, and objects without an event, are other programs' and passed over; those
/// that were not written to their end, or that follow something on their line (such as the zeros that a power cut leaves),
/// are counted.
///
/// # Errors
/// With the number of the line, if one is an event that means nothing, or belongs to no run.
pub fn read(text: &str) -> Result<Log, String> {
    let Log { mut runs, mut torn } = Log::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in (1..).zip(text.lines()) {
        let here = |error: String| format!("line {number}: {error}");
        match found(line.trim()).map_err(here)? {
            Found::Event(event) => heard(&mut runs, event).map_err(here)?,
            Found::Other => {}
            Found::Torn(events) => {
                torn += 1;
                events.into_iter().try_for_each(|event| heard(&mut runs, event)).map_err(here)?;
            }
        }
    }
    Ok(Log { runs, torn })
}

/// Adds an event to its run.
fn heard(runs: &mut Vec<Run>, event: Line) -> Result<(), String> {
    if let Line::Start { program, threads, chain } = event {
        if program.is_empty() || program.chars().any(char::is_control) {
            return Err("the name of its program is empty, or has characters that cannot be printed".to_owned());
        }
        runs.push(Run { program, threads, chain, ..Run::default() });
        return Ok(());
    }
    let run = runs.last_mut().ok_or("an event before any start")?;
    match event {
        Line::BeforeKernel => run.started = true,
        Line::AfterKernel => run.finished = true,
        Line::Mismatch(mismatch) if mismatch.values.len() != mismatch.computed.len() => {
            return Err("as many values as were computed are needed".to_owned());
        }
        Line::Mismatch(mismatch) => run.mismatches.push(mismatch),
        Line::CudaError { name } => run.ended = Ended::Failed(name),
        Line::Hang => run.ended = Ended::Hang,
        Line::End { mismatches } => {
            run.unrecorded = mismatches.unwrap_or(0).saturating_sub(run.mismatches.len() as u64);
            run.ended = Ended::Completed;
        }
        Line::Start { .. } => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_begin_with_a_start_and_end_as_they_say() {
        let start = r#"{"event":"start","program":"iadd","rounds":64,"blocks":4,"threads":64,"chain":41}"#;
        let log = format!(
            "{start}\n{{\"event\":\"before_kernel\"}}\n{{\"event\":\"mismatch\",\"block\":1,\"thread\":5,\"round\":0,\"values\":[\"0x0d\"],\
             \"computed\":[\"0x05\"]}}\n{{\"event\":\"after_kernel\"}}\n{{\"event\":\"end\",\"mismatches\":1}}\nnoise\n{start}\n\
             {{\"event\":\"before_kernel\"}}\n{{\"event\":\"cuda_error\",\"code\":700,\"name\":\"cudaErrorIllegalAddress\"}}\n{start}\n{start}\n\
             {{\"event\":\"hang\"}}\n"
        );
        let Log { runs: found, torn } = read(&log).unwrap();
        assert_eq!((torn, found[0].chain, found[0].unrecorded), (0, Some(41), 0));
        let ended: Vec<&Ended> = found.iter().map(|run| &run.ended).collect();
        assert_eq!(
            ended,
            [&Ended::Completed, &Ended::Failed("cudaErrorIllegalAddress".into()), &Ended::Cut, &Ended::Hang]
        );
        assert_eq!(found[0].mismatches, [Mismatch { block: 1, thread: 5, values: vec![13], computed: vec![5] }]);
        assert_eq!((found[0].threads, found[1].started, found[2].started), (64, true, false));
        for (log, part) in [
            ("{\"event\":\"end\"}", "line 1: an event before any start"),
            ("{\"event\":\"birth\"}", "line 1: unknown variant `birth`"),
            (
                &format!(
                    "{start}\n{{\"event\":\"mismatch\",\"block\":0,\"thread\":0,\"values\":[\"13\"],\"computed\":[]}}"
                ),
                "line 2: `13`",
            ),
            (
                &format!(
                    "{start}\n{{\"event\":\"mismatch\",\"block\":0,\"thread\":0,\"values\":[\"0x1\"],\"computed\":[]}}"
                ),
                "as many values",
            ),
        ] {
            let error = read(log).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn lines_that_a_power_cut_tore_are_counted_and_what_is_anothers_passed_over() {
        let start = r#"{"event":"start","program":"iadd","threads":64}"#;
        let log = format!(
            "{start}\n{{\"a\":1}}\n{{\"event\":\"before_kernel\"}}\n{{\"event\":\"misma{start}\n{{\"event\":\"end\",\"mismatches\":7}}\n\
             {start}\n{{\"event\":\"before_ker"
        );
        let found = read(&log).unwrap();
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
             Booting … {start}\n{{\"event\":\"cuda_error\",\"name\":\"a\u{fffd}\"}}\nno {{ event\n"
        );
        let found = read(&log).unwrap();
        let ended: Vec<&Ended> = found.runs.iter().map(|run| &run.ended).collect();
        assert_eq!(ended, [&Ended::Cut, &Ended::Hang, &Ended::Cut]);
        assert_eq!((found.torn, found.runs[1].started), (4, true));
        let strange = r#"{"event":"start","program":"i\u001b[2Jadd","threads":64}"#;
        assert!(read(strange).unwrap_err().contains("cannot be printed"));
    }
}
