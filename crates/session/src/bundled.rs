//! The bundled workloads, embedded in the library.

use serde::Deserialize;

/// Name, capsule and description of every bundled workload.
static TABLE: &[(&str, &[u8], &str)] = &include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// A bundled workload.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// Its name, by which it is opened.
    pub name: &'static str,
    /// The bytes of its capsule.
    pub capsule: &'static [u8],
    toml: &'static str,
}

/// What a `workload.toml` says that is shown to users.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Description {
    /// What it computes, in a sentence.
    pub summary: String,
    /// The published benchmark that it stands for.
    pub stands_for: String,
    /// Its algorithm class.
    pub class: String,
}

/// All bundled workloads, by name.
pub fn all() -> impl Iterator<Item = Bundled> {
    TABLE.iter().map(|&(name, capsule, toml)| Bundled { name, capsule, toml })
}

/// The bundled workload of this name.
pub fn find(name: &str) -> Option<Bundled> {
    all().find(|workload| workload.name == name)
}

impl Bundled {
    /// The text of its `workload.toml`.
    pub fn toml(&self) -> &'static str {
        self.toml
    }

    /// The description; empty where the file says nothing.
    pub fn description(&self) -> Description {
        toml::from_str(self.toml).unwrap_or_default()
    }
}
