//! The modules of a capsule as they are read, and why one cannot be hardened.

use capsule::{BlobId, Capsule};
use ptx::Reading;
use rewrite::Refusal;
use thiserror::Error;

/// Why a capsule cannot be hardened.
#[derive(Debug, Error)]
pub enum HardenError {
    /// Its kernels are protected already.
    #[error("harden {name}: its kernels are protected by {scheme} already; take the capsule that it was made of")]
    Hardened {
        /// The capsule.
        name: String,
        /// By what.
        scheme: String,
    },
    /// Some of its contents cannot be read.
    #[error(transparent)]
    Capsule(#[from] capsule::Error),
    /// A module is not text.
    #[error("harden module {0}: its PTX is not UTF-8 text")]
    NotText(u32),
    /// The text of a module cannot be read at all.
    #[error("harden module {module}: read its PTX\n{mistakes}")]
    Mistakes {
        /// The module.
        module: u32,
        /// What is wrong.
        mistakes: String,
    },
    /// What was written has a defect.
    #[error(transparent)]
    Written(#[from] Refusal),
    /// What was written reads back as something else.
    #[error("harden module {0}: the text of the protected module reads back as another module")]
    Text(u32),
    /// A choice of instructions that makes no sense.
    #[error("{0}")]
    Choice(String),
    /// Loads are to be executed twice by a scheme that does not do it.
    #[error("harden by {0} with loads: only drdv, fastsig-drdv, sriv and fastsig-sriv execute loads twice")]
    Loads(&'static str),
    /// Nothing is chosen.
    #[error("harden {0}: none of its instructions is chosen, and nothing would be written")]
    Unchosen(String),
    /// Nothing could be protected.
    #[error("harden {name}: none of its kernels can be protected{}", first.as_deref().map_or_else(String::new, |first| format!("; {first}")))]
    Nothing {
        /// The capsule.
        name: String,
        /// Why the first of them cannot.
        first: Option<String>,
    },
}

/// The modules of a capsule that are PTX, by their numbers, as they are read.
pub(super) fn modules(capsule: &Capsule) -> impl Iterator<Item = (usize, Result<Reading, HardenError>)> {
    let with_ptx = capsule.modules.iter().enumerate().filter_map(|(index, module)| Some((index, module.ptx?)));
    with_ptx.map(|(index, blob)| (index, read(capsule, index, blob)))
}

fn read(capsule: &Capsule, index: usize, blob: BlobId) -> Result<Reading, HardenError> {
    let bytes = capsule.blobs.get(blob)?;
    let module = index as u32;
    let text = std::str::from_utf8(&bytes).map_err(|_| HardenError::NotText(module))?;
    ptx::parse_parts(&file_name(index), text)
        .map_err(|errors| HardenError::Mistakes { module, mistakes: errors.to_string() })
}

pub(super) fn file_name(index: usize) -> String {
    format!("module{index}.ptx")
}
