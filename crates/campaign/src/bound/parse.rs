//! Reading a bound, and saying where one cannot be read.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use super::{Bound, Comparison, Subpopulation, Term};
use outcome::{Class, Due, Masked, Outcome, nearest};

/// Why a text is no bound, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundError {
    text: String,
    /// The bytes that are wrong.
    at: Range<usize>,
    what: String,
}

impl std::error::Error for BoundError {}

impl fmt::Display for BoundError {
    /// One line, and two that show the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, at, what } = self;
        let before = text.get(..at.start).unwrap_or(text).chars().count();
        let marked = text.get(at.clone()).map_or(1, |marked| marked.chars().count().max(1));
        writeln!(f, "read the bound, column {}: {what}", before + 1)?;
        writeln!(f, "    {text}")?;
        write!(f, "    {}{}", " ".repeat(before), "^".repeat(marked))
    }
}

/// The classes that a rate can be of.
const CLASSES: [&str; 3] = ["masked", "sdc", "due"];

/// What stands for all kinds of a sort: bins, traps.
pub(super) const MAYBE: &str = "maybe";
pub(super) const CRASH: &str = "crash";

/// A piece of the text, which knows where it is.
#[derive(Clone, Copy)]
struct Piece<'t> {
    text: &'t str,
    start: usize,
    end: usize,
}

impl<'t> Piece<'t> {
    fn word(self) -> &'t str {
        &self.text[self.start..self.end]
    }

    /// Without blanks at its ends.
    fn trimmed(self) -> Self {
        let word = self.word();
        let start = self.start + (word.len() - word.trim_start().len());
        Self { start, end: start + word.trim().len(), ..self }
    }

    /// What is before and after these bytes of it.
    fn around(self, at: usize, bytes: usize) -> (Self, Self) {
        let middle = self.start + at;
        (Self { end: middle, ..self }, Self { start: middle + bytes, ..self })
    }

    fn wrong<T>(self, what: impl Into<String>) -> Result<T, BoundError> {
        Err(BoundError { text: self.text.to_owned(), at: self.start..self.end, what: what.into() })
    }
}

impl FromStr for Bound {
    type Err = BoundError;

    fn from_str(text: &str) -> Result<Self, BoundError> {
        let whole = Piece { text, start: 0, end: text.len() };
        // The last one: names of kernels may have some.
        let Some(at) = text.rfind(['<', '>']) else {
            let end = Piece { start: text.len(), ..whole };
            return end.wrong("there is no comparison; write for example sdc>0.05 or due>=1%");
        };
        let or_equal = text[at + 1..].starts_with('=');
        let comparison = match (text.as_bytes()[at], or_equal) {
            (b'>', false) => Comparison::Above,
            (b'>', true) => Comparison::AtLeast,
            (_, false) => Comparison::Below,
            (_, true) => Comparison::AtMost,
        };
        let (left, right) = whole.around(at, 1 + usize::from(or_equal));
        let (scope, sum) = match left.word().rfind('/') {
            Some(slash) => {
                let (part, sum) = left.around(slash, 1);
                (scope(part.trimmed())?, sum)
            }
            None => (Subpopulation::Whole, left),
        };
        Ok(Self { text: text.trim().to_owned(), scope, terms: terms(sum)?, comparison, limit: limit(right.trimmed())? })
    }
}

fn scope(part: Piece<'_>) -> Result<Subpopulation, BoundError> {
    let word = part.word();
    let (sort, name) = word.split_once(':').unwrap_or(("kernel", word));
    if name.is_empty() {
        return part.wrong("there is no name; write for example kernel:gemm/sdc>0.05");
    }
    match sort {
        "kernel" => Ok(Subpopulation::Kernel(name.to_owned())),
        "group" => Ok(Subpopulation::Group(name.to_owned())),
        "line" => {
            let line = name.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
            match line.filter(|(file, _): &(&str, u32)| !file.is_empty()) {
                Some((file, line)) => Ok(Subpopulation::Line(file.to_owned(), line)),
                None => part.wrong("a line is FILE:NUMBER; write for example line:gemm.cu:12/sdc>0.05"),
            }
        }
        _ => {
            let known = nearest(sort, &["kernel", "group", "line"]);
            let sort = Piece { end: part.start + sort.len(), ..part };
            sort.wrong(format!("unknown part `{}`; did you mean `{known}`?", sort.word()))
        }
    }
}

