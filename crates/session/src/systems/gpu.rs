//! An application on a real GPU: the simulator records it, and a debugger follows and hits its threads.

use super::program;
use super::system::{System, SystemKind};
use crate::error::{ErrorKind, SessionError};
use campaign::{Config, Description, Engine, EngineOffer, Site, TargetSystem};
use debugger::{CUDA_GDB, GpuTarget};
use inject::CapsuleTarget;
use methods::Applied;
use outcome::Observation;
use std::env;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

/// The variable that names the debugger.
const DEBUGGER: &str = "BEAMLINE_CUDA_GDB";

/// The kind.
pub(super) struct GpuKind;

impl SystemKind for GpuKind {
    fn takes(&self, config: &Config) -> bool {
        config.capsule.is_empty() && config.live.is_some() && config.engine == CUDA_GDB
    }

    fn engines(&self) -> &'static [EngineOffer] {
        &debugger::ENGINES
    }

    /// Sessions of a debugger share the GPU, not the cores.
    fn with_defaults(&self, mut config: Config) -> Config {
        let sessions = u32::try_from(debugger::sessions()).ok().and_then(NonZeroU32::new);
        config.jobs = config.jobs.or(sessions).or(Some(NonZeroU32::MIN));
        config
    }

    fn check(&self, config: &Config) -> Result<(), SessionError> {
        let without = [
            (
                config.fuel.is_some(),
                "limit the instructions of a thread on a real GPU: nothing counts them there",
                "leave `fuel` out; `timeout` says how long a run may take",
            ),
            (
                config.addresses.is_some(),
                "use `addresses` on a real GPU: it has no effect there",
                "leave `addresses` out",
            ),
            (
                config.contract.is_some(),
                "choose which products are joined with sums on a real GPU: its machine code says it",
                "leave `contract` out",
            ),
            (
                config.order.is_some(),
                "choose the order of warps and blocks on a real GPU: its scheduler does",
                "leave `order` out",
            ),
        ];
        if let Some((_, message, help)) = without.into_iter().find(|(is_set, ..)| *is_set) {
            return Err(SessionError::new(ErrorKind::Words, message).with_help(help));
        }
        Ok(debugger::check_words(&config.selection)?)
    }

    fn describe(&self, config: &Config) -> Description {
        Description { machine: debugger::describe_machine(), ..program::describe(config) }
    }

    fn open(&self, config: &Config, infer: bool) -> Result<Box<dyn System>, SessionError> {
        let (capsule, application) = program::recorded(config, infer)?;
        let program = env::var_os(DEBUGGER).map_or_else(|| PathBuf::from("cuda-gdb"), PathBuf::from);
        let jobs = config.jobs.map_or_else(debugger::sessions, |jobs| jobs.get() as usize);
        Ok(Box::new(GpuSystem(GpuTarget::new(capsule, application, &program, jobs)?)))
    }
}

/// An application whose threads were followed on the GPU.
#[derive(Debug)]
struct GpuSystem(GpuTarget);

impl System for GpuSystem {
    fn target(&self) -> TargetSystem<'_> {
        TargetSystem::from(&self.0)
    }

    fn capsule(&self) -> Option<&Arc<CapsuleTarget>> {
        Some(self.0.capsule())
    }

    fn notes(&self) -> Vec<String> {
        let own = std::iter::once(self.0.note());
        self.0.capsule().notes().iter().cloned().chain(own).collect()
    }

    /// Methods choose instructions of PTX.
    fn method(&self, _: &Config) -> Result<Option<Box<dyn Applied>>, SessionError> {
        Ok(None)
    }

    fn site(&self, id: &str) -> Result<Site, SessionError> {
        self.0.site_of(&program::fault(id)?).map_err(|error| SessionError::from_error(ErrorKind::Words, &error))
    }

    fn run(&self, site: &Site, _: &Engine) -> Result<Observation, SessionError> {
        let fault = program::fault_of(site)?;
        self.0.inject(&fault).map_err(|error| SessionError::from_error(ErrorKind::Golden, &error))
    }
}
