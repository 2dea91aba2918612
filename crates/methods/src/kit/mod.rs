//! What methods share: campaigns that are made once and kept, and what one thread came to.

mod campaigns;
mod profile;
mod statements;
mod thread;
pub(crate) mod words;

pub use campaigns::{Campaigns, FinishedCampaign, Studied, StudyError};
pub use profile::{Profile, ProfileStep};
pub use statements::{Judged, Part, Statement, Verdict, tally};
pub use thread::ThreadId;
