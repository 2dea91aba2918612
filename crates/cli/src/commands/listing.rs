//! What a report shows of a capsule, as plain data: its sources, and its instructions as PTX.

use capsule::{Capsule, ModuleId};
use inject::CapsuleTarget;
use isa::Pc;
use report::{Context, ListedInstruction, SourceText};
use std::collections::BTreeSet;

use crate::source;

/// Source files and PTX that are larger are not read for a report.
const LARGEST: u64 = 16 << 20;

/// What there is to show beside the results of a campaign on the capsule `name`, whose digest is `digest`. A report
/// without it is a report still, so that every failure is a reason and no error.
pub(crate) fn context(name: &str, digest: &str, dir: String) -> Context {
    let context = Context {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        dir,
        short_name: fault::base_name,
        ..Context::default()
    };
    match open(name, digest) {
        Ok(capsule) => Context { sources: sources(&capsule), listing: listing(&capsule), ..context },
        Err(why) => Context { without_source: Some(why), ..context },
    }
}

/// The capsule `name`, if its digest is `digest`.
pub(crate) fn open(name: &str, digest: &str) -> Result<std::sync::Arc<Capsule>, String> {
    let capsule = source::open(name).map_err(|failure| format!("failed to {}", failure.message()))?;
    if capsule.digest().to_string() != digest {
        return Err(format!("`{name}` is not the capsule that was irradiated, but another of that name"));
    }
    Ok(capsule)
}

/// The capsule `name`, whose digest is `digest`, ready for faults.
pub(crate) fn target(name: &str, digest: &str) -> Result<CapsuleTarget, String> {
    let golden = source::golden(open(name, digest)?).map_err(|failure| format!("failed to {}", failure.message()))?;
    Ok(CapsuleTarget::new(golden))
}

/// Source files whose text is UTF-8, or nearly.
fn sources(capsule: &Capsule) -> Vec<SourceText> {
    let small = capsule.sources.iter().filter(|source| capsule.blobs.bytes(source.blob).unwrap_or(0) <= LARGEST);
    let texts = small.filter_map(|source| {
        let bytes = capsule.blobs.get(source.blob).ok()?;
        Some(SourceText { path: source.path.clone(), text: String::from_utf8_lossy(&bytes).into_owned() })
    });
    texts.collect()
}

/// Every instruction of the modules whose kernels are launched. A module that cannot be read has none.
fn listing(capsule: &Capsule) -> Vec<ListedInstruction> {
    modules(capsule).iter().flat_map(instructions).collect()
}

/// The modules whose kernels are launched, but those that cannot be read.
pub(crate) fn modules(capsule: &Capsule) -> Vec<isa::Module> {
    let launched: BTreeSet<ModuleId> = capsule.summary().kernels.iter().map(|used| used.module).collect();
    launched.into_iter().filter_map(|id| module(capsule, id)).collect()
}

fn module(capsule: &Capsule, id: ModuleId) -> Option<isa::Module> {
    let blob = capsule.module(id)?.ptx?;
    if capsule.blobs.bytes(blob)? > LARGEST {
        return None;
    }
    let bytes = capsule.blobs.get(blob).ok()?;
    ptx::parse(&id.to_string(), std::str::from_utf8(&bytes).ok()?).ok()
}

fn instructions(module: &isa::Module) -> Vec<ListedInstruction> {
    let mut listed = Vec::new();
    for function in &module.functions {
        for (instruction, pc) in function.body.iter().zip(0..) {
            listed.push(ListedInstruction {
                function: function.name.clone(),
                pc,
                opcode: instruction.op.to_string(),
                line: instruction.loc.as_ref().map(|loc| loc.line),
                text: ptx::print_instruction(module, function, Pc(pc)),
            });
        }
    }
    listed
}
