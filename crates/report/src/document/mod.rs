//! The report as data: the document `beamline.report/1`, from which every view is made.
//!
//! Views show these numbers and compute none, so that the page, the Markdown and the JSON cannot disagree. Every rate is
//! a [`Rate`]: a count, its share, and the bounds of the share. Lists that can be long are a [`Capped`], which says how
//! much it leaves out.

mod build;
mod capped;
mod distributions;
mod fates;
mod parts;
mod provenance;
mod scale;
mod sites;

use std::collections::BTreeMap;

use campaign::summary::{Outcomes, Rate, Summary};
use serde::Serialize;

use crate::limits::bad_name;

pub use capped::Capped;
pub use fates::*;
pub(crate) use parts::bits;
pub(crate) use provenance::run_command;
pub use provenance::{ReportProvenance, Setting};
pub(crate) use scale::Scale;

/// The format of the document.
pub const REPORT_FORMAT: &str = "beamline.report/1";

/// Everything that a report says.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`REPORT_FORMAT`].
    pub format: &'static str,
    /// The summary of the campaign, `beamline.summary/1`.
    pub summary: Summary,
    /// How rates are bounded.
    pub bounds: RateBounding,
    /// Kinds of outcomes, as shares of what landed.
    pub kinds: Vec<OutcomeKind>,
    /// What parts are ranked by, and what counts against them: `bad`, `bad or unjudged`, or `sdc` where nothing is judged.
    pub ranked_by: &'static str,
    /// Where outputs are judged, which part of the silent corruptions no criterion accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad_of_sdc: Option<Rate>,
    /// By kernel, as launched; most bad corruptions first (silent ones where nothing is judged), as in all lists of parts.
    pub kernels: Vec<NamedRates>,
    /// By instruction group.
    pub groups: Vec<NamedRates>,
    /// By source line.
    pub lines: Capped<LineRates>,
    /// By static instruction.
    pub instructions: Capped<InstructionRates>,
    /// By bit, ascending.
    pub bits: Vec<BitRates>,
    /// Faults that name no bit position: in none of `bits` and `heat`.
    pub without_bit: u64,
    /// By instruction group and bit.
    pub heat: Vec<HeatRow>,
    /// By launch, ascending; absent from exhaustive campaigns, as is all that follows, which single runs alone tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launches: Option<Capped<LaunchRates>>,
    /// Along the dynamic instructions of threads, by kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<Capped<TimeSeries>>,
    /// Causes of death and where, as shares of DUE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deaths: Option<Capped<DeathShare>>,
    /// From the fault to its first use, and from there to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latencies: Option<Latencies>,
    /// How large silent corruptions are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub magnitudes: Option<MagnitudeShares>,
    /// Bits of operands that came to a silent corruption, by their share of what parts are ranked by.
    pub most_corrupting: Capped<SiteRates>,
    /// The same by the lower bound of their rate of it.
    pub surest_corrupting: Capped<SiteRates>,
    /// Why runs failed, most frequent first.
    pub failures: Capped<FailureReason>,
    /// Some faults as stories, if somebody told them: who makes the report asks for [`examples`](Self::examples).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stories: Vec<campaign::story::Story>,
    /// Pictures of what these faults corrupt, by their text ids, for the page alone.
    #[serde(skip)]
    pub pictures: BTreeMap<String, Vec<study::Picture>>,
    /// How the numbers came to be.
    pub provenance: ReportProvenance,
    /// What the views show beside the numbers.
    #[serde(skip)]
    pub(crate) shown: ViewTexts,
}

/// The texts that the views show beside the numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ViewTexts {
    pub(crate) sources: Vec<crate::input::SourceText>,
    pub(crate) without_source: Option<String>,
    /// Kernels by the names that people use, where these are unique.
    pub(crate) names: BTreeMap<String, String>,
    /// Faults that died, or whose corruption came to nothing.
    pub(crate) other_examples: Vec<String>,
    /// Every line and instruction that was hit, in the order of the program.
    pub(crate) all_lines: Vec<LineRates>,
    pub(crate) all_instructions: Vec<InstructionRates>,
}

/// How rates are bounded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateBounding {
    /// `wilson`, `clopper-pearson`, or `exact`: every rate is a number, and its bounds are the rate itself.
    pub method: String,
    /// The level of each interval; absent where rates are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
}

/// A kind of outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutcomeKind {
    /// The class: `masked`, `sdc` or `due`.
    pub class: String,
    /// The kind.
    pub kind: String,
    /// Its share of what landed.
    #[serde(flatten)]
    pub share: Rate,
}

/// Some of the faults: runs = masked + SDC + DUE + not landed + failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateAccount {
    /// All of them.
    pub runs: u64,
    /// Those that hit nothing.
    pub not_landed: u64,
    /// Those that could not be run.
    pub failed: u64,
    /// The rates of those that landed.
    #[serde(flatten)]
    pub outcomes: Outcomes<Rate>,
    /// Where outputs are judged, the rate of silent corruptions that no criterion accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad: Option<Rate>,
}

