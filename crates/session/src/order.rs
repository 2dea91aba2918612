//! In which order warps and blocks execute, by the word of a configuration.

use crate::error::{ErrorKind, SessionError};
use inject::Order;

/// The order that a word of a configuration stands for; the default without a word.
///
/// # Errors
/// If the word is unknown.
pub fn order(word: Option<&str>) -> Result<Order, SessionError> {
    let Some(word) = word else { return Ok(Order::default()) };
    Order::from_word(word).ok_or_else(|| {
        let words = Order::ALL.map(Order::word).join(", ");
        SessionError::new(
            ErrorKind::Words,
            format!("execute warps and blocks in the order `{word}`: the word is unknown"),
        )
        .with_help(format!("the words are {words}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_what_it_says_and_the_default_is_what_campaigns_had() {
        for each in Order::ALL {
            assert_eq!(order(Some(each.word())).unwrap(), each);
        }
        assert_eq!(order(None).unwrap(), Order::AsRaces);
        let error = order(Some("random")).unwrap_err();
        assert!(error.to_string().contains("`random`") && error.help.is_some_and(|help| help.contains("races, turns")));
    }
}
