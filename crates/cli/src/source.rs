//! Where a capsule comes from: a file, or the name of a bundled workload.

use crate::bundled;
use crate::failure::{Code, Coded, Failure};
use anyhow::anyhow;
use capsule::Capsule;
use inject::{Golden, GoldenError};
use std::path::Path;
use std::sync::Arc;

/// Opens a capsule.
pub(crate) fn open(name: &str) -> Result<Arc<Capsule>, Failure> {
    if let Some(workload) = bundled::all().find(|workload| workload.name == name)
        && !Path::new(name).is_file()
    {
        return Capsule::from_bytes(workload.capsule).map(Arc::new).code(Code::Refused);
    }
    let path = Path::new(name);
    if !path.exists() {
        let names: Vec<&str> = bundled::all().map(|workload| workload.name).collect();
        let error = anyhow!("find `{name}`: it is neither a file nor a bundled workload");
        let help = format!(
            "bundled are {}; `beamline run --record F.capsule -- APP` records an application",
            names.join(", ")
        );
        return Err(Failure::new(Code::Refused, error).help(help));
    }
    Capsule::open(path).map(Arc::new).map_err(|error| {
        let help = error.help().to_string();
        Failure::new(Code::Refused, error).help(help)
    })
}

/// The name that finds the capsule again from any directory.
pub(crate) fn lasting_name(name: &str) -> String {
    let path = Path::new(name);
    let absolute = path.is_file().then(|| path.canonicalize().ok()).flatten();
    absolute.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| name.to_owned())
}

/// Does the golden run of a capsule.
pub(crate) fn golden(capsule: Arc<Capsule>) -> Result<Golden, Failure> {
    Golden::run(capsule).map_err(|error| {
        let (code, help) = match &error {
            GoldenError::Capsule(_) | GoldenError::NoPtx(_) | GoldenError::NotText(_) | GoldenError::NoLaunch => {
                (Code::Refused, "record the application again with `beamline run --record F.capsule -- APP`")
            }
            GoldenError::Event { source: inject::DeviceError::Module(_), .. } => {
                (Code::Refused, "docs/supported.md lists the instructions that can be executed")
            }
            GoldenError::Event { .. } | GoldenError::Differs { .. } => {
                (Code::Golden, "record the application again with this version of beamline")
            }
            GoldenError::Trapped(_) => (Code::Golden, "the program must run correctly before faults make sense"),
        };
        Failure::new(code, error).help(help)
    })
}
