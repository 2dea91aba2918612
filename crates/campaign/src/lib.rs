//! An injection campaign: what to run, running it, and keeping what was seen.
//!
//! ```text
//! Choices ─▶ Config ─▶ plan on disk ─▶ workers ─▶ one writer ─▶ rows in SQLite ─▶ Summary
//! ```
//!
//! An exhaustive campaign has no plan but its totals: its target sweeps all faults of the selection in units, and the
//! store holds the units and the tally of their faults instead of rows (see [`sweep`]).
//!
//! A campaign in strata gives each part of the population as many runs as any other, and weighs what they come to
//! ([`Planner::strata`]). What a campaign is made to fail by is a [`bound`].
//!
//! The crate knows a [`TargetSystem`] that plans sites and runs them, and nothing of what a site is: no instruction
//! set, no machine, no GPU. Its tests use a target of a few lines and take milliseconds.
//!
//! # Invariants
//!
//! - The whole work list is on disk, and synced, before the first run; it is a pure function of (target, selection,
//!   seed, index).
//! - A row is a function of (target, configuration, index). Workers, shards, interruptions and kills change when a
//!   row is written, never what it says; no row is written twice, none is lost once its batch is committed.
//! - Raw observations are stored; outcomes are derived by [`outcome::classify`], a total function with a version.
//! - A unit is a function of (target, configuration, number) in the same way. It and its share of the tally are
//!   written in one transaction.
//! - planned = landed + not landed + failed in every finished campaign. A fault that did not land is not masked.
//! - A row that cannot be written stops the campaign.
//! - Nothing here prints or exits: [`run`] reports through [`CampaignEvent`]s.

mod aim;
mod engine;
mod failure;
mod plan;
mod race;
mod tally;

pub mod bound;
pub mod config;
pub mod files;
pub mod merge;
pub mod names;
mod rejudge;
pub mod runner;
mod site;
pub mod store;
pub mod story;
mod strata;
pub mod summary;
pub mod sweep;
pub mod target;

#[cfg(test)]
mod tests;

pub use aim::{Aim, Description};
pub use bound::{Bound, BoundError, BoundVerdict, Judgement, More, Subpopulation};
pub use config::{
    Bytes, Choices, CommandLine, Config, ConfigError, IntervalMethod, Live, MarginBy, MarginRule, MethodChoice,
    NotAMethod, SelectionWords, Shard, Size, Stratify,
};
pub use engine::{Engine, EngineOffer, NoSuchEngine};
pub use failure::{RunFailure, TargetError, error_chain};
pub use merge::{MergeError, merge};
pub use plan::PlanError;
pub use race::{DataRace, RacedMemory, Racers, RacingAccess};
pub use rejudge::{RejudgeError, Rejudged};
pub use runner::{CampaignEnd, CampaignError, CampaignEvent, run, run_in_memory};
pub use site::{Intent, Label, LabelColumn, LabelKind, Labels, NamedSite, RunIndex, Site, Spot};
pub use store::{Column, Ending, Finding, Results, Row, RowView, Store, StoreError, Value, read_config};
pub use strata::MAX_STRATA;
pub use summary::Summary;
pub use sweep::{Sweep, Sweeper, SweptCount, SweptFault, SweptOperand, SweptTiers, SweptUnit};
pub use tally::Tally;
pub use target::{Engines, GoldenSummary, KernelRegisters, MemoryUse, Planner, Stratum, Subject, TargetSystem, Worker};
