//! Names that find the same thing again from any directory.

use crate::bundled;
use std::path::Path;

/// The name that finds a capsule again.
pub(crate) fn absolute_name(name: &str) -> String {
    let path = Path::new(name);
    let is_file = bundled::find(name).is_none() && path.is_file();
    let absolute = is_file.then(|| path.canonicalize().ok()).flatten();
    absolute.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| name.to_owned())
}

/// The directory of this name, or the current one, by a name that finds it again.
pub(crate) fn absolute_directory(name: Option<&str>) -> Option<String> {
    let path = Path::new(name.unwrap_or("."));
    let absolute = path.canonicalize().ok().and_then(|path| path.to_str().map(str::to_owned));
    absolute.or_else(|| name.map(str::to_owned))
}
