//! From a configuration to something that runs.
//!
//! ```text
//! Choices ─▶ Config ─▶ capsule (a file, bundled, or recorded from the application) ─▶ golden run, set up
//!                          ─▶ what has the engines (the capsule, the application, the debugger) ─▶ method ─▶ Session
//! ```
//!
//! [`open`] does all of it, in this order: what can be refused without work is refused first. A [`Session`] is never
//! changed afterwards; campaigns, single faults, stories and the estimates of a method are asked of it. Nothing here
//! prints, or knows a command line.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let choices = campaign::Choices { capsule: Some("pathfinder".into()), runs: Some(200), ..Default::default() };
//! let session = session::open(choices)?;
//! let stop = std::sync::atomic::AtomicBool::new(false);
//! let (_, results) = session.run_in_memory(&stop, &mut |_| {})?;
//! println!("{:?}", results.summary()?.outcomes.sdc.rate);
//! # Ok(())
//! # }
//! ```

pub mod addresses;
pub mod bundled;
pub mod capsules;
pub mod contract;
mod error;
pub mod inputs;
pub mod languages;
mod names;
pub mod networks;
mod open;
pub mod order;
mod recorded;
mod session;
mod systems;
mod trust;
mod user;

pub use error::{ErrorKind, SessionError};
pub use open::{Changes, open, open_campaign, open_recording, open_results};
pub use recorded::trust_recorded;
pub use session::Session;
pub use systems::{StoredNumbers, SystemPart, describe, fault_sentence, machine_of};
