//! The directory that the loader of an application looks into: the stubs, and a link to our runtime.
//!
//! It is private to the user and stays, since an application may start others after we are gone. Its name depends on
//! what is in it, and files appear in it in one step, so that runs side by side do not disturb each other.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::{env, process};

use capsule::{Digest, Digester};

use super::versions::VERSIONS;
use super::{RunError, stub};

/// The name of the link to our runtime. It is not the name of a library that anything else could want.
const LINK: &str = "libbeamline-cudart.so";

/// What the environment of an application must have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// An entry for `LD_PRELOAD`.
    pub(super) preload: OsString,
    /// A directory for `LD_LIBRARY_PATH`.
    pub(super) directory: PathBuf,
}

/// Prepares a directory for the loader in the user's cache, or under the temporary directory.
pub(super) fn prepare(runtime: &Path) -> Result<Placed, RunError> {
    let mut last = None;
    for root in roots() {
        let directory = root.join(format!("cudart-{}", fingerprint(runtime)));
        match fill(&root, &directory, runtime) {
            Ok(preload) => return Ok(Placed { preload, directory }),
            Err(error) => last = Some(RunError::NoPlace { path: directory, error }),
        }
    }
    Err(last.unwrap_or_else(|| RunError::NoPlace { path: PathBuf::new(), error: io::ErrorKind::NotFound.into() }))
}

/// Directories that may be ours, the best first.
fn roots() -> Vec<PathBuf> {
    let variable = |name| env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute());
    let home = || variable("HOME").map(|home| home.join(".cache"));
    let cache = variable("XDG_CACHE_HOME").or_else(home).map(|cache| cache.join("beamline"));
    let user = own_id().map(|id| env::temp_dir().join(format!("beamline-{id}")));
    cache.into_iter().chain(user).filter(|root| is_unambiguous(root)).collect()
}

/// The user we are.
fn own_id() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|metadata| metadata.uid())
}

/// Whether `LD_LIBRARY_PATH` can name the path: it knows no quoting.
fn is_unambiguous(path: &Path) -> bool {
    !path.as_os_str().as_bytes().iter().any(|byte| b":;$".contains(byte))
}

/// Makes the directory and its files, and says how to name our runtime to the loader.
fn fill(root: &Path, directory: &Path, runtime: &Path) -> io::Result<OsString> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    for path in [root, directory] {
        check_private(path)?;
    }
    for name in VERSIONS.map(|(name, _)| name) {
        let (path, image) = (directory.join(name), stub::image(name, LINK));
        if fs::read(&path).ok().as_deref() != Some(&image) {
            replace(&path, |partial| fs::write(partial, &image))?;
        }
    }
    let link = directory.join(LINK);
    if fs::read_link(&link).ok().as_deref() != Some(runtime) {
        replace(&link, |partial| symlink(runtime, partial))?;
    }
    // In LD_PRELOAD, blanks separate too; a bare name is looked up in LD_LIBRARY_PATH.
    let nameable = is_unambiguous(runtime) && !runtime.as_os_str().as_bytes().contains(&b' ');
    Ok(if nameable { runtime.into() } else { LINK.into() })
}

/// Nobody else may put files there: they would run in the user's applications.
fn check_private(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if Some(metadata.uid()) == own_id() && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    let reason = format!("`{}` can be written by other users", path.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

/// Makes a file under another name and moves it to its place.
fn replace(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let partial = path.with_extension(format!("{}.partial", process::id()));
    let result = make(&partial).and_then(|()| fs::rename(&partial, path));
    if result.is_err() {
        // The first failure is the one to report.
        let _ = fs::remove_file(&partial);
    }
    result
}

/// What differs for different runtimes.
fn fingerprint(runtime: &Path) -> Digest {
    let mut digester = Digester::new();
    digester.update(env!("CARGO_PKG_VERSION").as_bytes());
    digester.update(runtime.as_os_str().as_bytes());
    digester.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_for(runtime: &str) -> (tempfile::TempDir, PathBuf, OsString) {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("inner");
        let preload = fill(root.path(), &directory, Path::new(runtime)).unwrap();
        (root, directory, preload)
    }

    #[test]
    fn a_stub_stands_there_for_every_version() {
        let (root, directory, preload) = fill_for("/opt/beamline/libcudart.so");
        assert_eq!(preload, "/opt/beamline/libcudart.so");
        for (name, _) in VERSIONS {
            assert_eq!(fs::read(directory.join(name)).unwrap(), stub::image(name, LINK));
        }
        assert_eq!(fill(root.path(), &directory, Path::new("/opt/x.so")).unwrap(), "/opt/x.so");
    }

    #[test]
    fn a_path_that_the_loader_would_take_apart_is_linked() {
        for runtime in ["/my files/libcudart.so", "/a:b/libcudart.so", "/$ORIGIN/libcudart.so"] {
            let (_root, directory, preload) = fill_for(runtime);
            assert_eq!(preload, LINK);
            assert_eq!(fs::read_link(directory.join(LINK)).unwrap(), Path::new(runtime));
        }
    }

    #[test]
    fn a_directory_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = fill(root.path(), &root.path().join("inner"), Path::new("/x.so")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}
