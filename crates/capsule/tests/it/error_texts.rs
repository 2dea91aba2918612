//! What users read when something is not a capsule. The texts are the feature.

use std::fs;

use capsule::Capsule;
use expect_test::{Expect, expect};

use crate::samples::{self, RawPart, file, manifest, refusal};

fn check(bytes: &[u8], expect: Expect) {
    expect.assert_eq(&refusal(bytes.to_vec()));
}

#[test]
fn files_of_other_kinds_are_recognised() {
    check(
        b"",
        expect![
            "failed to read capsule in memory: expected a capsule, found an empty file: name a file that `beamline run --record` wrote, or a bundled workload"
        ],
    );
    check(
        b"\x7fELF\x02\x01\x01",
        expect![
            "failed to read capsule in memory: expected a capsule, found an ELF file (a program, a library or a cubin): record an application with `beamline run --record F.capsule -- APP` and name F.capsule"
        ],
    );
    check(
        b"PK\x03\x04\x14\0",
        expect![
            "failed to read capsule in memory: expected a capsule, found a ZIP archive: unpack it and name the capsule inside"
        ],
    );
    check(
        b"\x1f\x8b\x08\0",
        expect![
            "failed to read capsule in memory: expected a capsule, found a gzip file: unpack it and name the capsule inside"
        ],
    );
    check(
        b"\x28\xb5\x2f\xfd\0",
        expect![
            "failed to read capsule in memory: expected a capsule, found a zstd file: unpack it and name the capsule inside"
        ],
    );
    check(
        b"SQLite format 3\0",
        expect![
            "failed to read capsule in memory: expected a capsule, found a SQLite database: name the campaign's directory to `beamline report`, or the capsule it was made from"
        ],
    );
    check(
        b"\x50\xed\x55\xba\x01\0",
        expect![
            "failed to read capsule in memory: expected a capsule, found a CUDA fat binary: record the application that launches it with `beamline run --record F.capsule -- APP`"
        ],
    );
    check(
        samples::PTX,
        expect![
            "failed to read capsule in memory: expected a capsule, found PTX text: record the application that launches it with `beamline run --record F.capsule -- APP`"
        ],
    );
    check(
        "Grüße, wer auch immer dies liest\n".as_bytes(),
        expect![
            "failed to read capsule in memory: expected a capsule, found a text file: name a file that `beamline run --record` wrote, or a bundled workload"
        ],
    );
    check(
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        expect![
            "failed to read capsule in memory: expected a capsule, found a Git LFS pointer to a file that was not fetched: fetch the file with `git lfs pull`"
        ],
    );
    check(
        b"\x89BMC\n\x1a\n\x01\0\0\0",
        expect![
            "failed to read capsule in memory: expected a capsule, found a capsule that was transferred as if it were text: transfer the file again in binary mode"
        ],
    );
    check(
        b"\0\x01\x02",
        expect![
            "failed to read capsule in memory: expected a capsule, found bytes of no known kind: name a file that `beamline run --record` wrote, or a bundled workload"
        ],
    );
}

#[test]
fn a_text_that_its_prefix_cuts_inside_a_character_is_still_text() {
    let text = format!("{}ü and more", "x".repeat(4095));
    check(
        text.as_bytes(),
        expect![
            "failed to read capsule in memory: expected a capsule, found a text file: name a file that `beamline run --record` wrote, or a bundled workload"
        ],
    );
}

#[test]
fn truncations_say_what_is_missing() {
    let bytes = samples::small().to_bytes().unwrap();
    check(
        &bytes[..3],
        expect![
            "failed to read capsule in memory: cut short: expected at least 48 bytes for the header, found 3: copy or download the file again"
        ],
    );
    check(
        &bytes[..20],
        expect![
            "failed to read capsule in memory: cut short: expected at least 48 bytes for the header, found 20: copy or download the file again"
        ],
    );
    check(
        &bytes[..100],
        expect![
            "failed to read capsule in memory: cut short: expected at least 368 bytes for the table of contents of 4 parts, found 100: copy or download the file again"
        ],
    );
    check(
        &bytes[..bytes.len() - 1],
        expect![
            "failed to read capsule in memory: cut short: expected at least 1019 bytes for part 3 (blob 2), found 1018: copy or download the file again"
        ],
    );
}

#[test]
fn damage_says_where_it_is() {
    let bytes = samples::small().to_bytes().unwrap();
    let flipped = |place: usize| {
        let mut bytes = bytes.clone();
        bytes[place] ^= 0x10;
        refusal(bytes)
    };
    expect!["failed to read capsule in memory: header and table of contents, bytes 0 to 368: expected digest 67d4f16b404684a8…, found da6882e349ce4f06…: the file changed after it was written; copy or download it again"].assert_eq(&flipped(10));
    expect!["failed to read capsule in memory: header and table of contents, bytes 0 to 368: expected digest 67d4f16b404684a8…, found 8374ca925aaa76dc…: the file changed after it was written; copy or download it again"].assert_eq(&flipped(60));
    expect!["failed to read capsule in memory: part 0 (manifest) at byte 368: expected digest dfd83fe12c3a6869…, found a86e74a53454f901…: the file changed after it was written; copy or download it again"].assert_eq(&flipped(400));
    expect!["failed to read capsule in memory: part 3 (blob 2) at byte 1002: expected digest d0f3e980835bedb1…, found 82681cdb1db1038c…: the file changed after it was written; copy or download it again"].assert_eq(&flipped(bytes.len() - 1));
    check(
        &[bytes.as_slice(), b"x"].concat(),
        expect![
            "failed to read capsule in memory: expected 1019 bytes in all, found 1020: the file changed after it was written; copy or download it again"
        ],
    );
}

