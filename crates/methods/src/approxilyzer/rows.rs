//! Every class of error sites as rows of a file, one for each bit: CSV, and a sheet that is written as Parquet.

use campaign::names::cell;
use campaign::{Results, Row};
use serde::Serialize;
use study::{Sheet, SheetColumn, SheetValue};

use super::instructions::{PilotOutcomes, found};
use super::operand::SiteOperand;
use super::sites::{Class, KnownSites};
use super::target::Approxilyzer;
use crate::kit::StudyError;

/// The sites of a class at a bit.
#[derive(Serialize)]
struct ClassRow {
    /// The class, from 0; none of sites whose outcome is known without a run.
    class: Option<usize>,
    kernel: String,
    pc: u32,
    instruction: String,
    file: Option<String>,
    line: Option<u32>,
    operand: String,
    bit: u32,
    /// The heuristic that joins the sites, or that knows their outcome.
    #[serde(skip)]
    heuristic: &'static str,
    /// The dynamic instances: as many sites, or twice as many where the first use of a value is a site that equals it.
    members: u64,
    /// The sites.
    #[serde(skip)]
    sites: u64,
    /// The id of the pilot's fault; none if the class is not studied, or needs no pilot.
    pilot: Option<String>,
    outcome: &'static str,
    kind: Option<String>,
    /// The sites that the outcome counts for; 0 if it is not known.
    weight: u64,
}

/// The outcome of sites of which none is known.
pub(super) const NOT_COVERED: &str = "not_covered";

/// The columns of the sheet: name, whether they are integers, whether every row has a value.
const COLUMNS: [(&str, bool, bool); 15] = [
    ("class", true, false),
    ("kernel", false, true),
    ("pc", true, true),
    ("opcode", false, true),
    ("file", false, false),
    ("line", true, false),
    ("operand", false, true),
    ("bit", true, true),
    ("heuristic", false, true),
    ("members", true, true),
    ("sites", true, true),
    ("covered", true, true),
    ("pilot", false, false),
    ("outcome", false, true),
    ("kind", false, false),
];

/// The rows as the text of a CSV file.
///
/// # Errors
/// If the rows of the campaign cannot be read.
pub(super) fn text(
    method: &Approxilyzer,
    results: Option<&Results>,
    pilots: &PilotOutcomes,
) -> Result<String, StudyError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut failure = None;
    visit(method, results, pilots, &mut |row| {
        if failure.is_none() {
            failure = writer.serialize(row.into_cells()).err().map(|error| error.to_string());
        }
    })?;
    if let Some(why) = failure {
        return Err(StudyError::Words(format!("write the rows: {why}")));
    }
    let bytes = writer.into_inner().map_err(|error| StudyError::Words(format!("write the rows: {error}")))?;
    String::from_utf8(bytes).map_err(|error| StudyError::Words(format!("write the rows: {error}")))
}

/// The rows as a sheet.
///
/// # Errors
/// If the rows of the campaign cannot be read.
pub(super) fn sheet(
    method: &Approxilyzer,
    results: Option<&Results>,
    pilots: &PilotOutcomes,
) -> Result<Sheet, StudyError> {
    let columns = SheetColumn::all(COLUMNS);
    let mut rows = Vec::new();
    visit(method, results, pilots, &mut |row| rows.push(row.values()))?;
    Ok(Sheet::of_visits("class", columns, move |each| {
        let _ = rows.iter().all(|row| each(row));
    }))
}

