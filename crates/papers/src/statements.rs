//! What a paper says that numbers can decide, each with our numbers, the rule that decides, and what it decides.

use study::{Cell, Table};

/// Something that the paper says.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it says.
    pub claim: String,
    /// Its numbers.
    pub paper: String,
    /// Ours.
    pub ours: String,
    /// What decides, and what is decided.
    pub judged: Judged,
}

/// Whether a statement holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Holds,
    /// It does not.
    Fails,
    /// These campaigns do not tell.
    Open,
}

impl Verdict {
    /// As tables say it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "yes",
            Self::Fails => "no",
            Self::Open => "undecided",
        }
    }

    /// What is decided either way.
    pub(crate) fn plain(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }

    /// "Most": it holds for more than half of all, fails if the contrary does for at least half, and is undecided else.
    pub(crate) fn most(holds: usize, contrary: usize, all: usize) -> Self {
        if 2 * holds > all {
            Self::Holds
        } else if 2 * contrary >= all {
            Self::Fails
        } else {
            Self::Open
        }
    }

    /// The verdict by several thresholds that the paper does not give: undecided where it changes.
    pub(crate) fn same(several: impl IntoIterator<Item = Self>) -> Self {
        let mut several = several.into_iter();
        let first = several.next().unwrap_or(Self::Open);
        if several.all(|it| it == first) { first } else { Self::Open }
    }

    /// All of several statements.
    pub(crate) fn all(several: impl IntoIterator<Item = Self>) -> Self {
        let several: Vec<Self> = several.into_iter().collect();
        if several.contains(&Self::Fails) {
            Self::Fails
        } else if several.contains(&Self::Open) {
            Self::Open
        } else {
            Self::Holds
        }
    }
}

/// A verdict with its rule.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What is asked, in words.
    pub rule: String,
    /// What comes of it.
    pub verdict: Verdict,
}

impl Judged {
    pub(crate) fn by(rule: impl Into<String>, verdict: Verdict) -> Self {
        Self { rule: rule.into(), verdict }
    }

    pub(crate) fn plain(rule: impl Into<String>, holds: bool) -> Self {
        Self::by(rule, Verdict::plain(holds))
    }
}

/// The statements of a part of the paper.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name of its table on the page.
    pub name: &'static str,
    /// The statements.
    pub statements: Vec<Statement>,
}

impl Part {
    /// As a table.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new(self.name, &["the paper says", "its numbers", "ours", "it holds if", "holds"]);
        table.rows.extend(self.statements.iter().map(|it| {
            [&it.claim, &it.paper, &it.ours, &it.judged.rule, it.judged.verdict.word()].map(Cell::text).to_vec()
        }));
        table
    }
}

/// Says of each statement by which other choices it comes out otherwise, and returns of how many statements there is such a one. A choice
/// has a name, and the same statements judged by it.
pub(crate) fn mark(parts: &mut [Part], choices: &[(&str, Vec<Part>)]) -> usize {
    let mut differing = 0;
    for (number, part) in parts.iter_mut().enumerate() {
        for (at, statement) in part.statements.iter_mut().enumerate() {
            let others = choices.iter().map(|(name, parts)| (name, parts[number].statements[at].judged.verdict));
            let others: Vec<String> = others
                .filter(|(_, verdict)| *verdict != statement.judged.verdict)
                .map(|(name, verdict)| format!("{name}: {}", verdict.word()))
                .collect();
            if !others.is_empty() {
                differing += 1;
                statement.ours = format!("{} ({})", statement.ours, others.join("; "));
            }
        }
    }
    differing
}

/// How many statements come out how, in a sentence; `of` is what they speak of.
#[must_use]
pub fn tally(parts: &[Part], of: &str) -> String {
    let all: Vec<&Statement> = parts.iter().flat_map(|part| &part.statements).collect();
    let count = |verdict: Verdict| all.iter().filter(|it| it.judged.verdict == verdict).count();
    format!(
        "Of {} statements of the paper that numbers can decide, {} hold for our {of}, {} do not, and {} cannot be decided by these \
         campaigns.",
        all.len(),
        count(Verdict::Holds),
        count(Verdict::Fails),
        count(Verdict::Open)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(verdicts: &[Verdict]) -> Part {
        let statement = |&verdict: &Verdict| Statement {
            claim: "it is so".to_owned(),
            paper: "1".to_owned(),
            ours: "2".to_owned(),
            judged: Judged::by("as much", verdict),
        };
        Part { name: "part", statements: verdicts.iter().map(statement).collect() }
    }

    #[test]
    fn several_hold_if_all_do_and_fail_if_one_does() {
        use Verdict::{Fails, Holds, Open};
        assert_eq!(Verdict::all([Holds, Holds]), Holds);
        assert_eq!(Verdict::all([Holds, Open]), Open);
        assert_eq!(Verdict::all([Open, Fails, Holds]), Fails);
        assert_eq!(
            [Verdict::same([Holds, Holds]), Verdict::same([Fails, Holds]), Verdict::same([])],
            [Holds, Open, Open]
        );
        assert_eq!([true, false].map(Verdict::plain), [Holds, Fails]);
    }

    #[test]
    fn a_table_has_the_rule_beside_its_verdict_and_a_sentence_counts_them() {
        let part = part(&[Verdict::Holds, Verdict::Open, Verdict::Holds]);
        let expected = ["it is so", "1", "2", "as much", "undecided"].map(Cell::text);
        assert_eq!(part.table().rows[1], expected);
        assert_eq!(
            tally(&[part], "kernels"),
            "Of 3 statements of the paper that numbers can decide, 2 hold for our kernels, 0 do not, and 1 cannot be decided by \
             these campaigns."
        );
    }
}
