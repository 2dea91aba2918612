//! Views of a campaign: data in, text out. Nothing here runs anything, prints, or writes a file.
//!
//! ```text
//! Results ──▶ gather (one pass) ──▶ Report, `beamline.report/1` ──▶ HTML · Markdown · JSON · SARIF
//!                                    └─ with another's ──▶ Comparison ──▶ HTML · Markdown · JSON · text
//! Results ──▶ rows ──▶ Parquet                 Summary ──▶ text for a terminal
//! ```
//!
//! # Invariants
//!
//! - Every view is made from the document, so all of them say the same numbers.
//! - Every rate has its bounds beside it, in every view.
//! - Every text that comes from a campaign or a capsule is escaped; a page loads nothing from anywhere.
//! - Memory does not grow with the rows; lists are capped, and say how much they leave out.
//! - Words of outcomes, models, targets and traps are taken as they come: new ones need no change here.

mod bits;
mod compare;
mod document;
mod findings;
mod gather;
mod html;
mod input;
mod limits;
mod markdown;
mod measure;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
mod plane;
mod races;
mod sarif;
mod stopping;
mod story;
pub mod study;
mod table;
pub mod text;

#[cfg(feature = "parquet")]
pub use self::parquet::{ParquetFailure, write_parquet, write_sheet};
pub use bits::BitOutcomes;
pub use compare::{COMPARISON_FORMAT, CampaignComparison, Contrast, OtherSetting, Side};
pub use document::*;
pub use input::{Context, ListedInstruction, SourceText};
pub use number::plain;
pub use story::story as story_text;
