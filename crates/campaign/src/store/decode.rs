//! From the values of its columns back to a row. The file may have been edited: every value is checked.

use rusqlite::types::FromSql;

use super::row::{Finding, Row};
use super::values;
use crate::failure::RunFailure;
use crate::site::{Intent, Label, LabelColumn, LabelKind, Labels, RunIndex, Site, Spot};
use outcome::{Class, End, FirstUse, Landed, Observation, Outcome, ProgramPoint, RunFacts, hex};

/// Reads a row back from its columns, or says what is wrong with it.
pub(crate) fn decode(columns: &rusqlite::Row<'_>, labels: &[LabelColumn]) -> Result<Row, String> {
    let mut values = Decoder { columns, next: 0, nowhere: Ok(()) };
    let run = RunIndex(values.number()?);
    let site = decode_site(&mut values, labels)?;
    let class: Class = values.word()?;
    let kind: Option<String> = values.value()?;
    let classifier: Option<u32> = values.optional_number()?;
    let error: Option<String> = values.value()?;
    let outcome = values::outcome(class, kind.as_deref())?;
    let finding = match (error, site.given_up(), outcome) {
        (Some(error), _, None) => Finding::Failed(RunFailure::new(error)),
        (None, Some(_), Some(Outcome::NotLanded)) => Finding::GivenUp,
        (None, None, Some(outcome)) => {
            let observation = decode_observation(&mut values)?;
            let classifier = classifier.ok_or("`classifier` is missing")?;
            values::agree(outcome, values::classifier(classifier)?, &facts(&observation))?;
            values.nowhere?;
            Finding::Seen { observation, outcome, classifier }
        }
        _ => return Err(format!("`outcome` is `{class}`, with which `error` and `given_up` do not agree")),
    };
    Ok(Row { run, site, finding })
}

fn facts(seen: &Observation) -> RunFacts<'_> {
    RunFacts {
        landed: seen.landed.is_some(),
        first_use: seen.first_use,
        end: &seen.end,
        differs: seen.outputs.iter().any(|output| output.differing > 0),
        live: seen.host.is_some(),
        host_visible: seen.host_visible,
    }
}

fn decode_site(values: &mut Decoder<'_>, labels: &[LabelColumn]) -> Result<Site, String> {
    let intent = match (values.value()?, values.value()?) {
        (Some(id), None) => Intent::Fault(id),
        (None, Some(reason)) => Intent::GivenUp(reason),
        _ => return Err("of `fault` and `given_up` a row has one".to_owned()),
    };
    let weight = values.number()?;
    let spot = Spot {
        kernel: values.value()?,
        pc: values.number()?,
        target: values.value()?,
        group: values.value()?,
        opcode: values.value()?,
        file: values.value()?,
        line: values.optional_number()?,
    };
    let labels = labels.iter().map(|label| decode_label(values, label.kind)).collect::<Result<_, _>>()?;
    Ok(Site { intent, spot, labels: Labels::new(labels), weight, stratum: None })
}

fn decode_label(values: &mut Decoder<'_>, kind: LabelKind) -> Result<Label, String> {
    Ok(match kind {
        LabelKind::Number => values.optional_number()?.map_or(Label::None, Label::Number),
        LabelKind::Text => values.value::<Option<String>>()?.map_or(Label::None, Label::Text),
    })
}

fn decode_observation(values: &mut Decoder<'_>) -> Result<Observation, String> {
    let landed = match (values.hex()?, values.hex()?, values.optional_number()?) {
        (Some(before), Some(after), Some(threads)) => {
            Some(Landed { before, after, threads: values::threads(threads)? })
        }
        (None, None, None) => None,
        _ => return Err("of `landed_before`, `landed_after` and `landed_threads` some are missing".to_owned()),
    };
    Ok(Observation {
        landed,
        first_use: decode_first_use(values)?,
        end: decode_end(values)?,
        outputs: values::outputs(&values.value::<String>()?)?,
        host_visible: values::truth("host_visible", values.number()?)?,
        strayed: values.number()?,
        instructions: values.number()?,
        tier: values.word()?,
        host: values.value::<Option<String>>()?.as_deref().map(values::host).transpose()?,
    })
}

fn decode_first_use(values: &mut Decoder<'_>) -> Result<FirstUse, String> {
    let word: String = values.value()?;
    values::first_use(&word, values.optional_number()?)
}

fn decode_end(values: &mut Decoder<'_>) -> Result<End, String> {
    let word: String = values.value()?;
    let by: Option<String> = values.value()?;
    let kernel: Option<String> = values.value()?;
    let (pc, line, after) = match kernel {
        Some(_) => (values.optional_number()?, values.optional_number()?, values.optional_number()?),
        None => {
            for column in ["ended_pc", "ended_line", "ended_after"] {
                let value = values.value()?;
                values.nowhere = values.nowhere.clone().and_then(|()| values::nowhere(column, value));
            }
            (None, None, None)
        }
    };
    let at = match (kernel, pc, after) {
        (Some(kernel), Some(pc), Some(after)) => Some(ProgramPoint { kernel, pc, line, after }),
        _ => None,
    };
    let address: Option<String> = values.value()?;
    values::end(&word, by.as_deref(), at, address.as_deref().map(values::address).transpose()?)
}

/// Takes the values of a row in the order of its columns.
struct Decoder<'a> {
    columns: &'a rusqlite::Row<'a>,
    next: usize,
    /// Whether nothing says where a run ended that ended in no kernel; said after all else that is wrong.
    nowhere: Result<(), String>,
}

impl Decoder<'_> {
    fn value<T: FromSql>(&mut self) -> Result<T, String> {
        let index = self.next;
        self.next += 1;
        self.columns.get(index).map_err(|error| format!("`{}`: {error}", self.last()))
    }

    /// The column whose value was taken last.
    fn last(&self) -> &str {
        self.columns.as_ref().column_name(self.next.saturating_sub(1)).unwrap_or("column")
    }

    fn optional_number<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, String> {
        let value: Option<i64> = self.value()?;
        let fit = |value| {
            T::try_from(value)
                .map_err(|_| values::wrong(self.last(), value, "a number that is not negative, within range"))
        };
        value.map(fit).transpose()
    }

    fn number<T: TryFrom<i64>>(&mut self) -> Result<T, String> {
        self.optional_number()?.ok_or_else(|| format!("`{}` is missing", self.last()))
    }

    fn word<T: std::str::FromStr<Err = outcome::UnknownWord>>(&mut self) -> Result<T, String> {
        let word: String = self.value()?;
        values::word(self.last(), &word)
    }

    fn hex(&mut self) -> Result<Option<u128>, String> {
        let text: Option<String> = self.value()?;
        let read =
            |text: String| hex::parse(&text).ok_or_else(|| values::wrong(self.last(), &text, "a value such as 0x1f"));
        text.map(read).transpose()
    }
}
