//! What instructions compute: pure functions from bits to bits, one lane at a time.
//!
//! Nothing here knows a warp, a mask or a memory. Width and sign come from the argument types; every function is
//! small enough to inline, so that the machine's lane loops become vector instructions. Results are bit-exact to
//! the PTX ISA 9.0 (§9.7), and those in [`approx`], for which it has only bounds of error, to a GPU.

pub mod approx;
pub mod convert;
pub mod directed;
pub mod float;
pub mod format;
pub mod int;
pub mod narrow;
pub mod parts;
