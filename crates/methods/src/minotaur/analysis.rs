//! The analysis of an input by [Approxilyzer](crate::approxilyzer): all its pilots, or rounds of them with early termination.

use campaign::{LabelColumn, Planner, RunIndex, SelectionWords, Site, Subject, TargetError};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::pilots::{Judges, Pc, Pilot, PilotFinding, Pilots, Question, decided};
use super::priority::{Order, whole};
use super::times::{TimedSites, Times};
use crate::approxilyzer::{Approxilyzer, MOST, Settings, SiteCounts};
use crate::kit::{Campaigns, MethodSettings, OpenedCapsule, StudyError, now};

/// The error sites of an input in their classes: all that is to be known before the first run.
pub(super) struct Planned {
    capsule: OpenedCapsule,
    method: Approxilyzer,
    selection: SelectionWords,
    judges: Judges,
    /// The seconds that it took to find the classes.
    seconds: f64,
    /// The runs of the pilots that are studied.
    runs: Vec<u64>,
}

/// Pilots that are run and kept at a time.
const PART: usize = 10_000;

/// Some of the pilots of a method.
struct ChosenPilots<'a> {
    method: &'a Approxilyzer,
    runs: &'a [u64],
}

impl Planner for ChosenPilots<'_> {
    fn runs(&self) -> Option<u64> {
        Some(self.runs.len() as u64)
    }

    fn labels(&self) -> &[LabelColumn] {
        self.method.labels()
    }

    fn plan(&self, runs: &[RunIndex], words: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let chosen = |run: &RunIndex| self.runs.get(run.0 as usize).copied().unwrap_or(u64::MAX);
        let chosen: Vec<RunIndex> = runs.iter().map(|run| RunIndex(chosen(run))).collect();
        self.method.plan(&chosen, words, seed)
    }
}

/// The instructions that are executed most often, up to this share of all executions, and the share that they make up.
fn hottest(executed: impl Iterator<Item = (Pc, u64)>, share: f64) -> (BTreeSet<Pc>, f64) {
    let mut executed: Vec<(Pc, u64)> = executed.collect();
    executed.sort_by(|(pc, one), (other, two)| two.cmp(one).then_with(|| pc.cmp(other)));
    let all: u64 = executed.iter().map(|(_, executed)| executed).sum();
    let (mut hot, mut sum) = (BTreeSet::new(), 0);
    for (pc, executed) in executed {
        if sum as f64 >= share * all as f64 {
            break;
        }
        sum += executed;
        hot.insert(pc);
    }
    (hot, sum as f64 / all.max(1) as f64)
}

/// At most `limit` runs of these, evenly spaced among all.
fn chosen(ranges: impl Iterator<Item = Range<u64>>, limit: u64) -> Vec<u64> {
    let ranges: Vec<Range<u64>> = ranges.collect();
    let all: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let some = all.min(limit).min(MOST + 1);
    let (mut runs, mut before) = (Vec::new(), 0);
    for range in ranges {
        let end = before + (range.end - range.start);
        while (runs.len() as u64) < some {
            let place = (u128::from(runs.len() as u64) * u128::from(all) / u128::from(some)) as u64;
            if place >= end {
                break;
            }
            runs.push(range.start + (place - before));
        }
        before = end;
    }
    runs
}

/// The analysis of one input.
#[derive(Default)]
pub(super) struct Analysis {
    /// The account of its error sites.
    pub(super) sites: SiteCounts,
    /// The pilots of the instructions that are studied, run or not; fewer than there are where a limit says so.
    pub(super) studied: u64,
    /// The pilots that were run.
    pub(super) runs: u64,
    /// The campaigns that ran them, one after the other.
    pub(super) rounds: u64,
    /// By instruction, its pilots that ended; an instruction that has any is explored.
    pub(super) pilots: Pilots,
    /// The time of the campaigns as a clock says, in seconds.
    pub(super) seconds: f64,
    /// The parts of Equation 3.1.
    pub(super) times: Times,
}

impl Planned {
    /// Finds the classes of an input.
    ///
    /// # Errors
    /// If there are none.
    pub(super) fn of(
        capsule: &OpenedCapsule,
        settings: &Settings,
        judges: Judges,
        campaigns: &Campaigns<'_>,
    ) -> Result<Self, StudyError> {
        let begin = now();
        let selection = campaigns.selection(settings.choice());
        let method = Approxilyzer::of_any_size(capsule, &selection)
            .map_err(|error| StudyError::Refused(format!("analyse {}: {error}", capsule.name())))?;
        let (capsule, seconds) = (capsule.clone(), begin.elapsed().as_secs_f64());
        Ok(Self { capsule, method, selection, judges, seconds, runs: Vec::new() })
    }