/// Faults that share a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedRates {
    /// The name.
    pub name: String,
    /// Their account.
    #[serde(flatten)]
    pub account: RateAccount,
}

/// Faults of a source line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineRates {
    /// The file; none for instructions without a line.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// Its share of all silent corruptions.
    pub share_of_sdc: Rate,
    /// Where outputs are judged, its share of those that no criterion accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of_bad: Option<Rate>,
    /// Their account.
    #[serde(flatten)]
    pub account: RateAccount,
}

/// Faults of a static instruction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstructionRates {
    /// The kernel.
    pub kernel: String,
    /// The static instruction.
    pub pc: u32,
    /// Its mnemonic.
    pub opcode: String,
    /// The instruction as PTX, where it is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its group.
    pub group: String,
    /// The source file, where known.
    pub file: Option<String>,
    /// The source line, where known.
    pub line: Option<u32>,
    /// Their account.
    #[serde(flatten)]
    pub account: RateAccount,
}

/// Faults of a bit position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BitRates {
    /// The bit; of a fault in several bits the lowest.
    pub bit: u32,
    /// Their account.
    #[serde(flatten)]
    pub account: RateAccount,
}

/// Bits of an instruction group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeatRow {
    /// The group.
    pub group: String,
    /// Its bits, ascending; bits that were never hit are not there.
    pub bits: Vec<BitRates>,
}

/// Faults of a launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchRates {
    /// The launch, from 0.
    pub launch: u32,
    /// Its kernel.
    pub kernel: String,
    /// Their account.
    #[serde(flatten)]
    pub account: RateAccount,
}

/// Faults along the dynamic instructions of a kernel's threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeSeries {
    /// The kernel.
    pub kernel: String,
    /// Bins of equal width.
    pub bins: Vec<TimeBin>,
}

/// Faults in a stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeBin {
    /// The first dynamic instruction of the thread.
    pub from: u64,
    /// The last.
    pub to: u64,
    /// Their account.
    #[serde(flatten)]
    pub account: RateAccount,
}

/// Faults of a bit of an operand.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteRates {
    /// The kernel.
    pub kernel: String,
    /// The static instruction.
    pub pc: u32,
    /// Its mnemonic.
    pub opcode: String,
    /// The instruction as PTX, where it is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The source file, where known.
    pub file: Option<String>,
    /// The source line, where known.
    pub line: Option<u32>,
    /// The operand.
    pub target: String,
    /// The bit.
    pub bit: u32,
    /// Its share of all silent corruptions.
    pub share_of_sdc: Rate,
    /// Where outputs are judged, its share of those that no criterion accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of_bad: Option<Rate>,
    /// A fault that came to a silent corruption, one that no criterion accepts where there is one; none is kept by
    /// exhaustive campaigns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// The example in a sentence, where its target system has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// The command that repeats it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Their account.
    #[serde(flatten)]
    pub account: RateAccount,
}

/// A reason why runs failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureReason {
    /// What they said.
    pub message: String,
    /// The number of runs that failed so.
    pub count: u64,
}

impl Report {
    /// Faults whose stories are worth telling: the examples of the bits that corrupt most, and of other ends.
    #[must_use]
    pub fn examples(&self, count: usize) -> Vec<String> {
        let sites = self.most_corrupting.rows.iter().filter_map(|site| site.example.clone());
        let mut sites: Vec<String> = sites.collect();
        sites.truncate(count.saturating_sub(self.shown.other_examples.len()));
        sites.into_iter().chain(self.shown.other_examples.iter().cloned()).take(count).collect()
    }

    /// Whether rates are numbers rather than estimates.
    pub(crate) fn exact(&self) -> bool {
        self.summary.exhaustive.is_some()
    }

    /// What corruptions are called that no criterion accepts; `None` where nothing is judged.
    pub(crate) fn bad_name(&self) -> Option<&'static str> {
        bad_name(&self.summary)
    }

    /// What corruptions are called that parts are ranked by.
    pub(crate) fn worst_name(&self) -> &'static str {
        self.bad_name().unwrap_or("silent")
    }

    /// The head of the column of shares in what parts are ranked by.
    pub(crate) fn of_all_worst(&self) -> String {
        format!("of all {}", self.bad_name().unwrap_or("SDC"))
    }

    /// The name of a kernel as the views show it.
    pub(crate) fn kernel<'a>(&'a self, name: &'a str) -> &'a str {
        self.shown.names.get(name).map_or(name, String::as_str)
    }

    /// What is counted: runs, or faults of an exhaustive campaign.
    pub(crate) fn what(&self) -> &'static str {
        if self.exact() { "faults" } else { "runs" }
    }

    /// The document.
    ///
    /// # Errors
    /// Never for a report made from results.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
