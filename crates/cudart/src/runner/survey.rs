//! Whether a program is an application that we can run: what it and its libraries need.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::{env, fs};

use super::RunError;
use super::elf::{self, Facts, Unfit};
use super::error::NotAProgram;
use super::versions::VERSIONS;

/// How the names of runtime and driver begin.
const RUNTIME: &str = "libcudart.so";
const DRIVER: &str = "libcuda.so";
/// A program with more libraries than this is looked at no further.
const MOST_LIBRARIES: usize = 1000;
/// Where loaders look last.
const DIRECTORIES: [&str; 8] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/lib64",
];

/// Checks that the program is an application of the CUDA runtime that loads the runtime as a library.
pub(super) fn check(program: &Path) -> Result<(), RunError> {
    let facts = program_facts(program)?;
    if facts.device_code && facts.dynamic && !facts.takes_runtime && !needs_runtime(&facts) {
        return Err(RunError::StaticRuntime { path: program.into() });
    }
    if !facts.dynamic {
        return Err(RunError::Static { path: program.into() });
    }
    let loads = facts.loads || facts.opaque;
    Survey::default().walk(program, facts).verdict(program, loads)
}

fn needs_runtime(facts: &Facts) -> bool {
    facts.needed.iter().any(|name| name.starts_with(RUNTIME))
}

/// The facts about a file that has to be a program.
fn program_facts(path: &Path) -> Result<Facts, RunError> {
    let not = |found| RunError::NotAProgram { path: path.into(), found };
    let unreadable = |error| RunError::Unreadable { path: path.into(), error };
    match elf::facts(path).map_err(unreadable)? {
        Ok(facts) if !facts.program && facts.dynamic => Err(not(NotAProgram::Library)),
        Ok(facts) => Ok(facts),
        Err(Unfit::Machine(found)) => Err(RunError::Foreign { path: path.into(), found }),
        Err(Unfit::NotElf) => Err(not(script(path).map_or(NotAProgram::Other, NotAProgram::Script))),
    }
}

/// The interpreter of a script.
fn script(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut beginning = Vec::new();
    fs::File::open(path).ok()?.take(256).read_to_end(&mut beginning).ok()?;
    let line = beginning.strip_prefix(b"#!")?;
    let line = line.split(|&byte| byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).trim().to_owned())
}

/// What was found on the way through a program's libraries.
#[derive(Debug, Default)]
struct Survey {
    covered: bool,
    other_version: Option<(PathBuf, String)>,
    driver: Option<(PathBuf, String)>,
    static_runtime: Option<PathBuf>,
    missing: bool,
    seen: BTreeSet<String>,
}

impl Survey {
    /// Looks at a program and all its libraries that can be found.
    fn walk(mut self, program: &Path, facts: Facts) -> Self {
        let mut queue = VecDeque::from([(program.to_owned(), facts)]);
        while let Some((path, facts)) = queue.pop_front() {
            for name in &facts.needed {
                if !self.seen.insert(name.clone()) || self.note(&path, name) {
                    continue;
                }
                match find(name, &path, &facts.search) {
                    Some((library, facts)) if self.seen.len() < MOST_LIBRARIES => {
                        self.note_library(&library, &facts);
                        queue.push_back((library, facts));
                    }
                    _ => self.missing = true,
                }
            }
        }
        self
    }

    /// Notes a library of CUDA that is needed; whether it was one.
    fn note(&mut self, path: &Path, name: &str) -> bool {
        let need = || (path.to_owned(), name.to_owned());
        if VERSIONS.iter().any(|(covered, _)| name == *covered) {
            self.covered = true;
        } else if name.starts_with(RUNTIME) {
            self.other_version.get_or_insert_with(need);
        } else if name.starts_with(DRIVER) {
            self.driver.get_or_insert_with(need);
        } else {
            return false;
        }
        true
    }

    fn note_library(&mut self, path: &Path, facts: &Facts) {
        if facts.device_code && !facts.takes_runtime && !needs_runtime(facts) {
            self.static_runtime.get_or_insert_with(|| path.to_owned());
        }
    }

    /// What follows; `loads` if the program loads libraries while it runs, and so may need CUDA after all.
    fn verdict(self, program: &Path, loads: bool) -> Result<(), RunError> {
        if self.covered {
            return Ok(());
        }
        if let Some((path, library)) = self.other_version {
            return Err(RunError::Version { path, library });
        }
        if let Some(path) = self.static_runtime {
            return Err(RunError::StaticRuntime { path });
        }
        if self.missing || loads {
            return Ok(());
        }
        match self.driver {
            Some((path, library)) => Err(RunError::DriverOnly { path, library }),
            None => Err(RunError::NoCuda { path: program.into() }),
        }
    }
}

/// A library that a file needs, as a loader would find it, or nearly so.
fn find(name: &str, of: &Path, search: &[String]) -> Option<(PathBuf, Facts)> {
    let origin = of.parent().unwrap_or(Path::new("."));
    let candidates: Vec<PathBuf> = if name.contains('/') {
        vec![PathBuf::from(name)]
    } else {
        let own = search.iter().flat_map(|list| list.split(':'));
        let own = own.map(|directory| expand(directory, origin));
        let set = env::var("LD_LIBRARY_PATH").unwrap_or_default();
        let set: Vec<PathBuf> = set.split([':', ';']).map(PathBuf::from).collect();
        own.chain(set)
            .chain(DIRECTORIES.map(PathBuf::from))
            .chain(configured())
            .map(|directory| directory.join(name))
            .collect()
    };
    candidates.into_iter().find_map(|path| {
        let facts = elf::facts(&path).ok()?.ok()?;
        Some((path, facts))
    })
}

/// A directory of a search path, with `$ORIGIN` replaced.
fn expand(directory: &str, origin: &Path) -> PathBuf {
    for token in ["$ORIGIN", "${ORIGIN}"] {
        if let Some(rest) = directory.strip_prefix(token) {
            return origin.join(rest.trim_start_matches('/'));
        }
    }
    PathBuf::from(directory)
}

/// The directories that the system's configuration names.
fn configured() -> Vec<PathBuf> {
    let files = fs::read_dir("/etc/ld.so.conf.d").into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    files.sort();
    files.insert(0, PathBuf::from("/etc/ld.so.conf"));
    let texts = files.into_iter().filter_map(|file| fs::read_to_string(file).ok());
    let lines: Vec<String> = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.iter().map(|line| line.trim()).filter(|line| line.starts_with('/')).map(PathBuf::from).collect()
}