fn terms(sum: Piece<'_>) -> Result<Vec<Term>, BoundError> {
    let (mut terms, mut rest): (Vec<Term>, _) = (Vec::new(), Some(sum));
    while let Some(left) = rest {
        let (piece, after) = match left.word().find('+') {
            Some(plus) => {
                let (piece, after) = left.around(plus, 1);
                (piece, Some(after))
            }
            None => (left, None),
        };
        let piece = piece.trimmed();
        let term = term(piece)?;
        if terms.iter().any(|other| other.overlaps(&term)) {
            return piece.wrong("this is in the sum already; each run counts once");
        }
        terms.push(term);
        rest = after;
    }
    Ok(terms)
}

fn term(piece: Piece<'_>) -> Result<Term, BoundError> {
    let (class, kind) = match piece.word().find('.') {
        Some(dot) => {
            let (class, kind) = piece.around(dot, 1);
            (class, Some(kind))
        }
        None => (piece, None),
    };
    let class_of = |class: Piece<'_>| match class.word() {
        "masked" => Ok(Class::Masked),
        "sdc" => Ok(Class::Sdc),
        "due" => Ok(Class::Due),
        "" => class.wrong(format!("there is no outcome; it is one of {}", CLASSES.join(", "))),
        // Who writes a part as kernel:NAME.sdc means it, and wants to know how.
        word if word.contains(':') => class.wrong("a part ends with a slash; write for example kernel:gemm/sdc>0.05"),
        word => class.wrong(format!("unknown outcome `{word}`; did you mean `{}`?", nearest(word, &CLASSES))),
    };
    let class = class_of(class)?;
    let Some(kind) = kind else { return Ok(Term { class, kind: None }) };
    let known = kinds(class);
    let word = kind.word();
    let bin = class == Class::Sdc && Outcome::from_words(class, Some(word)).is_some();
    if bin || known.contains(&word) {
        return Ok(Term { class, kind: Some(word.to_owned()) });
    }
    kind.wrong(format!("unknown kind `{word}` of {class}; did you mean `{}`?", nearest(word, &known)))
}

/// The words for kinds of a class; bins by their number come besides.
fn kinds(class: Class) -> Vec<&'static str> {
    match class {
        Class::Masked => Masked::ALL.iter().map(|masked| masked.word()).collect(),
        Class::Sdc => vec!["unjudged", "good", MAYBE, "bad", "detectable"],
        _ => Due::all().map(Due::word).chain([CRASH]).collect(),
    }
}

