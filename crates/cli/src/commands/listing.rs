//! What a report shows of a capsule, as plain data: its sources, and its instructions as they are written.

use capsule::{Capsule, ModuleId};
use device::{GuestModule, Guests, Listed};
use report::{Context, ListedInstruction, SourceText};
use session::capsules;
use std::collections::BTreeSet;

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
    match capsules::open_same(name, digest) {
        Ok(capsule) => Context { sources: sources(&capsule), listing: listing(&capsule), ..context },
        Err(why) => Context { without_source: Some(format!("failed to {why}")), ..context },
    }
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
    let listed = |it: Listed| ListedInstruction {
        function: it.function,
        pc: it.pc.0,
        opcode: it.mnemonic,
        line: it.line,
        text: it.text,
    };
    modules(capsule).iter().flat_map(|module| module.listing()).map(listed).collect()
}

/// The modules whose kernels are launched, but those that cannot be read.
pub(crate) fn modules(capsule: &Capsule) -> Vec<Box<dyn GuestModule>> {
    let launched: BTreeSet<ModuleId> = capsule.summary().kernels.iter().map(|used| used.module).collect();
    launched.into_iter().filter_map(|id| module(capsule, id)).collect()
}

fn module(capsule: &Capsule, id: ModuleId) -> Option<Box<dyn GuestModule>> {
    let guests = Guests::default();
    guests.bytes(capsule, id).filter(|bytes| *bytes <= LARGEST)?;
    guests.open(capsule, id).ok().flatten()
}
