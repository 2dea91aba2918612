//! Words of a selection that a method chooses itself.

use campaign::SelectionWords;

/// The first word of a selection that says, otherwise than by default, what a method chooses: anything but the method and
/// what is in `except`.
pub(crate) fn first_explicit(words: &SelectionWords, except: &[&str]) -> Option<&'static str> {
    let usual = |word: &Option<String>, usual: &str| word.as_deref().is_none_or(|word| word == usual);
    let unsaid = [
        ("group", words.group.is_empty()),
        ("kernel", words.kernel.is_empty()),
        ("lines", words.lines.is_empty()),
        ("threads", words.threads.is_empty()),
        ("blocks", words.blocks.is_empty()),
        ("iterations", words.iterations.is_empty()),
        ("model", usual(&words.model, "flip")),
        ("target", usual(&words.target, "dst")),
        ("scope", usual(&words.scope, "thread")),
        ("stratify", words.stratify.is_none()),
    ];
    unsaid.into_iter().find(|(key, unsaid)| !unsaid && !except.contains(key)).map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_that_says_something_is_found() {
        let said = |text: &str| vec![text.to_owned()];
        let words =
            SelectionWords { model: Some("flip".into()), scope: Some("warp".into()), ..SelectionWords::default() };
        assert_eq!(first_explicit(&words, &[]), Some("scope"));
        assert_eq!(first_explicit(&words, &["scope"]), None);
        let words = SelectionWords { kernel: said("k"), iterations: said("0"), ..words };
        assert_eq!(first_explicit(&words, &[]), Some("kernel"));
        assert_eq!(first_explicit(&words, &["kernel"]), Some("iterations"));
    }
}