#[test]
fn mistakes_in_a_manifest_say_where_they_are() {
    let check = |text: &str, expect: Expect| {
        expect.assert_eq(&refusal(file([1, 0], &[RawPart::of(text.as_bytes())])));
    };
    check(
        "",
        expect![
            "failed to read capsule in memory: part 0 (manifest) at byte 128: expected a manifest in JSON, found a mistake in it: EOF while parsing a value at line 1 column 0: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    check(
        "{}",
        expect![
            "failed to read capsule in memory: part 0 (manifest) at byte 128: expected a manifest in JSON, found a mistake in it: missing field `name` at line 1 column 2: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    check(
        "[1]",
        expect![
            "failed to read capsule in memory: part 0 (manifest) at byte 128: expected a manifest in JSON, found a mistake in it: invalid type: integer `1`, expected a string at line 1 column 2: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    check(
        &manifest(r#"{"load":{}}"#),
        expect![
            "failed to read capsule in memory: part 0 (manifest) at byte 128: expected a manifest in JSON, found a mistake in it: missing field `module` at line 1 column 108: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    check(
        &manifest(r#"{"free":{"address":-1}}"#),
        expect![
            "failed to read capsule in memory: part 0 (manifest) at byte 128: expected a manifest in JSON, found a mistake in it: invalid value: integer `-1`, expected u64 at line 1 column 119: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    check(
        &format!("{} x", manifest("")),
        expect![
            "failed to read capsule in memory: part 0 (manifest) at byte 128: expected a manifest in JSON, found a mistake in it: trailing characters at line 1 column 128: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    let copy = r#"{"copy_out":{"from":{"address":0,"width":0},"digest":"00"}}"#;
    check(
        &manifest(copy),
        expect![
            "failed to read capsule in memory: part 0 (manifest) at byte 128: expected a manifest in JSON, found a mistake in it: failed to read a digest: expected 64 hexadecimal digits, found 2 at line 1 column 156: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
    let launch =
        r#"{"launch":{"module":0,"kernel":"k","grid":[1,1,1],"block":[1,1,1],"shared_bytes":0,"params":"0G"}}"#;
    check(
        &manifest(launch),
        expect![
            "failed to read capsule in memory: part 0 (manifest) at byte 128: expected a manifest in JSON, found a mistake in it: expected two lower-case hexadecimal digits at character 0 at line 1 column 195: whatever wrote this file is at fault; record the application again, or do not trust the file"
        ],
    );
}

#[test]
fn paths_that_are_not_files_are_recognised() {
    let directory = tempfile::tempdir().unwrap();
    let text = |path: &std::path::Path| {
        let error = Capsule::open(path).unwrap_err().to_string();
        error.replace(&directory.path().display().to_string(), "DIR")
    };
    expect!["failed to read capsule `DIR`: expected a file, found a directory: name the capsule file itself"]
        .assert_eq(&text(directory.path()));
    expect!["failed to read capsule `DIR/missing.capsule`: No such file or directory (os error 2) while looking for the file: see that the path exists, may be accessed and has room"].assert_eq(&text(&directory.path().join("missing.capsule")));
    let empty = directory.path().join("empty.capsule");
    fs::write(&empty, b"").unwrap();
    expect!["failed to read capsule `DIR/empty.capsule`: expected a capsule, found an empty file: name a file that `beamline run --record` wrote, or a bundled workload"].assert_eq(&text(&empty));
}

#[cfg(unix)]
#[test]
fn devices_are_not_read() {
    let error = Capsule::open("/dev/zero").unwrap_err();
    expect!["failed to read capsule `/dev/zero`: expected a file, found a device, pipe or socket: name the capsule file itself"].assert_eq(&error.to_string());
}

#[test]
fn an_error_can_be_taken_apart() {
    let error = Capsule::from_bytes(b"PK\x03\x04").unwrap_err();
    assert_eq!(error.action(), capsule::Action::Read);
    assert_eq!(error.origin(), &capsule::Origin::Memory);
    expect![[r#"
        expected a capsule, found a ZIP archive
        unpack it and name the capsule inside"#]]
    .assert_eq(&format!("{}\n{}", error.problem(), error.help()));
}

#[test]
fn texts_of_a_file_cannot_fill_or_fool_a_terminal() {
    let event = format!(r#"{{"\u001b[2J{}":{{}}}}"#, "x".repeat(1 << 20));
    check(
        &file([1, 0], &[RawPart::of(manifest(&event).as_bytes())]),
        expect![[
            r#"failed to read capsule in memory: part 0 (manifest) at byte 128: expected a manifest in JSON, found a mistake in it: unknown variant `\u{1b}[2Jxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx … n`, `fill`, `launch`, `synchronize` at line 1 column 1048686: whatever wrote this file is at fault; record the application again, or do not trust the file"#
        ]],
    );
    let mut capsule = samples::small();
    capsule.outputs[0].name = "\u{1b}[31mü\n".repeat(1000);
    capsule.outputs[0].copy = 1;
    expect![[r#"output 0 (`\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b} … 1mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n\u{1b}[31mü\n`): expected one of 1 copies to the host, found copy 1"#]].assert_eq(&capsule.validate().unwrap_err().problem().to_string());
}
