//! Boards in a beam, each with its log and its fluence: are their rates alike?

use serde_json::{Value, json};
use stats::{Bounded, Confidence, RateHomogeneity, holm, poisson, rate_homogeneity};
use std::collections::BTreeMap;
use std::path::Path;
use study::{Cell, Table};

use super::super::bounded_view::{document, quantity};
use super::rates::Counts;
use super::words::{NamedNumber, numbers, positive, wrong};
use crate::kit::StudyError;

/// The key of the option.
const KEY: &str = "fluence";

/// A log, and what was counted in it.
#[derive(Clone, Debug)]
pub(super) struct LogCounts {
    /// The file, as the command line names it.
    pub(super) name: String,
    /// By program.
    pub(super) counted: BTreeMap<String, Counts>,
}

/// Neutrons for each cm² that went through the GPUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fluence {
    /// By program, those of all its logs together.
    pub(super) total: BTreeMap<String, f64>,
    /// By program and log, where it is known of each.
    by_log: BTreeMap<String, BTreeMap<String, f64>>,
}

/// The log of this name: the whole one of the command line, or that of its file where one alone has it.
fn find<'a>(logs: &'a [LogCounts], part: &NamedNumber<'_>, name: &str) -> Result<&'a LogCounts, StudyError> {
    let last = |log: &LogCounts| Path::new(&log.name).file_name().is_some_and(|last| last == name);
    let whole = logs.iter().find(|log| log.name == name);
    let found: Vec<&LogCounts> = whole.map_or_else(|| logs.iter().filter(|log| last(log)).collect(), |log| vec![log]);
    let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    match *found {
        [log] => Ok(log),
        [] => Err(wrong(KEY, part.words, &format!("the logs are {}", names.join(", ")))),
        _ => Err(wrong(KEY, part.words, &format!("several logs have this name: name one of {}", names.join(", ")))),
    }
}

impl Fluence {
    /// Reads `iadd=1e11`, of all logs together, or `board1.log:iadd=1e11`, of each.
    ///
    /// # Errors
    /// If a part is neither, names a log or a program that is not there, or is there twice; or if a log that has runs of a program
    /// is without a fluence, and others have one.
    pub(super) fn read(text: &str, logs: &[LogCounts]) -> Result<Self, StudyError> {
        let programs = |logs: &[LogCounts]| {
            let mut names: Vec<String> = logs.iter().flat_map(|log| log.counted.keys().cloned()).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let all = programs(logs);
        let mut fluence = Self::default();
        for part in numbers(KEY, text, "PROGRAM=NUMBER or LOG:PROGRAM=NUMBER")? {
            let of_all = all.iter().any(|program| program == part.name);
            let twice = if let Some((log, program)) = part.name.rsplit_once(':').filter(|_| !of_all) {
                let log = find(logs, &part, log)?;
                if !log.counted.contains_key(program) {
                    let has = programs(std::slice::from_ref(log)).join(", ");
                    return Err(wrong(KEY, part.words, &format!("the runs of this log are of {has}")));
                }
                let of_program = fluence.by_log.entry(program.to_owned()).or_default();
                of_program.insert(log.name.clone(), part.number).is_some()
            } else if of_all {
                fluence.total.insert(part.name.to_owned(), part.number).is_some()
            } else {
                return Err(wrong(KEY, part.words, &format!("the logs are of {}", all.join(", "))));
            };
            if twice {
                return Err(wrong(KEY, part.words, "the program is there twice"));
            }
        }
        fluence.add_up(logs)?;
        Ok(fluence)
    }

    /// Adds the fluences of logs up, by program.
    fn add_up(&mut self, logs: &[LogCounts]) -> Result<(), StudyError> {
        for (program, by_log) in &self.by_log {
            let without = |log: &&LogCounts| log.counted.contains_key(program) && !by_log.contains_key(&log.name);
            if let Some(log) = logs.iter().find(without) {
                let name = &log.name;
                return Err(StudyError::Words(format!(
                    "compare the boards of {program}: the fluence of {name} is missing; add {name}:{program}=N to --{KEY}"
                )));
            }
            let sum = positive(KEY, by_log.values().sum())?;
            if self.total.insert(program.clone(), sum).is_some() {
                return Err(StudyError::Words(format!(
                    "read the fluence of {program}: --{KEY} has one of all logs and one of each; leave one of them out"
                )));
            }
        }
        Ok(())
    }
}

/// A program on a board.
struct Board {
    log: String,
    runs: u64,
    /// Events that the rates of a table count.
    events: u64,
    /// Neutrons for each cm².
    fluence: f64,
}

impl Board {
    /// Events by neutrons for each cm², in cm².
    fn cross_section(&self) -> Bounded {
        poisson(self.events, Confidence::PERCENT_95).times(1.0 / self.fluence)
    }
}

/// The boards of a program.
struct ProgramBoards {
    program: String,
    boards: Vec<Board>,
    /// None if there is one board, or no event.
    test: Option<RateHomogeneity>,
    /// The p-value by Holm's correction over the programs that are tested.
    corrected: Option<f64>,
}

impl ProgramBoards {
    fn differ(&self) -> bool {
        self.corrected.is_some_and(|p| p < Confidence::PERCENT_95.alpha())
    }
}

/// The boards of all programs whose fluences are known by log.
pub(super) struct BoardComparison {
    programs: Vec<ProgramBoards>,
}

impl BoardComparison {
    /// Compares them; none if no fluence is known by log.
    pub(super) fn of(logs: &[LogCounts], fluence: &Fluence) -> Option<Self> {
        let boards = |(program, by_log): (&String, &BTreeMap<String, f64>)| {
            let board = |log: &LogCounts| {
                let (counts, &fluence) = (log.counted.get(program)?, by_log.get(&log.name)?);
                Some(Board { log: log.name.clone(), runs: counts.runs, events: counts.rated(), fluence })
            };
            let boards: Vec<Board> = logs.iter().filter_map(board).collect();
            let counts: Vec<(u64, f64)> = boards.iter().map(|board| (board.events, board.fluence)).collect();
            ProgramBoards { program: program.clone(), boards, test: rate_homogeneity(&counts), corrected: None }
        };
        let mut programs: Vec<ProgramBoards> = fluence.by_log.iter().map(boards).collect();
        let p_values: Vec<f64> = programs.iter().filter_map(|it| Some(it.test?.test.p)).collect();
        for (it, p) in programs.iter_mut().filter(|it| it.test.is_some()).zip(holm(&p_values)) {
            it.corrected = Some(p);
        }
        (!programs.is_empty()).then_some(Self { programs })
    }

