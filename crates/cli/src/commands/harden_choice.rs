//! Which instructions `beamline harden` protects, and what was expected of that beside what was measured.

use crate::args;
use crate::failure::{Code, Coded, Failure};
use crate::out::{number, percent};
use anyhow::{Context, Error, anyhow};
use campaign::summary::Rate;
use inject::Setup;
use methods::hardening::{ExecutedCode, ProtectionChoice, ProtectionDemand, ProtectionForecast};
use serde::Serialize;
use serde_json::Value;
use session::capsules;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The choice of instructions to protect.
#[derive(Serialize)]
pub(crate) struct Chosen {
    /// The words that chose, or the demand.
    by: Vec<String>,
    forecast: ProtectionForecast,
    /// Absent where no campaigns were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<MeasuredChoice>,
}

/// The measured cost and use of a choice.
#[derive(Serialize)]
struct MeasuredChoice {
    /// More instructions executed, as a share of those before.
    overhead: f64,
    /// The share by which the rate of silent data corruption times the instructions fell; absent without corruptions before.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<f64>,
    /// The least that it may be if both rates are anywhere in their intervals; absent where that before may be zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    /// The most that it may be.
    high: f64,
}

/// The choice, if not all is to be protected.
pub(crate) fn chosen(args: &args::Harden) -> Result<Option<(ProtectionChoice, Chosen)>, Failure> {
    if args.protect.is_empty() && args.from.is_none() {
        return Ok(None);
    }
    // What the file says is wrong before anything is run.
    let document = args.from.as_deref().map(read).transpose().code(Code::Refused)?;
    let target = capsules::ready(&args.capsule, &Setup::default())?;
    if let (Some(document), Some(from)) = (&document, &args.from) {
        let of = document["original"].as_str().or_else(|| document["capsule"]["digest"].as_str());
        let digest = target.golden_run().capsule().digest().to_string();
        if let Some(of) = of.filter(|of| **of != digest) {
            let error = anyhow!(
                "take {}: it is of another capsule (digest {of}) than {} (digest {digest}); make it of that one",
                from.display(),
                args.capsule
            );
            return Err(Failure::new(Code::Refused, error));
        }
    }
    let code = ExecutedCode::of(target.golden_run(), args.loads).code(Code::Refused)?;
    let (choice, forecast, by) = match (&document, args.overhead, args.coverage) {
        (Some(document), overhead, coverage) => {
            let values = code.values(document).code(Code::Refused)?;
            let demand = match (overhead, coverage) {
                (Some(share), _) => (ProtectionDemand::Overhead(share), format!("overhead={share}")),
                (None, share) => {
                    let share = share.unwrap_or(1.0);
                    (ProtectionDemand::Coverage(share), format!("coverage={share}"))
                }
            };
            let choice = code.worth(&values, demand.0).code(Code::Refused)?;
            let forecast = code.forecast(&choice, Some(&values));
            (choice, forecast, vec![demand.1])
        }
        (None, ..) => {
            let choice = code.selected(&args.protect, &target.golden_run().guests().sets()).code(Code::Usage)?;
            let forecast = code.forecast(&choice, None);
            (choice, forecast, args.protect.clone())
        }
    };
    Ok(Some((choice, Chosen { by, forecast, measured: None })))
}

fn read(path: &Path) -> Result<Value, Error> {
    let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("read {} as JSON", path.display()))
}

impl Chosen {
    /// Puts what campaigns found beside what was expected.
    pub(crate) fn measured(&mut self, before: (Rate, u64), after: (Rate, u64)) {
        let longer = after.1 as f64 / before.1.max(1) as f64;
        let fallen = |after: f64, before: f64| (before > 0.0).then(|| 1.0 - after * longer / before);
        self.measured = Some(MeasuredChoice {
            overhead: longer - 1.0,
            coverage: before.0.rate.zip(after.0.rate).and_then(|(before, after)| fallen(after, before)),
            low: fallen(after.0.high, before.0.low),
            high: fallen(after.0.low, before.0.high).unwrap_or(1.0),
        });
    }

    /// In some lines.
    pub(crate) fn text(&self) -> String {
        let ProtectionForecast { instructions, of, overhead, coverage } = self.forecast;
        let mut text = format!(
            "protected by {}: {} of {} executed instructions that can be executed twice\n",
            self.by.join(" "),
            number(instructions),
            number(of)
        );
        let share = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
        let _ = write!(text, "overhead  expected {} (duplicates alone)", percent(overhead));
        if let Some(measured) = &self.measured {
            let _ = write!(text, ", measured {} (with checks and copies)", percent(measured.overhead));
        }
        let _ = write!(text, "\ncoverage  expected {}", share(coverage));
        if let Some(measured) = &self.measured {
            let (low, high) = (share(measured.low), percent(measured.high));
            let _ = write!(text, ", measured {} [{low}, {high}] of SDC rate × instructions", share(measured.coverage));
        }
        text.push_str("\n\n");
        text
    }
}
