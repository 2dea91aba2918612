//! Which products an assembler joins with the sums that read them.
//!
//! `mul` and `add` without a rounding modifier "may be optimized to use fused-multiply-add instructions on the target
//! device" (PTX ISA 9.0, §9.7.3): the sum is then one of the product before it is rounded. Which are joined is the
//! assembler's choice. [`Contraction::of`] is that of `ptxas` (13.0.88, from `-O1` on, the same for sm_75 to sm_100), found
//! by experiment; `docs/design/contraction.md` has the rule in words, and what it leaves out.

mod choice;
mod joins;
mod needed;
mod part;
mod regions;

pub use joins::{Contraction, Join, Product};

use crate::module::Function;

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
