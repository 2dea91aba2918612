//! Engines on the command line.

use campaign::Engine;

/// An engine that some target offers.
pub(super) fn engine(word: &str) -> Result<Engine, String> {
    let all = inject::ENGINES.iter().chain(&debugger::ENGINES).chain(&nn::ENGINES).map(|offer| offer.word);
    let mut known: Vec<&str> = Vec::new();
    for word in all {
        if !known.contains(&word) {
            known.push(word);
        }
    }
    if known.contains(&word) {
        return Ok(Engine::from(word.to_owned()));
    }
    Err(format!("it is none of {}", known.join(", ")))
}