    /// The same with at most `limit` pilots, evenly spaced: a class has one for each of its bits, and the largest classes come
    /// first. Of `hot` instructions alone, if they are given.
    ///
    /// # Errors
    /// If these are more pilots than can be kept.
    pub(super) fn choose(self, limit: u64, hot: Option<&BTreeSet<Pc>>) -> Result<Self, StudyError> {
        let is_hot =
            |(kernel, instruction): (&str, u32)| hot.is_none_or(|hot| hot.contains(&(kernel.to_owned(), instruction)));
        let ranges = self.method.ranges().filter(|(pc, _)| is_hot(*pc)).map(|(_, runs)| runs);
        let runs = chosen(ranges, limit);
        if runs.len() as u64 > MOST {
            return Err(StudyError::Refused(format!(
                "analyse {}: {} of its error sites take more than {MOST} pilots, which are the most; name fewer with --pilots, \
                 lower the share with --sites, or take a smaller reference with a description of your own (--space F.toml)",
                self.capsule.name(),
                self.method.settings().coverage
            )));
        }
        Ok(Self { runs, ..self })
    }

    /// The instructions that are executed most often, up to this share of all dynamic instructions, and the share that they make
    /// up.
    pub(super) fn hot(&self, share: f64) -> (BTreeSet<Pc>, f64) {
        hottest(self.method.executed().map(|((kernel, pc), executed)| ((kernel.to_owned(), pc), executed)), share)
    }

    /// Runs all pilots.
    ///
    /// # Errors
    /// If the runs cannot be made.
    pub(super) fn run(&self, campaigns: &mut Campaigns<'_>) -> Result<Analysis, StudyError> {
        let (mut analysis, mut timed) = (self.begun(), TimedSites::default());
        self.round(&self.runs, &mut analysis, &mut timed, campaigns)?;
        analysis.times.run = timed.seconds(&self.capsule);
        Ok(analysis)
    }

    /// Runs pilots in rounds of 1, 1, 2, 4, 8 … for each instruction that is not decided, in an order; the round in which a
    /// pilot decides an instruction is its last. Of `skipped` instructions none is run; `times` are the times of runs where they
    /// are known already.
    ///
    /// # Errors
    /// If the runs cannot be made.
    pub(super) fn run_until(
        &self,
        question: Question,
        order: &Order,
        (skipped, times): (&BTreeSet<Pc>, Option<Times>),
        campaigns: &mut Campaigns<'_>,
    ) -> Result<Analysis, StudyError> {
        let (mut analysis, mut timed) = (self.begun(), TimedSites::default());
        let mut open = self.open(order, skipped, campaigns.seed)?;
        let mut size = 1;
        while !open.is_empty() {
            let mut runs: Vec<u64> = Vec::new();
            for left in open.values_mut() {
                // The next ones stand at the end.
                runs.extend(left.drain(left.len().saturating_sub(size)..));
            }
            runs.sort_unstable();
            self.round(&runs, &mut analysis, &mut timed, campaigns)?;
            let found = decided(&analysis.pilots, question);
            open.retain(|pc, left| !left.is_empty() && !found.contains(pc));
            size = if analysis.rounds == 1 { 1 } else { size * 2 };
        }
        analysis.times.run = times.map_or_else(|| timed.seconds(&self.capsule), |times| times.run);
        Ok(analysis)
    }

    fn begun(&self) -> Analysis {
        Analysis {
            sites: self.method.counts(),
            studied: self.runs.len() as u64,
            times: Times { classes: self.seconds, ..Times::default() },
            ..Analysis::default()
        }
    }

    /// The runs of each instruction, the last one in the order first.
    fn open(&self, order: &Order, skipped: &BTreeSet<Pc>, seed: u64) -> Result<BTreeMap<Pc, Vec<u64>>, StudyError> {
        let mut open: BTreeMap<Pc, Vec<Pilot>> = BTreeMap::new();
        for runs in self.runs.chunks(PART) {
            let indices: Vec<RunIndex> = runs.iter().copied().map(RunIndex).collect();
            let sites = self.method.plan(&indices, &self.selection, seed)?;
            for (&run, site) in runs.iter().zip(&sites) {
                let Some((pc, pilot)) = self.pilot(run, site) else { continue };
                if !skipped.contains(&pc) {
                    open.entry(pc).or_default().push(pilot);
                }
            }
        }
        let ordered = |mut own: Vec<Pilot>| {
            own.sort_by_key(|pilot| std::cmp::Reverse(order.key(pilot, seed)));
            own.into_iter().map(|pilot| pilot.run).collect()
        };
        Ok(open.into_iter().map(|(pc, own)| (pc, ordered(own))).collect())
    }

