//! Rows held against the plan beside them: the plan says what each run hits, and a row that says something else is of
//! another run, or was edited.
//!
//! A million rows are compared by their bytes: what a row says is written as its line in the plan would be. Only where that
//! differs are both taken apart, for the column that does.

use rusqlite::types::ValueRef;
use std::path::Path;

use super::directory::plan_path;
use super::error::StoreError;
use super::file::Rows;
use super::values::wrong;
use super::view::{Columns, FAULT, GIVEN_UP, WEIGHT};
use crate::config::Config;
use crate::plan::{Head, PlanLines};
use crate::site::{Intent, Label, LabelColumn, LabelKind, Labels, RunIndex, Site, Spot};

/// A plan, and what is kept from row to row.
pub(super) struct Planned {
    lines: PlanLines,
    /// For each spot, how a line says it; those that no row had yet are empty.
    spots: Vec<Vec<u8>>,
    /// The line that the row in hand would have.
    expected: Vec<u8>,
    /// The declared labels, each with the place of its column.
    labels: Vec<(LabelColumn, usize)>,
}

impl Planned {
    pub(super) fn new(lines: PlanLines, labels: Vec<(LabelColumn, usize)>) -> Self {
        Self { lines, spots: Vec::new(), expected: Vec::new(), labels }
    }

    /// Checks the row of a run that stands at a position of the plan, and hit a spot of the scan.
    pub(super) fn check(
        &mut self,
        run: u64,
        position: u64,
        spot: (usize, &Spot),
        columns: &Columns<'_>,
    ) -> Result<Result<(), String>, StoreError> {
        if let Err(what) = self.write(run, spot, columns) {
            return Ok(Err(what));
        }
        let line = self.lines.line(position, RunIndex(run))?;
        // A stratum follows from the number of the run, and stands in the plan alone.
        let rest = line.strip_prefix(&self.expected[..]);
        if rest.is_some_and(|rest| rest == b"}]" || rest.starts_with(b",\"stratum\":")) {
            return Ok(Ok(()));
        }
        let planned = self.lines.site(RunIndex(run))?;
        Ok(self.site(spot.1, columns).and_then(|found| self.compare(&planned, &found)))
    }

    /// Writes the line of the row, but for its stratum and its end.
    fn write(&mut self, run: u64, (spot, what): (usize, &Spot), columns: &Columns<'_>) -> Result<(), String> {
        let Self { spots, expected, labels, .. } = self;
        if spots.len() <= spot {
            spots.resize_with(spot + 1, Vec::new);
        }
        if spots[spot].is_empty() {
            spots[spot] = serde_json::to_vec(what).map_err(|error| error.to_string())?;
        }
        expected.clear();
        expected.push(b'[');
        number(expected, run);
        match columns.optional_text(FAULT)? {
            Some(fault) => {
                [b",{\"intent\":{\"fault\":\"", fault.as_bytes()].map(|part| expected.extend_from_slice(part))
            }
            None => {
                let reason = columns.text(GIVEN_UP)?;
                [b",{\"intent\":{\"given_up\":\"", reason.as_bytes()].map(|part| expected.extend_from_slice(part))
            }
        };
        expected.extend_from_slice(b"\"},\"spot\":");
        expected.extend_from_slice(&spots[spot]);
        expected.extend_from_slice(b",\"labels\":[");
        for (place, (label, column)) in labels.iter().enumerate() {
            if place > 0 {
                expected.push(b',');
            }
            match columns.value(*column)? {
                ValueRef::Integer(value) => number(expected, unsigned(label, value)?),
                ValueRef::Text(text) => {
                    expected.push(b'"');
                    expected.extend_from_slice(text);
                    expected.push(b'"');
                }
                _ => expected.extend_from_slice(b"null"),
            }
        }
        expected.push(b']');
        let weight = columns.number(WEIGHT)?;
        if weight != 1 {
            expected.extend_from_slice(b",\"weight\":");
            number(expected, weight);
        }
        Ok(())
    }

