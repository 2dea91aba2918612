//! Enumerations that are one word each, in files, in rows and on the command line.

/// Declares an enumeration whose variants print, parse and serialise as the word given beside them.
///
/// One table gives all directions, so that a word cannot be written that is not read back.
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
            pub fn word(self) -> &'static str {
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
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $( $word => Ok(Self::$variant), )+
                    _ => Err($crate::words::UnknownWord {
                        what: $what,
                        found: text.to_owned(),
                        known: &[$($word),+],
                    }),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use words;

/// The one of `known`, which are some, that the fewest edits turn `word` into; the first of them in a tie.
pub(crate) fn nearest(word: &str, known: &[&'static str]) -> &'static str {
    known.iter().min_by_key(|known| edits(word, known)).copied().unwrap_or_default()
}

/// The edit distance of V. I. Levenshtein, 1966, by rows (R. A. Wagner & M. J. Fischer, JACM 21, 1974).
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
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
    use crate::config::IntervalMethod;

    #[test]
    fn every_word_is_read_back_as_itself() {
        for &method in IntervalMethod::ALL {
            assert_eq!(method.to_string().parse(), Ok(method));
            let json = serde_json::to_string(&method).unwrap();
            assert_eq!(serde_json::from_str::<IntervalMethod>(&json).unwrap(), method);
        }
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_known_ones() {
        let error = "wald".parse::<IntervalMethod>().unwrap_err();
        let text = "unknown interval `wald`: it is one of wilson, clopper-pearson";
        assert_eq!(error.to_string(), text);
    }
}
