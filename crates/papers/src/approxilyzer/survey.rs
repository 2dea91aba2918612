//! The applications of the chapter, each judged by the method as its command does.

use methods::approxilyzer::Approxilyzer;
use methods::kit::StudyError;
use methods::{Options, Request, registry};
use serde_json::Value;
use study::Plot;

use crate::page::PageContext;

/// Pilots of each heuristic, and members of each that are run.
pub(super) const SIZE: &str = "300x200";

/// An application of the chapter.
pub(super) struct Application {
    /// Its name here.
    pub(super) name: &'static str,
    /// Its name in the chapter.
    pub(super) paper: &'static str,
    /// The share of its sites that is studied.
    pub(super) coverage: &'static str,
    /// The branch decisions that instances of a class have in common.
    pub(super) decisions: &'static str,
}

/// The applications; a new one goes behind the others, as seeds count through.
pub(super) const APPLICATIONS: [Application; 6] = [
    Application { name: "blackscholes", paper: "Blackscholes", coverage: "0.99", decisions: "50" },
    Application { name: "swaptions", paper: "Swaptions", coverage: "0.99", decisions: "50" },
    Application { name: "lud", paper: "LU", coverage: "0.99", decisions: "50" },
    Application { name: "water", paper: "Water", coverage: "0.99", decisions: "5" },
    Application { name: "fft", paper: "FFT", coverage: "0.99", decisions: "50" },
    Application { name: "sobel", paper: "Sobel", coverage: "0.99", decisions: "50" },
];

/// The share of the sites that the chapter studies.
pub(super) const CHAPTERS: &str = "0.99";

/// The command that judges an application.
const COMMAND: &str = "approxilyzer";

/// An application, judged.
pub(super) struct Measured {
    /// Its name here.
    pub(super) name: &'static str,
    /// Its name in the chapter.
    pub(super) paper: &'static str,
    /// The share of its sites that is studied.
    pub(super) coverage: &'static str,
    /// The branch decisions that instances of a class have in common.
    pub(super) decisions: &'static str,
    /// The pilots that the chapter's coverage takes.
    pub(super) runs_of_chapter: u64,
    /// The document of the command.
    pub(super) document: Value,
    /// The overhead of protection by coverage, as the command plots it.
    pub(super) curve: Option<Plot>,
}

impl Measured {
    /// The count at a path of keys, `sites.all`; 0 where the document has none.
    pub(super) fn count(&self, path: &str) -> u64 {
        at(&self.document, path).and_then(Value::as_u64).unwrap_or_default()
    }

    /// The number at a path of keys, if the document has it.
    pub(super) fn number(&self, path: &str) -> Option<f64> {
        at(&self.document, path).and_then(Value::as_f64)
    }

    /// The list at a path of keys.
    pub(super) fn list(&self, path: &str) -> &[Value] {
        at(&self.document, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The output corruptions among the sites of the whole application or of some rows, by class.
    pub(super) fn corruptions(&self, of: impl Fn(&Value) -> bool) -> Corruptions {
        let rows = self.list("quality.by_instruction").iter().filter(|row| of(row));
        rows.fold(Corruptions::default(), |mut all, row| {
            let count = |key: &str| at(row, &format!("outcomes.{key}")).and_then(Value::as_u64).unwrap_or_default();
            all.good += count("good");
            all.maybe += count("maybe");
            all.bad += count("bad");
            all.detectable += count("detectable");
            all
        })
    }
}

/// Sites that corrupt an output, by class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corruptions {
    /// SDC-Good.
    pub(super) good: u64,
    /// SDC-Maybe.
    pub(super) maybe: u64,
    /// SDC-Bad.
    pub(super) bad: u64,
    /// Detectable data corruption.
    pub(super) detectable: u64,
}

impl Corruptions {
    /// All of them.
    pub(super) fn all(self) -> u64 {
        self.good + self.maybe + self.bad + self.detectable
    }

    /// Some of them as a share of all.
    pub(super) fn share(self, some: u64) -> f64 {
        some as f64 / self.all().max(1) as f64
    }
}

/// The value at a path of keys.
pub(super) fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// Whether an instruction of the document computes floating-point numbers.
pub(super) fn is_float(row: &Value) -> bool {
    let spelling = row.get("instruction").and_then(Value::as_str).unwrap_or_default();
    let last = spelling.rsplit('.').next().unwrap_or_default();
    last.starts_with('f') || last.starts_with("bf")
}

/// Judges every application, or one.
pub(super) fn survey(shop: &mut PageContext<'_, '_>, only: Option<&str>) -> Result<Vec<Measured>, StudyError> {
    let command = registry::commands().find(|command| command.name == COMMAND);
    let command =
        command.ok_or_else(|| StudyError::Words(format!("make the page: the command `{COMMAND}` is missing")))?;
    let mut all = Vec::new();
    for (number, Application { name, paper, coverage, decisions }) in (1..).zip(APPLICATIONS) {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let declared = Some(shop.workloads.declared(name)?);
        let defaults = command.options.iter().filter_map(|option| Some((option.key, option.default?.to_owned())));
        let chosen = [("coverage", coverage), ("decisions", decisions), ("validate", SIZE)];
        let chosen = chosen.map(|(key, value)| (key, value.to_owned()));
        let options = Options { values: defaults.chain(chosen).collect(), ..Options::default() };
        let criteria = command.criteria.map(|of| of(&options, declared.as_deref())).transpose()?.unwrap_or_default();
        let capsule = shop.workloads.judged(name, criteria)?;
        let method = format!("{COMMAND}:coverage={CHAPTERS},decisions={decisions}");
        let method = method.parse().map_err(|error| StudyError::Words(format!("read `{method}`: {error}")))?;
        let runs_of_chapter = Approxilyzer::new(&capsule, &shop.campaigns.selection(method))?.runs();
        shop.campaigns.seed = number;
        let answer = (command.run)(&Request { capsule, declared, options, commands: None }, shop.campaigns)?;
        let curve = answer.study.plots.into_iter().next();
        all.push(Measured { name, paper, coverage, decisions, runs_of_chapter, document: answer.json, curve });
    }
    Ok(all)
}
