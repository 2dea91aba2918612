//! Campaigns for studies: made once, kept, and read again.

use super::error::StudyError;
use super::history::InputHistory;
use super::opened::OpenedCapsule;
use campaign::names::file_name;
use campaign::{
    CampaignEnd, CampaignEvent, Config, ConfigError, MethodChoice, Planner, Results, SelectionWords, Store, Subject,
    TargetSystem,
};
use inject::MachineWords;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

/// An event of a study.
#[derive(Debug)]
pub enum StudyEvent<'a> {
    /// One of a campaign.
    Campaign(CampaignEvent<'a>),
    /// A search evaluated inputs.
    Inputs {
        /// Inputs that it has evaluated.
        done: u64,
        /// Those that it may evaluate.
        all: u64,
        /// The best value so far.
        best: Option<f64>,
    },
}

/// How campaigns of studies are made.
pub struct Campaigns<'a> {
    /// Where they are kept; what is there already is not run again.
    pub dir: PathBuf,
    /// The seed.
    pub seed: u64,
    /// The kernels, or all.
    pub kernels: Vec<String>,
    /// Workers; one for each core if not said.
    pub jobs: Option<u32>,
    /// The values of inputs that are known, where they are kept.
    pub history: Option<InputHistory>,
    /// Ends the work in hand.
    pub stop: &'a AtomicBool,
    /// Is told of everything that happens.
    pub told: &'a mut dyn FnMut(&str, &StudyEvent<'_>),
}

/// A capsule and what is known of it.
pub struct StudySubject {
    /// Its golden run is done.
    pub capsule: OpenedCapsule,
    /// Its algorithm class, if it has one.
    pub class: Option<String>,
}

impl StudySubject {
    /// The name of the capsule.
    #[must_use]
    pub fn name(&self) -> &str {
        self.capsule.name()
    }
}

/// A campaign that is finished.
pub struct FinishedCampaign {
    /// Its rows.
    pub results: Results,
    /// Seconds of work.
    pub seconds: f64,
}

impl<'a> Campaigns<'a> {
    /// The selection of a method with these settings, in the kernels of the campaigns.
    #[must_use]
    pub fn selection(&self, method: MethodChoice) -> SelectionWords {
        SelectionWords { kernel: self.kernels.clone(), method: Some(method), ..SelectionWords::default() }
    }

    /// Runs a campaign of so many runs whose sites `planner` chooses, which is `method` on the capsule, or reads the one
    /// that was made before.
    ///
    /// # Errors
    /// If it cannot be made, or is interrupted.
    pub fn make(
        &mut self,
        capsule: &OpenedCapsule,
        method: MethodChoice,
        planner: &dyn Planner,
        runs: u64,
    ) -> Result<FinishedCampaign, StudyError> {
        self.planned(capsule, &method.to_string(), method, planner, runs)
    }

    /// The same under a name of its own, where the method's words are too long for one.
    ///
    /// # Errors
    /// If it cannot be made, or is interrupted.
    pub fn planned(
        &mut self,
        capsule: &OpenedCapsule,
        label: &str,
        method: MethodChoice,
        planner: &dyn Planner,
        runs: u64,
    ) -> Result<FinishedCampaign, StudyError> {
        self.run(capsule, capsule.target().planned_by(planner), self.selection(method), label, runs)
    }

    /// The same with sites drawn as by any campaign; `variant` says what is special of the capsule's machine.
    ///
    /// # Errors
    /// If it cannot be made, or is interrupted.
    pub fn sampled(
        &mut self,
        capsule: &OpenedCapsule,
        variant: &str,
        runs: u64,
    ) -> Result<FinishedCampaign, StudyError> {
        self.drawn(capsule, variant, SelectionWords::default(), runs)
    }

    /// The same of what `words` select, in the kernels of the campaigns; `label` says what is special of it.
    ///
    /// # Errors
    /// If it cannot be made, or is interrupted.
    pub fn drawn(
        &mut self,
        capsule: &OpenedCapsule,
        label: &str,
        words: SelectionWords,
        runs: u64,
    ) -> Result<FinishedCampaign, StudyError> {
        let selection = SelectionWords { kernel: self.kernels.clone(), ..words };
        self.run(capsule, capsule.target(), selection, label, runs)
    }

