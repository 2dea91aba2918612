//! The parts that methods share: campaigns that are made once and kept, settings, the course of one thread, files, tables of patterns.

mod budget;
mod campaigns;
pub(crate) mod chosen;
mod clock;
mod comparison;
mod error;
mod history;
mod inputs;
pub mod lasting;
mod named_files;
mod opened;
pub mod patterns;
mod profile;
pub(crate) mod settings;
mod thread;

pub(crate) use budget::most_within;
pub use campaigns::{Campaigns, FinishedCampaign, StudyEvent, StudySubject};
pub(crate) use clock::now;
pub use comparison::{CommandStarter, OutputComparison};
pub use error::StudyError;
pub use history::InputHistory;
pub use inputs::{Inputs, Realised};
pub use named_files::hash_named_files;
pub use opened::OpenedCapsule;
pub use profile::{Profile, ProfileStep};
pub use settings::MethodSettings;
pub use thread::ThreadId;
