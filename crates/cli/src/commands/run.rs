//! `beamline run`

use crate::args;
use crate::failure::{Code, Failure};
use crate::out;
use anyhow::anyhow;
use cudart::runner::Application;

/// Runs an application on the simulator and returns what it returns.
pub(crate) fn run(args: args::Run) -> Result<Code, Failure> {
    let mut command = args.command.into_iter();
    let program = command.next().unwrap_or_default();
    let run = Application { program, args: command.collect(), record: args.record, explain: args.explain_errors };
    let ended = run.run().map_err(|error| {
        let help = error.help();
        Failure::new(Code::Refused, error).help(help)
    })?;
    if run.record.is_some() && ended.recorded && ended.status != 0 {
        out::note(&format!("the application ended with code {}, which counts as its good end", ended.status));
    }
    if let Some(path) = run.record.as_deref().filter(|_| !ended.recorded) {
        let left = if path.exists() { "is what it was before" } else { "was not written" };
        let path = path.display();
        if ended.status == 0 {
            let error = anyhow!("record the application: it left no recording, and {path} {left}");
            return Err(Failure::new(Code::Golden, error).help(
                "what is printed above says why; where nothing is, the process made the system call exit_group itself, which leaves none",
            ));
        }
        out::note(&format!("the application failed, so that {path} {left}"));
    }
    if let Some(path) = run.record.as_deref().filter(|_| ended.recorded)
        && let Err(error) = session::trust_recorded(path)
    {
        out::note(&format!("failed to keep in mind that you started this ({error}): campaigns will not ask it"));
    }
    // A shell shows statuses of one byte.
    Ok(Code::Application(u8::try_from(ended.status).unwrap_or(u8::MAX)))
}
