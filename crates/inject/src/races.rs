//! The data races of a golden run, as results keep them.

use crate::golden::Golden;
use campaign::{DataRace, RacedMemory, Racers, RacingAccess};
use device::KernelRace;
use facts::Source;
use simt::{Interleaving, Program};

/// The data races of a golden run.
pub(crate) fn of(golden: &Golden) -> Vec<DataRace> {
    let program = |kernel: &str| {
        let launch = golden.launches.iter().find(|launch| launch.program.name == kernel);
        launch.map(|launch| &*launch.program)
    };
    let race = |race: &KernelRace| DataRace {
        kernel: race.kernel.clone(),
        between: if race.between == Interleaving::Blocks { Racers::Blocks } else { Racers::Warps },
        memory: if race.shared { RacedMemory::Shared } else { RacedMemory::Global },
        accesses: race.instructions.map(|instruction| access(program(&race.kernel), instruction)),
        words: race.words,
    };
    golden.races().iter().map(race).collect()
}

fn access(program: Option<&Program>, instruction: u32) -> RacingAccess {
    let found = program.and_then(|program| program.instructions.get(instruction as usize));
    let source = found.and_then(|found| found.facts.as_ref()?.source.as_ref());
    RacingAccess {
        pc: found.map_or(instruction, |found| found.pc.0),
        file: source.and_then(Source::file).map(str::to_owned),
        line: source.map(Source::line),
    }
}
