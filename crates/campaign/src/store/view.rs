//! A row at a glance: the columns that summaries and reports look at, borrowed from the file, each value checked.
//!
//! What is looked at is what a report says, and what has to agree with it: the outcome with how the run ended and with
//! what differs.

use rusqlite::types::ValueRef;

use super::values::{self, wrong};
use crate::site::LabelColumn;
use outcome::{Class, End, FirstUse, Outcome, OutputDiff, ProgramPoint, RunFacts, Tier, hex};

/// A row at a glance: what reports count, borrowed from the file for as long as the row is looked at.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'a> {
    /// Which run.
    pub run: u64,
    /// The stratum that it was drawn from; 0 in a campaign without strata.
    pub stratum: u32,
    /// What it hit: an index into the spots of the scan.
    pub spot: usize,
    /// How many sites it stands for.
    pub weight: u64,
    /// The launch, if the target has a label `launch`.
    pub launch: Option<u32>,
    /// The dynamic instruction of the thread, if the target has a label `dynamic`.
    pub dynamic: Option<u64>,
    /// The bits or the value, as the fault's id writes them, if the target has a label `bits`.
    pub bits: Option<&'a str>,
    /// The class of what came of it.
    pub class: Class,
    /// Its kind, in a word; none of a fault that did not land or of a run that failed.
    pub kind: Option<&'a str>,
    /// Why the run failed.
    pub error: Option<&'a str>,
    /// What first happened to the hit value.
    pub first_use: Option<FirstUse>,
    /// Where the run ended, if not by itself.
    pub ended: Option<Ending<'a>>,
    /// The comparisons of the outputs; none of a run that did not complete.
    pub outputs: &'a [OutputDiff],
    /// Whether the host saw a difference before the end of a run that landed.
    pub(super) host_visible: bool,
    /// Why the run was given up.
    pub(super) given_up: Option<&'a str>,
    /// The path that it took.
    pub(super) tier: Option<Tier>,
}

/// Where a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ending<'a> {
    /// The kernel.
    pub kernel: &'a str,
    /// The static instruction.
    pub pc: u32,
    /// The source line, where known.
    pub line: Option<u32>,
    /// Thread instructions from the first use of the hit value to here.
    pub after: u64,
}

/// The columns that are looked at, in the order of the statement. The constants below are their places.
const LOOKED_AT: [&str; 36] = [
    "run",
    "kernel",
    "pc",
    "target",
    "instruction_group",
    "opcode",
    "file",
    "line",
    "weight",
    "fault",
    "given_up",
    "launch",
    "dynamic",
    "bits",
    "outcome",
    "kind",
    "classifier",
    "error",
    "landed_before",
    "landed_after",
    "landed_threads",
    "first_use",
    "first_use_after",
    "ended",
    "ended_by",
    "ended_kernel",
    "ended_pc",
    "ended_line",
    "ended_after",
    "ended_address",
    "outputs",
    "host_visible",
    "tier",
    "host",
    "strayed",
    "instructions",
];
pub(super) const RUN: usize = 0;
pub(super) const KERNEL: usize = 1;
pub(super) const LINE: usize = 7;
pub(super) const WEIGHT: usize = 8;
pub(super) const FAULT: usize = 9;
pub(super) const GIVEN_UP: usize = 10;
const LAUNCH: usize = 11;
const OUTCOME: usize = 14;
const LANDED: usize = 18;
const FIRST_USE: usize = 21;
const ENDED: usize = 23;
const OUTPUTS: usize = 30;
const STRAYED: usize = 34;

/// The statement: of the labels that a target may have, those that it does not have are null.
pub(super) fn sql(labels: &[LabelColumn]) -> String {
    let column = |(place, &name): (usize, &&'static str)| {
        let declared = !(LAUNCH..OUTCOME).contains(&place) || labels.iter().any(|label| label.name == name);
        if declared { name } else { "NULL" }
    };
    let others = places(labels).filter(|(_, place)| *place >= LOOKED_AT.len()).map(|(label, _)| &*label.name);
    let all: Vec<&str> = LOOKED_AT.iter().enumerate().map(column).chain(others).collect();
    format!("SELECT {} FROM run ORDER BY run", all.join(", "))
}

