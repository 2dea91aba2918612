//! `beamline live`, and the application that a campaign has beside its capsule.

use crate::args;
use crate::commands::bounds::Stated;
use crate::commands::cuda_gdb;
use crate::commands::irradiate::{Shown, create, offered, once_each, settled, stop_on_interrupt};
use crate::commands::parts::Parts;
use crate::commands::{inject, method};
use crate::failure::{Code, Coded, Failure};
use crate::waiting::Waiting;
use crate::{out, source};
use ::inject::{CapsuleTarget, Strategy};
use ::live::{Bench, LiveError, LiveTarget, Which};
use anyhow::anyhow;
use campaign::{Choices, Config, error_chain};
use fault::Fault;
use std::sync::Arc;

/// Irradiates a running application.
pub(crate) fn live(args: &args::Live) -> Result<Code, Failure> {
    let stop = stop_on_interrupt()?;
    if let Some(word) = args.command.iter().find(|word| word.to_str().is_none()) {
        let error = anyhow!("keep the command of the application: `{}` is not UTF-8", word.to_string_lossy());
        return Err(Failure::new(Code::Usage, error));
    }
    once_each(&args.choose)?;
    let mut choices = args.choices().code(Code::Usage)?;
    if let Some(path) = &args.choose.config {
        choices = choices.or(Choices::from_file(path).code(Code::Usage)?);
    }
    if choices.live.app.words().is_empty() {
        let error = anyhow!("find out what to irradiate: name the application and its arguments after `--`");
        return Err(Failure::new(Code::Usage, error));
    }
    choices.capsule = None;
    let fault = args.fault.as_deref().map(str::parse::<Fault>).transpose().code(Code::Usage)?;
    if choices.engine == Some(debugger::CUDA_GDB) {
        return cuda_gdb::live(args, choices, fault.as_ref(), &stop);
    }
    let config = settled(choices.clone())?;
    offered(&config.engine, &::live::ENGINES)?;
    let target = recorded(&config, true)?;
    if let Some(fault) = fault {
        return one(&target, &fault, &config, args.choose.json);
    }
    let config = settled(choices.judged_by(target.capsule().criteria()))?;
    let stated = Stated::of(&config, &args.choose.bounds);
    stated.check(|| Ok(Parts::of_capsule(target.capsule().golden_run().capsule())))?;
    let method = method::before(&config, target.capsule())?;
    let runs = method.as_ref().map_or(target.target(), |method| target.target().planned_by(method));
    let shown = Shown { json: args.choose.json, stated, method: method.as_ref() };
    create(runs, config, args.choose.out.clone(), &stop, &shown)
}

/// An application that is recorded, and whose every run is live.
pub(crate) fn recorded(config: &Config, infer: bool) -> Result<LiveTarget, Failure> {
    let (capsule, bench) = recording(config, infer)?;
    let _waiting = Waiting::of_golden_run();
    LiveTarget::new(capsule, bench, Which::All, strategy(config)?).map_err(|error| failure(&error))
}

/// A capsule, with its application for the runs whose host could have seen a difference.
pub(crate) fn beside(capsule: CapsuleTarget, config: &Config) -> Result<LiveTarget, Failure> {
    let _waiting = Waiting::of_golden_run();
    let bench = bench(config)?;
    LiveTarget::new(capsule, bench, Which::Visible, strategy(config)?).map_err(|error| failure(&error))
}

/// An application on its bench, with its recorded work. What is not said of the types of its outputs may be found out.
pub(crate) fn recording(config: &Config, infer: bool) -> Result<(CapsuleTarget, Bench), Failure> {
    let _waiting = Waiting::of_golden_run();
    let bench = bench(config)?;
    let mut capsule = CapsuleTarget::new(source::golden(Arc::new(bench.capsule().clone()))?);
    config.fuel.inspect(|&fuel| capsule.set_fuel(fuel));
    for note in capsule.judge_by(&config.criteria, infer).code(Code::Usage)? {
        out::note(&note);
    }
    Ok((capsule, bench))
}

fn strategy(config: &Config) -> Result<Strategy, Failure> {
    Strategy::try_from(&config.engine).code(Code::Usage)
}

fn bench(config: &Config) -> Result<Bench, Failure> {
    let no_app = || Failure::new(Code::Usage, anyhow!("find the application: none is named"));
    Bench::new(config.live.as_ref().ok_or_else(no_app)?).map_err(|error| failure(&error))
}

/// One fault.
fn one(target: &LiveTarget, fault: &Fault, config: &Config, json: bool) -> Result<Code, Failure> {
    let site = target.capsule().site_of(fault).map_err(inject::run_failure)?;
    let seen = target.inject(fault, strategy(config)?).code(Code::Golden)?;
    inject::show(&site, &seen, &config.criteria.clone().or(target.capsule().criteria()), json)?;
    Ok(Code::Done)
}

pub(crate) fn failure(error: &LiveError) -> Failure {
    let code = match error {
        LiveError::Run(_) | LiveError::Recording(_) | LiveError::Prepare(_) => Code::Refused,
        LiveError::Directory { .. } => Code::Usage,
        LiveError::Ended { .. }
        | LiveError::TimeOver { .. }
        | LiveError::NotRecorded { .. }
        | LiveError::NoFile { .. }
        | LiveError::Shared { .. }
        | LiveError::OtherWork { .. }
        | LiveError::NotRepeated(_) => Code::Golden,
    };
    Failure::new(code, anyhow!(error_chain(error))).help(error.help())
}
