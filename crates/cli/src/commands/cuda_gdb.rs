//! `beamline live --engine cuda-gdb`: an application on a real GPU, in NVIDIA's debugger.

use crate::args;
use crate::commands::bounds::Stated;
use crate::commands::irradiate::{Shown, create, settled};
use crate::commands::parts::Parts;
use crate::commands::{inject, live};
use crate::failure::{Code, Coded, Failure};
use crate::out;
use anyhow::anyhow;
use campaign::{Choices, Config, error_chain};
use debugger::{DebuggerError, GpuTarget};
use fault::Fault;
use std::env;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The variable that names the debugger.
const DEBUGGER: &str = "BEAMLINE_CUDA_GDB";

/// Irradiates an application on the GPU.
pub(crate) fn live(
    args: &args::Live,
    choices: Choices,
    fault: Option<&Fault>,
    stop: &AtomicBool,
) -> Result<Code, Failure> {
    let alone = choices.live.in_place;
    let sessions = u32::try_from(debugger::sessions()).unwrap_or(1);
    let jobs = choices.jobs.unwrap_or(if alone { 1 } else { sessions });
    let config = settled(Choices { jobs: Some(jobs), ..choices.clone() })?;
    let target = recorded(&config, true)?;
    out::note(&target.note());
    if let Some(fault) = fault {
        let site = target.site_of(fault).code(Code::Usage)?;
        let seen = target.inject(fault).code(Code::Golden)?;
        let criteria = config.criteria.clone().or(target.capsule().criteria());
        inject::show(&site, &seen, &criteria, args.choose.json)?;
        return Ok(Code::Done);
    }
    let choices = Choices { jobs: Some(jobs), ..choices.judged_by(target.capsule().criteria()) };
    let config = settled(choices)?;
    let stated = Stated::of(&config, &args.choose.bounds);
    stated.check(|| Ok(Parts::of_capsule(target.capsule().golden_run().capsule())))?;
    let shown = Shown { json: args.choose.json, stated, method: None };
    create((&target).into(), config, args.choose.out.clone(), stop, &shown)
}

/// An application that is recorded on the simulator, and whose threads were followed on the GPU.
pub(crate) fn recorded(config: &Config, infer: bool) -> Result<GpuTarget, Failure> {
    if config.fuel.is_some() {
        let error = anyhow!("limit the instructions of a thread on a real GPU: nothing counts them there");
        return Err(Failure::new(Code::Usage, error).help("leave `fuel` out; `timeout` says how long a run may take"));
    }
    let (capsule, bench) = live::recording(config, infer)?;
    let program = env::var_os(DEBUGGER).map_or_else(|| PathBuf::from("cuda-gdb"), PathBuf::from);
    let jobs = config.jobs.map_or_else(debugger::sessions, |jobs| jobs.get() as usize);
    GpuTarget::new(capsule, bench, &program, jobs).map_err(|error| failure(&error))
}

fn failure(error: &DebuggerError) -> Failure {
    let code = match error {
        DebuggerError::Bench(error) => return live::failure(error),
        DebuggerError::Ended { .. } | DebuggerError::Profile { .. } => Code::Golden,
        _ => Code::Refused,
    };
    Failure::new(code, anyhow!(error_chain(error))).help(error.help())
}
