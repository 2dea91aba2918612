//! `beamline worker`: the process that runs faults written into kernels. Batches come on standard input, answers go to
//! standard output, which is theirs alone: kernels on a GPU print, too. It ends with whoever started it.

use crate::args::{self, MachineWord};
use crate::commands::written::AS_WRITTEN;
use crate::failure::{Code, Coded, Failure};
use anyhow::anyhow;
use differential::{Hardware, Machine, Simulator, Texts, work};
use inject::Golden;
use session::capsules;
use std::io::stdin;

/// Serves batches until there are no more.
pub(crate) fn worker(args: &args::Worker) -> Result<Code, Failure> {
    let capsule = capsules::open(&args.capsule)?;
    let refused = |error: String| Failure::new(Code::Refused, anyhow!(error));
    let texts = Texts::of(&capsule).map_err(refused)?;
    let mut answers = process::take_standard_output().code(Code::Bug)?;
    let mut serve = |machine: &mut dyn Machine| {
        let outputs = capsule.effective_outputs();
        work(machine, &texts, &outputs, &mut stdin().lock(), &mut answers).code(Code::Bug)
    };
    match args.machine {
        MachineWord::Gpu => serve(&mut Hardware::new(&capsule))?,
        MachineWord::Simulator => {
            let machine = inject::Machine { contract: AS_WRITTEN, ..inject::Machine::default() };
            let golden = Golden::run_on(capsule.clone(), machine).code(Code::Refused)?;
            serve(&mut Simulator::new(&golden))?;
        }
    }
    Ok(Code::Done)
}