    /// What the row says of its site.
    fn site(&self, spot: &Spot, columns: &Columns<'_>) -> Result<Site, String> {
        let intent = match columns.optional_text(FAULT)? {
            Some(fault) => Intent::Fault(fault.to_owned()),
            None => Intent::GivenUp(columns.text(GIVEN_UP)?.to_owned()),
        };
        let label = |(label, column): &(LabelColumn, usize)| match (columns.value(*column)?, label.kind) {
            (ValueRef::Null, _) => Ok(Label::None),
            (ValueRef::Integer(value), LabelKind::Number) => Ok(Label::Number(unsigned(label, value)?)),
            (ValueRef::Text(text), LabelKind::Text) => Ok(Label::Text(String::from_utf8_lossy(text).into_owned())),
            _ => Err(format!("`{}` is no {}", label.name, label.kind)),
        };
        let labels = self.labels.iter().map(label).collect::<Result<_, String>>()?;
        Ok(Site {
            intent,
            spot: spot.clone(),
            labels: Labels::new(labels),
            weight: columns.number(WEIGHT)?,
            stratum: None,
        })
    }

    /// Names the first column that is not as planned.
    fn compare(&self, planned: &Site, found: &Site) -> Result<(), String> {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "NULL".to_owned());
        let line = |line: Option<u32>| line.map_or_else(|| "NULL".to_owned(), |line| line.to_string());
        let intent = |site: &Site| site.fault().map(str::to_owned);
        let given_up = |site: &Site| site.given_up().map(str::to_owned);
        let (p, f) = (&planned.spot, &found.spot);
        let fixed = [
            ("fault", text(&intent(found)), text(&intent(planned))),
            ("given_up", text(&given_up(found)), text(&given_up(planned))),
            ("weight", found.weight.to_string(), planned.weight.to_string()),
            ("kernel", f.kernel.clone(), p.kernel.clone()),
            ("pc", f.pc.to_string(), p.pc.to_string()),
            ("target", f.target.clone(), p.target.clone()),
            ("instruction_group", f.group.clone(), p.group.clone()),
            ("opcode", f.opcode.clone(), p.opcode.clone()),
            ("file", text(&f.file), text(&p.file)),
            ("line", line(f.line), line(p.line)),
        ];
        let label = |label: Option<&Label>| match label {
            Some(Label::Number(number)) => number.to_string(),
            Some(Label::Text(text)) => text.clone(),
            Some(Label::None) | None => "NULL".to_owned(),
        };
        let labels = self.labels.iter().enumerate().map(|(place, (column, _))| {
            let of = |site: &Site| label(site.labels.all().get(place));
            (&*column.name, of(found), of(planned))
        });
        match fixed.into_iter().chain(labels).find(|(_, found, planned)| found != planned) {
            None => Ok(()),
            Some((column, found, planned)) => {
                Err(wrong(column, found, format_args!("`{planned}`, as the plan has it")))
            }
        }
    }
}

/// A number of a label, which is never negative.
pub(super) fn unsigned(label: &LabelColumn, value: i64) -> Result<u64, String> {
    u64::try_from(value).map_err(|_| wrong(&label.name, value, "a number that is not negative"))
}

/// Writes a number in decimal.
fn number(into: &mut Vec<u8>, mut value: u64) {
    let (mut digits, mut at) = ([0; 20], 20);
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return into.extend_from_slice(&digits[at..]);
        }
    }
}

/// The plan that the rows in a directory are held against, if it is there: one that was made from this configuration. An exhaustive campaign has no rows.
pub(super) fn plan_beside(dir: Option<&Path>, config: &Config, rows: &Rows) -> Result<Option<PlanLines>, StoreError> {
    let Some(dir) = dir.filter(|_| !rows.swept) else { return Ok(None) };
    let Some(plan) = PlanLines::open(plan_path(dir))? else { return Ok(None) };
    let head = plan.head();
    let (digest, planned) = (rows.origin()?.digest, &head.digest);
    if digest == *planned {
        let same = *head == Head::new(config, &digest, head.sweep, head.strata);
        return if same { Ok(Some(plan)) } else { Err(StoreError::Changed { dir: dir.to_owned() }) };
    }
    Err(rows.damaged(wrong("digest", digest, format_args!("`{planned}`, as the plan has it"))))
}
