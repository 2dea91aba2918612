//! The bundled workloads, embedded in the program.

use serde::Deserialize;

/// Name, capsule and description of every bundled workload.
static TABLE: &[(&str, &[u8], &str)] = &include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// A bundled workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bundled {
    pub(crate) name: &'static str,
    pub(crate) capsule: &'static [u8],
    toml: &'static str,
}

/// What a `workload.toml` says that is shown to users.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Description {
    pub(crate) summary: String,
    pub(crate) stands_for: String,
    pub(crate) class: String,
}

/// All bundled workloads, by name.
pub(crate) fn all() -> impl Iterator<Item = Bundled> {
    TABLE.iter().map(|&(name, capsule, toml)| Bundled { name, capsule, toml })
}

/// The bundled workload of this name.
pub(crate) fn find(name: &str) -> Option<Bundled> {
    all().find(|workload| workload.name == name)
}

impl Bundled {
    /// The description; empty where the file says nothing.
    pub(crate) fn description(&self) -> Description {
        toml::from_str(self.toml).unwrap_or_default()
    }
}