    /// As a document: by program its boards and the test, which is null where nothing can be compared.
    pub(super) fn json(&self) -> Value {
        let board = |it: &Board| {
            json!({
                "log": it.log, "runs": it.runs, "events": it.events, "fluence": it.fluence,
                "cross_section": document(it.cross_section()),
            })
        };
        let program = |it: &ProgramBoards| {
            let test = it.test.map(|found| {
                json!({
                    "statistic": found.test.statistic, "dof": found.test.dof, "p": found.test.p, "p_holm": it.corrected,
                    "exact": found.exact, "smallest_expected": found.smallest, "differ": it.differ(),
                })
            });
            let boards: Vec<Value> = it.boards.iter().map(board).collect();
            json!({ "program": it.program, "boards": boards, "homogeneity": test })
        };
        self.programs.iter().map(program).collect()
    }

    /// As tables: the boards, and whether they are alike.
    pub(super) fn tables(&self) -> [Table; 2] {
        let columns = ["program", "log", "runs", "events", "neutrons/cm²", "cross-section, cm²"];
        let mut boards = Table::new("By board", &columns);
        boards.notes.push("Events are those that the rates of a table count.".to_owned());
        let mut tests = Table::new(
            "Whether the boards are alike",
            &["program", "boards", "events", "χ²", "degrees of freedom", "p-value", "by Holm", "test"],
        );
        for it in &self.programs {
            for board in &it.boards {
                boards.rows.push(vec![
                    Cell::text(&it.program),
                    Cell::text(&board.log),
                    Cell::Count(board.runs),
                    Cell::Count(board.events),
                    Cell::Number(board.fluence),
                    quantity(board.cross_section()),
                ]);
            }
            let number =
                |of: fn(&RateHomogeneity) -> f64| it.test.as_ref().map_or(Cell::None, |it| Cell::Number(of(it)));
            tests.rows.push(vec![
                Cell::text(&it.program),
                Cell::Count(it.boards.len() as u64),
                Cell::Count(it.boards.iter().map(|board| board.events).sum()),
                number(|found| found.test.statistic),
                it.test.map_or(Cell::None, |found| Cell::Count(found.test.dof)),
                number(|found| found.test.p),
                it.corrected.map_or(Cell::None, Cell::Number),
                Cell::text(match it.test {
                    None => "one board, or no events",
                    Some(found) if found.exact => "exact",
                    Some(found) if found.smallest < 5.0 => "chi-square, rough: fewer than 5 events expected on a board",
                    Some(_) => "chi-square",
                }),
            ]);
        }
        tests.notes = self.sentences();
        [boards, tests]
    }

