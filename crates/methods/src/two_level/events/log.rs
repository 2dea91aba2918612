//! What a microbenchmark logs, line by line: runs, each with what it came to.

use serde::Deserialize;

/// A line of a log.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line {
    Start {
        program: String,
        threads: u32,
    },
    BeforeKernel,
    AfterKernel,
    Mismatch(Mismatch),
    CudaError {
        name: String,
    },
    /// Whoever watches the program ended it, because it took too long.
    Hang,
    End,
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
    /// What was recorded.
    pub mismatches: Vec<Mismatch>,
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

/// The runs of a log; lines that are no JSON objects are other programs' and passed over.
///
/// # Errors
/// With the number of the line, if one is an event that means nothing, or belongs to no run.
pub fn runs(text: &str) -> Result<Vec<Run>, String> {
    let mut runs: Vec<Run> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| line.trim_start().starts_with('{')) {
        let line: Line = serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
        if let Line::Start { program, threads } = line {
            runs.push(Run { program, threads, ..Run::default() });
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
            Line::End | Line::Start { .. } => run.ended = Ended::Completed,
        }
    }
    Ok(runs)
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
        let found = runs(&log).unwrap();
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
            let error = runs(log).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
