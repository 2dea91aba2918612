//! Capsules that contradict themselves are refused, by name and place, when they are checked, written and read.

use capsule::{BlobId, Capsule, Digest, ElementType, Event, Launch, ModuleId, Region};
use expect_test::{Expect, expect};

use crate::samples;

/// Changes the small capsule, and expects every way in and out to say the same.
fn check(change: impl FnOnce(&mut Capsule), expect: Expect) {
    let mut capsule = samples::small();
    change(&mut capsule);
    let Err(error) = capsule.validate() else {
        return expect.assert_eq("no error");
    };
    let problem = error.problem().to_string();
    assert_eq!(capsule.to_bytes().unwrap_err().problem().to_string(), problem);
    expect.assert_eq(&problem);
}

fn check_event(event: Event, expect: Expect) {
    check(|capsule| capsule.events.push(event), expect);
}

fn check_launch(change: impl FnOnce(&mut Launch), expect: Expect) {
    let mut launch = samples::launch();
    change(&mut launch);
    check_event(Event::Launch(launch), expect);
}

fn check_region(from: Region, expect: Expect) {
    check_event(Event::CopyOut { from, digest: Digest::of(b""), data: None }, expect);
}

#[test]
fn a_sound_capsule_is_not_refused() {
    check(|_| {}, expect!["no error"]);
}

#[test]
fn the_whole_sentence_names_place_and_remedy() {
    let mut capsule = samples::small();
    capsule.outputs[0].copy = 7;
    expect!["failed to check capsule in memory: output 0 (`scaled`): expected one of 1 copies to the host, found copy 7: whatever made this capsule is at fault; record the application again and report it if that does not help"].assert_eq(&capsule.validate().unwrap_err().to_string());
}

#[test]
fn ids_must_exist() {
    check(|capsule| capsule.modules[0].id = ModuleId(3), expect!["module 0: expected id 0, its place, found 3"]);
    check(
        |capsule| capsule.modules[0].ptx = Some(BlobId(3)),
        expect!["module 0: expected one of 3 blobs as its PTX, found blob 3"],
    );
    check(
        |capsule| capsule.modules[0].binaries[0].blob = BlobId(u32::MAX),
        expect!["module 0: expected one of 3 blobs as its binary, found blob 4294967295"],
    );
    check(
        |capsule| capsule.sources[0].blob = BlobId(4),
        expect!["source 0 (`scale.cu`): expected one of 3 blobs as its text, found blob 4"],
    );
    check(
        |capsule| capsule.events[0] = Event::Load { module: ModuleId(1) },
        expect!["event 0 (module load, module 1): expected one of 1 modules, found module 1"],
    );
    check_launch(
        |launch| launch.module = ModuleId(u32::MAX),
        expect!["event 9 (kernel launch of `scale`): expected one of 1 modules, found module 4294967295"],
    );
    check(
        |capsule| capsule.outputs[0].copy = 1,
        expect!["output 0 (`scaled`): expected one of 1 copies to the host, found copy 1"],
    );
}

#[test]
fn a_module_is_loaded_before_it_is_used() {
    check(
        |capsule| drop(capsule.events.remove(0)),
        expect![
            "event 4 (kernel launch of `scale`): expected module 0 loaded by an earlier event, found a launch before that"
        ],
    );
}

#[test]
fn launches_are_within_the_limits_of_cuda() {
    check_launch(|launch| launch.grid = [0x7fff_ffff, 0xffff, 0xffff], expect!["no error"]);
    check_launch(
        |launch| launch.grid = [0, 1, 1],
        expect!["event 9 (kernel launch of `scale`): expected 1 to 2147483647 blocks in the grid along x, found 0"],
    );
    check_launch(
        |launch| launch.grid = [0x8000_0000, 1, 1],
        expect![
            "event 9 (kernel launch of `scale`): expected 1 to 2147483647 blocks in the grid along x, found 2147483648"
        ],
    );
    check_launch(
        |launch| launch.grid = [1, 0x1_0000, 1],
        expect!["event 9 (kernel launch of `scale`): expected 1 to 65535 blocks in the grid along y, found 65536"],
    );
    check_launch(
        |launch| launch.grid = [1, 1, 0x1_0000],
        expect!["event 9 (kernel launch of `scale`): expected 1 to 65535 blocks in the grid along z, found 65536"],
    );
    check_launch(|launch| launch.block = [1024, 1, 1], expect!["no error"]);
    check_launch(
        |launch| launch.block = [1, 0, 1],
        expect!["event 9 (kernel launch of `scale`): expected 1 to 1024 threads in a block along y, found 0"],
    );
    check_launch(
        |launch| launch.block = [1025, 1, 1],
        expect!["event 9 (kernel launch of `scale`): expected 1 to 1024 threads in a block along x, found 1025"],
    );
    check_launch(
        |launch| launch.block = [1, 1, 65],
        expect!["event 9 (kernel launch of `scale`): expected 1 to 64 threads in a block along z, found 65"],
    );
    check_launch(
        |launch| launch.block = [32, 33, 1],
        expect!["event 9 (kernel launch of `scale`): expected at most 1024 threads in a block, found 1056"],
    );
    check_launch(
        |launch| launch.params = vec![0; 32_765],
        expect!["event 9 (kernel launch of `scale`): expected at most 32764 bytes of arguments, found 32765"],
    );
    check_launch(
        |launch| launch.shared_bytes = u32::MAX,
        expect![
            "event 9 (kernel launch of `scale`): expected at most 1048576 bytes of dynamic shared memory, found 4294967295"
        ],
    );
    check_launch(
        |launch| launch.kernel.clear(),
        expect!["event 9 (kernel launch of ``): expected the name of a kernel, found no name"],
    );
}

