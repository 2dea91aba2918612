//! Random kernels that are valid, and whose results the PTX ISA defines: what two machines that execute them may not
//! differ in.
//!
//! A kernel loads its registers from memory, does some hundred things to them, and stores them: pure instructions of
//! all types (every spelling that has vectors), under guards too; branches that diverge,
//! loops whose threads leave at different times, tables of branches, calls; local, shared and constant memory;
//! communication within a warp, barriers, atomic operations whose order does not matter. What must be met by all
//! threads stands where control does not diverge.
//!
//! Kernels of products and sums that an assembler may join are made apart, in `sums`: they are dense with these, and have no
//! loops, of which an assembler makes what it likes.
//!
//! Which NaN an instruction makes depends on how a compiler joined it with its neighbours, so every float becomes the
//! canonical NaN before its bits are looked at.

mod body;
mod dice;
mod forms;
mod registers;
mod sums;

pub use body::NAME;
pub use forms::Forms;

pub(crate) use dice::Dice;

use crate::vectors::random_operand;
use body::Body;
use capsule::{Launch, ModuleId, Region};
use device::Image;
use device::{Contract, Device, LaunchEnd};
use registers::{Class, RECORD};
use simt::LevelName;
use stats::Draws;
use sums::Sums;

/// Bytes behind `cells`: what atomic operations change.
const CELLS: usize = 1024;

/// A kernel and what it is launched with.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The module.
    pub ptx: String,
    /// Blocks.
    pub blocks: u32,
    /// Threads of a block, a multiple of 32.
    pub threads: u32,
    /// The bytes behind `in`: a record for every thread.
    pub input: Vec<u8>,
}

impl Kernel {
    /// The kernel with this number among those of a seed.
    #[must_use]
    pub fn new(forms: &Forms, seed: u64, number: u64) -> Self {
        let mut dice = Dice(Draws::new(seed, number));
        let (blocks, threads) = (1 + dice.below(3) as u32, 32 * *dice.choose(&[1, 2, 4]));
        let ptx = Body::write(forms, &mut dice, threads);
        let types: Vec<isa::Type> = Class::ALL.into_iter().flat_map(Class::input_types).collect();
        let mut input = Vec::with_capacity((blocks * threads) as usize * RECORD);
        for thread in 0..u64::from(blocks * threads) {
            let start = input.len();
            for (bits, ty) in random_operand::row(seed ^ number.rotate_left(32), thread, &types).into_iter().zip(&types)
            {
                input.extend(&bits.to_le_bytes()[..ty.bytes() as usize]);
            }
            input.resize(start + RECORD, 0);
        }
        Self { ptx, blocks, threads, input }
    }

    /// The kernel with this number among those of a seed that are products and sums which an assembler may join.
    #[must_use]
    pub fn of_sums(seed: u64, number: u64) -> Self {
        let mut dice = Dice(Draws::new(seed, number));
        let (blocks, threads) = (1 + dice.below(2) as u32, 32);
        let (ptx, numbers) = Sums::write(&mut dice, threads);
        let places = (blocks * threads) as usize * RECORD / numbers.bytes;
        let input = (0..places).flat_map(|_| sums::operand(&mut dice, numbers)).collect();
        Self { ptx, blocks, threads, input }
    }

    /// Bytes behind `out`: a record for every thread, then the cells of atomic operations.
    #[must_use]
    pub fn output_bytes(&self) -> usize {
        (self.blocks * self.threads) as usize * RECORD + CELLS
    }

