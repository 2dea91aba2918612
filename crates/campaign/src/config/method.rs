//! The published method that chooses sites, with its settings as a table.

use std::fmt;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::{Table, Value};

/// The key of a list that stands alone behind the name of a method.
const LIST: &str = "regions";

/// A method and its settings. `campaign.toml` holds them as a table with the `name` in it.
///
/// The command line, summaries and older files have them as a word: `NAME:key=value,key=value`, `NAME:[…]` for a JSON list of
/// regions alone, and `NAME:{…}` with JSON for other settings that are not single values. Numbers, `true` and `false` are values of their types where the same text comes back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodChoice {
    /// The name of the method.
    pub name: String,
    /// The settings by their keys. The method has a default for each key that is absent.
    pub settings: Table,
}

/// Why a word does not name a method and its settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the settings of the method `{name}`: {why}")]
pub struct NotAMethod {
    name: String,
    why: String,
}

impl MethodChoice {
    /// The method `name` with its default settings.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), settings: Table::new() }
    }

    /// The text of a single value; none of a list or a table.
    #[must_use]
    pub fn text_of(value: &Value) -> Option<String> {
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Float(number) => Some(format!("{number:?}")),
            Value::Integer(_) | Value::Boolean(_) => Some(value.to_string()),
            Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
        }
    }

    /// The value that a word says: a number, `true` or `false` where [`text_of`](Self::text_of) it is the word, and text otherwise.
    #[must_use]
    pub fn value_of(word: &str) -> Value {
        let float = || word.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float);
        let number = word.parse().ok().map(Value::Integer).or_else(float);
        let value = word.parse().ok().map(Value::Boolean).or(number);
        value.filter(|value| Self::text_of(value).as_deref() == Some(word)).unwrap_or_else(|| Value::from(word))
    }

    /// The table that `campaign.toml` holds.
    pub(super) fn table(&self) -> Table {
        let name = ("name".to_owned(), Value::from(self.name.as_str()));
        std::iter::once(name).chain(self.settings.clone()).collect()
    }
}

/// The settings that `key=value,key=value` says. A part that does not begin with a key belongs to the value before it.
fn settings_of(words: &str) -> Table {
    let is_key = |text: &str| text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'));
    let mut said: Vec<(&str, String)> = Vec::new();
    for part in words.split(',').filter(|part| !part.is_empty()) {
        match (part.split_once('=').filter(|(key, _)| is_key(key)), said.last_mut()) {
            (Some((key, value)), _) => said.push((key, value.to_owned())),
            (None, Some((_, value))) => *value = format!("{value},{part}"),
            (None, None) => said.push((part, String::new())),
        }
    }
    said.into_iter().map(|(key, text)| (key.to_owned(), MethodChoice::value_of(&text))).collect()
}

impl FromStr for MethodChoice {
    type Err = NotAMethod;

    fn from_str(word: &str) -> Result<Self, NotAMethod> {
        let (name, rest) = word.split_once(':').unwrap_or((word, ""));
        let settings = match rest.as_bytes().first() {
            Some(b'{') => serde_json::from_str(rest),
            Some(b'[') => serde_json::from_str(rest).map(|list: Value| Table::from_iter([(LIST.to_owned(), list)])),
            _ => Ok(settings_of(rest)),
        };
        let wrong = |error: serde_json::Error| NotAMethod { name: name.to_owned(), why: error.to_string() };
        if !matches!(rest.as_bytes().first(), Some(b'{' | b'[')) {
            let keys: Vec<&str> = rest.split(',').filter_map(|part| Some(part.split_once('=')?.0)).collect();
            if let Some(twice) = keys.iter().enumerate().find(|(at, key)| keys[..*at].contains(key)) {
                return Err(NotAMethod { name: name.to_owned(), why: format!("`{}` is set twice", twice.1) });
            }
        }
        Ok(Self { name: name.to_owned(), settings: settings.map_err(wrong)? })
    }
}

