//! What methods share: campaigns that are made once and kept, what one thread came to, files, tables of patterns.

mod campaigns;
pub(crate) mod chosen;
mod inputs;
pub mod lasting;
pub mod patterns;
mod profile;
mod thread;

pub use campaigns::{Campaigns, FinishedCampaign, OpenedCapsule, StudyError, StudySubject};
pub use inputs::{Inputs, Realised};
pub use profile::{Profile, ProfileStep};
pub use thread::ThreadId;
