//! `beamline campaign` and `beamline resume`

use crate::args;
use crate::commands::bounds::Stated;
use crate::commands::irradiate::{
    Shown, create, irradiate, offered, once_each, settled, stop_on_interrupt, store_failure,
};
use crate::commands::parts::Parts;
use crate::commands::{cuda_gdb, live, method};
use crate::failure::{Code, Coded, Failure};
use crate::{out, source};
use anyhow::anyhow;
use campaign::{Choices, Config, Store, Target};
use inject::{CapsuleTarget, Means};

/// Irradiates a capsule.
pub(crate) fn campaign(args: args::Campaign) -> Result<Code, Failure> {
    // From the first file on, an interruption leaves something to go on with.
    let stop = stop_on_interrupt()?;
    once_each(&args.choose)?;
    let mut choices = args.choices();
    if let Some(path) = &args.choose.config {
        choices = choices.or(Choices::from_file(path).code(Code::Usage)?);
    }
    let no_capsule = || Failure::new(Code::Usage, anyhow!("find out what to irradiate: name a capsule or a workload"));
    let name = choices.capsule.clone().ok_or_else(no_capsule)?;
    // Everything about the choices is checked before work begins.
    let Config { criteria, engine, .. } = settled(choices.clone())?;
    offered(&engine, &inject::ENGINES)?;
    let mut target = target(&name)?;
    choices.capsule = Some(source::lasting_name(&name));
    for note in target.judge_by(&criteria, true).code(Code::Usage)? {
        out::note(&note);
    }
    let config = settled(choices.judged_by(target.criteria()))?;
    let stated = Stated::of(&config, &args.choose.bounds);
    stated.check(|| Ok(Parts::of_capsule(target.golden_run().capsule())))?;
    target.set_means(means(&config));
    config.fuel.inspect(|&fuel| target.set_fuel(fuel));
    let (json, out) = (args.choose.json, args.choose.out);
    let begin = |capsule: &CapsuleTarget, target: Target<'_>| {
        let method = method::before(&config, capsule)?;
        let target = method.as_ref().map_or(target, |method| target.planned_by(method));
        create(target, config.clone(), out, &stop, &Shown { json, stated, method: method.as_ref() })
    };
    if config.live.is_none() {
        return begin(&target, Target::from(&target));
    }
    let target = live::beside(target, &config)?;
    begin(target.capsule(), target.target())
}

/// What a campaign may use; what is not said is the machine's.
fn means(config: &Config) -> Means {
    let default = Means::default();
    Means {
        memory: config.memory.map_or(default.memory, |memory| memory.0),
        jobs: config.jobs.map_or(default.jobs, |jobs| jobs.get() as usize),
        ..default
    }
}

/// Goes on with a campaign.
pub(crate) fn resume(args: &args::Resume) -> Result<Code, Failure> {
    let stop = stop_on_interrupt()?;
    let mut config = campaign::read_config(&args.dir).code(Code::Refused)?;
    // Runs in place are one at a time.
    if !config.live.as_ref().is_some_and(|live| live.in_place) {
        config.jobs = args.jobs.or(config.jobs);
    }
    config.memory = args.memory.or(config.memory);
    let go_on = |capsule: &CapsuleTarget, target: Target<'_>| {
        let stated = Stated::of(&config, &args.bounds);
        stated.check(|| Ok(Parts::of_capsule(capsule.golden_run().capsule())))?;
        let method = method::before(&config, capsule)?;
        let target = method.as_ref().map_or(target, |method| target.planned_by(method));
        let mut store = Store::resume(&args.dir, target).map_err(store_failure)?;
        store.set_jobs(config.jobs);
        store.set_memory(config.memory);
        irradiate(target, store, &stop, &Shown { json: args.json, stated, method: method.as_ref() })
    };
    if config.engine == debugger::CUDA_GDB {
        let target = cuda_gdb::recorded(&config, false)?;
        return go_on(target.capsule(), Target::from(&target));
    }
    if config.live.is_some() && config.capsule.is_empty() {
        let target = live::recorded(&config, false)?;
        return go_on(target.capsule(), target.target());
    }
    let mut target = target(&config.capsule)?;
    // The types that were found out stand in the configuration; what does not was compared byte by byte.
    target.judge_by(&config.criteria, false).code(Code::Refused)?;
    target.set_means(means(&config));
    config.fuel.inspect(|&fuel| target.set_fuel(fuel));
    if config.live.is_none() {
        return go_on(&target, Target::from(&target));
    }
    let target = live::beside(target, &config)?;
    go_on(target.capsule(), target.target())
}

fn target(name: &str) -> Result<CapsuleTarget, Failure> {
    Ok(CapsuleTarget::new(source::golden(source::open(name)?)?))
}
