//! The static instructions of a program, each with the ends of all its error sites.

use campaign::{Results, Row, StoreError};
use outcome::Outcome;
use std::collections::BTreeMap;

use super::ends::{EndCounts, SiteEnd};
use super::operand::{Bits, SiteOperand};
use super::sites::KnownSites;
use super::tally::RowJudge;
use super::target::Approxilyzer;

/// The outcomes of the pilots, by run; none of a pilot that was lost.
#[derive(Clone)]
pub(super) struct PilotOutcomes(Vec<Option<Outcome>>);

/// A static instruction that was executed.
pub(super) struct InstructionSites {
    /// The kernel, an index into those of the method.
    pub(super) kernel: u32,
    /// Its number in its function.
    pub(super) pc: u32,
    /// Its mnemonic.
    pub(super) mnemonic: String,
    /// Its instruction group.
    pub(super) group: String,
    /// The source file and line, where they are known.
    pub(super) source: Option<(Option<String>, u32)>,
    /// How often it was executed: its dynamic instructions.
    pub(super) executed: u64,
    /// By operand and bit, how its sites end.
    pub(super) operands: BTreeMap<SiteOperand, Vec<EndCounts>>,
    /// How all its sites end.
    pub(super) ends: EndCounts,
}

impl PilotOutcomes {
    /// Those of the rows of a campaign.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub(super) fn of<'a>(results: Option<&Results>, judge: impl Into<RowJudge<'a>>) -> Result<Self, StoreError> {
        let judge = judge.into();
        let mut outcomes = Vec::new();
        let mut visit = |row: Row| {
            let run = usize::try_from(row.run.0).unwrap_or(usize::MAX);
            if let Some(outcome) = judge.outcome(&row) {
                if outcomes.len() <= run {
                    outcomes.resize(run + 1, None);
                }
                outcomes[run] = Some(outcome);
            }
        };
        results.map_or(Ok(()), |results| results.visit(&mut visit))?;
        Ok(Self(outcomes))
    }

    /// The outcome of a run.
    pub(super) fn get(&self, run: u64) -> Option<Outcome> {
        self.0.get(usize::try_from(run).ok()?).copied().flatten()
    }
}

/// All instructions that were executed, by kernel and in the order of the program. Every site has the end of the pilot that
/// stands for it.
pub(super) fn instructions(method: &Approxilyzer, pilots: &PilotOutcomes) -> Vec<InstructionSites> {
    let sites = method.sites();
    let mut all: BTreeMap<(u32, u32), InstructionSites> = BTreeMap::new();
    for (&(kernel, instruction), &executed) in &sites.executed {
        all.extend(found(method, kernel, instruction, executed).map(|it| ((kernel, instruction), it)));
    }
    let mut add = |key: (u32, u32), operand: SiteOperand, bits: Bits, members: u64, end: &dyn Fn(u32) -> SiteEnd| {
        let Some(it) = all.get_mut(&key) else { return };
        let by_bit = it.operands.entry(operand).or_default();
        by_bit.resize(by_bit.len().max(bits.end() as usize), EndCounts::default());
        for bit in bits.iter() {
            by_bit[bit as usize].add(end(bit), members);
            it.ends.add(end(bit), members);
        }
    };
    for (&KnownSites { kernel, instruction, operand, bits, why }, &members) in &sites.known {
        add((kernel, instruction), operand, bits, members, &|_| why.end());
    }
    let mut first_runs = vec![None; sites.classes.len()];
    method.studied().for_each(|(class, run)| first_runs[class] = Some(run));
    for (class, first) in sites.classes.iter().zip(first_runs) {
        let end = |bit: u32| pilots.get(first? + u64::from(class.bits.rank(bit)?));
        let end = |bit| end(bit).map_or(SiteEnd::NotCovered, SiteEnd::from);
        add((class.kernel, class.instruction), class.operand, class.bits, class.members, &end);
        for (&(instruction, operand, bits), &uses) in &class.first_uses {
            add((class.kernel, instruction), operand, bits, uses, &end);
        }
    }
    all.into_values().collect()
}

/// An instruction without its sites.
pub(super) fn found(method: &Approxilyzer, kernel: u32, instruction: u32, executed: u64) -> Option<InstructionSites> {
    let name = &method.kernels().get(kernel as usize)?.name;
    let launch = method.capsule().golden_run().launches().iter().find(|launch| launch.program.name == *name)?;
    let (site, facts) = (launch.program.instructions.get(instruction as usize)?, launch.program.facts(instruction)?);
    let source = facts.source.as_ref();
    Some(InstructionSites {
        kernel,
        pc: site.pc.0,
        mnemonic: facts.mnemonic.to_string(),
        group: facts.group.to_string(),
        source: source.map(|source| (source.file().map(str::to_owned), source.line())),
        executed,
        operands: BTreeMap::new(),
        ends: EndCounts::default(),
    })
}

impl InstructionSites {
    /// The source file, where it is known.
    pub(super) fn file(&self) -> Option<&str> {
        self.source.as_ref().and_then(|(file, _)| file.as_deref())
    }

    /// The source line, where it is known.
    pub(super) fn line(&self) -> Option<u32> {
        self.source.as_ref().map(|(_, line)| *line)
    }
}
