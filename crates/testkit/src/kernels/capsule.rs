//! A kernel test as a capsule: what an application that does the same would have recorded.

use super::directive::Directive;
use super::machine::{MODULE, Outcome};
use super::script::Script;
use capsule::{AllocKind, Capsule, Digest, ElementType, Event, Output, RecordedModule, Region};
use isa::Type;
use simt::LevelName;
use std::sync::Arc;

/// The capsule of a test that runs to its end: the module, the buffers with their contents, the launches, and the
/// copies to the host, of which those at the end are the outputs.
///
/// # Errors
/// If the test cannot be run or traps.
pub fn capsule_of(script: &Script) -> Result<Arc<Capsule>, String> {
    let outcome = super::machine::execute(script, LevelName::best())?;
    match &outcome.trap {
        Some(report) => Err(format!("the fault-free run ended with {report}")),
        None => Ok(Arc::new(build(script, &outcome))),
    }
}

/// The capsule of a test that was run.
pub(super) fn build(script: &Script, outcome: &Outcome) -> Capsule {
    let mut capsule = Capsule::new(script.name.clone());
    let ptx = capsule.blobs.add(&script.text);
    let globals = outcome.symbols.clone();
    capsule.modules.push(RecordedModule {
        id: MODULE,
        ptx: Some(ptx),
        binaries: Vec::new(),
        globals,
        hardened: Vec::new(),
    });
    capsule.events.push(Event::Load { module: MODULE });
    for buffer in script.buffers() {
        let (address, bytes) = outcome.places[&buffer.name];
        let data = capsule.blobs.add(&buffer.values.bytes);
        capsule.events.push(Event::Alloc { address, bytes, kind: AllocKind::Device });
        capsule.events.push(Event::CopyIn { to: Region::linear(address, bytes), data });
    }
    let (mut launches, mut copies) = (outcome.launches.iter(), outcome.copies.iter());
    for directive in &script.directives {
        match directive {
            Directive::Run(_) => capsule.events.extend(launches.next().map(|launch| Event::Launch(launch.clone()))),
            Directive::Read(_) => capsule.events.extend(copies.next().map(|copy| copy_out(outcome, copy))),
            _ => {}
        }
    }
    capsule.events.push(Event::Synchronize);
    let first = outcome.copies.len() - copies.len();
    for (index, copy) in copies.enumerate() {
        capsule.events.push(copy_out(outcome, copy));
        capsule.outputs.push(output(script, (first + index) as u32, &copy.0));
    }
    capsule
}

/// An output by the name of its buffer, and with the type of its elements.
fn output(script: &Script, copy: u32, name: &str) -> Output {
    let buffer = script.buffers().find(|buffer| buffer.name == name);
    let element = buffer.and_then(|buffer| element_type(buffer.values.element.0));
    Output { name: name.to_owned(), element, ..Output::untyped(copy) }
}

fn element_type(ty: Type) -> Option<ElementType> {
    let word = match ty {
        Type::B8 => "u8",
        Type::B16 => "u16",
        Type::B32 => "u32",
        Type::B64 => "u64",
        other => other.word(),
    };
    word.parse().ok()
}

fn copy_out(outcome: &Outcome, (name, bytes): &(String, Vec<u8>)) -> Event {
    let (address, size) = outcome.places[name];
    Event::CopyOut { from: Region::linear(address, size), digest: Digest::of(bytes), data: None }
}
