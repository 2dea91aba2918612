//! What methods share: campaigns that are made once and kept, what one thread came to, files, tables of patterns.

mod campaigns;
pub(crate) mod chosen;
mod inputs;
pub(crate) mod lasting;
pub mod patterns;
mod profile;
mod thread;

pub use campaigns::{Application, Campaigns, FinishedCampaign, Studied, StudyError};
pub use inputs::{Inputs, Realised};
pub use profile::{Profile, ProfileStep};
pub use thread::ThreadId;
