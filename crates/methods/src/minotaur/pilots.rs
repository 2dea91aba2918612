//! Pilots of an analysis: what orders ask of them, how they ended, and what that shows of their instructions.

use campaign::{Finding, Row, Site};
use fault::{Fault, Target};
use inject::CapsuleTarget;
use inject::site::fault_of;
use outcome::{Criteria, Metric, Outcome, Quality, Sdc, classify};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A kernel, and an instruction: an index into those of the kernel's program.
pub(super) type Pc = (String, u32);

/// A pilot, with all that orders ask of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pilot {
    /// The number of its run among those of the method.
    pub(super) run: u64,
    /// The bit that it flips.
    pub(super) bit: u32,
    /// The launch and the dynamic instruction of the thread.
    pub(super) instance: (u32, u64),
    /// The sites of its class in this bit.
    pub(super) size: u64,
    /// Whether the register holds a floating-point number.
    pub(super) is_float: bool,
    /// Whether the register is read, and not written.
    pub(super) is_source: bool,
}

/// The outcome categories of Equation 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum PilotEnd {
    /// The outputs are those of the golden run.
    Masked,
    /// The run did not end normally.
    Detected,
    /// The outputs differ (OC).
    Corrupted,
}

/// The property of instructions that an analysis looks for. One pilot decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether an error corrupts an output so that no criterion accepts it as good: an SDC-PC (thesis, Section 3.6.1).
    Corrupting,
    /// Whether an error is egregious: detected, detectable (DDC), or a corruption above a threshold. An instruction without such
    /// errors is approximable (thesis, Section 3.6.1).
    Egregious,
}

/// How a pilot ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PilotFinding {
    /// The category of its outcome.
    end: PilotEnd,
    /// By question, whether it decides its instruction.
    decides: [bool; 2],
}

/// A pilot that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndedPilot {
    /// The pilot.
    pub(super) pilot: Pilot,
    /// The category of its outcome.
    pub(super) end: PilotEnd,
    /// By question, whether it decides its instruction.
    pub(super) decides: [bool; 2],
}

/// By instruction, the pilots of an analysis.
pub(super) type Pilots = BTreeMap<Pc, Vec<EndedPilot>>;

/// The criteria by which the runs of one capsule are judged; the rows hold all that they ask.
#[derive(Clone, Debug, Default)]
pub(super) struct Judges {
    /// Those of the question about corruptions.
    pub(super) corrupting: Criteria,
    /// Those of the question about egregious errors, if it is asked.
    pub(super) egregious: Option<Criteria>,
}

impl Judges {
    /// Every output judged by one number and one threshold, ranges and elements as in `criteria`.
    pub(super) fn threshold(criteria: &Criteria, outputs: &[String], metric: Metric, most: f64) -> Criteria {
        let quality = |name: &String| {
            let (range, element) = (criteria.range_of(name), criteria.element_of(name));
            let quality = Quality {
                metric: Some(metric),
                tolerance: Some(most),
                bad: Some(most),
                range,
                element,
                ..Quality::default()
            };
            (name.clone(), quality)
        };
        Criteria {
            quality: outputs.iter().map(quality).collect(),
            scratch: criteria.scratch.clone(),
            ..Criteria::default()
        }
    }
}

impl Pilot {
    /// The pilot of a run.
    pub(super) fn of(capsule: &CapsuleTarget, run: u64, instruction: u32, site: &Site) -> Option<Self> {
        let fault: Fault = fault_of(site).ok()?;
        let launch = capsule.golden_run().launches().get(fault.launch as usize)?;
        let is_hit = |operand: &&facts::Operand| match fault.target {
            Target::Destination(position) => operand.role == facts::Role::Destination && operand.position == position,
            Target::Register(number) => operand.role == facts::Role::Source && operand.register.0 == number,
            _ => false,
        };
        let operand = launch.program.facts(instruction).and_then(|facts| facts.operands.iter().find(is_hit));
        Some(Self {
            run,
            bit: fault.model.bits().parse().unwrap_or_default(),
            instance: (fault.launch, fault.dynamic),
            size: site.weight,
            is_float: operand.and_then(|operand| operand.ty).is_some_and(facts::Type::is_float),
            is_source: matches!(fault.target, Target::Register(_)),
        })
    }
}

impl PilotFinding {
    /// Of the row of a pilot; none if its run failed.
    pub(super) fn of(row: &Row, judges: &Judges) -> Option<Self> {
        let Finding::Seen { observation, .. } = &row.finding else { return None };
        let outcome = classify(observation, &judges.corrupting);
        let egregious = judges.egregious.as_ref().is_some_and(|it| is_egregious(classify(observation, it)));
        Some(Self { end: end(outcome), decides: [is_corrupting(outcome), egregious] })
    }

    /// With the pilot that ended so.
    pub(super) fn of_pilot(self, pilot: Pilot) -> EndedPilot {
        EndedPilot { pilot, end: self.end, decides: self.decides }
    }
}

impl EndedPilot {
    /// Whether it decides its instruction.
    pub(super) fn decides(&self, question: Question) -> bool {
        self.decides[question as usize]
    }
}

/// The instructions that a pilot decides.
pub(super) fn decided(pilots: &Pilots, question: Question) -> BTreeSet<Pc> {
    let some = pilots.iter().filter(|(_, own)| own.iter().any(|it| it.decides(question)));
    some.map(|(pc, _)| pc.clone()).collect()
}

fn is_corrupting(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Sdc(Sdc::Maybe(_) | Sdc::Bad | Sdc::Unjudged))
}

fn is_egregious(outcome: Outcome) -> bool {
    is_corrupting(outcome) || matches!(outcome, Outcome::Due(_) | Outcome::Sdc(Sdc::Detectable))
}

fn end(outcome: Outcome) -> PilotEnd {
    match outcome {
        Outcome::Masked(_) | Outcome::NotLanded => PilotEnd::Masked,
        Outcome::Due(_) => PilotEnd::Detected,
        Outcome::Sdc(_) | Outcome::Undecided => PilotEnd::Corrupted,
    }
}