    fn pilot(&self, run: u64, site: &Site) -> Option<(Pc, Pilot)> {
        let (kernel, instruction) = self.method.instruction(run)?;
        Some(((kernel.to_owned(), instruction), Pilot::of(&self.capsule, run, instruction, site)?))
    }

    /// Runs pilots in one campaign.
    fn round(
        &self,
        runs: &[u64],
        analysis: &mut Analysis,
        timed: &mut TimedSites,
        campaigns: &mut Campaigns<'_>,
    ) -> Result<(), StudyError> {
        if runs.is_empty() {
            return Ok(());
        }
        for part in runs.chunks(PART) {
            let (findings, seconds) = self.findings(part, campaigns)?;
            analysis.seconds += seconds;
            let indices: Vec<RunIndex> = part.iter().copied().map(RunIndex).collect();
            let sites = self.method.plan(&indices, &self.selection, campaigns.seed)?;
            for ((&run, site), finding) in part.iter().zip(&sites).zip(findings) {
                let (Some((pc, pilot)), Some(finding)) = (self.pilot(run, site), finding) else { continue };
                let ended = finding.of_pilot(pilot);
                timed.add(ended.end, site);
                analysis.pilots.entry(pc).or_default().push(ended);
            }
        }
        analysis.runs += runs.len() as u64;
        analysis.rounds += 1;
        Ok(())
    }

    /// How pilots end, each of them, and the seconds that their runs took; known ones are not run again.
    fn findings(
        &self,
        runs: &[u64],
        campaigns: &mut Campaigns<'_>,
    ) -> Result<(Vec<Option<PilotFinding>>, f64), StudyError> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{:?} {:?}", self.selection, self.judges).as_bytes());
        for run in runs {
            hasher.update(&run.to_le_bytes());
        }
        let what = format!("pilots {} seed={}", hasher.finalize().to_hex(), campaigns.seed);
        let seed = campaigns.seed;
        campaigns.value(self.capsule.name(), &what, |campaigns| {
            let (begin, planner) = (now(), ChosenPilots { method: &self.method, runs });
            let selection = self.selection.clone();
            let results = campaigns.in_memory(&self.capsule, Some(&planner), selection, runs.len() as u64, seed)?;
            let seconds = begin.elapsed().as_secs_f64();
            let mut findings = vec![None; runs.len()];
            results.visit(&mut |row| {
                if let Some(finding) = findings.get_mut(row.run.0 as usize) {
                    *finding = PilotFinding::of(&row, &self.judges);
                }
            })?;
            Ok((findings, seconds))
        })
    }
}

impl Analysis {
    /// Instructions with a pilot that ends in a corruption that no criterion accepts as good: the SDC-PCs (thesis, Section 3.6.1).
    pub(super) fn corrupting(&self) -> BTreeSet<Pc> {
        decided(&self.pilots, Question::Corrupting)
    }

    /// The mean time of its pilots, by the times of their categories.
    pub(super) fn seconds_of_a_run(&self) -> f64 {
        let runs = whole(&self.pilots, Question::Corrupting);
        (self.times.total(runs.ends()) - self.times.classes) / runs.all().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_takes_pilots_from_all_classes() {
        let of = |limit| chosen([3..5, 7..8, 20..27].into_iter(), limit);
        assert_eq!(of(4), [3, 7, 22, 24]);
        assert_eq!(of(u64::MAX), [3, 4, 7, 20, 21, 22, 23, 24, 25, 26]);
        assert!(chosen(std::iter::empty(), 4).is_empty());
    }

    #[test]
    fn hot_instructions_make_up_a_share() {
        let pc = |number| ("k".to_owned(), number);
        let executed = || [(pc(0), 10), (pc(1), 60), (pc(2), 10), (pc(3), 20)].into_iter();
        let numbers = |share| {
            let (hot, of) = hottest(executed(), share);
            (hot.into_iter().map(|(_, number)| number).collect::<Vec<_>>(), (of * 100.0).round() as u64)
        };
        assert_eq!(numbers(0.25), (vec![1], 60));
        assert_eq!(numbers(0.7), (vec![1, 3], 80));
        assert_eq!(numbers(1.0), (vec![0, 1, 2, 3], 100));
    }
}
