//! What methods share: campaigns that are made once and kept, and what one thread came to.

mod campaigns;
mod profile;
mod thread;

pub use campaigns::{Campaigns, FinishedCampaign, Studied, StudyError};
pub use profile::{Profile, ProfileStep};
pub use thread::ThreadId;
