//! By what feature maps are ordered.

use serde::Serialize;

/// By what feature maps are ordered, the most vulnerable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Multiplications times the share of other classes: the oracle of the thesis.
    Mismatch,
    /// Multiplications times the mean change of the cross entropy.
    Loss,
    /// The share of other classes alone: what a duplicated multiplication brings. Not in the thesis.
    Rate,
}

impl Order {
    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Mismatch => "mismatch",
            Self::Loss => "ΔLoss",
            Self::Rate => "mismatch without MACs",
        }
    }
}

/// All orders, that of the oracle first.
pub const ORDERS: [Order; 3] = [Order::Mismatch, Order::Loss, Order::Rate];
