//! `beamline inject`

use crate::args;
use crate::commands::irradiate::opened;
use crate::failure::{Code, Coded, Failure};
use crate::out;
use campaign::{Choices, NamedSite, Site};
use fault::Fault;
use nn::{LanguageSource, NetworkSource};
use outcome::{End, FirstUse, Host, Observation, Outcome, OutputDiff, classify};
use serde::Serialize;
use session::Session;

#[derive(Serialize)]
struct Injected<'a> {
    format: &'static str,
    site: NamedSite,
    /// The fault in a sentence, where its target system has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<String>,
    observation: &'a Observation,
    outcome: &'a str,
    kind: Option<&'a str>,
}

/// Injects one fault.
pub(crate) fn inject(args: &args::Inject) -> Result<Code, Failure> {
    let choices = Choices {
        capsule: Some(args.capsule.clone()),
        engine: Some(args.engine.into()),
        fuel: args.fuel,
        addresses: args.machine.addresses.clone(),
        contract: args.machine.contract.clone(),
        order: args.machine.order.clone(),
        ..Choices::default()
    };
    let session = opened(choices)?;
    if args.explain && session.capsule().is_none() {
        out::note("a fault of a neural network has no story: what it came to is all that is told");
    } else if args.explain {
        let fault: Fault = args.fault.parse().code(Code::Usage)?;
        let story = session.story(&fault)?;
        if args.json {
            out::json(&story)?;
        } else {
            out::text(&report::story_text(&story, fault::base_name))?;
        }
        return Ok(Code::Done);
    }
    one(&session, &args.fault, args.json)
}

/// Injects one fault into a network.
pub(crate) fn in_network(network: &NetworkSource, fault: &str, json: bool) -> Result<Code, Failure> {
    let capsule = Some(session::networks::name(network)?);
    one(&session::open(Choices { capsule, ..Choices::default() })?, fault, json)
}

/// Runs one fault of a language model, and shows what it came to, but not the text.
pub(crate) fn in_language(model: &LanguageSource, fault: &str) -> Result<Code, Failure> {
    let capsule = Some(session::languages::name(model)?);
    one(&session::open(Choices { capsule, ..Choices::default() })?, fault, false)
}

fn one(session: &Session, fault: &str, json: bool) -> Result<Code, Failure> {
    let (site, observation) = session.inject(fault)?;
    show(session, &site, &observation, json)?;
    Ok(Code::Done)
}

/// Shows what was seen of a fault, and what it comes to.
pub(crate) fn show(session: &Session, site: &Site, observation: &Observation, json: bool) -> Result<(), Failure> {
    let outcome = classify(observation, &session.criteria());
    let (class, kind) = (outcome.class().to_string(), outcome.kind());
    let sentence = site.fault().and_then(|id| session::fault_sentence(session.config(), id));
    if json {
        let format = "beamline.injection/1";
        let site = site.named(session.target().planner.labels());
        out::json(&Injected { format, site, sentence, observation, outcome: &class, kind: kind.as_deref() })
    } else {
        match sentence {
            Some(sentence) => out::text(&in_words(site, &sentence, observation, outcome)),
            None => out::text(&render(site, observation, outcome)),
        }
    }
}

/// The observation of a fault that a sentence tells, as text.
fn in_words(site: &Site, sentence: &str, observation: &Observation, outcome: Outcome) -> String {
    let mut text = format!("{}\n  {sentence}\n", site.fault().unwrap_or_default());
    text += &observation.landed.map_or_else(
        || "  did not land: nothing was hit\n".to_owned(),
        |landed| format!("  the stored value {:#x} became {:#x}\n", landed.before, landed.after),
    );
    if observation.first_use == FirstUse::Never {
        text += "  no operator reads it\n";
    }
    text + &outputs(observation) + &conclusion(outcome)
}

