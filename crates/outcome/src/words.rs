//! Enumerations that are one word each, in files, in rows and on the command line: [`words!`].

/// Declares an enumeration whose variants print, parse and serialise as the word given beside them.
///
/// One table gives all directions, so that a word cannot be written that is not read back. The literal behind the name
/// says what a word of the enumeration is to name, in messages.
///
/// ```
/// outcome::words! {
///     /// How to travel.
///     pub enum Pace ("pace") {
///         /// On foot.
///         Walk = "walk",
///         /// Faster.
///         Run = "run",
///     }
/// }
///
/// assert_eq!("walk".parse(), Ok(Pace::Walk));
/// assert_eq!("fly".parse::<Pace>().unwrap_err().to_string(), "unknown pace `fly`: it is one of walk, run");
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident ($what:literal) {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
        }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word that stands for the value.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $( $word => Ok(Self::$variant), )+
                    _ => Err($crate::UnknownWord {
                        what: $what,
                        found: text.to_owned(),
                        known: &[$($word),+],
                    }),
                }
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err($crate::serde::de::Error::custom)
            }
        }
    };
}

/// The one of `known`, which are some, that the fewest edits turn `word` into; the first of them in a tie.
#[must_use]
pub fn nearest(word: &str, known: &[&'static str]) -> &'static str {
    known.iter().min_by_key(|known| strsim::levenshtein(word, known)).copied().unwrap_or_default()
}

/// A word that none of the known ones is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{found}`: it is one of {}", known.join(", "))]
pub struct UnknownWord {
    /// What the word was to name.
    pub what: &'static str,
    /// The word.
    pub found: String,
    /// The words that would have done.
    pub known: &'static [&'static str],
}

#[cfg(test)]
mod tests {
    use super::nearest;
    use crate::Metric;

    #[test]
    fn every_word_is_read_back_as_itself() {
        for &metric in Metric::ALL {
            assert_eq!(metric.to_string().parse(), Ok(metric));
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric);
        }
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_known_ones() {
        let error = "l2".parse::<Metric>().unwrap_err();
        let text = "unknown metric `l2`: it is one of max-rel, max-abs, rel-l2, differing, differing-share";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn the_nearest_word_takes_the_fewest_edits_and_is_the_first_in_a_tie() {
        assert_eq!(nearest("metrik", &["bins", "metric"]), "metric");
        assert_eq!(nearest("c", &["ab", "ba"]), "ab");
        assert_eq!(nearest("", &["long", "no"]), "no");
    }
}
