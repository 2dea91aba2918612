//! Settings of methods: each method has one type, which is read from the table of a campaign and written as one.

use campaign::{MethodChoice, SelectionWords, TargetError};
use serde::de::value::{Error as Wrong, MapAccessDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Error, IntoDeserializer, MapAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::{Table, Value};

use super::StudyError;

/// The settings of a method.
pub trait MethodSettings: Default + Serialize + DeserializeOwned {
    /// The name of the method.
    const NAME: &'static str;

    /// The keys and what each takes; it follows "there are" in messages.
    const KEYS: &'static str;

    /// The settings of the method that a selection names, or the defaults where it names none.
    ///
    /// # Errors
    /// If the selection names another method, or a setting that the method does not have.
    fn read(words: &SelectionWords) -> Result<Self, TargetError> {
        words.method.as_ref().map_or_else(|| Ok(Self::default()), Self::of)
    }

    /// The settings that a choice says.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn of(choice: &MethodChoice) -> Result<Self, TargetError> {
        if choice.name != Self::NAME {
            return Err(TargetError::new(format!("use the method `{}`: there is {}", choice.name, Self::NAME)));
        }
        let entries = Entries { name: Self::NAME, keys: Self::KEYS, left: choice.settings.iter(), value: None };
        let read = Self::deserialize(MapAccessDeserializer::new(entries));
        read.map_err(|error| TargetError::new(error.to_string()))
    }

    /// The settings that options of a command say, by their keys.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn of_options<'k>(options: impl IntoIterator<Item = (&'k str, String)>) -> Result<Self, StudyError> {
        let settings = options.into_iter().map(|(key, text)| (key.to_owned(), MethodChoice::value_of(&text))).collect();
        let choice = MethodChoice { name: Self::NAME.to_owned(), settings };
        Self::of(&choice).map_err(|error| StudyError::Words(error.to_string()))
    }

    /// The method with these settings, as a campaign holds it.
    fn choice(&self) -> MethodChoice {
        // Settings are text, truth values, numbers that a table has, and lists and tables of these: writing them does not fail.
        MethodChoice { name: Self::NAME.to_owned(), settings: Table::try_from(self).unwrap_or_default() }
    }
}

/// The entries of a table, with messages that name the method, the key and the value.
struct Entries<'t> {
    name: &'static str,
    keys: &'static str,
    left: toml::map::Iter<'t, String, Value>,
    value: Option<(&'t str, &'t Value)>,
}

impl Entries<'_> {
    fn no_such_key(&self, key: &str) -> Wrong {
        Wrong::custom(format!("set `{key}` of {}: there are {}", self.name, self.keys))
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        let Some((key, value)) = self.left.next() else { return Ok(None) };
        let key: &str = key;
        self.value = Some((key, value));
        let read: Result<K::Value, Wrong> = seed.deserialize(key.into_deserializer());
        read.map(Some).map_err(|_| self.no_such_key(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let (key, value) = self.value.take().ok_or_else(|| Wrong::custom("a value stands without its key"))?;
        seed.deserialize(value.clone()).map_err(|error| {
            let (text, message) = (MethodChoice::text_of(value), error.message());
            match text.as_deref() {
                Some("") => self.no_such_key(key),
                Some(text) => {
                    let message = message.strip_prefix(&format!("unknown variant `{text}`, ")).unwrap_or(message);
                    Wrong::custom(format!("set `{key}` of {} to `{text}`: {message}", self.name))
                }
                None => Wrong::custom(format!("set `{key}` of {}: {message}", self.name)),
            }
        })
    }
}

/// Reads a field from its word, whichever type the word has in a table.
pub(crate) fn word<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let text = MethodChoice::text_of(&Value::deserialize(deserializer)?);
    text.and_then(|text| read(&text)).ok_or_else(|| D::Error::custom(format!("expected {expected}")))
}

/// Reads the name of a file or of something that is bundled.
pub(crate) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    word(deserializer, "a name or a file", |text| Some(text.to_owned()).filter(|text| !text.is_empty()))
}

/// Writes a field that [`word`] reads.
pub(crate) fn write<S: Serializer>(word: &str, serializer: S) -> Result<S::Ok, S::Error> {
    MethodChoice::value_of(word).serialize(serializer)
}
