//! What has the engines of a configuration: the capsule alone, the application beside it, the application alone, or the
//! application on a real GPU.

use crate::addresses;
use crate::bundled;
use crate::capsules;
use crate::contract;
use crate::error::{ErrorKind, SessionError};
use crate::networks;
use crate::order;
use campaign::{Config, EngineOffer, TargetSystem};
use debugger::{CUDA_GDB, GpuTarget};
use device::Contract;
use inject::{CapsuleTarget, Machine, Order, Resources, Setup, Strategy};
use live::{GoldenApplication, LiveTarget, Which};
use methods::registry;
use nn::NetworkTarget;
use outcome::Criteria;
use std::env;
use std::path::PathBuf;
use std::sync::Arc;

/// The variable that names the debugger.
const DEBUGGER: &str = "BEAMLINE_CUDA_GDB";

/// What is irradiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A capsule.
    Capsule,
    /// A capsule, with its application for the runs whose host could have seen a difference.
    Beside,
    /// An application that is recorded, and whose every run is live.
    Live,
    /// An application that is recorded on the simulator, and whose threads are followed on the GPU.
    Gpu,
    /// A neural network.
    Network,
}

impl Kind {
    pub(crate) fn of(config: &Config) -> Result<Self, SessionError> {
        if networks::named(&config.capsule).is_some() {
            return Ok(Self::Network);
        }
        match (config.capsule.is_empty(), config.live.is_some()) {
            (true, true) if config.engine == CUDA_GDB => Ok(Self::Gpu),
            (true, true) => Ok(Self::Live),
            (false, true) => Ok(Self::Beside),
            (false, false) => Ok(Self::Capsule),
            (true, false) => {
                let message = "find out what to irradiate: name a capsule or a workload";
                Err(SessionError::new(ErrorKind::Words, message))
            }
        }
    }

    fn offers(self) -> &'static [EngineOffer] {
        match self {
            Self::Capsule | Self::Beside => &inject::ENGINES,
            Self::Live => &live::ENGINES,
            Self::Gpu => &debugger::ENGINES,
            Self::Network => &nn::ENGINES,
        }
    }

    /// Refuses, before any work is done, what this cannot do.
    pub(crate) fn check(self, config: &Config) -> Result<(), SessionError> {
        if let Err(error) = config.engine.among(self.offers()) {
            let refused = SessionError::from_error(ErrorKind::Words, &error);
            let help = format!("`{CUDA_GDB}` runs applications: see `beamline live`");
            return Err(if config.engine == CUDA_GDB { refused.with_help(help) } else { refused });
        }
        if self == Self::Network {
            return networks::check(config);
        }
        if self == Self::Gpu && config.fuel.is_some() {
            let message = "limit the instructions of a thread on a real GPU: nothing counts them there";
            let help = "leave `fuel` out; `timeout` says how long a run may take";
            return Err(SessionError::new(ErrorKind::Words, message).with_help(help));
        }
        if self == Self::Gpu && config.addresses.is_some() {
            let message = "use `addresses` on a real GPU: it has no effect there";
            return Err(SessionError::new(ErrorKind::Words, message).with_help("leave `addresses` out"));
        }
        if self == Self::Gpu && config.contract.is_some() {
            let message = "choose which products are joined with sums on a real GPU: its machine code says it";
            return Err(SessionError::new(ErrorKind::Words, message).with_help("leave `contract` out"));
        }
        if self == Self::Gpu && config.order.is_some() {
            let message = "choose the order of warps and blocks on a real GPU: its scheduler does";
            return Err(SessionError::new(ErrorKind::Words, message).with_help("leave `order` out"));
        }
        addresses::profile(config.addresses.as_deref())?;
        let order = order::order(config.order.as_deref())?;
        if matches!(self, Self::Live | Self::Beside) && order != Order::default() {
            let message = "execute the warps and blocks of an application in another order: it runs as it was recorded";
            let help = "`beamline run --record` makes a capsule of it, which can be executed so";
            return Err(SessionError::new(ErrorKind::Words, message).with_help(help));
        }
        let contract = contract::contract(config.contract.as_deref())?;
        if matches!(self, Self::Live | Self::Beside) && contract != Contract::default() {
            let message = "use `contract` for a running application: its products and sums are executed as on a GPU";
            let help = "`beamline run --record` makes a capsule of it, which can be executed so";
            return Err(SessionError::new(ErrorKind::Words, message).with_help(help));
        }
        match (self, &config.selection.method) {
            (Self::Gpu, _) => debugger::check_words(&config.selection)?,
            (_, None) => inject::check_words(&config.selection)?,
            (_, Some(_)) => registry::check(&config.selection)?,
        }
        Ok(())
    }
}