fn render(site: &Site, observation: &Observation, outcome: Outcome) -> String {
    let mut text = String::new();
    let (spot, id) = (&site.spot, site.fault().unwrap_or_default());
    let place = match (&spot.file, spot.line) {
        (Some(file), Some(line)) => format!(", {file}:{line}"),
        _ => String::new(),
    };
    let line = spot.line.map_or_else(String::new, |line| format!(",line={line}"));
    text += &format!("{id},pc={}{line}\n", spot.pc);
    text += &format!("  {} of {}, instruction {}{place}\n", spot.opcode, spot.kernel, spot.pc);
    match observation.landed {
        None => text += &format!("  did not land: {}\n", missing(&spot.target)),
        Some(landed) => text += &format!("  value {:#x} became {:#x}\n", landed.before, landed.after),
    }
    text += &match observation.first_use {
        FirstUse::Read { after } => format!("  first read {after} instructions later\n"),
        FirstUse::Overwritten { after } => format!("  overwritten unread {after} instructions later\n"),
        FirstUse::Never => "  never read\n".to_owned(),
    };
    match &observation.end {
        End::Completed => text += "  the program ran to its end\n",
        End::Trapped { trap, at, address } => {
            let address = address.map_or_else(String::new, |address| format!(", address {address:#x}"));
            text += &format!("  {trap} in {}, instruction {}{address}\n", at.kernel, at.pc);
        }
        End::Hang { at, endless } => {
            let is = if *endless { "an endless loop" } else { "a loop that nothing in reach ends" };
            text += &format!("  hang: {is} in {}, instruction {}\n", at.kernel, at.pc);
        }
        End::OutOfFuel { at } => text += &format!("  stopped out of fuel in {}, instruction {}\n", at.kernel, at.pc),
        End::Detected { by } => text += &format!("  detected by {by}\n"),
        End::Exited { code } => text += &format!("  the application ended with code {code}\n"),
        End::Signalled { signal } => text += &format!("  signal {signal} ended the application\n"),
        End::TimedOut => text += "  the application's time was over\n",
    }
    text += &observation.host.as_ref().map_or_else(String::new, left);
    text += &outputs(observation);
    if observation.host_visible {
        text += "  the host saw a difference before the end\n";
    }
    text + &conclusion(outcome)
}

/// The outputs that differ.
fn outputs(observation: &Observation) -> String {
    let differing = observation.outputs.iter().filter(|output| output.differing > 0);
    let line = |output: &OutputDiff| {
        format!(
            "  output {}: {} of {} elements differ, largest error {:.3e} absolute, {:.3e} relative\n",
            output.name,
            out::number(output.differing),
            out::number(output.elements),
            output.max_abs,
            output.max_rel
        )
    };
    differing.map(line).collect()
}

fn conclusion(outcome: Outcome) -> String {
    let kind = outcome.kind().map_or_else(String::new, |kind| format!(", {kind}"));
    format!("outcome: {}{kind}\n", outcome.class())
}

/// What is not there, of a fault that hit nothing.
fn missing(target: &str) -> String {
    let (kind, _) = target.split_once('@').unwrap_or((target, ""));
    let missing = match kind.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "dst" => "the thread does not execute such an instruction with this destination",
        "addr" => "the instruction makes no access by such an address",
        "store" => "the instruction stores no such value",
        "src" => "the instruction reads no such source",
        "reg" => "the function that the thread is in has no such register",
        memory => return format!("the thread reaches no such byte of {memory} memory at that time"),
    };
    missing.to_owned()
}

/// What an application left that differs.
fn left(host: &Host) -> String {
    let mut differs: Vec<String> = Vec::new();
    differs.extend(host.stdout.then(|| "standard output".to_owned()));
    differs.extend(host.stderr.then(|| "standard error".to_owned()));
    differs.extend(host.files.iter().map(|name| format!("file {name}")));
    let verdict = host.verdict.map_or_else(String::new, |verdict| format!("; the judge finds it {verdict}"));
    if differs.is_empty() { String::new() } else { format!("  differing: {}{verdict}\n", differs.join(", ")) }
}
