//! What the tests of every page ask of its statements and its pieces.

use std::collections::BTreeSet;
use study::{Cell, Table};

use crate::page::{MethodPage, Pieces};
use crate::statements::{Part, Statement, Verdict};

/// The words that a verdict may have.
const VERDICTS: [&str; 3] = ["yes", "no", "undecided"];

/// The one statement whose claim begins so.
pub(crate) fn statement<'p>(parts: &'p [Part], claim: &str) -> &'p Statement {
    let all = || parts.iter().flat_map(|part| &part.statements);
    let found: Vec<&Statement> = all().filter(|it| it.claim.starts_with(claim)).collect();
    let [only] = *found else {
        panic!("{} of these begin with `{claim}`: {:#?}", found.len(), all().map(|it| &it.claim).collect::<Vec<_>>())
    };
    only
}

/// What is decided of it.
pub(crate) fn verdict(parts: &[Part], claim: &str) -> Verdict {
    statement(parts, claim).judged.verdict
}

/// Every statement says something of its own, has a number or a name of ours, a rule, and one of the words for what it decides.
pub(crate) fn are_judged(parts: &[Part]) {
    let mut claims = BTreeSet::new();
    for part in parts {
        let table = part.table();
        assert_eq!(table.rows.len(), part.statements.len(), "{}", part.name);
        for (it, row) in part.statements.iter().zip(&table.rows) {
            assert!(!it.claim.is_empty() && claims.insert((part.name, &it.claim)), "{it:?}");
            assert!(!it.ours.is_empty() && !it.ours.contains("NaN"), "{it:?}");
            assert!(!it.judged.rule.is_empty(), "{it:?}");
            let [.., Cell::Text(rule), Cell::Text(word)] = &row[..] else { panic!("{row:?}") };
            assert_eq!(*rule, it.judged.rule);
            assert!(VERDICTS.contains(&word.as_str()), "{word}");
        }
    }
}

/// A table has rows, and each of them a cell for each column.
pub(crate) fn is_whole(name: &str, table: &Table) {
    assert!(!table.rows.is_empty(), "{name}");
    assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{name}");
}

/// Every place of the template has one piece, and every piece a place.
pub(crate) fn fill(page: &MethodPage, pieces: &Pieces) {
    let sizes = page.runs.iter().map(|kind| format!("runs-{}", kind.name));
    let names: Vec<String> = pieces.iter().map(|(name, _)| name.clone()).chain(sizes).collect();
    let made: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(made.len(), names.len(), "a piece is made twice");
    let places = page.template.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0));
    assert_eq!(places.collect::<BTreeSet<_>>(), made);
}

/// The page in `docs` has these statements and no others, each with the claim, the paper's numbers and the rule that it has now.
pub(crate) fn are_in(document: &str, parts: &[Part]) {
    let cells = |line: &str| {
        line.trim_matches('|').split('|').map(|it| it.trim().replace('\\', "").replace("&lt;", "<")).collect::<Vec<_>>()
    };
    let rows = document.lines().filter(|line| line.starts_with('|')).map(cells);
    let judged = rows.filter(|row| row.len() == 5 && VERDICTS.contains(&row[4].as_str()));
    let kept: BTreeSet<[String; 3]> = judged.map(|row| [row[0].clone(), row[1].clone(), row[3].clone()]).collect();
    let all = parts.iter().flat_map(|part| &part.statements);
    let now: BTreeSet<[String; 3]> =
        all.map(|it| [it.claim.clone(), it.paper.clone(), it.judged.rule.clone()]).collect();
    assert_eq!(kept, now);
}
