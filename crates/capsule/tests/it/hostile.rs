//! Files made to do harm: sizes that lie, frames that explode, tables that overflow.

use capsule::Capsule;
use capsule::format::{MANIFEST_BYTES, PART_BYTES, PARTS};
use expect_test::{Expect, expect};

use crate::samples::{RawPart, file, manifest, refusal};

fn check(parts: &[RawPart], expect: Expect) {
    expect.assert_eq(&refusal(file([1, 0], parts)));
}

fn empty_manifest() -> RawPart {
    RawPart::of(manifest("").as_bytes())
}

/// A frame of a few kilobytes that becomes `bytes` zeros.
fn bomb(bytes: u64) -> Vec<u8> {
    use std::io::{Read, Write};
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    std::io::copy(&mut std::io::repeat(0).take(bytes), &mut encoder).unwrap();
    encoder.flush().unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_file_without_parts_is_refused() {
    check(
        &[],
        expect![
            "failed to read capsule in memory: at byte 12: expected at least one part, found none: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
}

#[test]
fn declared_sizes_are_held_to_bounds_before_anything_is_allocated() {
    let part = empty_manifest();
    check(
        &[RawPart { raw_bytes: MANIFEST_BYTES + 1, ..part.clone() }],
        expect![
            "failed to read capsule in memory: part 0 (manifest): expected at most 134217728 raw bytes, found 134217729: record a smaller run, or do not trust this file"
        ],
    );
    check(
        &[part.clone(), RawPart { raw_bytes: PART_BYTES + 1, ..part.clone() }],
        expect![
            "failed to read capsule in memory: part 1 (blob 0): expected at most 4294967296 raw bytes, found 4294967297: record a smaller run, or do not trust this file"
        ],
    );
    check(
        &[part.clone(), RawPart { raw_bytes: u64::MAX, ..part.clone() }],
        expect![
            "failed to read capsule in memory: part 1 (blob 0): expected at most 4294967296 raw bytes, found 18446744073709551615: record a smaller run, or do not trust this file"
        ],
    );
    check(
        &[RawPart { packed_bytes: u64::MAX, ..part.clone() }],
        expect![
            "failed to read capsule in memory: part 0 (manifest): expected at most 1150 packed bytes, found 18446744073709551615: record a smaller run, or do not trust this file"
        ],
    );
    let half = RawPart { raw_bytes: PART_BYTES, packed_bytes: PART_BYTES, ..part.clone() };
    check(
        &vec![half; 17],
        expect![
            "failed to read capsule in memory: part 0 (manifest): expected at most 134217728 raw bytes, found 4294967296: record a smaller run, or do not trust this file"
        ],
    );
}

#[test]
fn the_total_of_all_parts_is_bounded() {
    let huge = RawPart { raw_bytes: PART_BYTES, ..RawPart::of(b"") };
    let parts = [vec![empty_manifest()], vec![huge; 17]].concat();
    check(
        &parts,
        expect![
            "failed to read capsule in memory: part 16 (blob 15): expected at most 68719476736 raw bytes of all parts up to this one, found 68719476862: record a smaller run, or do not trust this file"
        ],
    );
}

#[test]
fn sizes_that_the_file_does_not_have_are_truncation() {
    let long = RawPart { packed_bytes: 500, ..empty_manifest() };
    check(
        &[long],
        expect![
            "failed to read capsule in memory: cut short: expected at least 628 bytes for part 0 (manifest), found 232: copy or download the file again"
        ],
    );
    let mut bytes = file([1, 0], &[empty_manifest()]);
    bytes[12..16].copy_from_slice(&PARTS.to_le_bytes());
    expect!["failed to read capsule in memory: cut short: expected at least 83886128 bytes for the table of contents of 1048576 parts, found 232: copy or download the file again"].assert_eq(&refusal(bytes.clone()));
    bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    expect!["failed to read capsule in memory: the table of contents of 4294967295 parts: expected at most 1048576 parts, found 4294967295: record a smaller run, or do not trust this file"].assert_eq(&refusal(bytes));
}

#[test]
fn sizes_that_leave_something_over_are_refused() {
    let hidden = RawPart { packed: [empty_manifest().packed, b"hidden".to_vec()].concat(), ..empty_manifest() };
    check(
        &[hidden],
        expect![
            "failed to read capsule in memory: expected 232 bytes in all, found 238: the file changed after it was written; copy or download it again"
        ],
    );
}

#[test]
fn a_frame_must_become_exactly_what_the_table_says() {
    let two = RawPart::packed(zstd::bulk::compress(b"two", 1).unwrap(), b"owt");
    check(
        &[empty_manifest(), two.clone()],
        expect![
            "failed to read capsule in memory: part 1 (blob 0) at byte 312: expected raw digest 89b39c99a0e3391e…, found dc770fff53f50835…: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    check(
        &[empty_manifest(), RawPart { raw_bytes: 2, ..two.clone() }],
        expect![
            "failed to read capsule in memory: part 1 (blob 0) at byte 312: expected 2 raw bytes, found more: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    check(
        &[empty_manifest(), RawPart { raw_bytes: 4, ..two.clone() }],
        expect![
            "failed to read capsule in memory: part 1 (blob 0) at byte 312: expected 4 raw bytes, found 3: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    let twice = [two.packed.clone(), two.packed.clone()].concat();
    check(
        &[empty_manifest(), RawPart::packed(twice, b"twotwo")],
        expect![
            "failed to read capsule in memory: part 1 (blob 0) at byte 312: expected 6 raw bytes, found 3: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    let followed = [two.packed.clone(), b"and more".to_vec()].concat();
    check(
        &[empty_manifest(), RawPart::packed(followed, b"two")],
        expect![
            "failed to read capsule in memory: part 1 (blob 0) at byte 312: expected one Zstandard frame, found 8 bytes behind it: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    let half = two.packed[..two.packed.len() - 1].to_vec();
    check(
        &[empty_manifest(), RawPart::packed(half, b"two")],
        expect![
            "failed to read capsule in memory: part 1 (blob 0) at byte 312: expected one Zstandard frame, found incomplete frame: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    check(
        &[empty_manifest(), RawPart::packed(b"two".to_vec(), b"two")],
        expect![
            "failed to read capsule in memory: part 1 (blob 0) at byte 312: expected one Zstandard frame, found Unknown frame descriptor: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    check(
        &[empty_manifest(), RawPart::packed(Vec::new(), b"")],
        expect![
            "failed to read capsule in memory: part 1 (blob 0) at byte 312: expected one Zstandard frame, found incomplete frame: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
}

#[test]
fn a_window_larger_than_the_format_allows_is_refused() {
    use std::io::Write;
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    encoder.set_parameter(zstd::stream::raw::CParameter::WindowLog(27)).unwrap();
    encoder.write_all(b"small").unwrap();
    let packed = encoder.finish().unwrap();
    check(
        &[empty_manifest(), RawPart::packed(packed, b"small")],
        expect![
            "failed to read capsule in memory: part 1 (blob 0) at byte 312: expected one Zstandard frame, found Frame requires too much memory for decoding: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
}

#[test]
fn a_deeply_nested_manifest_is_an_error_and_no_overflow_of_the_stack() {
    for open in ["[", r#"{"x":"#] {
        let nested = format!(r#"{{"name":"deep","x":{}"#, open.repeat(1 << 20));
        let text = refusal(file([1, 0], &[RawPart::of(nested.as_bytes())]));
        assert!(text.contains("found a mistake in it"), "{text}");
    }
}

/// The most address space that this process has ever had, in bytes.
#[cfg(target_os = "linux")]
fn peak_address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmPeak:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// Runs alone in a process of its own (see below), because it measures the process.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "run by `memory_grows_with_what_decompresses_not_with_what_is_declared`"]
fn measured_alone() {
    let blob = |part: RawPart| file([1, 0], &[empty_manifest(), part]);
    let packed = bomb(1 << 30);
    assert!(packed.len() < 100_000);
    let small = zstd::bulk::compress(&[0; 1000], 1).unwrap();
    let files = [
        // Says it is small, explodes.
        blob(RawPart::packed(packed, &[0; 50_000])),
        // Says it is as large as can be, is small.
        blob(RawPart { raw_bytes: PART_BYTES, ..RawPart::packed(small.clone(), &[]) }),
        file([1, 0], &[RawPart { raw_bytes: MANIFEST_BYTES, ..RawPart::packed(small, &[]) }]),
    ];
    let before = peak_address_space();
    for bytes in files {
        let error = Capsule::from_bytes(bytes).and_then(|capsule| capsule.read_all()).unwrap_err();
        assert!(matches!(error.problem(), capsule::Problem::Packing { .. }), "{error}");
    }
    let grown = peak_address_space() - before;
    assert!(grown < 16 << 20, "the address space grew by {grown} bytes");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_grows_with_what_decompresses_not_with_what_is_declared() {
    let program = std::env::current_exe().unwrap();
    let arguments = ["--ignored", "--exact", "hostile::measured_alone"];
    let output = std::process::Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