impl fmt::Display for MethodChoice {
    /// The word, which is read back as the same choice.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, settings } = self;
        let said = |(key, value): (&String, &Value)| Some(format!("{key}={}", Self::text_of(value)?));
        let words: Option<Vec<String>> = settings.iter().map(said).collect();
        let words = words.map(|words| words.join(",")).filter(|words| settings_of(words) == *settings);
        let json = || match settings.get(LIST) {
            Some(list @ Value::Array(_)) if settings.len() == 1 => serde_json::to_string(list),
            _ => serde_json::to_string(settings),
        };
        match words {
            Some(words) if words.is_empty() => f.write_str(name),
            Some(words) => write!(f, "{name}:{words}"),
            None => write!(f, "{name}:{}", json().map_err(|_| fmt::Error)?),
        }
    }
}

impl Serialize for MethodChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MethodChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordOrTable)
    }
}

struct WordOrTable;

impl<'de> Visitor<'de> for WordOrTable {
    type Value = MethodChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a method as `NAME:key=value,…`, or a table with its `name` and its settings")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<MethodChoice, E> {
        word.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MethodChoice, A::Error> {
        let mut settings = Table::deserialize(MapAccessDeserializer::new(map))?;
        match settings.remove("name") {
            Some(Value::String(name)) => Ok(MethodChoice { name, settings }),
            _ => Err(A::Error::custom("the table of the method has no `name`: write it beside its settings")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn read(text: &str) -> Result<MethodChoice, toml::de::Error> {
        #[derive(Deserialize)]
        struct File {
            method: MethodChoice,
        }
        toml::from_str(text).map(|File { method }| method)
    }

    #[test]
    fn a_word_is_a_table_of_values() {
        let choice: MethodChoice = "m:share=0.5,number=64,on=true,text=none,path=/a,b/c=d.csv".parse().unwrap();
        let table =
            "method = { name = 'm', share = 0.5, number = 64, on = true, text = 'none', path = '/a,b/c=d.csv' }";
        assert_eq!(read(table).unwrap(), choice);
        assert_eq!(read(&format!("method = '{choice}'")).unwrap(), choice);
        assert_eq!("m".parse(), Ok(MethodChoice::named("m")));
        assert_eq!("m:".parse(), Ok(MethodChoice::named("m")));
    }

    #[test]
    fn every_choice_is_read_back_from_its_word() {
        for word in [
            "m",
            "m:a=1e-7,b=0.50,c=NaN,d=-0",
            "m:key=",
            "m:a=1,2,3",
            "m:{\"a\":\"5\"}",
            "m:{\"a\":[{\"b\":1}]}",
            "m:[{\"name\":\"a, b\",\"lines\":[1,2]}]",
        ] {
            let choice: MethodChoice = word.parse().unwrap();
            assert_eq!(choice.to_string(), word);
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
    }

    #[test]
    fn a_campaign_holds_a_table_and_reads_words_of_older_ones() {
        let of = |method: &str| Config::from_toml(&format!("capsule = 'gemm'\n{method}"), "it").unwrap();
        let regions = "[{\"name\":\"a\",\"lines\":[1,2]},{\"name\":\"b, c\"}]";
        for (word, table) in [
            ("m:path=/a b.toml,share=0.5", "[method]\nname = \"m\"\npath = \"/a b.toml\"\nshare = 0.5\n"),
            (
                &*format!("m:{regions}"),
                "[method]\nname = \"m\"\n\n[[method.regions]]\nname = \"a\"\nlines = [1, 2]\n\n[[method.regions]]\nname = \"b, c\"\n",
            ),
        ] {
            let old = of(&format!("method = '{word}'"));
            assert_eq!(of(table), old);
            let text = old.to_toml().unwrap();
            assert!(text.contains(table), "{text}");
            assert_eq!(Config::from_toml(&text, "it").unwrap(), old);
            assert_eq!(serde_json::to_value(old.selection.method).unwrap(), word);
        }
    }

    #[test]
    fn a_wrong_choice_is_named() {
        let error = "m:{".parse::<MethodChoice>().unwrap_err().to_string();
        assert!(error.starts_with("read the settings of the method `m`: EOF"), "{error}");
        assert!(read("method = { a = 1 }").unwrap_err().message().contains("has no `name`"));
        assert!(read("method = 3").unwrap_err().message().contains("expected a method as `NAME:key=value"));
    }
}
