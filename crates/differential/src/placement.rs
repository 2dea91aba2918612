//! Whether a capsule may have its memory anywhere.
//!
//! Where a driver allocates, only addresses among the arguments of launches are put right. Bytes that are copied to the
//! device may look like addresses by chance (two indices side by side do), so where some do the simulator is asked: a
//! program that follows them does something else when its memory lies elsewhere.

use capsule::{Capsule, Event, MovedRange};
use inject::{Golden, GoldenError};
use simt::memory::window::DEVICE_BASE;
use std::sync::Arc;

/// How far memory is moved to see whether anything changes: more than a mapping of the driver, and not a whole number of
/// them, and a multiple of every alignment of an allocation.
const SHIFT: u64 = (6 << 20) + (64 << 10);

/// Checks that a capsule does the same wherever its memory is.
///
/// # Errors
/// If it does something else when it is moved; the text follows "failed to".
pub fn check_relocatable(capsule: &Capsule) -> Result<(), String> {
    let Some((event, at)) = capsule.pointer_in_data().map_err(|error| error.to_string())? else { return Ok(()) };
    let moved = Arc::new(capsule.relocated(&[whole(capsule)]));
    match Golden::run(moved) {
        Ok(_) => Ok(()),
        Err(GoldenError::Capsule(error)) => Err(error.to_string()),
        Err(_) => Err(format!(
            "repeat event {event} where the driver allocates: at byte {at} of what it copies to the device stands an \
             address of the recording's memory, and the program does something else when its memory is moved"
        )),
    }
}

/// How many of the low bits of an address the simulator can have as a machine had them.
const ALIKE: u32 = 33;

/// The capsule with its memory as far from powers of two as on a machine that had shifted all of it by so much.
#[must_use]
pub(crate) fn placed(capsule: &Capsule, shift: u64) -> Capsule {
    let MovedRange { from, bytes, .. } = whole(capsule);
    let to = DEVICE_BASE | (from.wrapping_add(shift) & ((1 << ALIKE) - 1));
    capsule.relocated(&[MovedRange { from, to, bytes }])
}

/// All memory of a capsule, moved.
fn whole(capsule: &Capsule) -> MovedRange {
    let allocated = capsule.events.iter().filter_map(|event| match event {
        Event::Alloc { address, bytes, .. } => Some((*address, address + bytes)),
        _ => None,
    });
    let variables = capsule.modules.iter().flat_map(|module| &module.globals);
    let all = allocated.chain(variables.map(|symbol| (symbol.address, symbol.address + symbol.bytes)));
    let (from, end) = all.fold((u64::MAX, 0), |(from, end), (start, stop)| (from.min(start), end.max(stop)));
    MovedRange { from, to: from.wrapping_add(SHIFT), bytes: end.saturating_sub(from) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsule::{AllocKind, Digest, Launch, ModuleId, RecordedModule, Region};
    use device::{Device, Image};

    /// A kernel that adds one to a word that it finds directly, or where a word of memory points.
    fn ptx(follows: bool) -> String {
        let find = if follows { "ld.global.u64 %b, [%a];" } else { "add.u64 %b, %a, 8;" };
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b64 %a, %b;\n\
             .reg .b32 %v;\nld.param.u64 %a, [p];\n{find}\nld.global.u32 %v, [%b];\nadd.u32 %v, %v, 1;\n\
             st.global.u32 [%a+16], %v;\nret;\n}}\n"
        )
    }

    fn capsule(follows: bool) -> Capsule {
        let (ptx, mut device, mut capsule) = (ptx(follows), Device::new(), Capsule::new("points"));
        let globals = device.load(ModuleId(0), "k", Image::ptx(&ptx)).unwrap();
        let text = Some(capsule.blobs.add(&ptx));
        capsule.modules.push(RecordedModule {
            id: ModuleId(0),
            ptx: text,
            binaries: Vec::new(),
            globals,
            hardened: Vec::new(),
        });
        let address = device.allocate(64).unwrap();
        // The first word points to the second.
        let data = capsule.blobs.add([(address + 8).to_le_bytes(), 41u64.to_le_bytes()].concat());
        let launch = Launch {
            module: ModuleId(0),
            kernel: "k".into(),
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            params: address.to_le_bytes().to_vec(),
            cooperative: false,
        };
        capsule.events = vec![
            Event::Load { module: ModuleId(0) },
            Event::Alloc { address, bytes: 64, kind: AllocKind::Device },
            Event::CopyIn { to: Region::linear(address, 16), data },
            Event::Launch(launch),
            Event::CopyOut {
                from: Region::linear(address + 16, 4),
                digest: Digest::of(&42u32.to_le_bytes()),
                data: None,
            },
        ];
        capsule
    }

    #[test]
    fn what_looks_like_an_address_matters_only_where_the_program_follows_it() {
        assert!(capsule(false).pointer_in_data().unwrap().is_some());
        check_relocatable(&capsule(false)).unwrap();
        let error = check_relocatable(&capsule(true)).unwrap_err();
        assert!(error.starts_with("repeat event 2 where the driver allocates: at byte 0"), "{error}");
    }
}
