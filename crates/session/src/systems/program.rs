//! What the systems that run programs of a GPU share: the machine and the setup of a configuration, its application, and the
//! sentences about its faults.

use crate::error::{ErrorKind, SessionError};
use crate::{addresses, bundled, capsules, contract, order};
use campaign::{Choices, Config, Description, Site};
use device::{AddressProfile, Contract};
use fault::Fault;
use inject::{CapsuleTarget, Machine, Order, Resources, Setup};
use live::GoldenApplication;
use methods::registry;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The machine that a configuration describes.
pub(super) fn machine(config: &Config) -> Result<Machine, SessionError> {
    let addresses = addresses::profile(config.addresses.as_deref(), &config.selection.files)?;
    with_words(addresses, config.contract.as_deref(), config.order.as_deref())
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
    with_words(addresses::profile(addresses, &BTreeMap::new())?, contract, order)
}

fn with_words(
    addresses: Arc<AddressProfile>,
    contract: Option<&str>,
    order: Option<&str>,
) -> Result<Machine, SessionError> {
    let (contract, order) = (contract::contract(contract)?, order::order(order)?);
    Ok(Machine { addresses, contract, order, ..Machine::default() })
}

/// The rest of a configuration that a capsule needs. With `infer`, types of outputs that the configuration does not give
/// are read off the program.
pub(super) fn setup(config: &Config, infer: bool) -> Setup {
    let default = Resources::default();
    let resources = Resources {
        memory: config.memory.map_or(default.memory, |memory| memory.0),
        jobs: config.jobs.map_or(default.jobs, |jobs| jobs.get() as usize),
        ..default
    };
    Setup { criteria: config.criteria.clone(), infer, fuel: config.fuel, resources, opened_as: None }
}

/// The application of a configuration, run once without a fault.
pub(super) fn application(config: &Config) -> Result<GoldenApplication, SessionError> {
    let no_app = || SessionError::new(ErrorKind::Words, "find the application: none is named");
    Ok(GoldenApplication::new(&bundled::started(config.live.as_ref().ok_or_else(no_app)?)?)?)
}

/// The application of a configuration, and its recording as a capsule.
pub(super) fn recorded(config: &Config, infer: bool) -> Result<(Arc<CapsuleTarget>, GoldenApplication), SessionError> {
    let (machine, application) = (machine(config)?, application(config)?);
    let capsule = Arc::new(application.capsule().clone());
    Ok((capsules::target_on(machine, capsule, &setup(config, infer))?, application))
}

/// Checks the words that say how the simulator executes a program, and what is selected of it.
pub(super) fn check(config: &Config) -> Result<(), SessionError> {
    machine(config)?;
    match &config.selection.method {
        None => inject::check_words(&config.selection)?,
        Some(_) => registry::check(&config.selection)?,
    }
    Ok(())
}

/// Refuses what a running application cannot do: its order and its products are those of a GPU.
pub(super) fn check_running(config: &Config) -> Result<(), SessionError> {
    let help = "`beamline run --record` makes a capsule of it, which can be executed so";
    if order::order(config.order.as_deref())? != Order::default() {
        let message = "execute the warps and blocks of an application in another order: it runs as it was recorded";
        return Err(SessionError::new(ErrorKind::Words, message).with_help(help));
    }
    if contract::contract(config.contract.as_deref())? != Contract::default() {
        let message = "use `contract` for a running application: its products and sums are executed as on a GPU";
        return Err(SessionError::new(ErrorKind::Words, message).with_help(help));
    }
    Ok(())
}

/// The faults of a campaign on a program in sentences: those of its own words, or those of its method. A method whose file
/// is gone says nothing of its faults. One whose runs are not a sample of the program says so first.
pub(super) fn describe(config: &Config) -> Description {
    let words = &config.selection;
    let aims = words.method.as_ref().map(|_| registry::aims(words).unwrap_or_default());
    let description = inject::describe(&Choices::from(config), aims);
    match registry::rates_elsewhere(words.method.as_ref()) {
        Some(why) => {
            let faults = format!("Rates are of these runs alone: {why}. {}", description.faults);
            Description { faults, ..description }
        }
        None => description,
    }
}

/// The fault of a text id.
pub(crate) fn fault(id: &str) -> Result<Fault, SessionError> {
    id.parse().map_err(|error: fault::ParseFaultError| SessionError::from_error(ErrorKind::Words, &error))
}

/// The fault of a site.
pub(super) fn fault_of(site: &Site) -> Result<Fault, SessionError> {
    inject::site::fault_of(site).map_err(|error| SessionError::from_error(ErrorKind::Words, &error))
}
