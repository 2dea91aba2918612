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

/// What a line is.
enum Found {
    Event(Line),
    /// It was not written to its end; another event may stand behind what is left of it.
    Torn(Option<Line>),
    /// Another program's.
    Other,
}

fn found(line: &str) -> Result<Found, String> {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else {
        let starts = line.match_indices("{\"event\"").skip(1);
        let whole = starts.filter_map(|(at, _)| serde_json::from_str(&line[at..]).ok()).last();
        return Ok(Found::Torn(whole));
    };
    if value.get("event").is_none() {
        return Ok(Found::Other);
    }
    serde_json::from_value(value).map(Found::Event).map_err(|error| error.to_string())
}

/// Reads a log. Lines that are no JSON objects, and objects without an event, are other programs' and passed over; so are
/// those that were not written to their end, which are counted.
///
/// # Errors
/// With the number of the line, if one is an event that means nothing, or belongs to no run.
pub fn read(text: &str) -> Result<Log, String> {
    let Log { mut runs, mut torn } = Log::default();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| line.trim_start().starts_with('{')) {
        let line = match found(line).map_err(|error| format!("line {number}: {error}"))? {
            Found::Event(line) => line,
            Found::Other => continue,
            Found::Torn(rest) => {
                torn += 1;
                match rest {
                    Some(line) => line,
                    None => continue,
                }
            }
        };
        if let Line::Start { program, threads, chain } = line {
            runs.push(Run { program, threads, chain, ..Run::default() });
            continue;
        }
        let run = runs.last_mut().ok_or_else(|| format!("line {number}: an event before any start"))?;
        match line {
            Line::BeforeKernel => run.started = true,
            Line::AfterKernel => run.finished = true,
            Line::Mismatch(mismatch) if mismatch.values.len() != mismatch.computed.len() => {
                return Err(format!("line {number}: as many values as were computed are needed"));
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
    }
    Ok(Log { runs, torn })
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
}