    /// Sentences about the tests, at a level of 5 %.
    fn sentences(&self) -> Vec<String> {
        let tested = self.programs.iter().filter(|it| it.test.is_some()).count();
        let differ: Vec<&ProgramBoards> = self.programs.iter().filter(|it| it.differ()).collect();
        if differ.is_empty() && tested > 0 {
            return vec!["At 5 % no test tells the boards apart.".to_owned()];
        }
        let sentence = |it: &ProgramBoards| {
            let p = it.corrected.unwrap_or(1.0);
            format!(
                "The boards differ in {}: if they had one rate, counts as unlike as these would have a chance of {p:.2e} (Holm's correction \
                 over the programs, {tested} tested). Its rate is a mean of boards that are not alike, and the bounds are too narrow: check the \
                 fluences and what the boards are.",
                it.program
            )
        };
        differ.into_iter().map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::category::Category;
    use super::*;

    fn log(name: &str, programs: &[(&str, u64)]) -> LogCounts {
        let counts = |&(program, events): &(&str, u64)| {
            let events = BTreeMap::from([(Category::OneBit, events), (Category::Hang, 70)]);
            (program.to_owned(), Counts { runs: 1000, events, ..Counts::default() })
        };
        LogCounts { name: name.to_owned(), counted: programs.iter().map(counts).collect() }
    }

    fn logs() -> Vec<LogCounts> {
        vec![
            log("a/one", &[("iadd", 9), ("fadd", 3)]),
            log("a/two", &[("iadd", 1), ("fadd", 6)]),
            log("b/two", &[("lds", 0)]),
        ]
    }

    #[test]
    fn boards_of_several_programs_are_tested_together() {
        let words = "one:iadd=1e11,a/two:iadd=1e11,one:fadd=1e11,a/two:fadd=2e11,b/two:lds=1e9";
        let fluence = Fluence::read(words, &logs()).unwrap();
        assert_eq!(fluence.total["iadd"], 2e11);
        let found = BoardComparison::of(&logs(), &fluence).unwrap();
        let document = found.json();
        let of = |at: usize, key: &str| document[at]["homogeneity"][key].clone();
        assert_eq!([0, 1, 2].map(|at| document[at]["program"].clone()), ["fadd", "iadd", "lds"]);
        assert!((of(1, "p").as_f64().unwrap() - 22.0 / 1024.0).abs() < 1e-12);
        assert!((of(1, "p_holm").as_f64().unwrap() - 44.0 / 1024.0).abs() < 1e-12, "of two tests: {document}");
        assert_eq!((of(0, "differ"), of(1, "differ")), (json!(false), json!(true)));
        assert!((of(0, "p").as_f64().unwrap() - 1.0).abs() < 1e-9, "just as the fluences: {document}");
        assert_eq!(document[2]["homogeneity"], Value::Null);
        assert_eq!(document[1]["boards"][0]["events"], 9, "a hang is not in the rates");
        assert!((document[1]["boards"][0]["cross_section"]["rate"].as_f64().unwrap() - 9e-11).abs() < 1e-20);
        let [boards, tests] = found.tables();
        assert_eq!((boards.rows.len(), tests.rows.len(), tests.notes.len()), (5, 3, 1));
        assert!(tests.notes[0].starts_with("The boards differ in iadd: "), "{:?}", tests.notes);
        let alike = Fluence::read("one:iadd=9e11,a/two:iadd=1e11", &logs()).unwrap();
        let [_, tests] = BoardComparison::of(&logs(), &alike).unwrap().tables();
        assert_eq!(tests.notes, ["At 5 % no test tells the boards apart."]);
        let together = Fluence::read("iadd=1e11", &logs()).unwrap();
        assert!(BoardComparison::of(&logs(), &together).is_none());
    }

    #[test]
    fn a_fluence_of_no_board_is_refused() {
        for (words, part) in [
            ("iadd", "read `iadd` for --fluence: expected PROGRAM=NUMBER or LOG:PROGRAM=NUMBER"),
            ("one:iadd=0", "read 0 for --fluence: it must be a number above 0"),
            ("three:iadd=1", "read `three:iadd=1` for --fluence: the logs are a/one, a/two, b/two"),
            ("two:iadd=1", "several logs have this name: name one of a/one, a/two, b/two"),
            ("one:lds=1", "the runs of this log are of fadd, iadd"),
            ("imad=1", "the logs are of fadd, iadd, lds"),
            ("one:iadd=1,a/one:iadd=2", "read `a/one:iadd=2` for --fluence: the program is there twice"),
            (
                "one:iadd=1",
                "compare the boards of iadd: the fluence of a/two is missing; add a/two:iadd=N to --fluence",
            ),
            (
                "one:iadd=1,a/two:iadd=1,iadd=2",
                "read the fluence of iadd: --fluence has one of all logs and one of each",
            ),
            ("one:iadd=1e308,a/two:iadd=1e308", "read inf for --fluence"),
        ] {
            let error = Fluence::read(words, &logs()).unwrap_err().to_string();
            assert!(error.contains(part), "{words}: {error}");
        }
    }
}