#[test]
fn regions_lie_in_the_address_space_and_their_rows_do_not_overlap() {
    check_region(Region::linear(u64::MAX, 0), expect!["no error"]);
    check_region(Region::linear(u64::MAX - 8, 8), expect!["no error"]);
    check_region(
        Region::linear(u64::MAX - 8, 9),
        expect![
            "event 9 (copy to the host): expected a region inside the 64-bit address space, found 9 × 1 × 1 bytes from 0xfffffffffffffff7 with pitch 9 and slice 9"
        ],
    );
    check_region(
        Region::pitched(0, 8, 2, 7),
        expect!["event 9 (copy to the host): expected a pitch of at least the width, 8, found 7"],
    );
    check_region(Region::pitched(0, 8, 1, 7), expect!["no error"]);
    check_region(
        Region::pitched(0, 1, u64::MAX, u64::MAX),
        expect![
            "event 9 (copy to the host): expected a region inside the 64-bit address space, found 1 × 18446744073709551615 × 1 bytes from 0x0 with pitch 18446744073709551615 and slice 18446744073709551615"
        ],
    );
    let volume = Region { address: 0, width: 8, height: 2, depth: 2, pitch: 16, slice: 24 };
    check_region(volume, expect!["no error"]);
    check_region(
        Region { slice: 23, ..volume },
        expect!["event 9 (copy to the host): expected slices at least 24 bytes apart, found 23"],
    );
    check_region(
        Region { slice: u64::MAX, ..volume },
        expect![
            "event 9 (copy to the host): expected a region inside the 64-bit address space, found 8 × 2 × 2 bytes from 0x0 with pitch 16 and slice 18446744073709551615"
        ],
    );
    check_region(
        Region { depth: u64::MAX, ..volume },
        expect![
            "event 9 (copy to the host): expected a region inside the 64-bit address space, found 8 × 2 × 18446744073709551615 bytes from 0x0 with pitch 16 and slice 24"
        ],
    );
}

#[test]
fn copies_have_as_many_bytes_as_their_contents() {
    let one = Region::linear(0, 1);
    check_event(
        Event::CopyIn { to: one, data: BlobId(2) },
        expect!["event 9 (copy to the device): expected 1 bytes, as its region has, found a blob of 96"],
    );
    check_event(
        Event::CopyWithin { to: one, from: Region::linear(8, 2) },
        expect!["event 9 (copy within the device): expected 1 bytes, as its region has, found a source of 2"],
    );
    let out = |digest| Event::CopyOut { from: Region::linear(0, 40), digest, data: Some(BlobId(1)) };
    check_event(out(Digest::of(&[0x7f; 40])), expect!["no error"]);
    check_event(
        out(Digest::of(b"")),
        expect![
            "event 9 (copy to the host): expected bytes whose digest is af1349b9f5f9a1a6…, found blob 1, which has another"
        ],
    );
}

#[test]
fn fills_are_whole_values() {
    let fill = |bytes, value, width| Event::Fill { to: Region::linear(0, bytes), value, width };
    check_event(fill(3, 0xff, 1), expect!["no error"]);
    check_event(fill(4, u32::MAX, 4), expect!["no error"]);
    check_event(fill(3, 1, 3), expect!["event 9 (fill): expected values of 1, 2 or 4 bytes, found 3"]);
    check_event(fill(3, 0x100, 1), expect!["event 9 (fill): expected a value of 1 bytes, found 0x100"]);
    check_event(fill(4, 0x1_0000, 2), expect!["event 9 (fill): expected a value of 2 bytes, found 0x10000"]);
    check_event(
        fill(5, 0, 4),
        expect!["event 9 (fill): expected rows of whole values of 4 bytes, found rows of 5 bytes"],
    );
}

#[test]
fn allocations_and_variables_lie_in_the_address_space() {
    let kind = capsule::AllocKind::Device;
    let alloc = Event::Alloc { address: u64::MAX, bytes: 2, kind };
    check_event(
        alloc,
        expect![
            "event 9 (memory allocation): expected memory inside the 64-bit address space, found 2 bytes from 0xffffffffffffffff"
        ],
    );
    check(
        |capsule| capsule.modules[0].globals[0].bytes = u64::MAX,
        expect![
            "module 0: expected memory inside the 64-bit address space, found 18446744073709551615 bytes from 0x7f0000040000"
        ],
    );
}

#[test]
fn outputs_account_for_their_bytes() {
    check(
        |capsule| capsule.outputs[0].shape = vec![25],
        expect!["output 0 (`scaled`): expected a shape of 96 bytes, found 100"],
    );
    check(
        |capsule| capsule.outputs[0].shape = vec![u64::MAX, 2],
        expect!["output 0 (`scaled`): expected a shape of 96 bytes, found more than 2^64"],
    );
    check(|capsule| capsule.outputs[0].shape.clear(), expect!["no error"]);
    check(|capsule| capsule.outputs[0].element = None, expect!["no error"]);
    check(
        |capsule| capsule.outputs[0].tolerance = Some(f64::NAN),
        expect!["output 0 (`scaled`): expected a finite tolerance that is not negative, found NaN"],
    );
    check(
        |capsule| capsule.outputs[0].tolerance = Some(-1.0),
        expect!["output 0 (`scaled`): expected a finite tolerance that is not negative, found -1"],
    );
    let odd = Event::CopyOut { from: Region::linear(0, 7), digest: Digest::of(b""), data: None };
    let change = |capsule: &mut Capsule| {
        capsule.events.push(odd);
        capsule.outputs[0].copy = 1;
        capsule.outputs[0].shape.clear();
        capsule.outputs[0].element = Some(ElementType::F64);
    };
    check(change, expect!["output 0 (`scaled`): expected whole elements of type f64, found 7 bytes"]);
}
