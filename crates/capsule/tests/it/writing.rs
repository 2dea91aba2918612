//! A write happens as a whole or not at all.

use std::fs;
use std::path::Path;

use capsule::{BlobId, Capsule, Event};
use expect_test::expect;

use crate::samples::{self, RawPart, file, manifest};

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A capsule whose only blob cannot be read.
fn unreadable() -> Capsule {
    let blob = RawPart { raw_bytes: 4, ..RawPart::of(b"two") };
    Capsule::from_bytes(file([1, 0], &[RawPart::of(manifest("").as_bytes()), blob])).unwrap()
}

#[test]
fn a_write_that_fails_leaves_what_was_there_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("precious.capsule");
    samples::small().write(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let error = unreadable().write(&path).unwrap_err();
    expect!["failed to read capsule in memory: part 1 (blob 0) at byte 312: expected 4 raw bytes, found 3: whatever wrote this file is at fault; record the application again, or do not trust the file"].assert_eq(&error.to_string());
    let mut invalid = samples::small();
    invalid.events.push(Event::CopyIn { to: capsule::Region::linear(0, 1), data: BlobId(99) });
    let error = invalid.write(&path).unwrap_err().to_string().replace(&directory.path().display().to_string(), "DIR");
    expect!["failed to write capsule `DIR/precious.capsule`: event 9 (copy to the device): expected one of 3 blobs as its data, found blob 99: whatever made this capsule is at fault; record the application again and report it if that does not help"].assert_eq(&error);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(names(directory.path()), ["precious.capsule"]);
}

#[test]
fn a_write_that_succeeds_leaves_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("small.capsule");
    samples::small().write(&path).unwrap();
    samples::small().write(&path).unwrap();
    assert_eq!(names(directory.path()), ["small.capsule"]);
}

#[test]
fn an_open_capsule_can_be_written_over_its_own_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("small.capsule");
    samples::small().write(&path).unwrap();
    let mut open = Capsule::open(&path).unwrap();
    open.name = "renamed".to_owned();
    open.write(&path).unwrap();
    open.read_all().unwrap();
    let again = Capsule::open(&path).unwrap();
    again.read_all().unwrap();
    assert_eq!(again, open);
}

#[test]
fn a_place_that_cannot_be_written_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let text = |path: &Path| {
        let error = samples::small().write(path).unwrap_err().to_string();
        error.replace(&directory.path().display().to_string(), "DIR")
    };
    expect!["failed to write capsule `DIR/missing/a.capsule`: No such file or directory (os error 2) while creating a file beside it: see that the path exists, may be accessed and has room"].assert_eq(&text(&directory.path().join("missing").join("a.capsule")));
    expect!["failed to write capsule `DIR`: expected a file, found a directory: name the capsule file itself"]
        .assert_eq(&text(directory.path()));
    expect![
        "failed to write capsule ``: expected a file, found a path without a file name: name the capsule file itself"
    ]
    .assert_eq(&text(Path::new("")));
}