/// The labels, each with the place of its column: those that nothing looks at stand behind the others.
pub(super) fn places(labels: &[LabelColumn]) -> impl Iterator<Item = (&LabelColumn, usize)> {
    let mut behind = LOOKED_AT.len()..;
    labels.iter().map(move |label| {
        let known = (LAUNCH..OUTCOME).find(|&place| LOOKED_AT[place] == label.name);
        (label, known.or_else(|| behind.next()).unwrap_or(LAUNCH))
    })
}

/// Looks at rows; keeps of one row what the next may have, too.
#[derive(Default)]
pub(super) struct Glance {
    /// How many strata the runs take turns in; 0 if there are none.
    strata: u64,
    /// Comparisons in which nothing differs, which most rows share, and the last others, each with its text.
    alike: (String, Vec<OutputDiff>),
    differing: (String, Vec<OutputDiff>),
}

/// What was seen of a run that was made.
struct Seen<'a> {
    first_use: FirstUse,
    ended: Option<Ending<'a>>,
    host_visible: bool,
    tier: Tier,
}

impl Glance {
    /// At the rows of a campaign with so many strata.
    pub(super) fn new(strata: u64) -> Self {
        Self { strata, ..Self::default() }
    }

    /// A row of which the run and the spot are known.
    pub(super) fn row<'a>(&'a mut self, run: u64, spot: usize, columns: &Columns<'a>) -> Result<RowView<'a>, String> {
        let class: Class = values::word("outcome", columns.text(OUTCOME)?)?;
        let kind = columns.optional_text(OUTCOME + 1)?;
        let outcome = values::outcome(class, kind)?;
        let (given_up, error) = (columns.optional_text(GIVEN_UP)?, columns.optional_text(OUTCOME + 3)?);
        if columns.is_null(FAULT)? != given_up.is_some() {
            return Err("of `fault` and `given_up` a row has one".to_owned());
        }
        let seen = match (outcome, error, given_up) {
            (Some(outcome), None, None) => Some(self.seen(columns, outcome)?),
            (None, Some(_), None) | (Some(Outcome::NotLanded), None, Some(_)) => None,
            _ => return Err(format!("`outcome` is `{class}`, with which `error` and `given_up` do not agree")),
        };
        let stratum = run.checked_rem(self.strata).unwrap_or(0) as u32;
        let outputs = if seen.is_some() { self.outputs(columns)? } else { &[] };
        Ok(RowView {
            run,
            stratum,
            spot,
            weight: columns.number(WEIGHT)?,
            launch: columns.optional_small(LAUNCH)?,
            dynamic: columns.optional_number(LAUNCH + 1)?,
            bits: columns.optional_text(LAUNCH + 2)?,
            class,
            kind,
            error,
            given_up,
            first_use: seen.as_ref().map(|seen| seen.first_use),
            ended: seen.as_ref().and_then(|seen| seen.ended),
            outputs,
            host_visible: seen.as_ref().is_some_and(|seen| seen.host_visible),
            tier: seen.as_ref().map(|seen| seen.tier),
        })
    }

    /// What was seen, which the outcome has to agree with.
    fn seen<'a>(&mut self, columns: &Columns<'a>, outcome: Outcome) -> Result<Seen<'a>, String> {
        let classifier = values::classifier(columns.small(OUTCOME + 2)?)?;
        let landed = landed(columns)?;
        let first_use = values::first_use(columns.text(FIRST_USE)?, columns.optional_number(FIRST_USE + 1)?)?;
        let (end, ended) = end(columns)?;
        let differs = self.outputs(columns)?.iter().any(|output| output.differing > 0);
        let host = columns.optional_text(OUTPUTS + 3)?.map(values::host).transpose()?;
        let host_visible = landed && values::truth("host_visible", columns.number(OUTPUTS + 1)?)?;
        let facts = RunFacts { landed, first_use, end: &end, differs, live: host.is_some(), host_visible };
        values::agree(outcome, classifier, &facts)?;
        if ended.is_none() {
            for column in ENDED + 3..ENDED + 6 {
                values::nowhere(LOOKED_AT[column], columns.optional_signed(column)?)?;
            }
        }
        for column in [STRAYED, STRAYED + 1] {
            columns.number(column)?;
        }
        Ok(Seen { first_use, ended, host_visible, tier: values::word("tier", columns.text(OUTPUTS + 2)?)? })
    }

    fn outputs(&mut self, columns: &Columns<'_>) -> Result<&[OutputDiff], String> {
        let text = columns.text(OUTPUTS)?;
        if text == self.alike.0 {
            return Ok(&self.alike.1);
        }
        if text != self.differing.0 {
            let outputs = values::outputs(text)?;
            let differ = outputs.iter().any(|output| output.differing > 0);
            let kept = if differ { &mut self.differing } else { &mut self.alike };
            kept.0.clear();
            kept.0.push_str(text);
            kept.1 = outputs;
            return Ok(&kept.1);
        }
        Ok(&self.differing.1)
    }
}