/// A share, or a percentage of one.
fn limit(number: Piece<'_>) -> Result<f64, BoundError> {
    let word = number.word();
    let (digits, unit) = word.strip_suffix('%').map_or((word, 1.0), |digits| (digits.trim_end(), 100.0));
    match digits.parse::<f64>() {
        Ok(value) if (0.0..=unit).contains(&value) => Ok(value / unit),
        Ok(value) if unit == 1.0 && (1.0..=100.0).contains(&value) => {
            number.wrong(format!("a rate is from 0 to 1; did you mean `{value}%`?"))
        }
        Ok(_) => number.wrong("a rate is from 0 to 1, or from 0% to 100%"),
        Err(_) => number.wrong("expected a number; write for example 0.05 or 5%"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn read(text: &str) -> Bound {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn check_error(text: &str, expected: &Expect) {
        expected.assert_eq(&format!("{}\n", text.parse::<Bound>().unwrap_err()));
    }

    #[test]
    fn a_bound_has_a_part_a_sum_a_comparison_and_a_limit() {
        let term = |class, kind: Option<&str>| Term { class, kind: kind.map(str::to_owned) };
        let bound = read("line:src/a.cu:12/sdc.maybe_3 + due.hang >= 1.5 %");
        assert_eq!(bound.scope, Subpopulation::Line("src/a.cu".into(), 12));
        assert_eq!(bound.terms, [term(Class::Sdc, Some("maybe_3")), term(Class::Due, Some("hang"))]);
        assert_eq!((bound.comparison, bound.limit), (Comparison::AtLeast, 0.015));
        assert_eq!(read("gemm/sdc>0.05").scope, read("kernel:gemm/sdc>0.05").scope);
        assert_eq!(read("void k<1>(int)/sdc<=0").scope, Subpopulation::Kernel("void k<1>(int)".into()));
        assert_eq!(read("group:fp32_fma/masked<90%").limit, 0.9);
    }

    #[test]
    fn a_long_bound_is_shown_as_a_short_one() {
        let text = format!("{}/sdc>=1%x", "k".repeat(70_000));
        let error = text.parse::<Bound>().unwrap_err().to_string();
        assert!(error.lines().last().unwrap().ends_with(" ^^^") || error.ends_with('^'), "{error}");
    }

    #[test]
    fn a_bound_is_written_as_it_was_read() {
        for text in ["sdc>0.05", "due>=1%", "sdc+due>0.1", "gemm/sdc.bad>0", "line:a.cu:3/due.crash<1e-3"] {
            assert_eq!(read(text).to_string(), text);
            assert_eq!(
                serde_json::from_str::<Bound>(&serde_json::to_string(&read(text)).unwrap()).unwrap(),
                read(text)
            );
        }
    }

    #[test]
    fn what_cannot_be_read_is_marked_with_what_was_meant() {
        let texts = [
            (
                "sdc.bda>0.05",
                expect![[r#"
                read the bound, column 5: unknown kind `bda` of sdc; did you mean `bad`?
                    sdc.bda>0.05
                        ^^^
            "#]],
            ),
            (
                "sdc + deu>0.05",
                expect![[r#"
                read the bound, column 7: unknown outcome `deu`; did you mean `due`?
                    sdc + deu>0.05
                          ^^^
            "#]],
            ),
            (
                "kernel:gemm.sdc>0.05",
                expect![[r#"
                read the bound, column 1: a part ends with a slash; write for example kernel:gemm/sdc>0.05
                    kernel:gemm.sdc>0.05
                    ^^^^^^^^^^^
            "#]],
            ),
            (
                "grup:load/sdc>0",
                expect![[r#"
                read the bound, column 1: unknown part `grup`; did you mean `group`?
                    grup:load/sdc>0
                    ^^^^
            "#]],
            ),
            (
                "sdc>5",
                expect![[r#"
                read the bound, column 5: a rate is from 0 to 1; did you mean `5%`?
                    sdc>5
                        ^
            "#]],
            ),
            (
                "sdc>",
                expect![[r#"
                read the bound, column 5: expected a number; write for example 0.05 or 5%
                    sdc>
                        ^
            "#]],
            ),
            (
                "sdc=0.1",
                expect![[r#"
                read the bound, column 8: there is no comparison; write for example sdc>0.05 or due>=1%
                    sdc=0.1
                           ^
            "#]],
            ),
            (
                "sdc+sdc.bad>0.1",
                expect![[r#"
                read the bound, column 5: this is in the sum already; each run counts once
                    sdc+sdc.bad>0.1
                        ^^^^^^^
            "#]],
            ),
            (
                "line:a.cu/sdc>0.1",
                expect![[r#"
                    read the bound, column 1: a line is FILE:NUMBER; write for example line:gemm.cu:12/sdc>0.05
                        line:a.cu/sdc>0.1
                        ^^^^^^^^^
                "#]],
            ),
            (
                "/sdc>0.1",
                expect![[r#"
                read the bound, column 1: there is no name; write for example kernel:gemm/sdc>0.05
                    /sdc>0.1
                    ^
            "#]],
            ),
            (
                ">0.1",
                expect![[r#"
                read the bound, column 1: there is no outcome; it is one of masked, sdc, due
                    >0.1
                    ^
            "#]],
            ),
        ];
        for (text, expected) in texts {
            check_error(text, &expected);
        }
    }

    #[test]
    fn no_text_panics() {
        for text in
            ["", "é>", "sdc>é%", "+>1%", "ß/sdc.é>1", "<>", ">=", "line:é:1/sdc>0", "sdc>nan", "sdc>-0.1", "sdc>inf%"]
        {
            if let Err(error) = text.parse::<Bound>() {
                assert!(error.to_string().lines().count() == 3, "{error}");
            }
        }
    }
}
