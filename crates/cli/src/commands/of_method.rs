//! Commands that published methods add.

use crate::args::OfMethod;
use crate::commands::study::{Told, campaigns, failure, target};
use crate::failure::{Code, Failure};
use crate::interrupt::stop_on_interrupt;
use crate::out;
use campaign::CampaignEvent;
use methods::{Request, registry};
use std::path::Path;

/// Answers a command.
pub(crate) fn answer(args: OfMethod) -> Result<Code, Failure> {
    let Some(command) = registry::commands().find(|command| command.name == args.name) else {
        return Err(Failure::new(Code::Bug, anyhow::anyhow!("find the command `{}`", args.name)));
    };
    let stop = stop_on_interrupt()?;
    let request = Request { capsule: target(&args.capsule, &args.kept)?, options: args.options };
    let mut told = Told::default();
    let mut event = |name: &str, event: &CampaignEvent<'_>| told.event(name, event);
    let mut campaigns = campaigns(&args.kept, &stop, &mut event);
    let answer = (command.run)(&request, &mut campaigns).map_err(failure)?;
    write_plot(args.plot.as_deref(), answer.study.plots.first())?;
    if args.json {
        out::json(&answer.json)?;
    } else {
        out::text(&report::study::text(&answer.study))?;
    }
    Ok(Code::Done)
}

fn write_plot(path: Option<&Path>, plot: Option<&study::Plot>) -> Result<(), Failure> {
    match (path, plot) {
        (None, _) => Ok(()),
        (Some(path), Some(plot)) => out::file(path, report::study::svg(plot)),
        (Some(_), None) => Err(Failure::new(Code::Usage, anyhow::anyhow!("write a plot: this command draws none"))),
    }
}
