//! A row: one fault, what the simulator says comes of it, and what came of it on the machine.

use crate::plan::PlannedFault;
use crate::protocol::HardwareEnd;
use capsule::Digest;
use inject::PRINTED;
use outcome::{Class, Criteria, End, Observation, Outcome, classify};
use serde::{Deserialize, Serialize};

/// A run of more instructions than this may take longer than a machine is waited for.
pub const LATE: u64 = 1_000_000;

/// What the simulator says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedEnd {
    /// The class of its outcome.
    pub class: Class,
    /// What kind of that.
    pub kind: String,
    /// Accesses outside every allocation.
    pub strayed: u64,
    /// Instructions of the blocks that were executed for it.
    #[serde(default)]
    pub instructions: u64,
    /// The digest of the digests of all copies to the host, if the program came to its end.
    pub copies: Option<Digest>,
}

/// What the simulator observed of a fault, and what that comes to.
pub type Simulated = (Observation, SimulatedEnd);

/// One fault on both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The text id of the fault.
    pub fault: String,
    /// The kernel.
    pub kernel: String,
    /// The static instruction in it.
    pub pc: u32,
    /// What it is called.
    pub opcode: String,
    /// What the simulator says.
    pub simulated: SimulatedEnd,
    /// How it ended on the machine.
    pub hardware: HardwareEnd,
    /// The class of the outcome there.
    pub class: Class,
    /// What kind of that.
    pub kind: String,
    /// Whether the simulator comes to the machine's end, and not to its own, where memory lies as it did there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub placed: bool,
}

impl SimulatedEnd {
    /// Whether it comes to an end, and so early that a machine is waited for.
    #[must_use]
    pub fn ends_in_time(&self) -> bool {
        ends(self.class, &self.kind) != "hang" && self.instructions <= LATE
    }

    /// What an observation comes to; `copies` are those of a program that came to its end.
    #[must_use]
    pub fn of(observation: &Observation, criteria: &Criteria, copies: Option<Digest>) -> Self {
        let (class, kind) = words(replayed(observation, criteria));
        let Observation { strayed, instructions, .. } = *observation;
        Self { class, kind, strayed, instructions, copies }
    }
}

impl Row {
    /// The row of a fault, given what the simulator observed and what the machine answered. What the machine left is judged
    /// as what the simulator would have left.
    #[must_use]
    pub fn new(
        planned: &PlannedFault,
        observation: &Observation,
        simulated: SimulatedEnd,
        hardware: HardwareEnd,
        criteria: &Criteria,
    ) -> Self {
        let (class, kind) = judge(observation, &hardware, criteria);
        let spot = &planned.site.spot;
        Self {
            fault: planned.fault.to_string(),
            kernel: spot.kernel.clone(),
            pc: spot.pc,
            opcode: spot.opcode.clone(),
            simulated,
            hardware,
            class,
            kind,
            placed: false,
        }
    }

    /// The row with what the simulator says now.
    #[must_use]
    pub fn again(&self, (observation, simulated): &Simulated, criteria: &Criteria) -> Self {
        let (class, kind) = judge(observation, &self.hardware, criteria);
        Self { simulated: simulated.clone(), class, kind, placed: false, ..self.clone() }
    }

    /// Whether both came to the same: masked, corrupted, crashed, hung or not landed.
    #[must_use]
    pub fn agrees(&self) -> bool {
        ends(self.simulated.class, &self.simulated.kind) == ends(self.class, &self.kind)
    }

    /// Whether the machine was not waited for where the simulator knows of a late end.
    #[must_use]
    pub fn is_late(&self) -> bool {
        let (simulator, machine) = self.ends();
        machine == "hang" && simulator != "hang" && !self.simulated.ends_in_time()
    }

    /// What both came to, in words that tell crashes and hangs apart.
    #[must_use]
    pub fn ends(&self) -> (&'static str, &'static str) {
        (ends(self.simulated.class, &self.simulated.kind), ends(self.class, &self.kind))
    }

    /// Whether both left the same bytes; `None` unless both came to the end of the program.
    #[must_use]
    pub fn same_bytes(&self) -> Option<bool> {
        match (&self.hardware, self.simulated.copies) {
            (HardwareEnd::Completed { copies, .. }, Some(simulated)) => Some(*copies == simulated),
            _ => None,
        }
    }
}

/// A class in a word, where a hang is one of its own.
fn ends(class: Class, kind: &str) -> &'static str {
    match class {
        // A GPU waits for ever where threads wait for each other.
        Class::Due if matches!(kind, "hang" | "out_of_fuel" | "barrier_deadlock") => "hang",
        Class::Due => "crash",
        other => other.word(),
    }
}

/// What a run comes to whose host does what it did without a fault, as both sides here repeat it.
fn replayed(observation: &Observation, criteria: &Criteria) -> Outcome {
    // Nothing keeps what a machine's kernels print.
    let outputs = observation.outputs.iter().filter(|output| output.name != PRINTED).cloned().collect();
    classify(&Observation { host_visible: false, outputs, ..observation.clone() }, criteria)
}

fn words(outcome: Outcome) -> (Class, String) {
    (outcome.class(), outcome.kind().map_or_else(String::new, |kind| kind.into_owned()))
}

/// What a machine's end comes to. Of a failure, the kind is the machine's name for it.
fn judge(observation: &Observation, hardware: &HardwareEnd, criteria: &Criteria) -> (Class, String) {
    match hardware {
        HardwareEnd::Completed { outputs, .. } => {
            let seen = Observation { end: End::Completed, outputs: outputs.clone(), ..observation.clone() };
            words(replayed(&seen, criteria))
        }
        HardwareEnd::NotFired => (Class::NotLanded, String::new()),
        HardwareEnd::Failed { name } => (Class::Due, name.clone()),
        HardwareEnd::Hang => (Class::Due, "hang".to_owned()),
        HardwareEnd::Died => (Class::Failed, "died".to_owned()),
    }
}
