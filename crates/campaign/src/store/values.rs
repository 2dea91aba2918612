//! What the values of a row may be, and together. Who reads a row asks here, whether all of it or at a glance: a value that
//! no run can have is an error that names the column, the value and what could stand there.

use std::fmt::Display;
use std::str::FromStr;

use crate::config::{Config, Shard};
use outcome::{
    CLASSIFIER_VERSION, Class, Due, End, FirstUse, Host, Masked, Outcome, OutputDiff, ProgramPoint, RunFacts,
};

/// What is wrong with a value.
pub(super) fn wrong(column: &str, value: impl Display, allowed: impl Display) -> String {
    format!("`{column}` is `{value}`, which can be {allowed}")
}

/// A run that there is in a campaign and its shard: its position there.
pub(super) fn run(run: u64, config: &Config) -> Result<u64, String> {
    let (shard, planned) = (config.shard, config.planned());
    if let Some(position) = shard.position_of(run).filter(|_| run < planned) {
        return Ok(position);
    }
    let of_shard = if shard == Shard::WHOLE { String::new() } else { format!(", those of shard {shard}") };
    let last = planned.saturating_sub(1);
    Err(wrong("run", run, format_args!("0 to {last}{of_shard}: the campaign has {planned} runs")))
}

/// The version of the function that derived an outcome.
pub(super) fn classifier(version: u32) -> Result<u32, String> {
    if (1..=CLASSIFIER_VERSION).contains(&version) {
        return Ok(version);
    }
    Err(wrong("classifier", version, format_args!("1 to {CLASSIFIER_VERSION}")))
}

/// The most threads that one fault hits: those that execute an instruction together.
const MOST_THREADS: u32 = 32;

/// How many threads were hit.
pub(super) fn threads(threads: u32) -> Result<u32, String> {
    if (1..=MOST_THREADS).contains(&threads) {
        return Ok(threads);
    }
    Err(wrong("landed_threads", threads, format_args!("1 to {MOST_THREADS}")))
}

/// Yes or no.
pub(super) fn truth(column: &str, value: u64) -> Result<bool, String> {
    match value {
        0 | 1 => Ok(value == 1),
        _ => Err(wrong(column, value, "0 or 1")),
    }
}

/// What says where a run ended is not there if none says in which kernel.
pub(super) fn nowhere(column: &str, value: Option<i64>) -> Result<(), String> {
    value.map_or(Ok(()), |value| Err(wrong(column, value, "NULL where `ended_kernel` is NULL")))
}

/// Seconds that something took.
pub(super) fn seconds(column: &str, seconds: f64) -> Result<f64, String> {
    if seconds.is_finite() && seconds >= 0.0 {
        return Ok(seconds);
    }
    Err(wrong(column, seconds, "a number that is not negative"))
}

/// A word of an enumeration.
pub(super) fn word<T: FromStr<Err = outcome::UnknownWord>>(column: &str, word: &str) -> Result<T, String> {
    word.parse().map_err(|error: T::Err| wrong(column, word, error.known.join(", ")))
}

/// The outcome that class and kind name; none of a run that failed.
pub(super) fn outcome(class: Class, kind: Option<&str>) -> Result<Option<Outcome>, String> {
    let found = Outcome::from_words(class, kind);
    if found.is_some() || (class, kind) == (Class::Failed, None) {
        return Ok(found);
    }
    let due = || Due::all().map(Due::word).collect::<Vec<_>>().join(", ");
    let allowed = match class {
        Class::Masked => Masked::ALL.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(", "),
        Class::Sdc => "unjudged, good, bad, detectable, or maybe_ and the number of a bin".to_owned(),
        Class::Due => due(),
        Class::Undecided | Class::NotLanded | Class::Failed => "NULL".to_owned(),
    };
    Err(wrong("kind", kind.unwrap_or("NULL"), format_args!("{allowed} where `outcome` is `{class}`")))
}

/// What first happened to the hit value.
pub(super) fn first_use(word: &str, after: Option<u64>) -> Result<FirstUse, String> {
    match (word, after) {
        ("read", Some(after)) => Ok(FirstUse::Read { after }),
        ("overwritten", Some(after)) => Ok(FirstUse::Overwritten { after }),
        ("never", None) => Ok(FirstUse::Never),
        ("never", Some(after)) => Err(wrong("first_use_after", after, "NULL where `first_use` is `never`")),
        ("read" | "overwritten", None) => {
            Err(wrong("first_use_after", "NULL", format_args!("a number where `first_use` is `{word}`")))
        }
        _ => Err(wrong("first_use", word, "read, overwritten, never")),
    }
}

