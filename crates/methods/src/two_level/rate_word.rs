//! One rate of a table of the implementation level.

use serde::Deserialize;
use stats::{Bounded, Confidence, poisson};

/// A rate as a table says it: a number, a number with its bounds, or one that was estimated from events.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) enum RateWord {
    Plain(f64),
    Bounded {
        rate: f64,
        low: f64,
        high: f64,
    },
    /// Estimated from so many events, which come by chance.
    Counted {
        rate: f64,
        events: u64,
    },
}

/// What a table says of a rate that is more than a number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RateTable {
    rate: f64,
    low: Option<f64>,
    high: Option<f64>,
    events: Option<u64>,
}

impl TryFrom<toml::Value> for RateWord {
    type Error = String;

    fn try_from(said: toml::Value) -> Result<Self, String> {
        const FORMS: &str = "a rate is a number, { rate, low, high } or { rate, events }";
        match said {
            toml::Value::Float(rate) => Ok(Self::Plain(rate)),
            toml::Value::Integer(rate) => Ok(Self::Plain(rate as f64)),
            toml::Value::Table(table) => {
                let wrong = |error: toml::de::Error| format!("{}; {FORMS}", error.message());
                let RateTable { rate, low, high, events } = table.try_into().map_err(wrong)?;
                match (low, high, events) {
                    (Some(low), Some(high), None) => Ok(Self::Bounded { rate, low, high }),
                    (None, None, Some(events)) => Ok(Self::Counted { rate, events }),
                    (None, None, None) => Ok(Self::Plain(rate)),
                    _ => Err(FORMS.to_owned()),
                }
            }
            _ => Err(FORMS.to_owned()),
        }
    }
}

impl RateWord {
    /// The rate with its bounds, exact if it has none.
    pub(super) fn bounded(self) -> Bounded {
        match self {
            Self::Plain(rate) => Bounded::exact(rate),
            Self::Bounded { rate, low, high } => Bounded { value: rate, low, high },
            Self::Counted { rate, events } => {
                poisson(events, Confidence::PERCENT_95).times(rate / events.max(1) as f64)
            }
        }
    }
}
