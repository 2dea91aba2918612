//! From a row to the values of its columns.

use rusqlite::types::{ToSqlOutput, Value, ValueRef};

use super::error::StoreError;
use super::row::{Finding, Row};
use super::values::LONG_LOOP;
use crate::site::{Label, RunIndex, Site};
use outcome::{End, FirstUse, Observation};

/// The value of each of a row's `columns`, in their order.
pub(crate) fn encode(row: &Row, columns: usize) -> Result<Vec<ToSqlOutput<'_>>, StoreError> {
    let mut values = Encoder { run: row.run, values: Vec::with_capacity(columns) };
    values.number("number", row.run.0)?;
    encode_site(&mut values, &row.site)?;
    values.text(row.finding.class().word());
    match &row.finding {
        Finding::Seen { observation, outcome, classifier } => {
            values.owned(outcome.kind().map(|kind| kind.into_owned()));
            values.number("classifier", u64::from(*classifier))?;
            values.null(1);
            encode_observation(&mut values, observation)?;
        }
        Finding::GivenUp => {}
        Finding::Failed(failure) => {
            values.null(2);
            values.text(failure.message());
        }
    }
    values.null(columns.saturating_sub(values.values.len()));
    Ok(values.values)
}

fn encode_site<'a>(values: &mut Encoder<'a>, site: &'a Site) -> Result<(), StoreError> {
    values.optional_text(site.fault());
    values.optional_text(site.given_up());
    values.number("weight", site.weight)?;
    values.text(&site.spot.kernel);
    values.number("instruction", u64::from(site.spot.pc))?;
    values.text(&site.spot.target);
    values.text(&site.spot.group);
    values.text(&site.spot.opcode);
    values.optional_text(site.spot.file.as_deref());
    values.optional_number("line", site.spot.line.map(u64::from))?;
    site.labels.all().iter().try_for_each(|label| match label {
        Label::Number(number) => values.number("label", *number),
        Label::Text(text) => {
            values.text(text);
            Ok(())
        }
        Label::None => {
            values.null(1);
            Ok(())
        }
    })
}

fn encode_observation<'a>(values: &mut Encoder<'a>, seen: &'a Observation) -> Result<(), StoreError> {
    values.owned(seen.landed.map(|landed| format!("{:#x}", landed.before)));
    values.owned(seen.landed.map(|landed| format!("{:#x}", landed.after)));
    values.optional_number("threads hit", seen.landed.map(|landed| landed.threads.into()))?;
    let (first_use, after) = match seen.first_use {
        FirstUse::Read { after } => ("read", Some(after)),
        FirstUse::Overwritten { after } => ("overwritten", Some(after)),
        FirstUse::Never => ("never", None),
    };
    values.text(first_use);
    values.optional_number("distance to the first use", after)?;
    encode_end(values, &seen.end)?;
    // Strings and numbers always have a JSON form.
    values.owned(serde_json::to_string(&seen.outputs).ok());
    values.number("host visibility", u64::from(seen.host_visible))?;
    values.number("count of strayed accesses", seen.strayed)?;
    values.number("count of instructions", seen.instructions)?;
    values.text(seen.tier.word());
    values.owned(seen.host.as_ref().and_then(|host| serde_json::to_string(host).ok()));
    Ok(())
}

fn encode_end<'a>(values: &mut Encoder<'a>, end: &'a End) -> Result<(), StoreError> {
    let address = if let End::Trapped { address, .. } = end { *address } else { None };
    let (ended, by, at) = match end {
        End::Completed => ("completed", None, None),
        End::Trapped { trap, at, .. } => ("trapped", Some(trap.word().to_owned()), Some(at)),
        End::Hang { at, endless } => ("hang", (!endless).then(|| LONG_LOOP.to_owned()), Some(at)),
        End::OutOfFuel { at } => ("out_of_fuel", None, Some(at)),
        End::Detected { by } => ("detected", Some(by.clone()), None),
        End::Exited { code } => ("exited", Some(code.to_string()), None),
        End::Signalled { signal } => ("signalled", Some(signal.to_string()), None),
        End::TimedOut => ("timed_out", None, None),
    };
    values.text(ended);
    values.owned(by);
    values.optional_text(at.map(|at| at.kernel.as_str()));
    values.optional_number("instruction at the end", at.map(|at| u64::from(at.pc)))?;
    values.optional_number("line at the end", at.and_then(|at| at.line).map(u64::from))?;
    values.optional_number("distance to the end", at.map(|at| at.after))?;
    values.owned(address.map(|address| format!("{address:#x}")));
    Ok(())
}

/// Collects the values of a row; SQLite's integers are signed, so a number can be too large.
struct Encoder<'a> {
    run: RunIndex,
    values: Vec<ToSqlOutput<'a>>,
}

impl<'a> Encoder<'a> {
    fn text(&mut self, text: &'a str) {
        self.values.push(ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())));
    }

    fn optional_text(&mut self, text: Option<&'a str>) {
        match text {
            Some(text) => self.text(text),
            None => self.null(1),
        }
    }

    fn owned(&mut self, text: Option<String>) {
        self.values.push(ToSqlOutput::Owned(text.map_or(Value::Null, Value::Text)));
    }

    fn number(&mut self, what: &'static str, value: u64) -> Result<(), StoreError> {
        let number = i64::try_from(value).map_err(|_| StoreError::TooLarge { run: self.run, what, value })?;
        self.values.push(ToSqlOutput::Owned(Value::Integer(number)));
        Ok(())
    }

    fn optional_number(&mut self, what: &'static str, value: Option<u64>) -> Result<(), StoreError> {
        match value {
            Some(value) => self.number(what, value),
            None => {
                self.null(1);
                Ok(())
            }
        }
    }

    fn null(&mut self, count: usize) {
        self.values.extend((0..count).map(|_| ToSqlOutput::Owned(Value::Null)));
    }
}
