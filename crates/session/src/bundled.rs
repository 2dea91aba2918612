//! The bundled workloads, embedded in the library.

use crate::error::{ErrorKind, SessionError};
use crate::user::user_directory;
use campaign::{CommandLine, Live};
use capsule::{Capsule, ElementType, Metric, Output};
use serde::Deserialize;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io, process};

/// Every bundled workload, by name.
static TABLE: &[Bundled] = &include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// A bundled workload.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// Its name, by which it is opened.
    pub name: &'static str,
    /// The bytes of its capsule.
    pub capsule: &'static [u8],
    toml: &'static str,
    /// Its executable, compressed; absent where none is bundled.
    application: Option<&'static [u8]>,
    space: Option<&'static str>,
}

/// The program of a command line that starts the executable of a bundled workload, as in `bundled:bfs`: it is put where it can
/// be started whenever it is.
pub(crate) const BUNDLED: &str = "bundled:";

/// An application as it is started: a bundled executable by its path, in the directory that it is in.
pub(crate) fn started(live: &Live) -> Result<Live, SessionError> {
    let Some(name) = live.app.words().first().and_then(|word| word.strip_prefix(BUNDLED)) else {
        return Ok(live.clone());
    };
    let refused = |why: String| SessionError::new(ErrorKind::Refused, why);
    let workload =
        find(name).ok_or_else(|| refused(format!("start `{BUNDLED}{name}`: no such workload is bundled")))?;
    let program = workload.place_application()?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let words = std::iter::once(text(&program)).chain(live.app.words().iter().skip(1).cloned()).collect();
    let app = CommandLine::new(words).map_err(|error| SessionError::from_error(ErrorKind::Refused, &error))?;
    let directory = live.directory.clone().or_else(|| program.parent().map(text));
    Ok(Live { app, directory, ..live.clone() })
}

/// Whether a command starts nothing but a bundled executable, and removes no file of its directory.
pub(crate) fn is_bundled(live: &Live) -> bool {
    live.judge.is_none() && !live.in_place && live.app.words().first().is_some_and(|word| word.starts_with(BUNDLED))
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
    TABLE.iter().copied()
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

    /// What may vary in its input: the text of its `space.toml`, if it has one.
    pub fn space(&self) -> Option<&'static str> {
        self.space
    }

    /// The arguments with which it was recorded.
    pub fn arguments(&self) -> Vec<String> {
        toml::from_str::<Declared>(self.toml).unwrap_or_default().arguments
    }

    /// What `workload.toml` declares of the outputs of a recording with whatever input. A shape that does not fit its bytes is left
    /// out.
    pub fn outputs(&self, capsule: &Capsule) -> Vec<Output> {
        let declared = toml::from_str::<Declared>(self.toml).unwrap_or_default().outputs;
        let copies: Vec<Option<u64>> = capsule.copies_out().map(|(_, copied)| copied.from.bytes()).collect();
        let of = |it: &DeclaredOutput| {
            let mut output = it.of(copies.len()).ok()?;
            let bytes = (*copies.get(output.copy as usize)?)?;
            let size = output.element.map_or(1, ElementType::bytes);
            if output.shape.iter().product::<u64>() * size != bytes {
                output.shape.clear();
            }
            Some(output)
        };
        declared.iter().filter_map(of).collect()
    }

    /// Puts its executable where it can be started, once for each version, and returns its path.
    ///
    /// # Errors
    /// If none is bundled, or it cannot be written.
    pub fn place_application(&self) -> Result<PathBuf, SessionError> {
        let refused =
            |why: String| SessionError::new(ErrorKind::Refused, format!("start the workload {}: {why}", self.name));
        let bytes = self.application.ok_or_else(|| refused("its executable is not bundled".to_owned()))?;
        let directory = user_directory("XDG_CACHE_HOME", ".cache").ok_or_else(|| {
            refused("neither `XDG_CACHE_HOME` nor `HOME` names a directory".to_owned()).with_help("set one of them")
        })?;
        let digest: String = blake3::hash(bytes).to_hex().chars().take(16).collect();
        let directory = directory.join("beamline/workloads").join(digest);
        let path = directory.join(self.name);
        let bytes = zstd::decode_all(bytes).map_err(|error| refused(error.to_string()))?;
        if !fs::read(&path).is_ok_and(|there| there == bytes) {
            write_program(&directory, &path, &bytes)
                .map_err(|error| refused(format!("write {}: {error}", path.display())))?;
        }
        Ok(path)
    }

    /// The description; empty where the file says nothing.
    pub fn description(&self) -> Description {
        toml::from_str(self.toml).unwrap_or_default()
    }
}

/// What a `workload.toml` declares of its recording.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Declared {
    arguments: Vec<String>,
    outputs: Vec<DeclaredOutput>,
}

/// One of them. A negative copy counts from the end.
#[derive(Debug, Deserialize)]
pub struct DeclaredOutput {
    copy: i64,
    name: String,
    #[serde(rename = "type")]
    element: String,
    shape: Vec<u64>,
    tolerance: Option<f64>,
    #[serde(default)]
    metric: Metric,
}

impl DeclaredOutput {
    /// What it is of a recording with so many copies to the host.
    ///
    /// # Errors
    /// In words that follow "failed to", if there is no such copy or no such type.
    pub fn of(&self, copies: usize) -> Result<Output, String> {
        let at = if self.copy < 0 { copies as i64 + self.copy } else { self.copy };
        let none = || format!("find the output {}: there is no copy {}", self.name, self.copy);
        Ok(Output {
            copy: u32::try_from(at).map_err(|_| none())?,
            name: self.name.clone(),
            element: Some(self.element.parse().map_err(|error| format!("read the output {}: {error}", self.name))?),
            shape: self.shape.clone(),
            tolerance: self.tolerance,
            metric: self.metric,
        })
    }
}

/// Writes an executable in one piece, whoever else does the same.
fn write_program(directory: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let temporary = directory.join(format!(".{}", process::id()));
    let mut file = fs::File::options().write(true).create_new(true).mode(0o755).open(&temporary)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    drop(file);
    written.and_then(|()| fs::rename(&temporary, path)).inspect_err(|_| drop(fs::remove_file(&temporary)))
}
