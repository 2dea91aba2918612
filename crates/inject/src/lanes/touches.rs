//! What the instructions of a program read and write, and what first happens to a value on the path of a thread.

use facts::{Reg, Role};
use outcome::FirstUse;
use simt::Program;
use simt::registers::Slot;
use simt::replica::guide::{Ports, Sharing, sharings};
use simt::replica::is_solitary;

/// A destination of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Destination {
    /// Its position among the instruction's destinations.
    pub(crate) position: u8,
    /// Where it is.
    pub(crate) slot: Slot,
    /// Its register, numbered through all functions.
    pub(crate) register: u32,
}

#[derive(Debug, Default)]
struct Touch {
    guard: Option<u32>,
    reads: Vec<u32>,
    writes: Vec<u32>,
    destinations: Vec<Destination>,
}

/// The registers that each instruction of a program reads and writes, numbered through all its functions.
#[derive(Debug)]
pub(crate) struct Touches {
    instructions: Vec<Touch>,
    registers: u32,
    /// By function of the program, the number of its first register.
    starts: Vec<(facts::FunctionId, u32)>,
    ports: Vec<Ports>,
    solitary: bool,
}

impl Touches {
    pub(crate) fn of(program: &Program) -> Self {
        let mut starts = Vec::new();
        let mut registers = 0;
        for code in &program.functions {
            starts.push((code.id, registers));
            registers += code.declared.len() as u32;
        }
        let touch = |(instruction, at): (u32, &simt::program::StaticInstruction)| {
            let Some(facts) = &at.facts else { return Touch::default() };
            let start = starts.iter().find(|(id, _)| *id == at.function).map_or(0, |(_, start)| *start);
            let number = |reg: Reg| start + reg.index() as u32;
            let destination = |operand: &facts::Operand| {
                let slot = program.slot(instruction, operand.register)?;
                Some(Destination { position: operand.position, slot, register: number(operand.register) })
            };
            Touch {
                guard: facts.guard.map(|guard| number(guard.pred)),
                reads: facts.reads().map(number).collect(),
                writes: facts.writes().map(number).collect(),
                destinations: facts.of_role(Role::Destination).filter_map(destination).collect(),
            }
        };
        let instructions = (0..).zip(&program.instructions).map(touch).collect();
        Self { instructions, registers, starts, ports: ports(program), solitary: is_solitary(program) }
    }

    /// What each instruction has to do with other threads.
    pub(crate) fn ports(&self) -> &[Ports] {
        &self.ports
    }

    /// Whether no thread of the program has to do with others but through global memory.
    pub(crate) fn is_solitary(&self) -> bool {
        self.solitary
    }

    /// The destinations of an instruction.
    pub(crate) fn destinations(&self, instruction: u32) -> &[Destination] {
        &self.instructions[instruction as usize].destinations
    }

    /// The registers that an instruction writes, numbered through all functions.
    pub(crate) fn writes(&self, instruction: u32) -> &[u32] {
        &self.instructions[instruction as usize].writes
    }

    /// How many registers all functions have.
    pub(crate) fn registers(&self) -> u32 {
        self.registers
    }

    /// The number of the first register of the function that an instruction is in.
    pub(crate) fn first_register(&self, program: &Program, instruction: u32) -> u32 {
        let function = program.instructions.get(instruction as usize).map(|at| at.function);
        self.starts.iter().find(|(id, _)| Some(*id) == function).map_or(0, |(_, start)| *start)
    }

    /// The registers of the function that an instruction is in.
    pub(crate) fn registers_of(&self, program: &Program, instruction: u32) -> std::ops::Range<usize> {
        let first = self.first_register(program, instruction);
        let declared = program.function_of(instruction).map_or(0, |code| code.declared.len());
        first as usize..first as usize + declared
    }

    /// What first happens to each destination of each instruction that a thread executes, in the order of the path and
    /// of the destinations. A fault in it changes nothing before, so that it is what happens to the faulty value, too.
    pub(crate) fn first_uses(&self, path: &[(u32, bool)]) -> Vec<Vec<FirstUse>> {
        let mut begun = path.iter().filter(|(_, executed)| *executed).count() as u64;
        let mut next: Vec<Option<(u64, bool)>> = vec![None; self.registers as usize];
        let mut found = Vec::with_capacity(begun as usize);
        for &(instruction, executed) in path.iter().rev() {
            let touch = &self.instructions[instruction as usize];
            if executed {
                let of = |destination: &Destination| match next[destination.register as usize] {
                    None => FirstUse::Never,
                    Some((at, true)) => FirstUse::Read { after: at - begun },
                    Some((at, false)) => FirstUse::Overwritten { after: at - begun },
                };
                found.push(touch.destinations.iter().map(of).collect());
                touch.writes.iter().for_each(|&register| next[register as usize] = Some((begun, false)));
                touch.reads.iter().for_each(|&register| next[register as usize] = Some((begun, true)));
            }
            // Who comes to an instruction reads its guard, whether or not it executes.
            if let Some(guard) = touch.guard {
                next[guard as usize] = Some((begun + u64::from(!executed), true));
            }
            begun -= u64::from(executed);
        }
        found.reverse();
        found
    }
}

/// The registers that each instruction reads and writes, where others may have a part in it.
fn ports(program: &Program) -> Vec<Ports> {
    let of = |((instruction, at), sharing): ((u32, &simt::program::StaticInstruction), Sharing)| {
        let Some(facts) = at.facts.as_ref().filter(|_| sharing != Sharing::Own) else { return Ports::default() };
        let slots = |registers: &mut dyn Iterator<Item = Reg>| {
            registers.filter_map(|register| program.slot(instruction, register)).collect::<Vec<_>>()
        };
        Ports { sharing, inputs: slots(&mut facts.reads()), outputs: slots(&mut facts.writes()) }
    };
    (0..).zip(&program.instructions).zip(sharings(program)).map(of).collect()
}
