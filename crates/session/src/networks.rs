//! Neural networks as what campaigns run on. In configurations a network is called `nn:NAME`, in place of a capsule, or
//! `nn:NAME;format=fp32;images=FILE;labels=FILE` in floating point and with images of its own; a name is that of a bundled network, or of an ONNX file.

use crate::error::{ErrorKind, SessionError};
use crate::names::absolute_name;
use nn::{ImageFiles, NetworkSource, OpenedNetwork, ValueFormat};
use std::path::{Path, PathBuf};

/// What stands before the name of a network.
const PREFIX: &str = "nn:";

/// The text before the format of values.
const FORMAT: &str = "format=";

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
    if let Some(format) = source.settled_format() {
        name.push_str(&format!(";{FORMAT}{}", format.word()));
    }
    if let Some(ImageFiles { images, labels }) = &source.images {
        for (word, path) in FILES.into_iter().zip([Some(images), labels.as_ref()]) {
            name.push(';');
            name.push_str(word);
            // Where no labels are named, nothing stands after their word.
            name.push_str(&path.map(|path| absolute(path)).transpose()?.unwrap_or_default());
        }
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
    let (mut files, mut format) = ([None, None], None);
    for part in parts {
        if let Some(word) = part.strip_prefix(FORMAT)
            && format.is_none()
        {
            format = Some(ValueFormat::parse(word).ok_or_else(|| {
                let message = format!("store values of a network as `{word}`: there are {}", formats().join(", "));
                SessionError::new(ErrorKind::Words, message).with_help("INT8 has no word: leave the format out")
            })?);
            continue;
        }
        let at = FILES.iter().position(|word| part.starts_with(word)).filter(|&at| files[at].is_none());
        let Some(at) = at else {
            let message = format!(
                "read `{part}` in the name of a network: expected format=FORMAT, images=FILE and labels=FILE, each once"
            );
            return Err(SessionError::new(ErrorKind::Words, message).with_help("such as nn:fashion;images=A;labels=B"));
        };
        files[at] = Some(part[FILES[at].len()..].into());
    }
    let images = match files {
        [Some(images), Some(labels)] => {
            let labels = Some(labels).filter(|labels: &PathBuf| !labels.as_os_str().is_empty());
            Some(ImageFiles { images, labels })
        }
        [None, None] => None,
        _ => {
            let message = format!("read the name of a network `{name}`: it has images or labels alone");
            return Err(SessionError::new(ErrorKind::Words, message).with_help("name both files, or neither"));
        }
    };
    Ok(NetworkSource { network, images, format })
}

/// The formats of floating point, by their words.
#[must_use]
pub fn formats() -> [&'static str; 3] {
    ValueFormat::ALL.map(ValueFormat::word)
}

/// The format that the name of a network says; none is INT8.
pub(crate) fn format_of(name: &str) -> Option<ValueFormat> {
    source(name).ok()?.format
}

/// The bundled networks: their names and what they are, a line each.
pub fn bundled() -> impl Iterator<Item = (&'static str, &'static str)> {
    nn::bundled::NETWORKS.iter().map(|it| (it.name, it.about))
}

/// Opens a network, and runs it on its images without a fault.
///
/// # Errors
/// If the network is unknown, or its images do not fit it.
pub fn open(source: &NetworkSource) -> Result<OpenedNetwork, SessionError> {
    source.open().map_err(|error| SessionError::from_error(ErrorKind::Refused, &error))
}

/// Opens a network by the name that a campaign has for it.
pub(crate) fn open_named(name: &str) -> Result<OpenedNetwork, SessionError> {
    open(&source(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_the_source_that_it_was_made_of() {
        let files =
            |images: &str, labels: &str| Some(ImageFiles { images: images.into(), labels: Some(labels.into()) });
        let formats = [None, Some(ValueFormat::Bf16)];
        for (images, format) in [None, files("/no/such = file", "/none")].into_iter().zip(formats) {
            let source = NetworkSource { network: "fashion".to_owned(), images, format };
            let name = name(&source).unwrap();
            assert_eq!(super::source(named(&name).unwrap()).unwrap(), source, "{name}");
        }
        assert!(name(&NetworkSource { network: "a".to_owned(), images: files("/a;b", "c"), format: None }).is_err());
        for wrong in ["fashion;images=a", "fashion;images=a;images=b", "fashion;melt=1", "fashion;format=fp8"] {
            assert!(source(wrong).is_err(), "{wrong}");
        }
    }
}
