//! What to say of an instruction that is not supported.

use super::cursor::shorten;
use crate::error::{Diagnostic, Span};
use isa::op::spelling;
use isa::{Alu, Special, Type};
use std::collections::BTreeSet;

/// The help for what is refused on purpose.
pub(super) const REFUSED: &str =
    "Beamline refuses what it cannot execute faithfully; docs/supported.md lists what it can";

/// First words of the families that are not in the table of pure instructions.
const FAMILIES: &[&str] = &[
    "activemask",
    "alloca",
    "atom",
    "bar",
    "barrier",
    "bra",
    "brkpt",
    "brx",
    "call",
    "cp",
    "createpolicy",
    "cvta",
    "elect",
    "exit",
    "fence",
    "getctarank",
    "griddepcontrol",
    "isspacep",
    "ld",
    "ldmatrix",
    "ldu",
    "mapa",
    "match",
    "mbarrier",
    "membar",
    "mma",
    "movmatrix",
    "nanosleep",
    "red",
    "redux",
    "ret",
    "set",
    "setp",
    "shfl",
    "st",
    "stackrestore",
    "stacksave",
    "stmatrix",
    "suld",
    "sust",
    "tex",
    "tld4",
    "trap",
    "vote",
    "wmma",
];

/// Modifiers of families, beside types, spaces and what the table has.
const MODIFIERS: &[&str] = &[
    "v2", "v4", "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "sync", "aligned", "cta", "gpu", "sys", "relaxed",
    "acquire", "release", "acq_rel", "volatile", "weak", "inc", "dec", "exch", "cas", "add", "min", "max", "and", "or",
    "xor", "popc", "up", "down", "bfly", "idx", "all", "any", "uni", "ballot", "to", "arrive", "red", "warp", "gl",
    "sc", "level", "a1d", "a2d", "clamp", "zero", "global", "shared", "local", "const", "param",
];

/// The mistake of an unsupported instruction, with the nearest supported one if that is to be looked for.
pub(super) fn unsupported(spelling: &str, span: Span, look: bool) -> Box<Diagnostic> {
    let message = format!("the instruction `{}` is not supported", shorten(spelling));
    let mistake = Diagnostic::new(span, message);
    match look.then(|| nearest(spelling)).flatten() {
        Some(nearest) => mistake.label(format!("the nearest supported is `{nearest}`")).help(REFUSED),
        None => mistake.help(REFUSED),
    }
}

/// The supported spelling that is nearest among those that differ in one word behind the first.
fn nearest(spelling: &str) -> Option<String> {
    let words: Vec<&str> = spelling.split('.').collect();
    let head = *words.first()?;
    let vocabulary = vocabulary(head)?;
    if words.len() > 12 || spelling.len() > 120 {
        return None;
    }
    let mut best: Option<(usize, String)> = None;
    let mut consider = |candidate: Vec<&str>| {
        let candidate = candidate.join(".");
        if candidate != spelling && spelling::parse(&candidate).is_some() {
            let distance = distance(spelling, &candidate);
            if best.as_ref().is_none_or(|best| (distance, &candidate) < (best.0, &best.1)) {
                best = Some((distance, candidate));
            }
        }
    };
    for at in 1..=words.len() {
        let (before, after) = words.split_at(at);
        let rest = after.get(1..).unwrap_or_default();
        consider([before, rest].concat());
        for &word in &vocabulary {
            consider([before, &[word], after].concat());
            consider([before, &[word], rest].concat());
        }
    }
    best.map(|(_, spelling)| spelling)
}

/// The words that may follow a first word; `None` if no instruction begins with it.
fn vocabulary(head: &str) -> Option<BTreeSet<&'static str>> {
    let mut words: BTreeSet<&'static str> = BTreeSet::new();
    let mut known = FAMILIES.contains(&head);
    if known {
        words.extend(MODIFIERS);
        words.extend(Type::ALL.iter().map(|ty| ty.word()));
    }
    for alu in Alu::spelled() {
        let pattern = alu.pattern();
        let parts = || pattern.split(['.', '{', '|', '}']).filter(|part| !part.is_empty());
        let heads = pattern.split(['.', '}']).next().unwrap_or_default();
        if heads.split(['{', '|']).any(|word| word == head) {
            known = true;
            words.extend(parts());
        }
    }
    known.then_some(words)
}

/// Edit distance of two short texts, in bytes (Wagner & Fischer 1974).
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.bytes().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

/// Whether a name is that of a special register of PTX, supported or not, or of one without its component.
pub(super) fn is_special(name: &str) -> bool {
    const OTHERS: &[&str] = &["%envreg", "%pm"];
    let base = name.split('.').next().unwrap_or(name);
    let supported = |special: &Special| special.word().split('.').next() == Some(base);
    OTHERS.iter().any(|other| name.starts_with(other)) || Special::ALL.iter().any(supported)
}