/// Visits the rows: classes with pilots in the order of runs, then those without, then the sites whose outcome is known without a run.
fn visit(
    method: &Approxilyzer,
    results: Option<&Results>,
    pilots: &PilotOutcomes,
    each: &mut dyn FnMut(ClassRow),
) -> Result<(), StudyError> {
    let mut write = |row: Option<ClassRow>| row.into_iter().for_each(&mut *each);
    let classes = &method.sites().classes;
    let studied: Vec<(usize, u64)> = method.studied().collect();
    let mut visit = |row: Row| {
        let run = row.run.0;
        let at = studied.partition_point(|(_, start)| *start <= run).checked_sub(1);
        let Some((&(number, start), class)) =
            at.and_then(|at| studied.get(at)).and_then(|it| Some((it, classes.get(it.0)?)))
        else {
            return;
        };
        let outcome = pilots.get(run);
        let plain = ClassRow::of_class(
            method,
            number,
            class,
            class.bits.iter().nth((run - start) as usize).unwrap_or_default(),
        );
        write(plain.map(|plain| ClassRow {
            pilot: row.site.fault().map(str::to_owned),
            outcome: outcome.map_or(NOT_COVERED, |outcome| outcome.class().word()),
            kind: outcome.and_then(|outcome| outcome.kind()).map(std::borrow::Cow::into_owned),
            weight: if outcome.is_some() { class.members * class.weight } else { 0 },
            ..plain
        }));
    };
    results.map_or(Ok(()), |results| results.visit(&mut visit))?;
    let mut has_pilot = vec![false; classes.len()];
    studied.iter().for_each(|(class, _)| has_pilot[*class] = true);
    for (number, class) in classes.iter().enumerate().filter(|(number, _)| !has_pilot[*number]) {
        class.bits.iter().for_each(|bit| write(ClassRow::of_class(method, number, class, bit)));
    }
    for (&KnownSites { kernel, instruction, operand, bits, why }, &members) in &method.sites().known {
        let row = |bit| ClassRow::of(method, (kernel, instruction, operand), bit, members);
        let known = |row: ClassRow| {
            let (outcome, kind) = (why.class().word(), why.kind());
            ClassRow { heuristic: why.word(), outcome, kind, weight: members, ..row }
        };
        bits.iter().for_each(|bit| write(row(bit).map(known)));
    }
    Ok(())
}

impl ClassRow {
    /// Sites of which nothing is known.
    fn of(
        method: &Approxilyzer,
        (kernel, instruction, operand): (u32, u32, SiteOperand),
        bit: u32,
        members: u64,
    ) -> Option<Self> {
        let it = found(method, kernel, instruction, 0)?;
        let name = &method.kernels().get(kernel as usize)?.name;
        let (file, line) = (it.file().map(str::to_owned), it.line());
        Some(Self {
            class: None,
            kernel: name.clone(),
            pc: it.pc,
            instruction: it.mnemonic,
            file,
            line,
            operand: operand.target().to_string(),
            bit,
            heuristic: "",
            members,
            sites: members,
            pilot: None,
            outcome: NOT_COVERED,
            kind: None,
            weight: 0,
        })
    }

    fn of_class(method: &Approxilyzer, number: usize, class: &Class, bit: u32) -> Option<Self> {
        let row = Self::of(method, (class.kernel, class.instruction, class.operand), bit, class.members)?;
        Some(Self { class: Some(number), heuristic: class.heuristic(), sites: class.members * class.weight, ..row })
    }

    /// The same with names that a spreadsheet takes for text.
    fn into_cells(self) -> Self {
        let text = |text: &String| cell(text).into_owned();
        Self {
            kernel: text(&self.kernel),
            instruction: text(&self.instruction),
            file: self.file.as_ref().map(text),
            ..self
        }
    }

    /// The values of the columns of the sheet.
    fn values(&self) -> Vec<SheetValue> {
        vec![
            self.class.map(|class| class as u64).into(),
            self.kernel.as_str().into(),
            u64::from(self.pc).into(),
            self.instruction.as_str().into(),
            self.file.as_deref().into(),
            self.line.map(u64::from).into(),
            self.operand.as_str().into(),
            u64::from(self.bit).into(),
            self.heuristic.into(),
            self.members.into(),
            self.sites.into(),
            self.weight.into(),
            self.pilot.as_deref().into(),
            self.outcome.into(),
            self.kind.as_deref().into(),
        ]
    }
}
