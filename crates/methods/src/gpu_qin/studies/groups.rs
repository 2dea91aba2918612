//! Does grouping by dynamic instructions predict resilience?
//!
//! If it does, groups differ from each other and threads within a group do not. Both are the same question of counts in
//! classes: are the trials of several parts draws from one distribution over benign, SDC, crash and hang? The test is
//! χ² for homogeneity; its statistic divided by its degrees of freedom is about 1 where the parts are alike, whatever
//! their number, and larger where they are not.

use super::cells::{on_undecided, rate};
use crate::gpu_qin::estimate::of_ends;
use crate::gpu_qin::grouping::KernelGroups;
use crate::gpu_qin::measure::measure;
use crate::gpu_qin::settings::{Choice, Settings};
use crate::gpu_qin::trials::{ENDS, Trial, TrialEnd, ends_by};
use crate::kit::StudySubject;
use crate::kit::{Campaigns, StudyError};
use stats::{ChiSquare, homogeneity};
use study::{Cell, Study, Table};

/// Parts into which the threads of a group are divided, by their numbers: blocks of neighbours.
const PARTS: u64 = 8;
/// Trials that a group must have to be compared.
pub const LEAST: u64 = 100;
/// The level of the tests.
pub const LEVEL: f64 = 0.05;

/// The columns of a [`row`].
pub const COLUMNS: [&str; 9] = [
    "kernel",
    "groups compared",
    "between: χ²/df",
    "p",
    "crash rate, least",
    "crash rate, most",
    "within: χ²/df",
    "p",
    "explained",
];

/// How much parts differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispersion {
    /// Parts that were compared.
    pub parts: u64,
    /// χ² divided by its degrees of freedom.
    pub ratio: f64,
    /// How probable so large a statistic is if all parts are alike.
    pub p: f64,
    /// The least and the largest crash rate of a part.
    pub crash: (f64, f64),
}

/// Compares parts by the counts of their ends; `None` if fewer than two have trials.
#[must_use]
pub fn dispersion(parts: &[[u64; ENDS]]) -> Option<Dispersion> {
    let tried: Vec<[u64; ENDS]> = parts.iter().filter(|ends| ends.iter().sum::<u64>() > 0).copied().collect();
    let test = compare(&tried)?;
    let crash = tried.iter().map(|ends| ends[2] as f64 / ends.iter().sum::<u64>() as f64);
    let (least, most) = crash.fold((1.0_f64, 0.0_f64), |(least, most), rate| (least.min(rate), most.max(rate)));
    let ratio = test.statistic / test.dof as f64;
    Some(Dispersion { parts: tried.len() as u64, ratio, p: test.p, crash: (least, most) })
}

fn compare(parts: &[[u64; ENDS]]) -> Option<ChiSquare> {
    let rows: Vec<&[u64]> = parts.iter().map(<[u64; ENDS]>::as_slice).collect();
    homogeneity(&rows).map(|found| found.test)
}

pub(super) fn study(subjects: &[StudySubject], runs: u64, campaigns: &mut Campaigns<'_>) -> Result<Study, StudyError> {
    let mut study = Study::new(
        "groups",
        "Whether grouping predicts resilience",
        format!(
            "A campaign of {runs} runs with the unbiased choice; each trial belongs to the group of the thread that it hit. \
             Between: the groups of a kernel with at least {LEAST} activated trials are compared. Within: the threads of each \
             such group are divided into {PARTS} parts of neighbours and compared, and the statistics of all groups are \
             added up. χ²/df is about 1 for parts that are alike."
        ),
    );
    let mut table = Table::new("Spread between groups and within them", &COLUMNS);
    let columns = ["kernel", "instructions", "threads", "activated", "SDC rate", "crash rate", "hang rate"];
    let mut detail = Table::new("Rates by group", &columns);
    let mut undecided = 0;
    for subject in subjects {
        let settings = Settings { choice: Choice::Unbiased, ..Settings::default() };
        let measured = measure(campaigns, &subject.capsule, settings, runs)?;
        for (number, kernel) in measured.grouping.kernels.iter().enumerate() {
            let activated = |trial: &&Trial| trial.kernel == number && trial.is_activated(settings.window);
            let trials: Vec<Trial> = measured.trials.iter().filter(activated).copied().collect();
            let spread = Spread::of(&trials);
            undecided += trials.iter().filter(|trial| trial.end == TrialEnd::Undecided).count() as u64;
            let (between, within) = (spread.between.map(|it| it.p), spread.within.map(|it| it.p));
            table.rows.push(row(fault::base_name(&kernel.kernel), &spread, between, within));
            detail.rows.extend(rates(kernel, &trials));
        }
    }
    detail.notes.extend(on_undecided(undecided));
    table.notes.extend((undecided > 0).then(|| {
        "Undecided trials are an end of their own in the tests; crash rates are of those that are known to crash."
            .to_owned()
    }));
    study.tables.extend([table, detail]);
    Ok(study)
}

