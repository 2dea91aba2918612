//! `beamline run`

use crate::args;
use crate::failure::{Code, Failure};
use anyhow::anyhow;
use cudart::runner::Run;

/// Runs an application on the simulator and returns what it returns.
pub(crate) fn run(args: args::Run) -> Result<Code, Failure> {
    let mut command = args.command.into_iter();
    let program = command.next().unwrap_or_default();
    let run = Run { program, args: command.collect(), record: args.record, explain: args.explain_errors };
    let ended = run.run().map_err(|error| {
        let help = error.help();
        Failure::new(Code::Refused, error).help(help)
    })?;
    if run.record.is_some() && !ended.recorded && ended.status == 0 {
        let error = anyhow!("record the application: it ended without writing the capsule");
        return Err(Failure::new(Code::Usage, error)
            .help("what it printed above says why; see whether the directory can be written"));
    }
    // A shell shows statuses of one byte.
    Ok(Code::Application(u8::try_from(ended.status).unwrap_or(u8::MAX)))
}
