//! From logs of microbenchmarks under a beam, or under simulated strikes, to events, to the bits that were struck, and to a
//! table of rates.

mod boards;
mod category;
mod command;
mod cross_sections;
mod log;
mod rates;
mod words;

pub use category::{Bits, Category, category};
pub(super) use command::{EVENTS, FLUX};
pub use log::{Ended, Log, Mismatch, Run, read};
pub use rates::{Beam, Counts};
