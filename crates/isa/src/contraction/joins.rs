//! What is joined with what.

use facts::Pc;
use std::collections::BTreeMap;

/// The sums of a function that are joined with a product, and the products.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contraction {
    /// By instruction, the sums.
    pub sums: BTreeMap<Pc, Join>,
    /// By instruction, the products.
    pub products: BTreeMap<Pc, Product>,
}

/// A sum that is joined with a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// The instruction that makes the product.
    pub product: Pc,
    /// Which of the sum's two terms it is, from 0.
    pub term: usize,
    /// Whether that term is the product negated: a `neg` is between them.
    pub negated: bool,
}

/// A product that is joined with sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Its number among the products that are needed at the same time; those of different stretches of code never are.
    pub number: usize,
    /// The instructions before which it may still be needed.
    pub needed_before: Vec<Pc>,
}
