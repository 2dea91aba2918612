//! Real numbers that may be infinite or NaN, which JSON has no numbers for: those are `"inf"`, `"-inf"`, `"NaN"`.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

#[derive(Deserialize)]
#[serde(untagged)]
enum Real {
    Finite(f64),
    Word(String),
}

pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.collect_str(value) }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    match Real::deserialize(deserializer)? {
        Real::Finite(value) => Ok(value),
        Real::Word(word) => match word.as_str() {
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            "NaN" => Ok(f64::NAN),
            _ => Err(D::Error::custom(format!("`{word}` is not a number, `inf`, `-inf` or `NaN`"))),
        },
    }
}

/// The same of a number that may be missing.
pub(crate) mod optional {
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => super::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }
}