/// What a hang ended by whose loop would have come to its end, long after anybody waits.
pub(super) const LONG_LOOP: &str = "long_loop";

/// How a run ended: the word, and what goes with some words: by what, where, and at which address.
pub(super) fn end(word: &str, by: Option<&str>, at: Option<ProgramPoint>, address: Option<u64>) -> Result<End, String> {
    let number = |text: &str| {
        text.parse().map_err(|_| wrong("ended_by", text, format_args!("a number where `ended` is `{word}`")))
    };
    match (word, by, at, address) {
        ("completed", None, None, None) => Ok(End::Completed),
        ("trapped", Some(by), Some(at), address) => Ok(End::Trapped { trap: self::word("ended_by", by)?, at, address }),
        ("hang", None, Some(at), None) => Ok(End::Hang { at, endless: true }),
        ("hang", Some(LONG_LOOP), Some(at), None) => Ok(End::Hang { at, endless: false }),
        ("out_of_fuel", None, Some(at), None) => Ok(End::OutOfFuel { at }),
        ("detected", Some(by), None, None) => Ok(End::Detected { by: by.to_owned() }),
        ("exited", Some(code), None, None) => Ok(End::Exited { code: number(code)? }),
        ("signalled", Some(signal), None, None) => Ok(End::Signalled { signal: number(signal)? }),
        ("timed_out", None, None, None) => Ok(End::TimedOut),
        ("completed" | "trapped" | "hang" | "out_of_fuel" | "detected" | "exited" | "signalled" | "timed_out", ..) => {
            let needed = match word {
                "trapped" => "`ended_by`, `ended_kernel`, `ended_pc` and `ended_after`",
                "hang" => "`ended_kernel`, `ended_pc` and `ended_after`, and in `ended_by` nothing or `long_loop`",
                "out_of_fuel" => "`ended_kernel`, `ended_pc` and `ended_after` and no `ended_by`",
                "detected" | "exited" | "signalled" => "`ended_by` and no `ended_kernel`",
                _ => "neither `ended_by` nor `ended_kernel`",
            };
            Err(format!("`ended` is `{word}`, with which a row has {needed}"))
        }
        _ => {
            let words = "completed, trapped, hang, out_of_fuel, detected, exited, signalled, timed_out";
            Err(wrong("ended", word, words))
        }
    }
}

/// An address.
pub(super) fn address(text: &str) -> Result<u64, String> {
    let address = outcome::hex::parse(text).and_then(|address| u64::try_from(address).ok());
    address.ok_or_else(|| wrong("ended_address", text, "an address such as 0x1f"))
}

/// The comparisons of the outputs.
pub(super) fn outputs(text: &str) -> Result<Vec<OutputDiff>, String> {
    json("outputs", text, "a list of comparisons as JSON")
}

/// What the application did.
pub(super) fn host(text: &str) -> Result<Host, String> {
    json("host", text, "what an application left, as JSON")
}

fn json<T: serde::de::DeserializeOwned>(column: &str, text: &str, allowed: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| wrong(column, shortened(text), format_args!("{allowed} ({error})")))
}

/// The beginning of a text that may be long.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST { text.to_owned() } else { text.chars().take(MOST).chain("…".chars()).collect() }
}

/// Whether a row's outcome can be that of what was seen, if the present classifier gave it.
pub(super) fn agree(outcome: Outcome, classifier: u32, facts: &RunFacts<'_>) -> Result<(), String> {
    if classifier != CLASSIFIER_VERSION || facts.allow(outcome) {
        return Ok(());
    }
    let kind = outcome.kind().map_or_else(String::new, |kind| format!(" with kind `{kind}`"));
    let RunFacts { landed, first_use, end, differs, live, .. } = facts;
    let said = [
        if *landed { "landed" } else { "did not land" },
        match first_use {
            FirstUse::Read { .. } => "was read first",
            FirstUse::Overwritten { .. } => "was overwritten first",
            FirstUse::Never => "was never used",
        },
        match end {
            End::Completed => "came to its end",
            End::Trapped { .. } => "trapped",
            End::Hang { .. } | End::TimedOut => "hung",
            End::OutOfFuel { .. } => "was out of fuel",
            End::Detected { .. } | End::Exited { .. } => "was detected",
            End::Signalled { .. } => "was ended by a signal",
        },
        if *differs { "left other outputs" } else { "left no other outputs" },
        if *live { "ran live" } else { "did not run live" },
    ];
    Err(format!("`outcome` is `{}`{kind}, which no run has that {}", outcome.class(), said.join(", ")))
}
