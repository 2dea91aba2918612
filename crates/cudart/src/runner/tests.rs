//! What is refused, and how. Programs are tiny files made by hand; those that really run are in `tests/`.

use super::*;
use std::io::Write;

/// A file in a fresh directory.
fn file(name: &str, mode: u32, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::File::create(&path).unwrap().write_all(bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (directory, path)
}

fn refusal(path: &Path) -> RunError {
    let run = Application { program: path.into(), ..Application::default() };
    run.command().expect_err("expected a refusal")
}

#[test]
fn a_missing_program_is_named() {
    let error = refusal(Path::new("/no/such/program"));
    assert_eq!(error.to_string(), "failed to find the application `/no/such/program`");
    let error = refusal(Path::new("no-such-program-in-path"));
    assert!(matches!(error, RunError::NotFound { here: false, .. }), "{error}");
}

#[test]
fn a_program_that_stands_in_this_directory_gets_a_hint() {
    let error = RunError::NotFound { name: "app".to_owned(), here: true };
    assert_eq!(error.help(), "write `./app` for the file in this directory");
}

#[test]
fn a_directory_is_no_program() {
    let directory = tempfile::tempdir().unwrap();
    let error = refusal(directory.path());
    assert!(matches!(error, RunError::NotAProgram { found: NotAProgram::NotAFile, .. }), "{error}");
}

#[test]
fn a_file_that_may_not_be_executed_says_so() {
    let (_directory, path) = file("app", 0o644, b"\x7fELF");
    let error = refusal(&path);
    assert!(matches!(error, RunError::NotAProgram { found: NotAProgram::NotExecutable, .. }), "{error}");
    assert_eq!(error.help(), "make it executable with `chmod +x`");
}

#[test]
fn a_script_is_told_from_a_program() {
    let (_directory, path) = file("app.sh", 0o755, b"#!/bin/sh\n./app\n");
    let error = refusal(&path);
    assert!(error.to_string().ends_with("found a script for `/bin/sh`"), "{error}");
}

#[test]
fn a_text_is_no_program() {
    let (_directory, path) = file("notes", 0o755, b"some words");
    let error = refusal(&path);
    assert!(matches!(error, RunError::NotAProgram { found: NotAProgram::Other, .. }), "{error}");
}

#[test]
fn a_broken_program_is_no_program() {
    for end in 0..64 {
        let (_directory, path) = file("app", 0o755, &stub::image("libcudart.so.13", "other.so")[..end]);
        let error = refusal(&path);
        assert!(matches!(error, RunError::NotAProgram { .. }), "{error}");
    }
}

#[test]
fn a_library_is_no_program() {
    let (_directory, path) = file("lib.so", 0o755, &stub::image("libcudart.so.13", "other.so"));
    let error = refusal(&path);
    assert!(matches!(error, RunError::NotAProgram { found: NotAProgram::Library, .. }), "{error}");
}

#[test]
fn a_program_for_another_machine_says_which() {
    let mut image = stub::image("libcudart.so.13", "other.so");
    image[18] = 183;
    let (_directory, path) = file("app", 0o755, &image);
    let error = refusal(&path);
    assert!(error.to_string().ends_with("found one for aarch64"), "{error}");
}

#[test]
fn a_program_without_cuda_says_so() {
    let error = refusal(Path::new("/bin/true"));
    assert!(matches!(error, RunError::NoCuda { .. }), "{error}");
}

#[test]
fn the_directory_of_a_capsule_must_exist() {
    let error = record_path(Path::new("/no/such/directory/app.capsule")).unwrap_err();
    assert!(matches!(error, RunError::NoRecordDirectory { .. }), "{error}");
    assert!(record_path(Path::new("app.capsule")).unwrap().is_absolute());
}

#[test]
fn a_signal_ends_in_the_status_that_shells_say() {
    assert_eq!(status_code(ExitStatus::from_raw(9)), 137);
    assert_eq!(status_code(ExitStatus::from_raw(3 << 8)), 3);
}
