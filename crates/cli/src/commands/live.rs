//! `beamline live`

use crate::args;
use crate::commands::bounds::FailConditions;
use crate::commands::inject;
use crate::commands::irradiate::{EndOptions, chosen, create, opened};
use crate::failure::{Code, Coded, Failure};
use crate::interrupt::{NOTHING_YET, stop_on_interrupt};
use anyhow::anyhow;
use campaign::Choices;
use fault::Fault;

/// Irradiates a running application.
pub(crate) fn live(args: &args::Live) -> Result<Code, Failure> {
    let stop = stop_on_interrupt(NOTHING_YET)?;
    if let Some(word) = args.command.iter().find(|word| word.to_str().is_none()) {
        let error = anyhow!("keep the command of the application: `{}` is not UTF-8", word.to_string_lossy());
        return Err(Failure::new(Code::Usage, error));
    }
    let choices = chosen(&args.choose, args.choices().code(Code::Usage)?)?;
    if choices.live.app.words().is_empty() {
        let error = anyhow!("find out what to irradiate: name the application and its arguments after `--`");
        return Err(Failure::new(Code::Usage, error));
    }
    // A fault that cannot be read is refused before the application runs.
    args.fault.as_deref().map(str::parse::<Fault>).transpose().code(Code::Usage)?;
    let session = opened(Choices { capsule: None, ..choices })?;
    if let Some(fault) = &args.fault {
        let (site, seen) = session.inject(fault)?;
        inject::show(&session, &site, &seen, args.choose.json)?;
        return Ok(Code::Done);
    }
    let stated = FailConditions::of(session.config(), &args.choose.bounds);
    create(&session, args.choose.out.clone(), &stop, EndOptions { json: args.choose.json, stated })
}