/// Something that runs.
#[derive(Debug)]
pub(crate) enum Work {
    Capsule(Arc<CapsuleTarget>),
    Live(Box<LiveTarget>),
    Gpu(Box<GpuTarget>),
    Network(Box<NetworkTarget>),
}

impl Work {
    /// Brings everything together: the capsule or the application, its golden run, what is said of its outputs, and what
    /// has the engines. With `infer`, types of outputs that nobody gives are found out.
    pub(crate) fn of(kind: Kind, config: &Config, infer: bool) -> Result<Self, SessionError> {
        let (machine, setup) = (machine(config)?, setup(config, infer));
        let recorded = || -> Result<(Arc<CapsuleTarget>, GoldenApplication), SessionError> {
            let application = application(config)?;
            Ok((capsules::target_on(machine.clone(), Arc::new(application.capsule().clone()), &setup)?, application))
        };
        let strategy = || Strategy::try_from(&config.engine);
        Ok(match kind {
            Kind::Network => {
                Self::Network(Box::new(networks::open(networks::named(&config.capsule).unwrap_or_default())?))
            }
            Kind::Capsule => Self::Capsule(capsules::ready_on(machine, &config.capsule, &setup)?),
            Kind::Beside => {
                let capsule = capsules::ready_on(machine, &config.capsule, &setup)?;
                Self::Live(Box::new(LiveTarget::new(capsule, application(config)?, Which::Visible, strategy()?)?))
            }
            Kind::Live => {
                let (capsule, application) = recorded()?;
                Self::Live(Box::new(LiveTarget::new(capsule, application, Which::All, strategy()?)?))
            }
            Kind::Gpu => {
                let (capsule, application) = recorded()?;
                let program = env::var_os(DEBUGGER).map_or_else(|| PathBuf::from("cuda-gdb"), PathBuf::from);
                let jobs = config.jobs.map_or_else(debugger::sessions, |jobs| jobs.get() as usize);
                Self::Gpu(Box::new(GpuTarget::new(capsule, application, &program, jobs)?))
            }
        })
    }

    /// The capsule, or the recording of the application; a network has none.
    pub(crate) fn capsule(&self) -> Option<&Arc<CapsuleTarget>> {
        match self {
            Self::Capsule(capsule) => Some(capsule),
            Self::Live(target) => Some(target.capsule()),
            Self::Gpu(target) => Some(target.capsule()),
            Self::Network(_) => None,
        }
    }

    /// What makes outputs good, as what is irradiated says.
    pub(crate) fn criteria(&self) -> Criteria {
        match self {
            Self::Network(target) => target.criteria(),
            _ => self.capsule().map_or_else(Criteria::default, |capsule| capsule.criteria()),
        }
    }

    pub(crate) fn target(&self) -> TargetSystem<'_> {
        match self {
            Self::Capsule(capsule) => TargetSystem::from(&**capsule),
            Self::Live(target) => target.target(),
            Self::Gpu(target) => TargetSystem::from(&**target),
            Self::Network(target) => TargetSystem::from(&**target),
        }
    }
}

/// The machine that a configuration describes.
///
/// # Errors
/// If its address profile cannot be read, or one of its words is unknown.
pub(crate) fn machine(config: &Config) -> Result<Machine, SessionError> {
    machine_of(config.addresses.as_deref(), config.contract.as_deref(), config.order.as_deref())
}

/// The machine that the words of a configuration or a command line describe; a word that is absent leaves the default.
///
/// # Errors
/// As for a configuration: if the address profile cannot be read, or a word is unknown.
pub fn machine_of(
    addresses: Option<&str>,
    contract: Option<&str>,
    order: Option<&str>,
) -> Result<Machine, SessionError> {
    let addresses = addresses::profile(addresses)?;
    let (contract, order) = (contract::contract(contract)?, order::order(order)?);
    Ok(Machine { addresses, contract, order, ..Machine::default() })
}

/// The rest of a configuration that a capsule needs. With `infer`, types of outputs that the configuration does not give
/// are read off the program.
pub(crate) fn setup(config: &Config, infer: bool) -> Setup {
    let (criteria, resources) = (config.criteria.clone(), resources(config));
    Setup { criteria, infer, fuel: config.fuel, resources, opened_as: None }
}

/// What a campaign may use; what is not said is the machine's.
fn resources(config: &Config) -> Resources {
    let default = Resources::default();
    Resources {
        memory: config.memory.map_or(default.memory, |memory| memory.0),
        jobs: config.jobs.map_or(default.jobs, |jobs| jobs.get() as usize),
        ..default
    }
}

fn application(config: &Config) -> Result<GoldenApplication, SessionError> {
    let no_app = || SessionError::new(ErrorKind::Words, "find the application: none is named");
    Ok(GoldenApplication::new(&bundled::started(config.live.as_ref().ok_or_else(no_app)?)?)?)
}
