//! Directories of the user who runs us.

use std::env;
use std::path::PathBuf;

/// A directory of this user: the one that a variable names, or that of the home directory. A relative one means nothing (XDG Base
/// Directory Specification).
pub(crate) fn user_directory(variable: &str, of_home: &str) -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named(variable).or_else(|| named("HOME").map(|home| home.join(of_home)))
}
