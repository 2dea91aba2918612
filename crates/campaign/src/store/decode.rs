//! From the values of its columns back to a row. The file may have been edited: every value is checked.

use rusqlite::types::FromSql;

use super::row::{Finding, Row};
use crate::failure::RunFailure;
use crate::site::{Intent, Label, LabelColumn, LabelKind, Labels, RunIndex, Site, Spot};
use outcome::{Class, Outcome};
use outcome::{End, FirstUse, Host, Landed, Observation, OutputDiff, ProgramPoint, hex};

/// Reads a row back from its columns, or says what is wrong with it.
pub(crate) fn decode(columns: &rusqlite::Row<'_>, labels: &[LabelColumn]) -> Result<Row, String> {
    let mut values = Decoder { columns, next: 0 };
    let run = RunIndex(values.number()?);
    let site = decode_site(&mut values, labels)?;
    let class: Class = values.word()?;
    let kind: Option<String> = values.value()?;
    let classifier: Option<u32> = values.optional_number()?;
    let error: Option<String> = values.value()?;
    let finding = match (error, site.given_up()) {
        (Some(error), _) => Finding::Failed(RunFailure::new(error)),
        (None, Some(_)) => Finding::GivenUp,
        (None, None) => Finding::Seen {
            observation: decode_observation(&mut values)?,
            outcome: Outcome::from_words(class, kind.as_deref())
                .ok_or_else(|| format!("`{class}` with `{}` is no outcome", kind.unwrap_or_default()))?,
            classifier: classifier.ok_or("it has no classifier")?,
        },
    };
    Ok(Row { run, site, finding })
}

fn decode_site(values: &mut Decoder<'_>, labels: &[LabelColumn]) -> Result<Site, String> {
    let intent = match (values.value()?, values.value()?) {
        (Some(id), None) => Intent::Fault(id),
        (None, Some(reason)) => Intent::GivenUp(reason),
        _ => return Err("it has neither a fault nor a reason for having none".to_owned()),
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
        (Some(before), Some(after), Some(threads)) => Some(Landed { before, after, threads }),
        (None, None, None) => None,
        _ => return Err("it landed on half a value".to_owned()),
    };
    Ok(Observation {
        landed,
        first_use: decode_first_use(values)?,
        end: decode_end(values)?,
        outputs: decode_outputs(values)?,
        host_visible: values.number::<u64>()? != 0,
        strayed: values.number()?,
        instructions: values.number()?,
        tier: values.word()?,
        host: decode_host(values)?,
    })
}

fn decode_host(values: &mut Decoder<'_>) -> Result<Option<Host>, String> {
    let text: Option<String> = values.value()?;
    text.map(|text| serde_json::from_str(&text).map_err(|error| error.to_string())).transpose()
}

fn decode_first_use(values: &mut Decoder<'_>) -> Result<FirstUse, String> {
    let word: String = values.value()?;
    match (word.as_str(), values.optional_number()?) {
        ("read", Some(after)) => Ok(FirstUse::Read { after }),
        ("overwritten", Some(after)) => Ok(FirstUse::Overwritten { after }),
        ("never", None) => Ok(FirstUse::Never),
        _ => Err(format!("`{word}` is no first use")),
    }
}

fn decode_end(values: &mut Decoder<'_>) -> Result<End, String> {
    let word: String = values.value()?;
    let by: Option<String> = values.value()?;
    let kernel: Option<String> = values.value()?;
    let (pc, line, after) = (values.optional_number()?, values.optional_number()?, values.optional_number()?);
    let at = match (kernel, pc, after) {
        (Some(kernel), Some(pc), Some(after)) => Some(ProgramPoint { kernel, pc, line, after }),
        _ => None,
    };
    match (word.as_str(), by, at) {
        ("completed", None, None) => Ok(End::Completed),
        ("trapped", Some(by), Some(at)) => {
            let trap = by.parse().map_err(|error| format!("{error}"))?;
            Ok(End::Trapped { trap, at })
        }
        ("hang", None, Some(at)) => Ok(End::Hang { at }),
        ("out_of_fuel", None, Some(at)) => Ok(End::OutOfFuel { at }),
        ("detected", Some(by), None) => Ok(End::Detected { by }),
        ("exited", Some(code), None) => {
            code.parse().map(|code| End::Exited { code }).map_err(|_| format!("`{code}` is no exit code"))
        }
        ("signalled", Some(signal), None) => {
            signal.parse().map(|signal| End::Signalled { signal }).map_err(|_| format!("`{signal}` is no signal"))
        }
        ("timed_out", None, None) => Ok(End::TimedOut),
        _ => Err(format!("`{word}` is no end")),
    }
}

fn decode_outputs(values: &mut Decoder<'_>) -> Result<Vec<OutputDiff>, String> {
    let text: String = values.value()?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// Takes the values of a row in the order of its columns.
struct Decoder<'a> {
    columns: &'a rusqlite::Row<'a>,
    next: usize,
}

impl Decoder<'_> {
    fn value<T: FromSql>(&mut self) -> Result<T, String> {
        let index = self.next;
        self.next += 1;
        self.columns.get(index).map_err(|error| {
            let name = self.columns.as_ref().column_name(index).unwrap_or("column");
            format!("`{name}`: {error}")
        })
    }

    fn optional_number<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, String> {
        let value: Option<i64> = self.value()?;
        let fit = |value| T::try_from(value).map_err(|_| format!("the number {value} is out of range"));
        value.map(fit).transpose()
    }

    fn number<T: TryFrom<i64>>(&mut self) -> Result<T, String> {
        self.optional_number()?.ok_or_else(|| "a number is missing".to_owned())
    }

    fn word<T: std::str::FromStr<Err = outcome::UnknownWord>>(&mut self) -> Result<T, String> {
        self.value::<String>()?.parse().map_err(|error: T::Err| error.to_string())
    }

    fn hex(&mut self) -> Result<Option<u128>, String> {
        let text: Option<String> = self.value()?;
        let read = |text: String| hex::parse(&text).ok_or_else(|| format!("`{text}` is not a value such as 0x1f"));
        text.map(read).transpose()
    }
}
