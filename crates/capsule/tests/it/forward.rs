//! Files of other versions: newer minor ones read, newer major ones are refused with a sentence.

use capsule::{BinaryKind, Capsule};
use expect_test::expect;

use crate::samples::{self, RawPart, file, manifest, refusal};

/// A manifest as a later minor version might write it.
const LATER: &str = r#"{
    "format": "beamline.capsule/1", "name": "later", "mood": "cheerful",
    "provenance": {"command": ["a"], "tool": "t", "compiler": [], "host": {"cores": 128}},
    "modules": [{"id": 0, "ptx": 0, "globals": [], "loader": [[[]]], "binaries": [{"arch": 120, "kind": "tile_ir", "blob": 0}]}],
    "events": [
        {"load": {"module": 0, "lazily": true}},
        {"launch": {"module": 0, "kernel": "k", "grid": [1, 1, 1], "block": [1, 1, 1], "shared_bytes": 0, "params": "00ff", "cluster": [2, 1, 1]}},
        {"copy_out": {"from": {"address": 4096, "width": 2, "swizzle": 3}, "digest": "c71c0011cd11a1e08ff0d7b5ffbd4bbfd0bac46adeadedd1b42fbc28c9da15f2"}},
        "synchronize"
    ],
    "outputs": [{"copy": 0, "name": "out", "metric": "ssim"}],
    "sources": []
}"#;

#[test]
fn a_newer_minor_version_reads_and_what_is_unknown_is_ignored() {
    let parts = [RawPart::of(LATER.as_bytes()), RawPart::of(b".ptx"), RawPart::of(b"of some new kind")];
    let capsule = Capsule::from_bytes(file([1, 1], &parts)).unwrap();
    capsule.read_all().unwrap();
    assert_eq!((capsule.name.as_str(), capsule.events.len()), ("later", 4));
    assert_eq!(capsule.modules[0].binaries[0].kind, BinaryKind::Other);
    assert_eq!(Capsule::from_bytes(file([1, 65535], &parts)).unwrap(), capsule);
}

#[test]
fn a_newer_major_version_is_refused_whatever_follows_it() {
    let whole = refusal(file([2, 0], &[RawPart::of(manifest("").as_bytes())]));
    expect!["failed to read capsule in memory: made by a newer Beamline (format 2.0, this one reads 1.x): update Beamline, or record the application again with this one"].assert_eq(&whole);
    assert_eq!(refusal(b"\x89BMC\r\n\x1a\n\x02\0\0\0".to_vec()), whole);
    assert_eq!(refusal(b"\x89BMC\r\n\x1a\n\x02\0\0\0 another layout".to_vec()), whole);
}

#[test]
fn a_version_that_never_existed_is_damage() {
    expect!["failed to read capsule in memory: at byte 8: expected format 1.x, found 0.7, which never existed: the file changed after it was written; copy or download it again"].assert_eq(&refusal(file(
        [0, 7],
        &[RawPart::of(manifest("").as_bytes())],
    )));
}

#[test]
fn an_unknown_kind_of_event_is_not_skipped() {
    expect!["failed to read capsule in memory: part 0 (manifest) at byte 128: expected a manifest in JSON, found a mistake in it: unknown variant `teleport`, expected one of `load`, `alloc`, `free`, `copy_in`, `copy_out`, `copy_within`, `fill`, `launch`, `synchronize` at line 1 column 109: whatever wrote this file is at fault; record the application again, or do not trust the file"].assert_eq(&refusal(file(
        [1, 1],
        &[RawPart::of(manifest(r#"{"teleport":{}}"#).as_bytes())],
    )));
}

#[test]
fn a_file_written_by_the_first_version_still_reads_the_same() {
    // Written once by format 1.0 and never again: the files that users keep look like this one.
    let capsule = Capsule::from_bytes(include_bytes!("small-1.0.capsule")).unwrap();
    capsule.read_all().unwrap();
    assert_eq!(capsule, samples::small());
}