/// How the trials of a kernel spread between its groups and within them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Groups with enough trials to compare.
    pub groups: u64,
    /// Between them; none of one group.
    pub between: Option<Dispersion>,
    /// Within them, χ² of all groups added up; none where no group has two parts with trials.
    pub within: Option<ChiSquare>,
}

impl Spread {
    /// The spread of trials, all of them activated.
    #[must_use]
    pub fn of(trials: &[Trial]) -> Self {
        let groups = ends_by(trials.iter(), |trial| trial.group);
        let compared: Vec<(usize, [u64; ENDS])> =
            groups.into_iter().filter(|(_, ends)| ends.iter().sum::<u64>() >= LEAST).collect();
        let (mut statistic, mut dof) = (0.0_f64, 0);
        for (group, _) in &compared {
            let own: Vec<&Trial> = trials.iter().filter(|trial| trial.group == *group).collect();
            if let Some(test) = compare(&parts(&own)) {
                statistic += test.statistic;
                dof += test.dof;
            }
        }
        Self {
            groups: compared.len() as u64,
            between: dispersion(&compared.iter().map(|(_, ends)| *ends).collect::<Vec<_>>()),
            within: ChiSquare::of(statistic, dof),
        }
    }

    /// What two p-values say, that between groups and that within them.
    #[must_use]
    pub fn word(between: Option<f64>, within: Option<f64>) -> &'static str {
        let differ = |p: Option<f64>| p.is_some_and(|p| p < LEVEL);
        match (between, differ(between), differ(within)) {
            (None, _, false) => "one group with enough trials",
            (None, _, true) => "one group with enough trials, whose threads differ",
            (_, false, false) => "groups do not differ",
            (_, false, true) => "groups do not differ, threads within groups do",
            (_, true, false) => "yes: groups differ, their threads do not",
            (_, true, true) => "in part: threads within groups differ too",
        }
    }
}

/// Trials of a group by parts of neighbours: blocks where there are enough, else warps of a block.
fn parts(trials: &[&Trial]) -> Vec<[u64; ENDS]> {
    let most = trials.iter().map(|trial| trial.cta).max().unwrap_or(0) + 1;
    let part = |trial: &Trial| {
        if most >= PARTS { trial.cta * PARTS / most } else { u64::from(trial.thread) / 32 % PARTS }
    };
    ends_by(trials.iter().copied(), part).into_values().collect()
}

/// A spread, with the p-values that are to be shown of it: its own, or corrected ones.
#[must_use]
pub fn row(kernel: &str, spread: &Spread, between: Option<f64>, within: Option<f64>) -> Vec<Cell> {
    let number = |value: Option<f64>| value.map_or(Cell::None, Cell::Number);
    let share = |value: Option<f64>| value.map_or(Cell::None, Cell::Share);
    vec![
        Cell::text(kernel),
        Cell::Count(spread.groups),
        number(spread.between.map(|dispersion| dispersion.ratio)),
        number(between),
        share(spread.between.map(|dispersion| dispersion.crash.0)),
        share(spread.between.map(|dispersion| dispersion.crash.1)),
        number(spread.within.map(|test| test.statistic / test.dof as f64)),
        number(within),
        Cell::text(Spread::word(between, within)),
    ]
}

/// The rates of the most popular groups.
#[must_use]
pub fn rates(kernel: &KernelGroups, trials: &[Trial]) -> Vec<Vec<Cell>> {
    let by_group = ends_by(trials.iter(), |trial| trial.group);
    let mut rows = Vec::new();
    for (number, group) in kernel.groups.iter().enumerate().take(6) {
        let ends = by_group.get(&number).copied().unwrap_or_default();
        let trials: u64 = ends.iter().sum();
        rows.push(vec![
            Cell::text(fault::base_name(&kernel.kernel)),
            Cell::Count(group.instructions.into()),
            Cell::Share(group.popularity),
            Cell::Count(trials),
            rate(of_ends(ends, 1)),
            rate(of_ends(ends, 2)),
            rate(of_ends(ends, 3)),
        ]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_p_values_say_whether_groups_explain() {
        let word = |between, within| Spread::word(between, within);
        assert!(word(Some(0.001), Some(0.5)).starts_with("yes"));
        assert!(word(Some(0.001), Some(0.001)).starts_with("in part"));
        assert_eq!(word(Some(0.2), Some(0.2)), "groups do not differ");
        assert_eq!(word(None, None), "one group with enough trials");
    }

    #[test]
    fn parts_that_are_alike_have_a_small_ratio_and_others_a_large_one() {
        let alike = dispersion(&[[50, 30, 20, 0, 0], [52, 28, 20, 0, 0], [49, 30, 21, 0, 0]]).unwrap();
        assert!(alike.ratio < 1.0 && alike.p > 0.5, "{alike:?}");
        let unlike = dispersion(&[[90, 5, 5, 0, 0], [40, 30, 30, 0, 0]]).unwrap();
        assert!(unlike.ratio > 10.0 && unlike.p < 1e-6, "{unlike:?}");
        assert_eq!(unlike.crash, (0.05, 0.3));
        assert_eq!(dispersion(&[[1, 0, 0, 0, 0]]), None);
    }
}
