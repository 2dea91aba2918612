//! Where our runtime library is.

use std::env;
use std::path::{Path, PathBuf};

use super::RunError;

/// The file name that cargo gives it.
pub(super) const FILE_NAME: &str = "libcudart.so";
/// The variable that names it, for those who keep it elsewhere.
const VARIABLE: &str = "BEAMLINE_CUDART";

/// The runtime library: where the variable says, or beside the running program, or where cargo leaves it for tests.
pub(super) fn runtime() -> Result<PathBuf, RunError> {
    if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return first(vec![PathBuf::from(named)]);
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
    first(candidates)
}

/// The first of these that is a file, as an absolute path.
fn first(candidates: Vec<PathBuf>) -> Result<PathBuf, RunError> {
    let found = candidates.iter().find(|path| path.is_file());
    let absolute = found.and_then(|path| path.canonicalize().ok());
    absolute.ok_or(RunError::NoRuntime { looked: candidates })
}
