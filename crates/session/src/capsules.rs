//! Where a capsule comes from, and how it is made ready for faults.

use crate::bundled;
use crate::error::{ErrorKind, SessionError};
use crate::languages;
use crate::names::absolute_name;
use crate::networks;
use capsule::Capsule;
use inject::{CapsuleTarget, Golden, Machine, Setup};
use std::path::Path;
use std::sync::Arc;

/// Opens a capsule: a file, or a bundled workload. The name of a bundled workload means that workload; `./name` is a file
/// whatever its name.
///
/// # Errors
/// If there is neither, or it cannot be read.
pub fn open(name: &str) -> Result<Arc<Capsule>, SessionError> {
    if let Some(workload) = bundled::find(name) {
        return Ok(Arc::new(Capsule::from_bytes(workload.capsule)?));
    }
    if let Some(network) = networks::named(name) {
        let message = format!("open the capsule `{name}`: it is a neural network");
        let help = format!("`beamline nn info {network}` and `beamline nn campaign {network}` are about it");
        return Err(SessionError::new(ErrorKind::Refused, message).with_help(help));
    }
    if let Some(model) = languages::named(name) {
        let message = format!("open the capsule `{name}`: it is a language model");
        let help = format!("`beamline nn generate {model}` is about it");
        return Err(SessionError::new(ErrorKind::Refused, message).with_help(help));
    }
    let path = Path::new(name);
    if !path.exists() {
        let names: Vec<&str> = bundled::all().map(|workload| workload.name).collect();
        let message = format!("find `{name}`: it is neither a file nor a bundled workload");
        let help = format!(
            "bundled are {}; `beamline run --record F.capsule -- APP` records an application",
            names.join(", ")
        );
        return Err(SessionError::new(ErrorKind::Refused, message).with_help(help));
    }
    let capsule = Capsule::open(path)?;
    // Before anything is read of the memory that it speaks of.
    capsule.check_memory().map_err(|error| {
        let refused = SessionError::new(ErrorKind::Refused, format!("read {name}: {}", error.problem()));
        refused.with_help("record the application again with `beamline run --record F.capsule -- APP`")
    })?;
    Ok(Arc::new(capsule))
}

/// The capsule `name`, if its digest is `digest`.
///
/// # Errors
/// If there is none, or it is another.
pub fn open_same(name: &str, digest: &str) -> Result<Arc<Capsule>, SessionError> {
    let capsule = open(name)?;
    if capsule.digest().to_string() != digest {
        let message = format!("use `{name}`: it is not the capsule that was irradiated, but another of that name");
        return Err(SessionError::new(ErrorKind::Refused, message));
    }
    Ok(capsule)
}

/// Executes the golden run of a capsule on a machine.
///
/// # Errors
/// If the capsule cannot be executed, or does something else than was recorded.
pub fn golden(machine: Machine, capsule: Arc<Capsule>) -> Result<Golden, SessionError> {
    Ok(Golden::run_on(capsule, machine)?)
}

/// Opens a capsule and makes it ready for faults on the default machine. It keeps a name by which it is found again from
/// every directory.
///
/// # Errors
/// As [`open`] and [`target`].
pub fn ready(name: &str, setup: &Setup) -> Result<Arc<CapsuleTarget>, SessionError> {
    ready_on(Machine::default(), name, setup)
}

/// As [`ready`], on another machine.
///
/// # Errors
/// As [`open`] and [`target`].
pub fn ready_on(machine: Machine, name: &str, setup: &Setup) -> Result<Arc<CapsuleTarget>, SessionError> {
    target_on(machine, open(name)?, &Setup { opened_as: Some(absolute_name(name)), ..setup.clone() })
}

/// Executes the golden run of a capsule on the default machine, and makes it ready for faults.
///
/// # Errors
/// If the capsule cannot be executed or does something else than was recorded, or if its outputs do not fit the criteria.
pub fn target(capsule: Arc<Capsule>, setup: &Setup) -> Result<Arc<CapsuleTarget>, SessionError> {
    target_on(Machine::default(), capsule, setup)
}

/// As [`target`], on another machine.
///
/// # Errors
/// As [`target`].
pub fn target_on(machine: Machine, capsule: Arc<Capsule>, setup: &Setup) -> Result<Arc<CapsuleTarget>, SessionError> {
    Ok(Arc::new(CapsuleTarget::set_up(golden(machine, capsule)?, setup)?))
}
