//! Files of one crate that import each other in a loop are refused: none of them can be read or moved alone.
//!
//! An arrow goes from the file that names something to the file that defines it. So a name that a parent hands on
//! leads to the child that defines it, and neither `mod child;` nor a parent's `pub use child::Name` is an arrow. What
//! a child takes from its parent's own file is one: if the parent uses the child, too, what they share belongs into a
//! file of its own.

mod loops;
mod mentions;
mod resolve;
#[cfg(test)]
mod tests;
mod tree;

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use tree::{Files, Tree};

/// The circles of the crate whose sources lie in a folder, in words.
pub(super) fn circles(src: &Path) -> Result<Vec<String>> {
    let mut files = Files::new();
    read(src, src, &mut files)?;
    let mut found = Vec::new();
    for root in ["lib.rs", "main.rs"] {
        if files.contains_key(Path::new(root)) {
            found.extend(circles_of(&files, root)?);
        }
    }
    Ok(found)
}

fn circles_of(files: &Files, root: &str) -> Result<Vec<String>> {
    let arrows = resolve::arrows(&Tree::read(files, root)?);
    Ok(loops::circles(&arrows).iter().map(|circle| loops::describe(circle, &arrows)).collect())
}

/// Every Rust file in a folder, by its path below `src`.
fn read(src: &Path, folder: &Path, files: &mut Files) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            read(src, &path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
            files.insert(path.strip_prefix(src)?.to_owned(), text);
        }
    }
    Ok(())
}
