//! The columns of the table `run`: those that all rows have, and among them those that the target declares.
//!
//! One list gives the schema, the order in which rows are encoded and that in which they are decoded. What results are
//! grouped or filtered by has a column of its own; the comparisons of outputs are JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::site::{LabelColumn, LabelKind};

/// What a run was to hit: name and declaration. `group` is a word of SQL.
const SITE: &[(&str, &str)] = &[
    ("run", "INTEGER PRIMARY KEY"),
    ("fault", "TEXT CHECK ((fault IS NULL) = (given_up IS NOT NULL))"),
    ("given_up", "TEXT CHECK (given_up IS NULL OR outcome = 'not_landed')"),
    ("weight", "INTEGER NOT NULL CHECK (weight > 0)"),
    ("kernel", "TEXT NOT NULL"),
    ("pc", "INTEGER NOT NULL"),
    ("target", "TEXT NOT NULL"),
    ("instruction_group", "TEXT NOT NULL"),
    ("opcode", "TEXT NOT NULL"),
    ("file", "TEXT"),
    ("line", "INTEGER"),
];

/// What came of it, and what was seen.
const FINDING: &[(&str, &str)] = &[
    ("outcome", "TEXT NOT NULL CHECK (outcome IN ('masked', 'sdc', 'due', 'undecided', 'not_landed', 'failed'))"),
    ("kind", "TEXT"),
    ("classifier", "INTEGER"),
    ("error", "TEXT CHECK ((error IS NOT NULL) = (outcome = 'failed'))"),
    ("landed_before", "TEXT"),
    ("landed_after", "TEXT"),
    ("landed_threads", "INTEGER"),
    ("first_use", "TEXT CHECK (first_use IN ('read', 'overwritten', 'never'))"),
    ("first_use_after", "INTEGER"),
    (
        "ended",
        "TEXT CHECK (ended IN ('completed', 'trapped', 'hang', 'out_of_fuel', 'detected', 'exited', 'signalled', 'timed_out'))",
    ),
    ("ended_by", "TEXT"),
    ("ended_kernel", "TEXT"),
    ("ended_pc", "INTEGER"),
    ("ended_line", "INTEGER"),
    ("ended_after", "INTEGER"),
    ("ended_address", "TEXT"),
    ("outputs", "TEXT"),
    ("host_visible", "INTEGER"),
    ("strayed", "INTEGER"),
    ("instructions", "INTEGER"),
    ("tier", "TEXT"),
    // What the application did, as JSON, where it ran itself.
    ("host", "TEXT"),
];

/// A column of the table `run`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Whether it holds integers; else it holds text.
    pub integer: bool,
    /// Whether every row has a value.
    pub required: bool,
}

/// The table.
pub(super) fn table(labels: &[LabelColumn]) -> String {
    format!("CREATE TABLE run ({}) STRICT;", declarations(labels))
}

/// The declaration of every column, in order.
fn declarations(labels: &[LabelColumn]) -> String {
    let label = |label: &LabelColumn| match label.kind {
        LabelKind::Number => format!("{} INTEGER", label.name),
        LabelKind::Text => format!("{} TEXT", label.name),
    };
    let fixed = |&(name, declaration): &(&str, &str)| format!("{name} {declaration}");
    let all = SITE.iter().map(fixed).chain(labels.iter().map(label)).chain(FINDING.iter().map(fixed));
    all.collect::<Vec<_>>().join(", ")
}

/// Every column, in order.
pub(super) fn columns(labels: &[LabelColumn]) -> Vec<Column> {
    let fixed = |&(name, declaration): &(&'static str, &str)| Column {
        name: Cow::Borrowed(name),
        integer: declaration.starts_with("INTEGER"),
        // A CHECK may speak of NOT NULL as well.
        required: declaration
            .split_once(' ')
            .is_some_and(|(_, rest)| rest.starts_with("NOT NULL") || rest.starts_with("PRIMARY KEY")),
    };
    let label = |label: &LabelColumn| Column {
        name: label.name.clone(),
        integer: label.kind == LabelKind::Number,
        required: false,
    };
    SITE.iter().map(fixed).chain(labels.iter().map(label)).chain(FINDING.iter().map(fixed)).collect()
}

/// The names of all columns, joined by commas.
pub(super) fn names(labels: &[LabelColumn]) -> String {
    columns(labels).iter().map(|column| column.name.as_ref()).collect::<Vec<_>>().join(", ")
}

/// Says what is wrong with the labels that a target declares, if anything is: their names become part of SQL.
pub(super) fn check(labels: &[LabelColumn]) -> Result<(), String> {
    let fixed = SITE.iter().chain(FINDING).map(|column| column.0);
    let mut known: BTreeSet<&str> = fixed.collect();
    for LabelColumn { name, .. } in labels {
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(letters) {
            return Err(format!("the label `{name}` has other letters than a-z, 0-9 and _"));
        }
        if !known.insert(name) {
            return Err(format!("the label `{name}` is there already"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_between_what_was_to_be_hit_and_what_was_seen() {
        let labels = [LabelColumn::number("launch", ""), LabelColumn::text("bits", "")];
        let columns = columns(&labels);
        let place = |name: &str| columns.iter().position(|column| column.name == name).unwrap();
        assert_eq!([place("line") + 1, place("bits") + 1], [place("launch"), place("outcome")]);
        assert!(columns[place("launch")].integer && !columns[place("bits")].integer);
        assert!(declarations(&labels).contains("line INTEGER, launch INTEGER, bits TEXT, outcome TEXT NOT NULL"));
    }

    #[test]
    fn names_that_are_no_columns_of_their_own_are_refused() {
        let refused = |name: &'static str| check(&[LabelColumn::number(name, "")]).unwrap_err();
        for name in ["", "Launch", "1st", "a b", "x;DROP TABLE run", "größe"] {
            assert!(refused(name).contains("other letters"), "{name}");
        }
        assert!(refused("outcome").contains("there already"));
        let twice = [LabelColumn::number("layer", ""), LabelColumn::text("layer", "")];
        assert!(check(&twice).unwrap_err().contains("there already"));
        assert_eq!(check(&[LabelColumn::number("layer", "")]), Ok(()));
    }
}
