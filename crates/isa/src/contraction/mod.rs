//! Which products an assembler joins with the sums that read them.
//!
//! `mul` and `add` without a rounding modifier "may be optimized to use fused-multiply-add instructions on the target
//! device" (PTX ISA 9.0, §9.7.3): the sum is then one of the product before it is rounded. Which are joined is the
//! assembler's choice. [`Contraction::of`] is that of `ptxas` (13.0.88, from `-O1` on, the same for sm_75 to sm_100), found
//! by experiment; `docs/design/contraction.md` has the rule in words, and what it leaves out.

mod choice;
mod needed;
mod part;
mod regions;

use crate::module::Function;
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
    /// Its number among those of the same stretch of code: products of different stretches are never needed together.
    pub number: usize,
    /// The instructions before which it may still be needed.
    pub needed_before: Vec<Pc>,
}

impl Contraction {
    /// What `ptxas` joins in a function.
    #[must_use]
    pub fn of(function: &Function) -> Self {
        let mut found = Self::default();
        if !part::may_join(function) {
            return found;
        }
        let regions = regions::of(function);
        let needed = needed::of(function, &regions);
        for (region, alive) in regions.iter().zip(&needed.after) {
            choice::choose(function, region, &needed.instructions, alive, &mut found);
        }
        found
    }
}
