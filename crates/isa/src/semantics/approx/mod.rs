//! The `.approx` functions, to the bit as a GPU computes them.
//!
//! The PTX ISA gives these instructions error bounds; the special function unit of a GPU gives them bits. It is one
//! [`interpolator`] with a table for each function. The tables are our own: they are solved for from what an H200
//! answers, and compared with it for every argument (`cargo xtask special`; how is told in `docs/design/special.md`).
//!
//! [`reciprocal`], [`exponential`], [`circular`] and [`hyperbolic`] are the unit's functions, [`forms`] the instructions
//! of PTX that are more than one of these.

pub mod circular;
pub mod exponential;
pub mod forms;
pub mod hyperbolic;
pub mod interpolator;
pub mod reciprocal;
pub mod tables;
mod word;

#[cfg(test)]
mod tests;