    /// The arguments: where `in`, `out` and the cells are.
    #[must_use]
    pub fn arguments(&self, input: u64, output: u64) -> Vec<u8> {
        let cells = output + (self.output_bytes() - CELLS) as u64;
        [input, output, cells].into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// What the simulator leaves behind `out`, at a level, with products joined with sums as said.
    ///
    /// # Errors
    /// If it does not execute the kernel to its end.
    pub fn simulate(&self, level: LevelName, contract: Contract) -> Result<Vec<u8>, String> {
        self.simulate_text(&self.ptx, self.threads, level, contract)
    }

    /// The same with another text in place of the kernel's, which the same arguments are for, in blocks of another size.
    ///
    /// # Errors
    /// If the simulator does not execute the text to its end.
    pub fn simulate_text(
        &self,
        ptx: &str,
        threads: u32,
        level: LevelName,
        contract: Contract,
    ) -> Result<Vec<u8>, String> {
        let words = |error: device::DeviceError| error.to_string();
        let mut device = Device::at_level(level);
        device.contract(contract);
        device.load(ModuleId(0), NAME, Image::ptx(ptx)).map_err(words)?;
        let input = device.allocate(self.input.len() as u64).map_err(words)?;
        let output = device.allocate(self.output_bytes() as u64).map_err(words)?;
        device.write(&Region::linear(input, self.input.len() as u64), &self.input).map_err(words)?;
        let launch = Launch {
            module: ModuleId(0),
            kernel: NAME.to_owned(),
            grid: [self.blocks, 1, 1],
            block: [threads, 1, 1],
            shared_bytes: 0,
            params: self.arguments(input, output),
            cooperative: false,
        };
        match device.launch(&launch).map_err(words)? {
            LaunchEnd::Completed { .. } => {}
            LaunchEnd::Trapped(report) => return Err(report.to_string()),
        }
        device.read(&Region::linear(output, self.output_bytes() as u64)).map_err(words)
    }

    /// What differs between two results: the first register that does, and how many bytes.
    #[must_use]
    pub fn difference(&self, expected: &[u8], found: &[u8]) -> Option<String> {
        let differing = expected.iter().zip(found).filter(|(a, b)| a != b).count();
        let first = expected.iter().zip(found).position(|(a, b)| a != b)?;
        let records = self.output_bytes() - CELLS;
        let place = if first < records {
            format!("thread {}, {}", first / RECORD, registers::at(first % RECORD))
        } else {
            format!("cell byte {}", first - records)
        };
        Some(format!("{differing} bytes differ, first {place}: {:#04x}, {:#04x}", expected[first], found[first]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_sums_give_the_same_at_every_level_and_often_something_else_where_nothing_is_joined() {
        let apart = crate::in_parallel(&(0..60).collect::<Vec<u64>>(), |&number| {
            let kernel = Kernel::of_sums(1, number);
            let results = crate::levels().map(|level| kernel.simulate(level, Contract::Ptxas).unwrap());
            let results: Vec<Vec<u8>> = results.collect();
            assert!(results.iter().all(|found| *found == results[0]), "kernel {number}\n{}", kernel.ptx);
            results[0] != kernel.simulate(LevelName::best(), Contract::Off).unwrap()
        });
        assert!(apart.iter().filter(|differs| **differs).count() > 5);
    }

    #[test]
    fn kernels_are_functions_of_seed_and_number_and_every_level_gives_the_same() {
        let forms = Forms::all().unwrap();
        let same = crate::in_parallel(&(0..60).collect::<Vec<u64>>(), |&number| {
            let kernel = Kernel::new(&forms, 1, number);
            assert_eq!(kernel.ptx, Kernel::new(&forms, 1, number).ptx);
            let results: Vec<_> =
                crate::levels().map(|level| (level, kernel.simulate(level, Contract::Ptxas))).collect();
            let (_, first) = &results[0];
            let first = first.as_ref().unwrap_or_else(|what| panic!("kernel {number}: {what}\n{}", kernel.ptx));
            for (level, found) in &results[1..] {
                let what = kernel.difference(first, found.as_ref().unwrap());
                assert!(what.is_none(), "kernel {number} at {level}: {what:?}\n{}", kernel.ptx);
            }
            first.iter().any(|&byte| byte != 0)
        });
        assert!(same.into_iter().all(|something| something));
    }
}
