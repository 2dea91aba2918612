//! Equality of a fault that is injected and the same fault written into the kernel, both in the simulator.

use campaign::config::SelectionWords;
use campaign::{Planner, RunIndex, Subject};
use device::Contract;
use differential::{Answer, HardwareEnd, LATE, Plan, PlannedFault, Simulated, Simulator, Texts, plan, simulate, work};
use fault::Fault;
use inject::site::fault_of;
use inject::{CapsuleTarget, Machine, Setup};
use outcome::{End, Observation};
use session::capsules;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What came of a comparison.
#[derive(Clone, Debug, Default)]
pub struct RewritingComparison {
    /// Faults that were compared.
    pub faults: u64,
    /// How many of them ended otherwise than at the end of the program.
    pub ended: u64,
    /// How often each reason was given for not writing a fault.
    pub refused: BTreeMap<String, u64>,
    /// Where both disagree: the fault, and in what.
    pub disagreements: Vec<String>,
}

/// Draws faults, injects each, and runs each written into its kernel; both execute products and sums as written. A
/// selection that nothing matches has none.
///
/// # Errors
/// If a fault cannot be run, or a kernel cannot be rewritten.
pub fn compare(
    target: &CapsuleTarget,
    words: &SelectionWords,
    runs: u64,
    seed: u64,
) -> Result<RewritingComparison, String> {
    let runs: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
    let Ok(sites) = target.plan(&runs, words, seed) else { return Ok(RewritingComparison::default()) };
    let mut faults = BTreeMap::new();
    for site in sites {
        let fault = fault_of(&site).map_err(|error| format!("failed to {error}"))?;
        faults.insert(fault.to_string(), (site, fault));
    }
    let texts = Texts::of(target.golden_run().capsule())?;
    let Plan { batches, refused } = plan(target, &texts, faults.into_values().collect());
    let planned: Vec<&PlannedFault> = batches.iter().flat_map(|batch| &batch.faults).collect();
    let faults: Vec<&Fault> = planned.iter().map(|planned| &planned.fault).collect();
    let simulated =
        simulate(target, &faults, 1, &AtomicBool::new(false), &|| {}).map_err(|error| format!("failed to {error}"))?;
    let orders = batches.iter().map(|batch| batch.order(|_| false));
    let orders: Vec<String> = orders.map(|order| serde_json::to_string(&order).unwrap_or_default()).collect();
    let mut compared = RewritingComparison::default();
    refused.into_iter().for_each(|(_, reason)| *compared.refused.entry(reason).or_default() += 1);
    let mut patient = Vec::new();
    for answer in answers(target, &texts, &orders.join("\n"))? {
        let Some((fault, end)) = compared.take(target.name(), answer) else { continue };
        match simulated.get(&fault) {
            Some((observation, _)) if ends_late(observation, &end) => patient.push((fault, end)),
            known => compared.judge(target.name(), &fault, known, &end),
        }
    }
    let again = with_patience(target, &planned, &patient)?;
    patient.iter().for_each(|(fault, end)| compared.judge(target.name(), fault, again.get(fault), end));
    if compared.faults != planned.len() as u64 {
        compared.disagreements.push(format!("{} of {} faults are answered", compared.faults, planned.len()));
    }
    Ok(compared)
}

/// The target as kernels execute it that faults are written into: no product is joined with a sum.
///
/// # Errors
/// If it has no golden run then.
pub fn rounded_apart(target: &CapsuleTarget) -> Result<Arc<CapsuleTarget>, String> {
    let machine = Machine { contract: Contract::Off, ..Machine::default() };
    let apart = capsules::target_on(machine, Arc::clone(target.golden_run().capsule()), &Setup::default());
    apart.map_err(|error| format!("failed to {error}"))
}

/// Whether an injected fault counted as a hang that the written one, which may execute more, came out of.
fn ends_late(observation: &Observation, end: &HardwareEnd) -> bool {
    matches!(observation.end, End::OutOfFuel { .. }) && *end != HardwareEnd::Hang
}

/// The same faults injected with as much fuel as the written ones had.
fn with_patience(
    target: &CapsuleTarget,
    planned: &[&PlannedFault],
    faults: &[(String, HardwareEnd)],
) -> Result<BTreeMap<String, Simulated>, String> {
    if faults.is_empty() {
        return Ok(BTreeMap::new());
    }
    let fuel = Simulator::fuel(target.golden_run());
    let machine = Machine { contract: target.golden_run().contract(), ..Machine::default() };
    let setup = Setup { fuel: Some(fuel), ..Setup::default() };
    let patient = capsules::target_on(machine, Arc::clone(target.golden_run().capsule()), &setup);
    let patient = patient.map_err(|error| format!("failed to {error}"))?;
    let meant = |planned: &&&PlannedFault| faults.iter().any(|(fault, _)| *fault == planned.fault.to_string());
    let meant: Vec<&Fault> = planned.iter().filter(meant).map(|planned| &planned.fault).collect();
    simulate(&patient, &meant, 1, &AtomicBool::new(false), &|| {}).map_err(|error| format!("failed to {error}"))
}

/// What a worker with the simulator as its machine has to say.
fn answers(target: &CapsuleTarget, texts: &Texts, orders: &str) -> Result<Vec<Answer>, String> {
    let (mut machine, mut said) = (Simulator::new(target.golden_run()), Vec::new());
    let outputs = target.golden_run().outputs();
    work(&mut machine, texts, outputs, &mut BufReader::new(orders.as_bytes()), &mut said)
        .map_err(|error| format!("failed to work: {error}"))?;
    let lines = said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(|error| error.to_string())).collect()
}

impl RewritingComparison {
    /// What came of a fault, if an answer tells it.
    fn take(&mut self, name: &str, answer: Answer) -> Option<(String, HardwareEnd)> {
        match answer {
            Answer::Fault { fault, end } => {
                self.faults += 1;
                return Some((fault, end));
            }
            Answer::Refused { reason } | Answer::Lost { reason } => {
                self.disagreements.push(format!("{name}: {reason}"));
            }
            Answer::Started(_) | Answer::Ready { .. } | Answer::Renewing | Answer::Done => {}
        }
        None
    }

    fn judge(&mut self, name: &str, fault: &str, known: Option<&Simulated>, end: &HardwareEnd) {
        let Some((observation, simulated)) = known else {
            return self.disagreements.push(format!("{name}, {fault}: nobody asked for it"));
        };
        self.ended += u64::from(observation.end != End::Completed);
        let alike = match end {
            HardwareEnd::Completed { copies, before, .. } => {
                let hit = observation.landed.map(|landed| format!("{:#x}", landed.before));
                Some(*copies) == simulated.copies && hit.as_deref() == Some(before)
            }
            HardwareEnd::Failed { name } => {
                matches!(&observation.end, End::Trapped { trap, .. } if trap.word() == name)
            }
            HardwareEnd::Hang => {
                let hangs = matches!(observation.end, End::Hang { .. } | End::OutOfFuel { .. });
                hangs || observation.instructions > LATE
            }
            HardwareEnd::NotFired => observation.landed.is_none(),
            HardwareEnd::Died => false,
        };
        if !alike {
            let said = format!("{name}, {fault}: injected {:?}, {simulated:?}, written {end:?}", observation.end);
            self.disagreements.push(said);
        }
    }
}
