//! Where a capsule comes from: a file, or the name of a bundled workload.

use crate::bundled;
use crate::failure::{Code, Failure};
use anyhow::anyhow;
use capsule::Capsule;
use inject::{Golden, GoldenError};
use std::path::Path;
use std::sync::Arc;

/// Opens a capsule. The name of a bundled workload means that workload; `./name` is a file whatever its name.
pub(crate) fn open(name: &str) -> Result<Arc<Capsule>, Failure> {
    if let Some(workload) = bundled::find(name) {
        return Capsule::from_bytes(workload.capsule).map(Arc::new).map_err(|error| unreadable(&error));
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
    Capsule::open(path).map(Arc::new).map_err(|error| unreadable(&error))
}

/// The error with its line of help apart.
fn unreadable(error: &capsule::Error) -> Failure {
    let what = anyhow!("read {}: {}", error.origin(), error.problem());
    Failure::new(Code::Refused, what).help(error.help())
}

/// The name that finds the capsule again from any directory.
pub(crate) fn lasting_name(name: &str) -> String {
    let path = Path::new(name);
    let is_file = bundled::find(name).is_none() && path.is_file();
    let absolute = is_file.then(|| path.canonicalize().ok()).flatten();
    absolute.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| name.to_owned())
}

/// The directory of this name, or the current one, by a name that finds it again from any directory.
pub(crate) fn lasting_directory(name: Option<&str>) -> Option<String> {
    let path = Path::new(name.unwrap_or("."));
    let absolute = path.canonicalize().ok().and_then(|path| path.to_str().map(str::to_owned));
    absolute.or_else(|| name.map(str::to_owned))
}

/// Does the golden run of a capsule.
pub(crate) fn golden(capsule: Arc<Capsule>) -> Result<Golden, Failure> {
    Golden::run(capsule).map_err(|error| {
        let (code, help) = match &error {
            GoldenError::Capsule(_) | GoldenError::NoCode(_) | GoldenError::NoLaunch => {
                (Code::Refused, "record the application again with `beamline run --record F.capsule -- APP`")
            }
            GoldenError::Event { source, .. } if matches!(**source, device::DeviceError::Module(_)) => {
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
