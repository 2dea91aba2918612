//! Vectors in large numbers: random operands, and what a real GPU made of them.
//!
//! For every form that `filetests/instructions/*.vec` knows, [`ROWS`] rows of operands are drawn, and the results that
//! a GPU gave are kept in `random.zst`: for each form its name, then for each result of it the low bytes of all rows.
//! Ours are the same to the bit.

use super::check::{Run, groups};
use super::experiment::Experiment;
use super::form::is_immediate;
use super::kernel::{KernelVariant, module_text};
use super::random_operand;
use super::read::{ScriptError, TestVector};
use super::tolerance::Tolerance;
use isa::Type;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Rows of each form.
pub const ROWS: usize = 600;

/// The results of every row of a form.
pub type Answers = Vec<Vec<u128>>;

/// A form and where its rows come from.
#[derive(Clone, Debug)]
pub struct VectorSource {
    /// The spelling, the number of results, and the immediate operands.
    pub name: String,
    /// A row of the form, for its types and immediate operands.
    row: TestVector,
}

impl VectorSource {
    /// One for each form that `rows` have, and for `lop3` one for each table.
    #[must_use]
    pub fn all(rows: &[TestVector]) -> Vec<Self> {
        groups(rows).into_iter().filter_map(|mut rows| rows.pop().map(Self::new)).collect()
    }

    fn new(row: TestVector) -> Self {
        let mut name = format!("{} {}", row.form.spelling, row.form.results.len());
        for (at, bits) in row.operands.iter().enumerate().filter(|(at, _)| is_immediate(&row.form.spelling, *at)) {
            let _ = write!(name, " {at}={bits:#x}");
        }
        Self { name, row }
    }

    /// The spelling.
    #[must_use]
    pub fn spelling(&self) -> &str {
        &self.row.form.spelling
    }

    /// The rows, with these results, or with zeros.
    #[must_use]
    pub fn rows(&self, answers: Option<&Answers>) -> Vec<TestVector> {
        let (form, key) = (&self.row.form, random_operand::key(&self.name));
        let row = |number: usize| {
            let mut operands = random_operand::row(key, number as u64, &form.sources);
            for (at, bits) in operands.iter_mut().enumerate().filter(|(at, _)| is_immediate(&form.spelling, *at)) {
                *bits = self.row.operands[at];
            }
            let expected = answers.map_or_else(|| vec![0; form.results.len()], |answers| answers[number].clone());
            let place = format!("{} row {number}", self.name);
            TestVector { place, form: form.clone(), operands, expected, bound: Tolerance::Exact }
        };
        (0..ROWS).map(row).collect()
    }

    /// As a launch; what comes out of it is understood by [`answers`](Self::answers).
    #[must_use]
    pub fn experiment(&self) -> Experiment {
        Experiment::of(self.rows(None))
    }

    /// The results of every row, from the bytes behind `out` after the launch.
    #[must_use]
    pub fn answers(&self, out: &[u8]) -> Answers {
        let rows = self.rows(None);
        let mut found = Run::new(&self.row.form, KernelVariant::Plain, &rows).found(out);
        found.truncate(ROWS);
        // What lies beyond a type in its register is the type's doing.
        for (at, ty) in self.types().iter().enumerate() {
            found.iter_mut().for_each(|row| row[at] &= u128::MAX >> (128 - ty.bits()));
        }
        found
    }

    /// What our machine makes of the rows at every level of this host, against a GPU's answers: one line for each
    /// result that differs.
    #[must_use]
    pub fn check(&self, answers: &Answers) -> Vec<String> {
        let rows = self.rows(Some(answers));
        let text = module_text(&self.row.form, &rows, &[KernelVariant::Plain]);
        let run = Run::new(&self.row.form, KernelVariant::Plain, &rows);
        let check = |level| match run.execute(level, &text) {
            Ok(found) => super::check::compare(&rows, KernelVariant::Plain, &format!("{level}"), &found),
            Err(what) => vec![format!("{}: {what} ({level})", self.name)],
        };
        crate::levels().flat_map(check).collect()
    }

    fn types(&self) -> &[Type] {
        &self.row.form.results
    }
}

/// Where the answers are kept.
#[must_use]
pub fn answers_path() -> PathBuf {
    crate::filetests("instructions").join("random.zst")
}

/// Packs answers: a form's name and the bytes of its results, one result after the other.
///
/// # Errors
/// If the compressor fails.
pub fn pack(trials: &[(VectorSource, Answers)]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (trial, answers) in trials {
        bytes.extend(trial.name.as_bytes());
        bytes.push(b'\n');
        for (at, ty) in trial.types().iter().enumerate() {
            let size = ty.bytes() as usize;
            bytes.extend(answers.iter().flat_map(|row| row[at].to_le_bytes()[..size].to_vec()));
        }
    }
    zstd::bulk::compress(&bytes, 19)
}

/// The answers that are kept.
#[derive(Clone, Debug)]
pub struct KeptAnswers {
    /// Forms and their answers.
    pub trials: Vec<(VectorSource, Answers)>,
    /// The names of forms without any.
    pub without: Vec<String>,
}

/// The answers that are kept, for these forms.
///
/// # Errors
/// If the file cannot be read or is cut off.
pub fn unpack(trials: Vec<VectorSource>) -> Result<KeptAnswers, ScriptError> {
    let path = answers_path();
    let wrong = |what: String| ScriptError { place: path.display().to_string(), what };
    let packed = std::fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    let bytes = zstd::stream::decode_all(&packed[..]).map_err(|error| wrong(error.to_string()))?;
    let mut by_name: BTreeMap<String, VectorSource> =
        trials.into_iter().map(|trial| (trial.name.clone(), trial)).collect();
    let mut rest = &bytes[..];
    let mut kept = Vec::new();
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        let trial = by_name.remove(&name).ok_or_else(|| wrong(format!("there is no form `{name}`")))?;
        rest = &rest[end + 1..];
        let mut answers = vec![Vec::new(); ROWS];
        for ty in trial.types() {
            let size = ty.bytes() as usize;
            let (column, after) =
                rest.split_at_checked(size * ROWS).ok_or_else(|| wrong(format!("{name}: cut off")))?;
            for (row, bytes) in answers.iter_mut().zip(column.chunks(size)) {
                let mut word = [0; 16];
                word[..size].copy_from_slice(bytes);
                row.push(u128::from_le_bytes(word));
            }
            rest = after;
        }
        kept.push((trial, answers));
    }
    Ok(KeptAnswers { trials: kept, without: by_name.into_keys().collect() })
}
