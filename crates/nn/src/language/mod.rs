//! A language model that generates text, and one fault after the other while it does.
//!
//! ```text
//! safetensors ─▶ LanguageModel ─▶ Decoder: one token after the other ─▶ Generation ─▶ outputs against the golden one
//! ```
//!
//! A generation continues a prompt by a fixed number of tokens, each the one with the largest logit. Its *steps* are numbered by
//! these tokens: step 0 reads the last token of the prompt, and step n the token that step n - 1 chose. The tokens of the prompt
//! before the last are read before step 0; a fault hits keys and values that they left, but not the reading of them.
//!
//! # Invariants
//!
//! - Sums are added up in one order ([`decode`]), and exponentials are our own ([`exponential`](crate::exponential)): results repeat to the last bit.
//! - A run that starts from the keys and values of the golden run equals one that starts from the prompt, to the last bit.

mod bundled;
pub mod decode;
mod describe;
pub mod fault;
pub mod generate;
pub mod model;
mod outputs;
mod parts;
mod population;
pub mod prompts;
pub mod safetensors;
mod target;

pub use bundled::{LanguageError, LanguageSource, MODELS};
pub use describe::describe as describe_generation;
pub use fault::{GenerationFault, GenerationFaultError, StoredOperand};
pub use model::{LanguageModel, ModelError};
pub use outputs::{DELAY, SPAN, TOKENS};
pub use parts::ModelPart;
pub use target::LanguageTarget;
