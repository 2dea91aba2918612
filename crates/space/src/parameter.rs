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
        /// The largest, a whole number of steps above the least.
        high: i64,
        /// The distance of one value from the next; above 0.
        step: i64,
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

/// Numbers that are not whole are not told apart below this share: of their range, or on a logarithmic scale of each other.
const CLOSE: f64 = 0.01;

/// The largest seed.
const LAST_SEED: i64 = i32::MAX as i64;

impl Parameter {
    /// What it may be, in words.
    pub(crate) fn expected(&self) -> String {
        match &self.kind {
            Kind::Int { low, high, step: 1, .. } => format!("a whole number from {low} to {high}"),
            Kind::Int { low, high, step, .. } => format!("a whole number from {low} to {high} in steps of {step}"),
            Kind::Float { low, high, .. } => format!("a number from {low} to {high}"),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Seed => format!("a whole number from 0 to {LAST_SEED}"),
        }
    }

    /// Whether it may have a value.
    #[must_use]
    pub fn holds(&self, value: &Value) -> bool {
        match (&self.kind, value) {
            (Kind::Int { low, high, step, .. }, Value::Int(value)) => {
                (low..=high).contains(&value) && value.abs_diff(*low).is_multiple_of(step.unsigned_abs())
            }
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
            Kind::Int { low, high, step, scale: Scale::Linear } => {
                let step = step.unsigned_abs();
                let values = (high.abs_diff(*low) / step).saturating_add(1);
                Value::Int(low.wrapping_add_unsigned(draws.below(values).unwrap_or_default() * step))
            }
            Kind::Int { low, high, step, scale: Scale::Log } => {
                // Each value has the share from half a step below it to half a step above it.
                let half = (*step as f64 / 2.0).min(*low as f64 - 0.5);
                let (least, most) = ((*low as f64 - half).ln(), (*high as f64 + half).ln());
                let value = (least + draws.unit() * (most - least)).exp();
                let steps = ((value - *low as f64) / *step as f64).round() as i64;
                Value::Int(low.saturating_add(steps.saturating_mul(*step)).clamp(*low, *high))
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

    /// The value in the middle of two numbers, on its scale: above the first and below the second. `None` where there
    /// is none between, where two numbers that are not whole are close, and of other values.
    #[must_use]
    pub fn middle(&self, first: &Value, second: &Value) -> Option<Value> {
        match (&self.kind, first, second) {
            (Kind::Int { step, scale, .. }, Value::Int(low), Value::Int(high)) => {
                let steps = high.checked_sub(*low)? / step;
                if steps < 2 {
                    return None;
                }
                let middle = match scale {
                    Scale::Log if *low > 0 => ((*low as f64 * *high as f64).sqrt() as i64 - low) / step,
                    _ => steps / 2,
                };
                Some(Value::Int(low + middle.clamp(1, steps - 1) * step))
            }
            (Kind::Float { low: least, high: most, scale }, Value::Float(low), Value::Float(high)) => {
                let (middle, is_close) = match scale {
                    Scale::Log => ((low * high).sqrt(), high / low < 1.0 + CLOSE),
                    Scale::Linear => (low + (high - low) / 2.0, high - low < CLOSE * (most - least)),
                };
                (!is_close && *low < middle && middle < *high).then_some(Value::Float(middle))
            }
            _ => None,
        }
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
