//! Engines on the command line.

use campaign::Engine;

/// An engine that some target offers.
pub(super) fn engine(word: &str) -> Result<Engine, String> {
    let known: Vec<&str> =
        inject::ENGINES.iter().chain(&debugger::ENGINES).chain(&nn::ENGINES).map(|offer| offer.word).collect();
    if known.contains(&word) {
        return Ok(Engine::from(word.to_owned()));
    }
    Err(format!("it is none of {}", known.join(", ")))
}
