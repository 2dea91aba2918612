//! No change to a file goes unnoticed: exhaustively, on a small one.

use capsule::Capsule;

use crate::samples;

fn read(bytes: &[u8]) -> Result<(), capsule::Error> {
    Capsule::from_bytes(bytes.to_vec())?.read_all()
}

#[test]
fn every_change_of_one_byte_is_found() {
    let bytes = samples::small().to_bytes().unwrap();
    read(&bytes).unwrap();
    let mut changed = bytes.clone();
    for place in 0..bytes.len() {
        for difference in 1..=255 {
            changed[place] = bytes[place] ^ difference;
            assert!(read(&changed).is_err(), "byte {place} xor {difference:#x} of {}", bytes.len());
        }
        changed[place] = bytes[place];
    }
}

#[test]
fn every_truncation_is_found_when_the_file_is_opened() {
    let bytes = samples::small().to_bytes().unwrap();
    for end in 0..bytes.len() {
        assert!(Capsule::from_bytes(bytes[..end].to_vec()).is_err(), "{end} of {} bytes", bytes.len());
    }
}

#[test]
fn every_removed_doubled_or_appended_byte_is_found() {
    let bytes = samples::small().to_bytes().unwrap();
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed.insert(place, bytes[place]);
        assert!(read(&changed).is_err(), "byte {place} doubled");
        changed.drain(place..place + 2);
        assert!(read(&changed).is_err(), "byte {place} removed");
    }
    for byte in 0..=255 {
        assert!(read(&[bytes.as_slice(), &[byte]].concat()).is_err(), "{byte:#x} appended");
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_open_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("small.capsule");
    samples::small().write(&path).unwrap();
    let open = Capsule::open(&path).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(400).unwrap();
    let error = open.read_all().unwrap_err().to_string();
    assert!(error.contains("became shorter since it was opened"), "{error}");
}

#[test]
fn an_open_capsule_outlives_its_replacement() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("small.capsule");
    samples::small().write(&path).unwrap();
    let open = Capsule::open(&path).unwrap();
    Capsule::new("another").write(&path).unwrap();
    open.read_all().unwrap();
    assert_eq!(Capsule::open(&path).unwrap().name, "another");
}
