//! `beamline campaign` and `beamline resume`

use crate::args;
use crate::commands::bounds::FailConditions;
use crate::commands::irradiate::{EndOptions, chosen, create, irradiate, opened, trust};
use crate::commands::parts::Parts;
use crate::failure::{Code, Coded, Failure};
use crate::interrupt::{NOTHING_YET, stop_on_interrupt};
use crate::waiting::Waiting;
use anyhow::anyhow;
use session::{Changes, open_campaign};

/// Irradiates a capsule.
pub(crate) fn campaign(args: &args::Campaign) -> Result<Code, Failure> {
    // From the first file on, an interruption leaves something to go on with.
    let stop = stop_on_interrupt(NOTHING_YET)?;
    let choices = chosen(&args.choose, args.choices())?;
    if choices.capsule.is_none() {
        return Err(Failure::new(Code::Usage, anyhow!("find out what to irradiate: name a capsule or a workload")));
    }
    let session = opened(choices)?;
    let stated = FailConditions::of(session.config(), &args.choose.bounds);
    create(&session, args.choose.out.clone(), &stop, EndOptions { json: args.choose.json, stated })
}

/// Goes on with a campaign.
pub(crate) fn resume(args: &args::Resume) -> Result<Code, Failure> {
    let stop = stop_on_interrupt(NOTHING_YET)?;
    let session = {
        let live = campaign::read_config(&args.dir).code(Code::Refused)?.live.is_some();
        let _waiting = live.then(Waiting::of_golden_run);
        open_campaign(&args.dir, Changes { jobs: args.jobs, memory: args.memory, trust: args.trust })?
    };
    let stated = FailConditions::of(session.config(), &args.bounds);
    stated.check(|| Ok(Parts::of_session(&session)))?;
    if args.trust {
        trust(&session);
    }
    let store = session.resume(&args.dir)?;
    irradiate(&session, store, &args.dir, &stop, &EndOptions { json: args.json, stated })
}
