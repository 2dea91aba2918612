//! Analyses with early termination that were run, beside what the replay says of them.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use study::{Cell, Table};

use super::analysis::{Analysis, Planned};
use super::pilots::{Pc, Question, decided};
use super::priority::{Order, best, whole, without};
use crate::kit::{Campaigns, StudyError};

/// The names of the analyses, in tables and in the document.
const NAMES: [(&str, &str); 3] = [
    ("small input", "minimised"),
    ("reference", "reference"),
    ("reference, the instructions that the small input left", "reference_left"),
];

/// The analyses with early termination: of the small input, of the reference, and of the reference without the instructions that
/// the small input decided (input priority).
pub(super) struct EarlyEnds {
    question: Question,
    order: Order,
    seed: u64,
    analyses: [Analysis; 3],
    skipped: BTreeSet<Pc>,
}

/// One of the analyses, as it is shown.
struct Line {
    name: &'static str,
    key: &'static str,
    studied: u64,
    /// The runs of the order and of the best oracle as the replay has them, the seconds of all pilots, and whether all pilots find
    /// the same instructions.
    replay: Option<(u64, u64, f64, bool)>,
    runs: u64,
    rounds: u64,
    seconds: f64,
    found: u64,
}

impl EarlyEnds {
    /// Runs them; `whole` are the analyses of all pilots if they were run.
    ///
    /// # Errors
    /// If the runs cannot be made.
    pub(super) fn run(
        [small, reference]: &[Planned; 2],
        question: Question,
        order: &Order,
        whole: Option<&[Analysis; 2]>,
        campaigns: &mut Campaigns<'_>,
    ) -> Result<Self, StudyError> {
        let (none, times) = (BTreeSet::new(), |number: usize| whole.map(|whole| whole[number].times));
        let first = small.run_until(question, order, (&none, times(0)), campaigns)?;
        let second = reference.run_until(question, order, (&none, times(1)), campaigns)?;
        let skipped = decided(&first.pilots, question);
        let left = reference.run_until(question, order, (&skipped, Some(second.times)), campaigns)?;
        let seed = campaigns.seed;
        Ok(Self { question, order: order.clone(), seed, analyses: [first, second, left], skipped })
    }

    /// Those of the small input and of the whole reference.
    pub(super) fn both(&self) -> [&Analysis; 2] {
        [&self.analyses[0], &self.analyses[1]]
    }

    /// The seconds that one of them took, in the order of the table.
    pub(super) fn seconds(&self, number: usize) -> f64 {
        self.analyses[number].seconds
    }

    fn lines(&self, of_all: Option<&[Analysis; 2]>) -> Vec<Line> {
        let line = |(number, analysis): (usize, &Analysis)| {
            let none = BTreeSet::new();
            let skipped = if number == 2 { &self.skipped } else { &none };
            let found = decided(&analysis.pilots, self.question);
            let replay = of_all.map(|of_all| {
                let of_all = &of_all[number.min(1)];
                let pilots = || without(&of_all.pilots, skipped);
                let expected = decided(&of_all.pilots, self.question);
                (
                    self.order.runs(pilots(), self.question, self.seed).all(),
                    best(pilots(), self.question).all(),
                    of_all.seconds,
                    expected.difference(skipped).eq(found.iter()),
                )
            });
            let studied = of_all.map_or(analysis.studied, |of_all| {
                whole(without(&of_all[number.min(1)].pilots, skipped), self.question).all()
            });
            let (name, key) = NAMES[number];
            let Analysis { runs, rounds, seconds, .. } = *analysis;
            Line { name, key, studied, replay, runs, rounds, seconds, found: found.len() as u64 }
        };
        self.analyses.iter().enumerate().map(line).collect()
    }

    /// As a table; `of_all` are the analyses of all pilots if they were run.
    pub(super) fn table(&self, of_all: Option<&[Analysis; 2]>) -> Table {
        let found = match self.question {
            Question::Corrupting => "SDC-PCs",
            Question::Egregious => "not approximable",
        };
        let columns = [
            "analysis",
            "pilots",
            "by the replay",
            "oracle best",
            "run",
            "rounds",
            "seconds",
            "seconds of all pilots",
            found,
            "as with all pilots",
        ];
        let mut table = Table::new(format!("Early termination as it was run: {} order", self.order), &columns);
        let number = |seconds: f64| Cell::Number((seconds * 1000.0).round() / 1000.0);
        let row = |it: Line| {
            let of = |cell: fn((u64, u64, f64, bool)) -> Cell| it.replay.map_or(Cell::None, cell);
            vec![
                Cell::text(it.name),
                Cell::Count(it.studied),
                of(|(runs, ..)| Cell::Count(runs)),
                of(|(_, best, ..)| Cell::Count(best)),
                Cell::Count(it.runs),
                Cell::Count(it.rounds),
                number(it.seconds),
                of(|(.., seconds, _)| Cell::Number((seconds * 1000.0).round() / 1000.0)),
                Cell::Count(it.found),
                of(|(.., same)| Cell::text(if same { "yes" } else { "no" })),
            ]
        };
        table.rows = self.lines(of_all).into_iter().map(row).collect();
        table.notes.push(
            "A round runs the next 1, 1, 2, 4, 8 … pilots of each instruction that no pilot has decided yet, all in one campaign. \
             A round goes on behind the pilot that decides an instruction, so that more are run than the replay counts."
                .to_owned(),
        );
        table
    }

    /// In the document.
    pub(super) fn document(&self, of_all: Option<&[Analysis; 2]>) -> Value {
        let line = |it: Line| {
            let mut line = json!({
                "analysis": it.key, "pilots": it.studied, "run": it.runs, "rounds": it.rounds, "seconds": it.seconds,
                "found": it.found,
            });
            if let Some((runs, best, seconds, same)) = it.replay {
                line["replay"] = json!(runs);
                line["oracle_best"] = json!(best);
                line["seconds_of_all"] = json!(seconds);
                line["same"] = json!(same);
            }
            line
        };
        let lines: Vec<Value> = self.lines(of_all).into_iter().map(line).collect();
        json!({ "order": self.order.to_string(), "analyses": lines })
    }
}
