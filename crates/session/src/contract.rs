//! Which products are joined with sums, by the word of a configuration.

use crate::error::{ErrorKind, SessionError};
use device::Contract;

/// The contraction that a word of a configuration stands for; the default without a word.
///
/// # Errors
/// If the word is unknown.
pub fn contract(word: Option<&str>) -> Result<Contract, SessionError> {
    let Some(word) = word else { return Ok(Contract::default()) };
    Contract::from_word(word).ok_or_else(|| {
        let words = Contract::ALL.map(Contract::word).join(" and ");
        SessionError::new(ErrorKind::Words, format!("join products with sums as `{word}` says: the word is unknown"))
            .with_help(format!("the words are {words}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_what_it_says_and_the_default_is_what_a_gpu_does() {
        assert_eq!(contract(Some("off")).unwrap(), Contract::Off);
        assert_eq!(contract(None).unwrap(), contract(Some("ptxas")).unwrap());
        let error = contract(Some("on")).unwrap_err();
        assert!(error.to_string().contains("`on`") && error.help.is_some_and(|help| help.contains("ptxas and off")));
    }
}
