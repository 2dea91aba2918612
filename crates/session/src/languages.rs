//! Language models as what campaigns run on. In configurations a model is called `language:NAME`, in place of a capsule, or
//! `language:NAME;format=fp16;prompts=FILE`; a name is that of a bundled model, or of a file of safetensors.

use crate::error::{ErrorKind, SessionError};
use crate::names::absolute_name;
use nn::{LanguageSource, LanguageTarget, ValueFormat};

/// The text before the name of a language model.
const PREFIX: &str = "language:";

/// The text before the format of values.
const FORMAT: &str = "format=";

/// The text before the file of prompts.
const PROMPTS: &str = "prompts=";

/// The name by which campaigns know a language model with its prompts. Files are found again from anywhere.
///
/// # Errors
/// If the path of a file has a `;` or is not a text.
pub fn name(source: &LanguageSource) -> Result<String, SessionError> {
    let absolute = |path: &str| match absolute_name(path) {
        path if path.contains(';') => {
            let message = format!("name the file {path}: its path has a `;`");
            Err(SessionError::new(ErrorKind::Words, message).with_help("rename the file"))
        }
        path => Ok(path),
    };
    let is_bundled = bundled().any(|(name, _)| name == source.model);
    let model = if is_bundled { source.model.clone() } else { absolute(&source.model)? };
    let mut name = format!("{PREFIX}{model}");
    if source.format != ValueFormat::Fp32 {
        name.push_str(&format!(";{FORMAT}{}", source.format.word()));
    }
    if let Some(prompts) = &source.prompts {
        let path = prompts.to_str().ok_or_else(|| {
            let message = format!("name the file {}: its path is not a text", prompts.display());
            SessionError::new(ErrorKind::Words, message).with_help("rename the file")
        })?;
        name.push_str(&format!(";{PROMPTS}{}", absolute(path)?));
    }
    Ok(name)
}

/// The language model that a campaign names in place of a capsule, if it names one.
#[must_use]
pub(crate) fn named(capsule: &str) -> Option<&str> {
    capsule.strip_prefix(PREFIX)
}

/// Reads the name of a language model, without what stands before it.
fn source(name: &str) -> Result<LanguageSource, SessionError> {
    let mut parts = name.split(';');
    let model = parts.next().unwrap_or_default().to_owned();
    let (mut prompts, mut format) = (None, None);
    for part in parts {
        if let Some(path) = part.strip_prefix(PROMPTS).filter(|_| prompts.is_none()) {
            prompts = Some(path.into());
        } else if let Some(found) = part.strip_prefix(FORMAT).and_then(ValueFormat::parse).filter(|_| format.is_none())
        {
            format = Some(found);
        } else {
            let message = format!(
                "read `{part}` in the name of a language model: expected format={} and prompts=FILE, each once",
                crate::networks::formats().join("|")
            );
            return Err(SessionError::new(ErrorKind::Words, message).with_help("such as language:language;format=fp16"));
        }
    }
    Ok(LanguageSource { model, prompts, format: format.unwrap_or_default() })
}

/// The format that the name of a language model says.
pub(crate) fn format_of(name: &str) -> ValueFormat {
    source(name).map_or_else(|_| ValueFormat::default(), |source| source.format)
}

/// The bundled language models: their names and what they are, a line each.
pub fn bundled() -> impl Iterator<Item = (&'static str, &'static str)> {
    nn::language::MODELS.iter().map(|it| (it.name, it.about))
}

/// Opens a language model, and continues its prompts without a fault.
///
/// # Errors
/// If the model is unknown, or its prompts do not fit it.
pub fn open(source: &LanguageSource) -> Result<LanguageTarget, SessionError> {
    source.open().map_err(|error| SessionError::from_error(ErrorKind::Refused, &error))
}

/// Opens a language model by the name that a campaign has for it.
pub(crate) fn open_named(name: &str) -> Result<LanguageTarget, SessionError> {
    open(&source(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_the_source_that_it_was_made_of() {
        for (prompts, format) in [(None, ValueFormat::Fp32), (Some("/no/such".into()), ValueFormat::Bf16)] {
            let source = LanguageSource { model: "language".to_owned(), prompts, format };
            let name = name(&source).unwrap();
            assert_eq!(super::source(named(&name).unwrap()).unwrap(), source, "{name}");
        }
        for wrong in ["language;format=fp8", "language;prompts=a;prompts=b", "language;melt=1"] {
            assert!(source(wrong).is_err(), "{wrong}");
        }
    }
}
