//! From faults to batches: which static operand each hits, at which execution of its instruction by its thread.

use crate::protocol::{BatchOrder, FaultOrder};
use crate::texts::Texts;
use campaign::Site;
use capsule::ModuleId;
use facts::{FunctionId, Pc, Reg};
use fault::{Fault, Scope, TargetOperand, operand};
use inject::threads::{FoundInstruction, Query, Wanted, find};
use inject::{CapsuleTarget, Golden};
use rewrite::{Arming, Refusal, StaticSite};
use std::collections::BTreeMap;

/// A fault whose time is known.
#[derive(Clone, Debug)]
pub struct PlannedFault {
    /// The fault with what is known of its place.
    pub site: Site,
    /// The fault.
    pub fault: Fault,
    /// How often its thread has executed the instruction before.
    pub occurrence: u64,
}

/// Faults that one rewritten module serves.
#[derive(Clone, Debug)]
pub struct PlannedBatch {
    /// The module of the capsule.
    pub module: ModuleId,
    /// The operand that all of them hit.
    pub place: StaticSite,
    /// The faults.
    pub faults: Vec<PlannedFault>,
}

/// What can be run, and what cannot.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The faults that can be written into kernels.
    pub batches: Vec<PlannedBatch>,
    /// Those that cannot, each with the reason, which follows "failed to".
    pub refused: Vec<(Fault, String)>,
}

/// Finds the instruction of every fault, and puts together those that share a module.
#[must_use]
pub fn plan(target: &CapsuleTarget, texts: &Texts, faults: Vec<(Site, Fault)>) -> Plan {
    let golden = target.golden_run();
    let queries: Vec<Query> = faults.iter().filter_map(|(_, fault)| query(golden, fault)).collect();
    let found = find(golden, &queries);
    let mut refused = Vec::new();
    let mut batches: BTreeMap<Key, Result<PlannedBatch, Refusal>> = BTreeMap::new();
    for (site, fault) in faults {
        let at = query(golden, &fault).and_then(|query| found.get(&query));
        let placed = place(golden, &fault, at).and_then(|(module, place, occurrence)| {
            let key = (module, place.function.0, place.pc.0, fault.target.to_string());
            let batch = batches.entry(key).or_insert_with(|| PlannedBatch::new(texts, module, place));
            Ok((batch.as_mut().map_err(|refusal| refusal.clone())?, occurrence))
        });
        match placed {
            Ok((batch, occurrence)) => batch.faults.push(PlannedFault { site, fault, occurrence }),
            Err(refusal) => refused.push((fault, refusal.to_string())),
        }
    }
    Plan { batches: batches.into_values().flatten().collect(), refused }
}

/// What faults share that one module serves: the module of the capsule, the instruction, and the operand.
type Key = (ModuleId, u32, u32, String);

fn query(golden: &Golden, fault: &Fault) -> Option<Query> {
    let launch = golden.launches().get(fault.launch as usize)?;
    let thread = fault.cta * golden.threads_per_block(launch) as u64 + u64::from(fault.thread);
    let wanted = Wanted::Dynamic(u32::try_from(fault.dynamic).ok()?);
    Some(Query { launch: fault.launch, thread, wanted })
}

/// The module, the static operand and the occurrence of a fault, if it can be written.
fn place(
    golden: &Golden,
    fault: &Fault,
    at: Option<&FoundInstruction>,
) -> Result<(ModuleId, StaticSite, u64), Refusal> {
    if fault.scope != Scope::Thread {
        return Err(Refusal::Scope(fault.scope.to_string()));
    }
    let (launch, at) = golden.launches().get(fault.launch as usize).zip(at).ok_or(Refusal::Unwritten)?;
    let instruction = launch.program.instructions.get(at.instruction as usize).ok_or(Refusal::Unwritten)?;
    let facts = instruction.facts.as_ref().ok_or(Refusal::Unwritten)?;
    let operand = operand(fault.target, facts).ok_or_else(|| match fault::TargetKind::of_operand(fault.target) {
        None => Refusal::NoOperand(fault.target.kind().to_owned()),
        Some(_) => Refusal::Operand { instruction: facts.mnemonic.to_string(), target: fault.target.to_string() },
    })?;
    Arming::new(fault.cta, fault.thread, at.occurrence, fault.model, operand.bits)?;
    let place = StaticSite { function: instruction.function, pc: instruction.pc, operand };
    Ok((golden.recorded(launch).module, place, at.occurrence))
}

impl PlannedBatch {
    /// A batch without faults, if the module can be rewritten for them.
    fn new(texts: &Texts, module: ModuleId, place: StaticSite) -> Result<Self, Refusal> {
        let missing = || Refusal::Malformed(format!("module {} was not read", module.0));
        rewrite::with_fault(texts.module(module).ok_or_else(missing)?, &place)?;
        Ok(Self { module, place, faults: Vec::new() })
    }

    /// The batch as a worker is told of it; `strays` says of each fault whether it is known to write where nothing is put
    /// right again.
    #[must_use]
    pub fn order(&self, strays: impl Fn(&Fault) -> bool) -> BatchOrder {
        let StaticSite { function, pc, operand } = self.place;
        let of = |planned: &PlannedFault| FaultOrder {
            fault: planned.fault.to_string(),
            occurrence: planned.occurrence,
            strays: strays(&planned.fault),
        };
        BatchOrder {
            module: self.module.0,
            function: function.0,
            pc: pc.0,
            register: operand.register.0,
            bits: operand.bits,
            offset: operand.offset,
            faults: self.faults.iter().map(of).collect(),
        }
    }
}

impl BatchOrder {
    /// The batch with these faults only; none if it has none of them.
    #[must_use]
    pub fn only(mut self, wanted: impl Fn(&FaultOrder) -> bool) -> Option<Self> {
        self.faults.retain(wanted);
        (!self.faults.is_empty()).then_some(self)
    }

    /// The static operand that the batch is about; none if it has no fault that can be read.
    pub(crate) fn place(&self) -> Option<StaticSite> {
        let fault: Fault = self.faults.first()?.fault.parse().ok()?;
        let (register, bits, offset) = (Reg(self.register), self.bits, self.offset);
        let operand = TargetOperand { target: fault.target, register, bits, offset };
        Some(StaticSite { function: FunctionId(self.function), pc: Pc(self.pc), operand })
    }
}
