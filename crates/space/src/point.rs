//! A point of a space: an input of the application.

use std::fmt;

use crate::parameter::Value;

/// A value for each parameter of a space, in their order, with the names.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub(crate) values: Vec<(String, Value)>,
}

impl Point {
    /// The values, in the order of the parameters.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().map(|(_, value)| value)
    }

    /// The value of the parameter with this number.
    #[must_use]
    pub fn value(&self, number: usize) -> Option<&Value> {
        self.values.get(number).map(|(_, value)| value)
    }

    /// The same with another value of the parameter with this number.
    #[must_use]
    pub fn with(&self, number: usize, value: Value) -> Self {
        let mut point = self.clone();
        if let Some((_, old)) = point.values.get_mut(number) {
            *old = value;
        }
        point
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, value)) in self.values.iter().enumerate() {
            write!(f, "{}{name}={value}", if number == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}
