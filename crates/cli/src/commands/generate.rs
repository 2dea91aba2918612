//! `beamline nn generate`: faults while a language model generates text.

use crate::args;
use crate::commands::bounds::FailConditions;
use crate::commands::inject;
use crate::commands::irradiate::{EndOptions, chosen, create, opened};
use crate::failure::{Code, Coded, Failure};
use crate::interrupt::{NOTHING_YET, stop_on_interrupt};
use crate::out;
use campaign::{Choices, CommandLine};
use nn::language::GenerationFault;
use nn::language::prompts::text;
use serde_json::json;
use session::languages;

/// Irradiates a language model, as `beamline campaign language:MODEL` does, or shows one fault.
pub(crate) fn answer(args: &args::Generate) -> Result<Code, Failure> {
    if let Some(fault) = &args.show {
        return show(args, fault);
    }
    let stop = stop_on_interrupt(NOTHING_YET)?;
    let mut choices = Choices {
        capsule: Some(languages::name(&args.source())?),
        engine: args.engine.clone(),
        ..args.choose.choices(&args.resources, CommandLine::default())
    };
    if args.operand.is_some() {
        choices.selection.target.clone_from(&args.operand);
    }
    if !args.prompt.is_empty() {
        choices.selection.iterations.clone_from(&args.prompt);
    }
    let session = opened(chosen(&args.choose, choices)?)?;
    let stated = FailConditions::of(session.config(), &args.choose.bounds);
    create(&session, args.choose.out.clone(), &stop, EndOptions { json: args.choose.json, stated })
}

/// Runs one fault, and prints the text without it and the text with it.
fn show(args: &args::Generate, id: &str) -> Result<Code, Failure> {
    let source = args.source();
    let target = languages::open(&source)?;
    let fault = GenerationFault::parse(id).code(Code::Usage)?;
    let faulty = target.generation(id).code(Code::Usage)?.generation.tokens;
    let golden = target.golden_run(fault.prompt).map(|golden| golden.tokens.clone()).unwrap_or_default();
    let prompt = target.prompts().get(fault.prompt).map(|prompt| text(prompt)).unwrap_or_default();
    let differing: Vec<usize> = (0..golden.len()).filter(|&at| golden.get(at) != faulty.get(at)).collect();
    let [golden, faulty] = [golden, faulty].map(|tokens| text(&tokens));
    if args.choose.json {
        out::json(&json!({
            "format": "beamline.generated/1", "id": fault.to_string(), "sentence": fault.sentence(source.format), "prompt": prompt,
            "golden": golden, "faulty": faulty, "differing": differing,
        }))?;
        return Ok(Code::Done);
    }
    inject::in_language(&source, id)?;
    let line = |text: &str| text.replace('\n', "\u{21b5}");
    let marks: String = (0..golden.len()).map(|at| if differing.contains(&at) { '^' } else { ' ' }).collect();
    let [prompt, golden, faulty] = [prompt, golden, faulty].map(|text| line(&text));
    out::text(&format!(
        "\n  prompt   {prompt}\n  golden   {golden}\n  faulty   {faulty}\n           {}\n",
        marks.trim_end()
    ))?;
    Ok(Code::Done)
}
