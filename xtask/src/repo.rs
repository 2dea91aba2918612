//! The repository, and how a check speaks.

use anyhow::Result;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
}

#[expect(clippy::print_stdout, reason = "the one place where checks speak")]
pub(crate) fn say(text: &str) -> Result<()> {
    println!("{text}");
    Ok(())
}
