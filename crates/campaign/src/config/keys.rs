//! One table for each part of a configuration: what a key is called, what it holds, and how the command line says it.
//!
//! ```text
//! /// What it means.
//! field: Type = "key" kind,
//! ```
//!
//! From the table come the struct, its keys, reading and writing it as text, which of two values counts, and the words
//! of the command line. The kinds are `one` and `number` (`--key VALUE`), `flag` (`--key`), `list` (`--key A,B`), `each`
//! (`--key` for every value), `apart` (no option: words by themselves), and `part`, which is a table within the table:
//! its keys stand among the others.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;

use super::CommandLine;
use outcome::Criteria;

/// What the command line says by one option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionWords {
    /// The key, which is the option without its hyphens.
    pub key: &'static str,
    /// What stands behind it; nothing behind a flag.
    pub value: Option<String>,
}

impl OptionWords {
    fn new(key: &'static str, value: String) -> Self {
        Self { key, value: Some(value) }
    }
}

/// The keys of a table.
pub(super) trait Keys: Default {
    /// Adds the names of the keys, in their order.
    fn names(names: &mut Vec<&'static str>);

    /// Reads the value of `key`, if it is one of these.
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;

    /// Writes what is said.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// These, and `other`'s where these say nothing.
    fn merged(self, other: Self) -> Self;

    /// Adds what the command line says, key by key.
    fn say(&self, entries: &mut Vec<OptionWords>);
}

/// What a key holds.
pub(super) trait Value: Default + Serialize + DeserializeOwned {
    /// Whether it says nothing, so that the default counts.
    fn is_default(&self) -> bool;

    fn or(self, other: Self) -> Self {
        if self.is_default() { other } else { self }
    }
}

impl<T: Serialize + DeserializeOwned> Value for Option<T> {
    fn is_default(&self) -> bool {
        self.is_none()
    }
}

impl<T: Serialize + DeserializeOwned> Value for Vec<T> {
    fn is_default(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Serialize + DeserializeOwned> Value for BTreeMap<String, T> {
    fn is_default(&self) -> bool {
        self.is_empty()
    }
}

impl Value for bool {
    fn is_default(&self) -> bool {
        !self
    }
}

impl Value for CommandLine {
    fn is_default(&self) -> bool {
        self.words().is_empty()
    }
}

pub(super) fn one(key: &'static str, value: &Option<impl ToString>, entries: &mut Vec<OptionWords>) {
    entries.extend(value.iter().map(|value| OptionWords::new(key, value.to_string())));
}

pub(super) fn number(key: &'static str, value: &Option<f64>, entries: &mut Vec<OptionWords>) {
    entries.extend(value.iter().map(|value| OptionWords::new(key, shortest(*value))));
}

pub(super) fn flag(key: &'static str, value: &bool, entries: &mut Vec<OptionWords>) {
    entries.extend(value.then_some(OptionWords { key, value: None }));
}

pub(super) fn list(key: &'static str, values: &[String], entries: &mut Vec<OptionWords>) {
    entries.extend((!values.is_empty()).then(|| OptionWords::new(key, values.join(","))));
}

pub(super) fn each(key: &'static str, values: &[impl ToString], entries: &mut Vec<OptionWords>) {
    entries.extend(values.iter().map(|value| OptionWords::new(key, value.to_string())));
}

/// The shortest text that is read back as the same number.
fn shortest(number: f64) -> String {
    format!("{number:?}")
}

/// Declares a table. See the module.
macro_rules! keys {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$doc:meta])* $field:ident: $type:ty = $($key:literal)? $kind:ident, )+
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $( $(#[$doc])* pub $field: $type, )+
        }

        impl $crate::config::keys::Keys for $name {
            fn names(names: &mut Vec<&'static str>) {
                $( keys!(@names names, $type, $kind $($key)?); )+
            }

            fn read<'de, A: serde::de::MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
                $( keys!(@read self.$field, key, map, $kind $($key)?); )+
                Ok(false)
            }

            fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $( keys!(@write self.$field, map, $kind $($key)?); )+
                Ok(())
            }

            fn merged(self, other: Self) -> Self {
                Self { $( $field: keys!(@merged self.$field, other.$field, $kind), )+ }
            }

            fn say(&self, entries: &mut Vec<$crate::config::keys::OptionWords>) {
                $( keys!(@say self.$field, entries, $kind $($key)?); )+
            }
        }
    };

    (@names $names:ident, $type:ty, part) => { <$type as $crate::config::keys::Keys>::names($names) };
    (@names $names:ident, $type:ty, $kind:ident $key:literal) => { $names.push($key) };

    (@read $value:expr, $key:ident, $map:ident, part) => {
        if $crate::config::keys::Keys::read(&mut $value, $key, $map)? {
            return Ok(true);
        }
    };
    (@read $value:expr, $found:ident, $map:ident, $kind:ident $key:literal) => {
        if $found == $key {
            $value = $map.next_value()?;
            return Ok(true);
        }
    };

    (@write $value:expr, $map:ident, part) => { $crate::config::keys::Keys::write(&$value, $map)? };
    (@write $value:expr, $map:ident, $kind:ident $key:literal) => {
        if !$crate::config::keys::Value::is_default(&$value) {
            $map.serialize_entry($key, &$value)?;
        }
    };

    (@merged $value:expr, $other:expr, part) => { $crate::config::keys::Keys::merged($value, $other) };
    (@merged $value:expr, $other:expr, $kind:ident) => { $crate::config::keys::Value::or($value, $other) };

    (@say $value:expr, $entries:ident, part) => { $crate::config::keys::Keys::say(&$value, $entries) };
    (@say $value:expr, $entries:ident, apart $key:literal) => {};
    (@say $value:expr, $entries:ident, $kind:ident $key:literal) => {
        $crate::config::keys::$kind($key, &$value, $entries)
    };
}
pub(super) use keys;

/// What outputs have to keep to is merged output by output.
impl Keys for Criteria {
    fn names(names: &mut Vec<&'static str>) {
        names.extend(["tolerance", "quality", "scratch"]);
    }

    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "tolerance" => self.tolerance = map.next_value()?,
            "quality" => self.quality = map.next_value()?,
            "scratch" => self.scratch = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if !self.tolerance.is_empty() {
            map.serialize_entry("tolerance", &self.tolerance)?;
        }
        if !self.quality.is_empty() {
            map.serialize_entry("quality", &self.quality)?;
        }
        if !self.scratch.is_empty() {
            map.serialize_entry("scratch", &self.scratch)?;
        }
        Ok(())
    }

    fn merged(self, other: Self) -> Self {
        self.or(other)
    }

    fn say(&self, entries: &mut Vec<OptionWords>) {
        let tolerances = self.tolerance.iter().map(|(name, error)| format!("{name}={}", shortest(*error)));
        entries.extend(tolerances.map(|text| OptionWords::new("tolerance", text)));
        let qualities = self.quality.iter().map(|(name, quality)| format!("{name}:{quality}"));
        entries.extend(qualities.map(|text| OptionWords::new("quality", text)));
        entries.extend(self.scratch.iter().map(|name| OptionWords::new("scratch", name.clone())));
    }
}

/// Reads a table of text.
pub(super) struct Reader<T>(std::marker::PhantomData<T>);

impl<T> Default for Reader<T> {
    fn default() -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<'de, T: Keys> Visitor<'de> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the keys of a configuration")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut table = T::default();
        while let Some(key) = map.next_key::<String>()? {
            if !table.read(&key, &mut map)? {
                return Err(serde::de::Error::custom(format!("unknown key `{key}`")));
            }
        }
        Ok(table)
    }
}
