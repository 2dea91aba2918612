//! Reading vectors: a line is a row, a comment or blank; anything else is an error with its place.

use super::form::Form;
use super::tolerance::Tolerance;
use isa::Type;
use std::io;
use std::path::Path;
use thiserror::Error;

/// One execution of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct TestVector {
    /// The file and line it stands in, as messages name it.
    pub place: String,
    /// The instruction.
    pub form: Form,
    /// Bits of the sources.
    pub operands: Vec<u128>,
    /// Bits of the results.
    pub expected: Vec<u128>,
    /// How far the result may be off.
    pub bound: Tolerance,
}

/// A line of a test file that cannot be understood.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{place}: {what}")]
pub struct ScriptError {
    /// File and line.
    pub place: String,
    /// What is wrong.
    pub what: String,
}

/// Reads every row of `filetests/instructions`.
///
/// # Errors
/// At the first file that cannot be read, or line that is no row.
pub fn read_all() -> Result<Vec<TestVector>, ScriptError> {
    let folder = crate::filetests("instructions");
    let unreadable =
        |path: &Path, error: &io::Error| ScriptError { place: path.display().to_string(), what: error.to_string() };
    let mut rows = Vec::new();
    for path in crate::files(&folder, "vec").map_err(|error| unreadable(&folder, &error))? {
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        rows.extend(read(&format!("filetests/instructions/{name}"), &text)?);
    }
    Ok(rows)
}

/// Reads the rows of a file; `name` is what messages call it.
///
/// # Errors
/// At the first line that is no row.
pub fn read(name: &str, text: &str) -> Result<Vec<TestVector>, ScriptError> {
    let mut rows: Vec<TestVector> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", index + 1);
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        // Neighbouring rows are mostly of one form.
        let known = rows.last().map(|row| &row.form);
        rows.push(row(&place, &words, known).map_err(|what| ScriptError { place, what })?);
    }
    Ok(rows)
}

fn row(place: &str, words: &[&str], known: Option<&Form>) -> Result<TestVector, String> {
    let relation = words.iter().position(|&word| word == "=" || word == "~");
    let relation = relation.ok_or("expected `SPELLING OPERANDS… = RESULT`, or `~ RESULT BOUND`")?;
    let (left, right) = (&words[..relation], &words[relation + 1..]);
    let [spelling, operands @ ..] = left else { return Err("expected a spelling before the operands".to_owned()) };
    let (results, bound) = match (words[relation], right) {
        ("~", [result, bound]) => (std::slice::from_ref(result), read_bound(bound)?),
        ("~", _) => return Err("expected one result and a bound after `~`".to_owned()),
        (_, results) => (results, Tolerance::Exact),
    };
    let same = known.filter(|form| form.spelling == *spelling && form.results.len() == results.len());
    let form = same.map_or_else(|| Form::new(spelling, results.len()), |form| Ok(form.clone()))?;
    let operands = numbers("source", operands, &form.sources)?;
    let expected = numbers("result", results, &form.results)?;
    if bound != Tolerance::Exact && !form.results.iter().all(|ty| ty.is_float()) {
        return Err(format!("a bound is for floats, `{spelling}` gives .{}", form.results[0]));
    }
    Ok(TestVector { place: place.to_owned(), form, operands, expected, bound })
}

fn read_bound(word: &str) -> Result<Tolerance, String> {
    Tolerance::from_word(word).ok_or_else(|| format!("`{word}` is no bound: expected 2ulp, 2^-20.5abs or 2^-22rel"))
}

fn numbers(what: &str, words: &[&str], types: &[Type]) -> Result<Vec<u128>, String> {
    if words.len() != types.len() {
        return Err(format!("{} {what}s where {} belong", words.len(), types.len()));
    }
    words.iter().zip(types).map(|(word, &ty)| number(word, ty)).collect()
}

fn number(word: &str, ty: Type) -> Result<u128, String> {
    let bits = match (ty, word) {
        (Type::Pred, "0") => Some(0),
        (Type::Pred, "1") => Some(1),
        (Type::Pred, _) => None,
        _ => word.strip_prefix("0x").and_then(|digits| u128::from_str_radix(digits, 16).ok()),
    };
    let fits = bits.filter(|&bits| ty.bits() == 128 || bits >> ty.bits() == 0);
    fits.ok_or_else(|| format!("`{word}` is not the bits of a .{ty}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &str) -> String {
        read("t.vec", &format!("# comment\n\n{line}\n")).unwrap_err().to_string()
    }

    #[test]
    fn a_line_is_an_execution() {
        let rows = read("t.vec", "add.s32 0x7fffffff 0x1 = 0x80000000 # wraps\nnot.pred 1 = 0").unwrap();
        assert_eq!((rows[0].operands.as_slice(), rows[0].expected.as_slice()), (&[0x7fff_ffff, 1][..], &[1 << 31][..]));
        assert_eq!((rows[1].place.as_str(), rows[1].bound), ("t.vec:2", Tolerance::Exact));
        let rows = read("t.vec", "ex2.approx.f32 0x3f800000 ~ 0x40000000 2ulp").unwrap();
        assert_eq!(rows[0].bound, Tolerance::Ulps(2));
    }

    #[test]
    fn lines_that_are_not_understood_are_errors_with_their_place() {
        assert_eq!(error("add.s32 0x1 0x2"), "t.vec:3: expected `SPELLING OPERANDS… = RESULT`, or `~ RESULT BOUND`");
        assert_eq!(error("add.s32 0x1 = 0x1"), "t.vec:3: 1 sources where 2 belong");
        assert_eq!(error("add.s32 1 0x2 = 0x3"), "t.vec:3: `1` is not the bits of a .u32");
        assert_eq!(error("add.s16 0x10000 0x2 = 0x3"), "t.vec:3: `0x10000` is not the bits of a .u16");
        assert_eq!(error("and.pred 2 0 = 0"), "t.vec:3: `2` is not the bits of a .pred");
        assert_eq!(error("adds.s32 0x1 0x2 = 0x3"), "t.vec:3: `adds.s32` is no instruction");
        assert!(error("add.s32 0x1 0x1 ~ 0x2 1ulp").contains("a bound is for floats"));
        assert!(error("ex2.approx.f32 0x0 ~ 0x0 much").contains("`much` is no bound"));
        assert!(error("= 0x1").contains("expected a spelling"));
    }
}
