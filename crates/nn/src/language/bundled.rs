//! The language models that the program brings along, each with its prompts, and models of files.

use std::path::{Path, PathBuf};

use super::model::{LanguageModel, ModelError};
use super::prompts::{ALPHABET, Prompt, tokens};
use super::target::{LanguageTarget, STEPS};
use crate::float::ValueFormat;

/// A language model that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct BundledModel {
    /// Its name.
    pub name: &'static str,
    /// A line about it.
    pub about: &'static str,
    file: &'static [u8],
    prompts: &'static [u8],
}

/// All of them.
pub static MODELS: [BundledModel; 1] = [BundledModel {
    name: "language",
    about: "a decoder over characters (2 layers, width 64, 4 heads), 64 prompts, fp32, or --format fp16, bf16",
    file: include_bytes!("../../networks/language/language.safetensors"),
    prompts: include_bytes!("../../networks/language/prompts.json"),
}];

/// A model that is to be opened, by its name or its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageSource {
    /// A bundled model, or a file of safetensors.
    pub model: String,
    /// A file of prompts; of a bundled model those that it brings along stand for none.
    pub prompts: Option<PathBuf>,
    /// The format in which values are stored.
    pub format: ValueFormat,
}

/// Why a model and prompts cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LanguageError {
    /// No model has that name.
    #[error("find the language model `{name}`: there are {}; or name a file of safetensors", names())]
    Name {
        /// The name.
        name: String,
    },
    /// A file cannot be read.
    #[error("read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The model is damaged.
    #[error("read the model `{name}`")]
    Model {
        /// The model.
        name: String,
        /// Why.
        #[source]
        source: ModelError,
    },
    /// A model of a file has no prompts.
    #[error("continue prompts by {}: name a file of prompts", path.display())]
    NoPrompts {
        /// The model.
        path: PathBuf,
    },
    /// The prompts are not what was expected.
    #[error("read prompts: {message}; expected JSON such as [{{\"prompt\": \"The store \"}}]")]
    Prompts {
        /// The reader's words.
        message: String,
    },
    /// A prompt that the model cannot continue.
    #[error("continue prompt {number}: {reason}")]
    Prompt {
        /// The prompt.
        number: usize,
        /// Why.
        reason: String,
    },
    /// The model has another alphabet.
    #[error(
        "generate text by `{name}`: it has {tokens} tokens; expected {ALPHABET}, the newline and the printable characters of ASCII"
    )]
    Alphabet {
        /// The model.
        name: String,
        /// Its tokens.
        tokens: usize,
    },
}

fn names() -> String {
    MODELS.iter().map(|model| format!("`{}` ({})", model.name, model.about)).collect::<Vec<_>>().join(", ")
}

impl LanguageSource {
    /// Reads the model and its prompts, and continues all of them without a fault.
    ///
    /// # Errors
    /// When a file cannot be read or is something else, or a prompt cannot be continued.
    pub fn open(&self) -> Result<LanguageTarget, LanguageError> {
        let path = Path::new(&self.model);
        let bundled = MODELS.iter().find(|bundled| bundled.name == self.model);
        let own = self.prompts.as_deref().map(read).transpose()?;
        let of_file;
        let (name, file, prompts): (&str, &[u8], &[u8]) = match bundled {
            Some(bundled) => (bundled.name, bundled.file, own.as_deref().unwrap_or(bundled.prompts)),
            None if !path.is_file() => return Err(LanguageError::Name { name: self.model.clone() }),
            None => {
                of_file = read(path)?;
                let prompts = own.as_deref().ok_or_else(|| LanguageError::NoPrompts { path: path.to_owned() })?;
                (path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("model"), &of_file, prompts)
            }
        };
        let model = LanguageModel::read(name, file, self.format);
        let model = model.map_err(|source| LanguageError::Model { name: name.to_owned(), source })?;
        if model.shape().tokens != ALPHABET {
            return Err(LanguageError::Alphabet { name: name.to_owned(), tokens: model.shape().tokens });
        }
        let of_json = |error: serde_json::Error| LanguageError::Prompts { message: error.to_string() };
        let read: Vec<Prompt> = serde_json::from_slice(prompts).map_err(of_json)?;
        if read.is_empty() {
            return Err(LanguageError::Prompts { message: "the list is empty".to_owned() });
        }
        let most = (model.shape().context + 1).saturating_sub(STEPS);
        let of_prompt = |(number, prompt): (usize, &Prompt)| {
            let wrong = |reason| LanguageError::Prompt { number, reason };
            let tokens = tokens(&prompt.prompt)
                .ok_or_else(|| wrong("a character is neither a newline nor printable ASCII".to_owned()))?;
            match tokens.len() {
                length if (2..=most).contains(&length) => Ok(tokens),
                length => Err(wrong(format!("it has {length} characters; expected 2 to {most}"))),
            }
        };
        let tokens = read.iter().enumerate().map(of_prompt).collect::<Result<Vec<_>, _>>()?;
        let target = LanguageTarget::new(model, tokens, &[file, prompts]);
        target.map_err(|number| LanguageError::Prompt {
            number,
            reason: "without a fault its logits are not finite".to_owned(),
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, LanguageError> {
    std::fs::read(path).map_err(|source| LanguageError::Read { path: path.to_owned(), source })
}
