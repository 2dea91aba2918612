//! Where our runtime library is.

use std::env;
use std::path::{Path, PathBuf};

use super::RunError;
use super::versions::FILE_NAME;

/// The variable that names it, for those who keep it elsewhere.
const VARIABLE: &str = "BEAMLINE_CUDART";

/// The runtime library: where the variable says, or beside the running program, or where cargo leaves it for tests.
pub(super) fn runtime() -> Result<PathBuf, RunError> {
    if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return newest(vec![PathBuf::from(named)]);
    }
    let program = env::current_exe().unwrap_or_default();
    let beside = program.parent().unwrap_or(Path::new("."));
    let mut candidates = vec![
        beside.join(FILE_NAME),
        beside.join("deps").join(FILE_NAME),
        beside.join("../lib/beamline").join(FILE_NAME),
    ];
    if beside.ends_with("deps") {
        candidates.extend(beside.parent().map(|above| above.join(FILE_NAME)));
    }
    newest(candidates)
}

/// The one of these that is a file, as an absolute path; of several the newest, since cargo leaves one in each of its
/// directories and brings only that up to date which was asked for.
fn newest(candidates: Vec<PathBuf>) -> Result<PathBuf, RunError> {
    let made = |path: &&PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    let found = candidates.iter().rev().filter(|path| path.is_file()).max_by_key(made);
    let absolute = found.and_then(|path| path.canonicalize().ok());
    absolute.ok_or(RunError::NoRuntime { looked: candidates })
}
