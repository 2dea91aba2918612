//! Faults that users name: their sites, and whether what they hit is there and has the bits that they name.

use crate::run::{InjectError, locate};
use crate::site::site_of;
use crate::target::CapsuleTarget;
use crate::threads::{Query, Wanted, find};
use campaign::{Site, Spot};
use facts::Facts;
use fault::{Fault, Target, TargetKind, operand, operands};
use simt::Program;

impl CapsuleTarget {
    /// The labels of a fault that a user names: found by running its thread once.
    ///
    /// # Errors
    /// If the place does not exist, the thread does not come to the instruction, or what is hit lacks bits that the fault
    /// names. An operand that the instruction does not have is no error: the fault does not land.
    pub fn site_of(&self, fault: &Fault) -> Result<Site, InjectError> {
        let mut sites = self.sites(std::slice::from_ref(fault), |_, _| Ok(())).map_err(|(_, error)| error)?;
        Ok(sites.swap_remove(0))
    }

    /// The same of many faults, whose threads run once each; each has to have something to hit.
    ///
    /// # Errors
    /// As [`site_of`](Self::site_of), and if an operand is not there; with the number of the first fault that there cannot be.
    pub fn sites_of(&self, faults: &[Fault]) -> Result<Vec<Site>, (usize, InjectError)> {
        self.sites(faults, check_operand)
    }

    fn sites(
        &self,
        faults: &[Fault],
        check: impl Fn(&Fault, &Facts) -> Result<(), InjectError>,
    ) -> Result<Vec<Site>, (usize, InjectError)> {
        let golden = self.golden_run();
        let queries: Result<Vec<Query>, _> =
            (0..).zip(faults).map(|(at, fault)| self.query(fault).map_err(|error| (at, error))).collect();
        let queries = queries?;
        let found = find(golden, &queries);
        let site = |(fault, query): (&Fault, &Query)| {
            let instruction = found.get(query).map(|found| found.instruction);
            let located = instruction.and_then(|instruction| self.located(fault.launch, instruction));
            if let (Some(located), Some(instruction)) = (&located, instruction) {
                check(fault, located.facts)?;
                check_bits(fault, &located.launch.program, instruction)?;
            }
            // Of a fault that hits no instruction, the kernel is known.
            let kernel = || golden.launches[fault.launch as usize].program.name.clone();
            let spot = located.map_or_else(|| Spot { kernel: kernel(), ..Spot::default() }, |it| it.spot());
            Ok(site_of(fault, spot))
        };
        let sites = faults.iter().zip(&queries).map(site);
        (0..).zip(sites).map(|(at, site)| site.map_err(|error| (at, error))).collect()
    }

    fn query(&self, fault: &Fault) -> Result<Query, InjectError> {
        let golden = self.golden_run();
        let launch = locate(golden, fault)?;
        let Fault { launch: number, cta, thread, dynamic, .. } = *fault;
        let linear = cta * golden.threads_per_block(launch) as u64 + u64::from(thread);
        let count = launch.counts().get(linear).unwrap_or(0);
        let Some(wanted) = u32::try_from(dynamic).ok().filter(|&dynamic| dynamic < count) else {
            return Err(InjectError::Dynamic { launch: number, cta, thread, found: dynamic, count });
        };
        Ok(Query { launch: number, thread: linear, wanted: Wanted::Dynamic(wanted) })
    }
}

/// Checks that what a fault hits, where it happens at this instruction, has the bits that it names; what is not there has none.
///
/// # Errors
/// If it has fewer.
fn check_bits(fault: &Fault, program: &Program, instruction: u32) -> Result<(), InjectError> {
    let Some(facts) = program.facts(instruction) else { return Ok(()) };
    let (place, width) = match fault.target {
        Target::Memory(memory, _) => (format!("a byte of {} memory", memory.word()), u8::BITS),
        Target::Register(number) => {
            let declared = program.function_of(instruction).and_then(|code| code.declared.get(number as usize));
            let Some(register) = declared else { return Ok(()) };
            (format!("the register {}", register.name), register.width().bits())
        }
        target => {
            let Some(operand) = operand(target, facts) else { return Ok(()) };
            (format!("{target} of `{}`", facts.mnemonic), operand.bits)
        }
    };
    if fault.model.fits(width) {
        return Ok(());
    }
    Err(InjectError::Bits { model: fault.model.name(), bits: fault.model.bits(), place, width })
}

/// Checks that the operand is there that a fault hits at an instruction.
///
/// # Errors
/// If it is not.
fn check_operand(fault: &Fault, facts: &Facts) -> Result<(), InjectError> {
    let is_operand = TargetKind::of_operand(fault.target).is_some();
    if !is_operand || operand(fault.target, facts).is_some() {
        return Ok(());
    }
    let kinds = [TargetKind::Destination, TargetKind::Address, TargetKind::Stored, TargetKind::Source];
    let there: Vec<String> =
        kinds.into_iter().flat_map(|kind| operands(kind, facts)).map(|it| it.target.to_string()).collect();
    let there = if there.is_empty() { "none in registers".to_owned() } else { there.join(", ") };
    Err(InjectError::Operand { target: fault.target, opcode: facts.mnemonic.to_string(), there })
}
