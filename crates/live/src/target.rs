//! An application as the target system of a campaign.

use crate::application::GoldenApplication;
use crate::error::LiveError;
use crate::observe::Outputs;
use campaign::{Engine, EngineOffer, Engines, MemoryUse, RunFailure, Site, TargetError, TargetSystem, Worker};
use fault::Fault;
use inject::site::fault_of;
use inject::{CapsuleTarget, Runner, Strategy};
use outcome::Observation;
use std::fs::File;
use std::sync::Arc;

/// The engines of an application whose every run is live.
pub const ENGINES: [EngineOffer; 2] = [
    EngineOffer { word: Strategy::Auto.word(), about: "replays what the launches before the faulty one did" },
    EngineOffer { word: Strategy::Full.word(), about: "executes those launches, too" },
];

/// LiveRuns runs are live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveRuns {
    /// All of them.
    All,
    /// Those in which the host could have acted on a difference, or a judge has a say; the others are runs of the capsule.
    Visible,
}

/// A capsule together with the application that it was recorded from.
#[derive(Debug)]
pub struct LiveTarget {
    capsule: Arc<CapsuleTarget>,
    application: GoldenApplication,
    outputs: Outputs,
    trace: File,
    which: LiveRuns,
    /// The application finishes runs, too, whose host gets other bytes only after the last launch: it acts on them, or a judge
    /// has a say about what it leaves.
    asks_at_end: bool,
}

impl LiveTarget {
    /// Brings both together, and runs the application once more without a fault, by the way that `strategy` means.
    ///
    /// # Errors
    /// If the application does something else than the capsule, or something else the second time.
    pub fn new(
        capsule: Arc<CapsuleTarget>,
        mut application: GoldenApplication,
        which: LiveRuns,
        strategy: Strategy,
    ) -> Result<Self, LiveError> {
        let golden = capsule.golden_run();
        application.check_same(golden)?;
        let (trace, outputs) = (application.trace(golden)?, Outputs::of(golden));
        application.rehearse(golden, &trace, replays(strategy))?;
        let asks_at_end = which == LiveRuns::Visible
            && (application.judge.is_some() || application.acts_on_results(golden, &trace, replays(strategy))?);
        if asks_at_end {
            golden.host_acts_at_end();
        }
        Ok(Self { capsule, application, outputs, trace, which, asks_at_end })
    }

    /// What a user has to know of how its runs are compared and finished.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let asked = self.asks_at_end.then(|| {
            let why = match self.application.judge {
                Some(_) => "the judge decides what differing outputs mean",
                None => "the host acts on what it gets after the last launch",
            };
            format!("{why}: runs whose outputs differ are finished by the application, too")
        });
        asked.into_iter().chain(self.application.note()).collect()
    }

    /// Whether the application finishes runs, too, whose host gets other bytes only after the last launch.
    #[must_use]
    pub fn asks_at_end(&self) -> bool {
        self.asks_at_end
    }

    /// Whether what the application does may decide about a run of the capsule.
    fn is_undecided(&self, seen: &Observation) -> bool {
        let differs = || seen.outputs.iter().any(|output| output.differing > 0);
        seen.landed.is_some() && (seen.host_visible || self.asks_at_end && differs())
    }

    /// The capsule.
    #[must_use]
    pub fn capsule(&self) -> &Arc<CapsuleTarget> {
        &self.capsule
    }

    /// What a campaign runs on: sites are those of the capsule, and the application runs them.
    #[must_use]
    pub fn target(&self) -> TargetSystem<'_> {
        TargetSystem::from(&*self.capsule).run_by(self)
    }

    /// Runs the application with a fault.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the run could not be made.
    pub fn inject(&self, fault: &Fault, strategy: Strategy) -> Result<Observation, RunFailure> {
        self.inject_beside(fault, strategy, &mut None)
    }

    /// As [`inject`](Self::inject), beside a runner of the capsule, which is made where it is needed first.
    fn inject_beside<'t>(
        &'t self,
        fault: &Fault,
        strategy: Strategy,
        runner: &mut Option<Runner<'t>>,
    ) -> Result<Observation, RunFailure> {
        let golden = self.capsule.golden_run();
        inject::locate(golden, fault).map_err(|error| RunFailure::from_error(&error))?;
        let seen = self.application.inject(golden, &self.outputs, &self.trace, replays(strategy), fault)?;
        self.with_first_use(fault, seen, runner)
    }

    /// Adds what was first done to a byte of global memory that was hit: nothing in the process watches it to the end.
    /// Up to its first use a run is the golden run, so that the recorded work says it.
    fn with_first_use<'t>(
        &'t self,
        fault: &Fault,
        seen: Observation,
        runner: &mut Option<Runner<'t>>,
    ) -> Result<Observation, RunFailure> {
        let global = matches!(fault.target, fault::Target::Memory(fault::Memory::Global | fault::Memory::Const, _));
        if !global || seen.landed.is_none() {
            return Ok(seen);
        }
        let runner = runner.get_or_insert_with(|| self.capsule.runner(Strategy::Auto));
        let recorded = runner.run(fault).map_err(|error| RunFailure::from_error(&error))?;
        Ok(Observation { first_use: recorded.first_use, ..seen })
    }
}

/// Whether the launches before the faulty one are replayed.
fn replays(strategy: Strategy) -> bool {
    strategy != Strategy::Full
}

impl Engines for LiveTarget {
    fn offered(&self) -> &[EngineOffer] {
        match self.which {
            LiveRuns::All => &ENGINES,
            LiveRuns::Visible => self.capsule.offered(),
        }
    }

    fn worker(&self, engine: &Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        let fast = match self.which {
            LiveRuns::All => None,
            LiveRuns::Visible => Some(self.capsule.worker(engine)?),
        };
        Ok(Box::new(LiveWorker { target: self, strategy: engine.try_into()?, fast, recorded: None }))
    }

    fn memory(&self) -> Option<MemoryUse> {
        self.capsule.memory()
    }
}

/// Starts one process after the other.
struct LiveWorker<'t> {
    target: &'t LiveTarget,
    strategy: Strategy,
    /// What runs those that need not be live.
    fast: Option<Box<dyn Worker + 't>>,
    /// What tells first uses that nothing in the process sees.
    recorded: Option<Runner<'t>>,
}

impl Worker for LiveWorker<'_> {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        if let Some(fast) = &mut self.fast {
            let seen = fast.run(site)?;
            if !self.target.is_undecided(&seen) {
                return Ok(seen);
            }
        }
        let fault = fault_of(site)?;
        let seen = self.target.inject_beside(&fault, self.strategy, &mut self.recorded)?;
        Ok(Observation { host_visible: seen.host_visible || self.fast.is_some(), ..seen })
    }
}
