//! Neural networks as what campaigns run on. In configurations a network is called `nn:NAME`, in place of a capsule, or
//! `nn:NAME;images=FILE;labels=FILE` with images of its own; a name is that of a bundled network, or of an ONNX file.

use crate::error::{ErrorKind, SessionError};
use crate::names::absolute_name;
use nn::{ImageFiles, NetworkSource, NetworkTarget};
use std::path::Path;

/// What stands before the name of a network.
const PREFIX: &str = "nn:";

/// The text before the files of images and labels.
const FILES: [&str; 2] = ["images=", "labels="];

/// The name by which campaigns know a network, with its images if they are not those that it brings along. Files are found
/// again from anywhere.
///
/// # Errors
/// If the path of a file has a `;` or is not a text.
pub fn name(source: &NetworkSource) -> Result<String, SessionError> {
    let absolute = |path: &Path| {
        let found = path.to_str().map(absolute_name).filter(|path| !path.contains(';'));
        found.ok_or_else(|| {
            let message = format!("name the file {}: its path is not a text, or has a `;`", path.display());
            SessionError::new(ErrorKind::Words, message).with_help("rename the file")
        })
    };
    let is_bundled = bundled().any(|(name, _)| name == source.network);
    let network = if is_bundled { source.network.clone() } else { absolute(Path::new(&source.network))? };
    let mut name = format!("{PREFIX}{network}");
    for (word, path) in source.images.iter().flat_map(|files| FILES.into_iter().zip([&files.images, &files.labels])) {
        name.push(';');
        name.push_str(word);
        name.push_str(&absolute(path)?);
    }
    Ok(name)
}

/// The network that a campaign names in place of a capsule, if it names one.
#[must_use]
pub(crate) fn named(capsule: &str) -> Option<&str> {
    capsule.strip_prefix(PREFIX)
}

/// Reads the name of a network, without what stands before it.
fn source(name: &str) -> Result<NetworkSource, SessionError> {
    let mut parts = name.split(';');
    let network = parts.next().unwrap_or_default().to_owned();
    let mut files = [None, None];
    for part in parts {
        let at = FILES.iter().position(|word| part.starts_with(word)).filter(|&at| files[at].is_none());
        let Some(at) = at else {
            let message =
                format!("read `{part}` in the name of a network: expected images=FILE and labels=FILE, each once");
            return Err(SessionError::new(ErrorKind::Words, message).with_help("such as nn:fashion;images=A;labels=B"));
        };
        files[at] = Some(part[FILES[at].len()..].into());
    }
    match files {
        [Some(images), Some(labels)] => Ok(NetworkSource { network, images: Some(ImageFiles { images, labels }) }),
        [None, None] => Ok(NetworkSource { network, images: None }),
        _ => {
            let message = format!("read the name of a network `{name}`: it has images or labels alone");
            Err(SessionError::new(ErrorKind::Words, message).with_help("name both files, or neither"))
        }
    }
}

/// The bundled networks: their names and what they are, a line each.
pub fn bundled() -> impl Iterator<Item = (&'static str, &'static str)> {
    nn::bundled::NETWORKS.iter().map(|it| (it.name, it.about))
}

/// Opens a network, and runs it on its images without a fault.
///
/// # Errors
/// If the network is unknown, or its images do not fit it.
pub fn open(source: &NetworkSource) -> Result<NetworkTarget, SessionError> {
    source.open().map_err(|error| SessionError::from_error(ErrorKind::Refused, &error))
}

/// Opens a network by the name that a campaign has for it.
pub(crate) fn open_named(name: &str) -> Result<NetworkTarget, SessionError> {
    open(&source(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_the_source_that_it_was_made_of() {
        let files = |images: &str, labels: &str| Some(ImageFiles { images: images.into(), labels: labels.into() });
        for images in [None, files("/no/such = file", "/none")] {
            let source = NetworkSource { network: "fashion".to_owned(), images };
            let name = name(&source).unwrap();
            assert_eq!(super::source(named(&name).unwrap()).unwrap(), source, "{name}");
        }
        assert!(name(&NetworkSource { network: "a".to_owned(), images: files("/a;b", "c") }).is_err());
        for wrong in ["fashion;images=a", "fashion;images=a;images=b", "fashion;melt=1"] {
            assert!(source(wrong).is_err(), "{wrong}");
        }
    }
}
