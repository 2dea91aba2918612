//! The trace of one thread: `beamline profile --trace`.

use crate::args::ThreadName;
use crate::failure::{Code, Failure};
use crate::out;
use anyhow::anyhow;
use facts::Source;
use inject::{Golden, GoldenLaunch};
use methods::kit::{Profile, ProfileStep, ThreadId};
use serde::Serialize;

#[derive(Serialize)]
struct Trace {
    format: &'static str,
    capsule: String,
    kernel: String,
    thread: ThreadId,
    /// Instructions that it executed, their guard true.
    executed: u64,
    /// Instructions that it came to, guarded-off ones too.
    instructions: u64,
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
    pc: u32,
    opcode: String,
    class: String,
    file: Option<String>,
    line: Option<u32>,
    /// How often the thread came to this instruction, this time counted.
    iteration: u32,
    /// Instructions since the first one of the line; absent where the thread was not there before.
    from_line: Option<u32>,
    executed: bool,
}

/// Lists what a thread came to.
pub(crate) fn trace(golden: &Golden, name: ThreadName, json: bool) -> Result<Code, Failure> {
    let launch = find(golden, name)?;
    let thread = ThreadId { launch: name.launch, cta: name.cta, thread: name.thread };
    let profile = Profile::of(golden, thread);
    let steps: Vec<Step> = profile.steps.iter().filter_map(|step| of(launch, step)).collect();
    let trace = Trace {
        format: "beamline.trace/1",
        capsule: golden.capsule().name.clone(),
        kernel: launch.program.name.clone(),
        thread,
        executed: steps.iter().filter(|step| step.executed).count() as u64,
        instructions: steps.len() as u64,
        steps,
    };
    if json {
        out::json(&trace)?;
    } else {
        out::text(&render(&trace))?;
    }
    Ok(Code::Done)
}

fn find(golden: &Golden, name: ThreadName) -> Result<&GoldenLaunch, Failure> {
    let wrong = |what: &str, found: u64, count: u64| {
        Failure::new(Code::Usage, anyhow!("find {what} {found}: there are {count}, numbered from 0"))
    };
    let launches = golden.launches();
    let launch = launches.get(name.launch as usize);
    let launch = launch.ok_or_else(|| wrong("launch", name.launch.into(), launches.len() as u64))?;
    let threads = golden.threads_per_block(launch) as u64;
    let blocks = launch.counts().threads() / threads.max(1);
    if name.cta >= blocks {
        return Err(wrong("block", name.cta, blocks));
    }
    if u64::from(name.thread) >= threads {
        return Err(wrong("thread", name.thread.into(), threads));
    }
    Ok(launch)
}

fn of(launch: &GoldenLaunch, step: &ProfileStep) -> Option<Step> {
    let instruction = launch.program.instructions.get(step.instruction as usize)?;
    let facts = instruction.facts.as_ref()?;
    let source = facts.source.as_ref();
    Some(Step {
        pc: instruction.pc.0,
        opcode: facts.mnemonic.to_string(),
        class: facts.group.to_string(),
        file: source.and_then(Source::file).map(str::to_owned),
        line: source.map(Source::line),
        iteration: step.iteration + 1,
        from_line: step.from_line,
        executed: step.executed,
    })
}

fn render(trace: &Trace) -> String {
    let mut text = format!(
        "{} of {}: launch={},cta={},thread={}: {} instructions, {} of them executed\n\n",
        fault::base_name(&trace.kernel),
        trace.capsule,
        trace.thread.launch,
        trace.thread.cta,
        trace.thread.thread,
        out::number(trace.instructions),
        out::number(trace.executed),
    );
    let row = |(number, step): (u64, &Step)| {
        let file = step.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
        vec![
            number.to_string(),
            step.pc.to_string(),
            step.opcode.clone(),
            step.class.clone(),
            step.line.map_or_else(|| "–".to_owned(), |line| format!("{}:{line}", file.unwrap_or("?"))),
            step.iteration.to_string(),
            step.from_line.map_or_else(|| "–".to_owned(), |steps| steps.to_string()),
            if step.executed { "" } else { "guarded off" }.to_owned(),
        ]
    };
    let header = ["#", "pc", "instruction", "class", "line", "iteration", "from its line", ""];
    text += &out::table(&header, ">><<<>><", &(0..).zip(&trace.steps).map(row).collect::<Vec<_>>());
    text
}
