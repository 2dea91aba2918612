//! One parameter: what values it may have, and which are drawn.

use serde::Deserialize;
use stats::Draws;
use std::fmt;

use crate::error::SpaceError;

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// How values between two ends are drawn and halved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Each value alike.
    #[default]
    Linear,
    /// Each ratio alike.
    Log,
}

/// What values a parameter may have.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Whole numbers from one to another, both included.
    Int {
        /// The least.
        low: i64,
        /// The largest.
        high: i64,
        /// How they are drawn.
        scale: Scale,
    },
    /// Numbers from one to another.
    Float {
        /// The least.
        low: f64,
        /// The largest.
        high: f64,
        /// How they are drawn.
        scale: Scale,
    },
    /// One of some words, in the order in which they are tried.
    Choice(Vec<String>),
    /// Any seed of 31 bits: its value has no order.
    Seed,
}

/// A parameter of an application.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name, by which arguments have it.
    pub name: String,
    /// What values it may have.
    pub kind: Kind,
    /// Its value in the reference input.
    pub reference: Value,
}

/// The largest seed.
const LAST_SEED: i64 = i32::MAX as i64;

impl Parameter {
    /// What it may be, in words.
    pub(crate) fn expected(&self) -> String {
        match &self.kind {
            Kind::Int { low, high, .. } => format!("a whole number from {low} to {high}"),
            Kind::Float { low, high, .. } => format!("a number from {low} to {high}"),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Seed => format!("a whole number from 0 to {LAST_SEED}"),
        }
    }

    /// Whether it may have a value.
    #[must_use]
    pub fn holds(&self, value: &Value) -> bool {
        match (&self.kind, value) {
            (Kind::Int { low, high, .. }, Value::Int(value)) => (low..=high).contains(&value),
            (Kind::Float { low, high, .. }, Value::Float(value)) => (low..=high).contains(&value),
            (Kind::Choice(words), Value::Text(value)) => words.contains(value),
            (Kind::Seed, Value::Int(value)) => (0..=LAST_SEED).contains(value),
            _ => false,
        }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// If it may not have it.
    pub fn read(&self, text: &str) -> Result<Value, SpaceError> {
        let value = match self.kind {
            Kind::Int { .. } | Kind::Seed => text.parse().ok().map(Value::Int),
            Kind::Float { .. } => text.parse().ok().map(Value::Float),
            Kind::Choice(_) => Some(Value::Text(text.to_owned())),
        };
        let wrong = || SpaceError::Value { name: self.name.clone(), value: text.to_owned(), expected: self.expected() };
        value.filter(|value| self.holds(value)).ok_or_else(wrong)
    }

    /// A value, drawn uniformly on its scale.
    pub fn draw(&self, draws: &mut Draws) -> Value {
        match &self.kind {
            Kind::Int { low, high, scale: Scale::Linear } => {
                let span = high.abs_diff(*low).saturating_add(1);
                Value::Int(low.wrapping_add_unsigned(draws.below(span).unwrap_or_default()))
            }
            Kind::Int { low, high, scale: Scale::Log } => {
                // Each whole number has the share from a half below it to a half above it.
                let (least, most) = ((*low as f64 - 0.5).ln(), (*high as f64 + 0.5).ln());
                let value = (least + draws.unit() * (most - least)).exp().round() as i64;
                Value::Int(value.clamp(*low, *high))
            }
            Kind::Float { low, high, scale: Scale::Linear } => Value::Float(low + draws.unit() * (high - low)),
            Kind::Float { low, high, scale: Scale::Log } => {
                let value = (low.ln() + draws.unit() * (high.ln() - low.ln())).exp();
                Value::Float(value.clamp(*low, *high))
            }
            Kind::Choice(words) => Value::Text(draws.one_of(words).cloned().unwrap_or_default()),
            Kind::Seed => Value::Int(draws.below(LAST_SEED as u64 + 1).unwrap_or_default() as i64),
        }
    }

    /// The value in the middle of two whole numbers, on its scale: above the first and below the second. `None` where there
    /// is none between, and of other values.
    #[must_use]
    pub fn middle(&self, first: &Value, second: &Value) -> Option<Value> {
        let (Kind::Int { scale, .. }, Value::Int(low), Value::Int(high)) = (&self.kind, first, second) else {
            return None;
        };
        if high.checked_sub(*low)? < 2 {
            return None;
        }
        let middle = match scale {
            Scale::Log if *low > 0 => (*low as f64 * *high as f64).sqrt() as i64,
            _ => low + (high - low) / 2,
        };
        Some(Value::Int(middle.clamp(low + 1, high - 1)))
    }

    /// The smallest value: the least number, the first word. `None` of a seed, which has no order.
    #[must_use]
    pub fn smallest(&self) -> Option<Value> {
        match &self.kind {
            Kind::Int { low, .. } => Some(Value::Int(*low)),
            Kind::Float { low, .. } => Some(Value::Float(*low)),
            Kind::Choice(words) => words.first().cloned().map(Value::Text),
            Kind::Seed => None,
        }
    }
}