/// Whether a value was hit.
fn landed(columns: &Columns<'_>) -> Result<bool, String> {
    let given = |column| match columns.optional_text(column)? {
        Some(text) if !hex::is_value(text) => Err(wrong(LOOKED_AT[column], text, "a value such as 0x1f")),
        text => Ok(text.is_some()),
    };
    let all = [
        given(LANDED)?,
        given(LANDED + 1)?,
        columns.optional_small(LANDED + 2)?.map(values::threads).transpose()?.is_some(),
    ];
    match all {
        [true, true, true] => Ok(true),
        [false, false, false] => Ok(false),
        _ => Err("of `landed_before`, `landed_after` and `landed_threads` some are missing".to_owned()),
    }
}

/// How a run ended, and where, if not by itself.
fn end<'a>(columns: &Columns<'a>) -> Result<(End, Option<Ending<'a>>), String> {
    let (word, by) = (columns.text(ENDED)?, columns.optional_text(ENDED + 1)?);
    let address = columns.optional_text(ENDED + 6)?.map(values::address).transpose()?;
    let ended = match columns.optional_text(ENDED + 2)? {
        Some(kernel) => Some(Ending {
            kernel,
            pc: columns.small(ENDED + 3)?,
            line: columns.optional_small(ENDED + 4)?,
            after: columns.number(ENDED + 5)?,
        }),
        None => None,
    };
    let at =
        ended.map(|Ending { kernel, pc, line, after }| ProgramPoint { kernel: kernel.to_owned(), pc, line, after });
    Ok((values::end(word, by, at, address)?, ended))
}

/// The values of a row by place; every one is checked, since the file may have been edited.
pub(super) struct Columns<'a>(pub(super) &'a rusqlite::Row<'a>);

impl<'a> Columns<'a> {
    pub(super) fn value(&self, column: usize) -> Result<ValueRef<'a>, String> {
        self.0.get_ref(column).map_err(|error| error.to_string())
    }

    fn is_null(&self, column: usize) -> Result<bool, String> {
        Ok(matches!(self.value(column)?, ValueRef::Null))
    }

    pub(super) fn optional_text(&self, column: usize) -> Result<Option<&'a str>, String> {
        self.value(column)?.as_str_or_null().map_err(|error| format!("`{}`: {error}", LOOKED_AT[column]))
    }

    pub(super) fn text(&self, column: usize) -> Result<&'a str, String> {
        self.optional_text(column)?.ok_or_else(|| format!("`{}` is missing", LOOKED_AT[column]))
    }

    fn optional_signed(&self, column: usize) -> Result<Option<i64>, String> {
        self.value(column)?.as_i64_or_null().map_err(|error| format!("`{}`: {error}", LOOKED_AT[column]))
    }

    pub(super) fn optional_number(&self, column: usize) -> Result<Option<u64>, String> {
        let value = self.optional_signed(column)?;
        let fit = |value: i64| {
            u64::try_from(value).map_err(|_| wrong(LOOKED_AT[column], value, "a number that is not negative"))
        };
        value.map(fit).transpose()
    }

    pub(super) fn number(&self, column: usize) -> Result<u64, String> {
        self.optional_number(column)?.ok_or_else(|| format!("`{}` is missing", LOOKED_AT[column]))
    }

    pub(super) fn optional_small(&self, column: usize) -> Result<Option<u32>, String> {
        let fit = |value: u64| {
            u32::try_from(value).map_err(|_| wrong(LOOKED_AT[column], value, "a number below 4 294 967 296"))
        };
        self.optional_number(column)?.map(fit).transpose()
    }

    pub(super) fn small(&self, column: usize) -> Result<u32, String> {
        self.optional_small(column)?.ok_or_else(|| format!("`{}` is missing", LOOKED_AT[column]))
    }
}