    fn run(
        &mut self,
        capsule: &OpenedCapsule,
        target: TargetSystem<'_>,
        selection: SelectionWords,
        label: &str,
        runs: u64,
    ) -> Result<FinishedCampaign, StudyError> {
        let selection = SelectionWords { files: target.planner.files(), ..selection };
        let config = self.config(capsule, selection, runs, self.seed)?;
        let dir = self.place(capsule, label, runs);
        let mut store = Store::make(&dir, config, target)?;
        let name = format!("{}, {label}", capsule.name());
        let told = &mut self.told;
        let summary =
            match campaign::run(target, &mut store, self.stop, &mut |event| told(&name, &StudyEvent::Campaign(event)))?
            {
                CampaignEnd::Finished(summary) => summary,
                CampaignEnd::Interrupted(_) | CampaignEnd::OutOfTime(_) => return Err(StudyError::Interrupted),
            };
        Ok(FinishedCampaign { results: Results::open(&dir)?, seconds: summary.speed.seconds })
    }

    /// Runs a campaign of so many runs in memory, and keeps nothing of it: sites as `planner` chooses them for `selection`, or
    /// as any campaign draws them.
    ///
    /// # Errors
    /// If it cannot be made, or is interrupted.
    pub fn in_memory(
        &mut self,
        capsule: &OpenedCapsule,
        planner: Option<&dyn Planner>,
        selection: SelectionWords,
        runs: u64,
        seed: u64,
    ) -> Result<Results, StudyError> {
        let config = self.config(capsule, selection, runs, seed)?;
        let target = capsule.target();
        let target = planner.map_or(target, |planner| target.planned_by(planner));
        match campaign::run_in_memory(target, &config, self.stop, &mut |_| {})? {
            (CampaignEnd::Finished(_), results) => Ok(results),
            _ => Err(self.interrupted()),
        }
    }

    /// The value of an input by an evaluation: the one that is kept, or what `make` finds, which is kept where anything is.
    ///
    /// # Errors
    /// As `make`, and if the history cannot be read or written.
    pub fn value<T: Serialize + DeserializeOwned>(
        &mut self,
        input: &str,
        what: &str,
        make: impl FnOnce(&mut Self) -> Result<T, StudyError>,
    ) -> Result<T, StudyError> {
        if let Some(known) = self.known(input, what)? {
            return Ok(known);
        }
        let value = make(self)?;
        self.keep(input, what, &value)?;
        Ok(value)
    }

    /// The value of an input by an evaluation, if it is kept.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn known<T: DeserializeOwned>(&self, input: &str, what: &str) -> Result<Option<T>, StudyError> {
        Ok(self.history.as_ref().map(|history| history.get(input, what)).transpose()?.flatten())
    }

    /// Keeps the value of an input by an evaluation, where anything is kept.
    ///
    /// # Errors
    /// If the history cannot be written.
    pub fn keep<T: Serialize>(&self, input: &str, what: &str, value: &T) -> Result<(), StudyError> {
        self.history.as_ref().map_or(Ok(()), |history| history.put(input, what, value))
    }

    /// The error of work that was ended, which says whether anything of it is kept.
    #[must_use]
    pub fn interrupted(&self) -> StudyError {
        if self.history.is_some() { StudyError::Interrupted } else { StudyError::Unkept }
    }

    /// Workers of what is done beside campaigns: as many as were said, or one for each core.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.jobs.map_or_else(|| available_parallelism().map_or(1, usize::from), |jobs| jobs as usize)
    }

    /// Whether the work in hand is to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The configuration of the capsule as it was opened, for runs of this selection.
    fn config(
        &self,
        capsule: &OpenedCapsule,
        selection: SelectionWords,
        runs: u64,
        seed: u64,
    ) -> Result<Config, StudyError> {
        let jobs = self.jobs.map(|jobs| NonZeroU32::new(jobs).ok_or(ConfigError::NoJobs)).transpose()?;
        let mut config = capsule.config.clone().of_runs(selection, runs, seed)?;
        config.jobs = jobs;
        Ok(config)
    }

    /// A directory for each campaign, which says what it is of: another recording of the same name is another campaign.
    fn place(&self, capsule: &OpenedCapsule, label: &str, runs: u64) -> PathBuf {
        let digest: String = capsule.digest().chars().take(8).collect();
        let mut parts = vec![format!("{}-{digest}", capsule.name())];
        parts.extend(self.kernels.iter().cloned());
        parts.extend(label.split([':', ',']).map(|part| part.replace('=', "-")));
        parts.extend(capsule.golden_run().explicit_fuel().map(|fuel| format!("fuel-{fuel}")));
        let MachineWords { addresses, contract, order } = capsule.golden_run().machine_words();
        let machine = [("addresses", addresses), ("contract", contract), ("order", order)];
        parts.extend(machine.into_iter().filter_map(|(key, word)| Some(format!("{key}-{}", word?))));
        parts.extend(capsule.engines.as_ref().map(|_| "app".to_owned()));
        parts.push(format!("seed-{}-runs-{runs}", self.seed));
        self.dir.join(format!("{}.campaign", file_name(&parts.join("_"))))
    }
}
