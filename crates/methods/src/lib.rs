//! Published methods of choosing injections and of reading their results, one module each.
//!
//! A method chooses sites where a campaign would draw uniformly, and turns rows into its authors' estimates. It runs on
//! the engine that any campaign runs on, so that what its shortcuts cost can be measured instead of trusted.
//!
//! What studies come to is data: [`study`].
//!
//! - [`gpu_qin`]: threads grouped by their dynamic instruction counts, one profile for each popular group.

pub mod gpu_qin;
pub mod study;
