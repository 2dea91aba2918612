//! Files that strangers made: what they say of themselves is read, and nothing of it is obeyed.

use crate::{beamline, path, run, stderr, stdout};
use capsule::Capsule;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The capsule of a bundled workload, changed.
fn changed(dir: &Path, change: impl FnOnce(&mut Capsule)) -> PathBuf {
    let mut capsule = Capsule::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/gemm/gemm.capsule")).unwrap();
    change(&mut capsule);
    let file = dir.join("changed.capsule");
    capsule.write(&file).unwrap();
    file
}

/// What is in a directory, by name.
fn entries(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_name_of_a_capsule_does_not_say_where_results_go() {
    for (name, expected) in [
        ("../../x", "x.campaign"),
        ("/abs/x", "abs-x.campaign"),
        ("..", "unnamed.campaign"),
        ("", "unnamed.campaign"),
        ("a\nb\u{1b}[31m", "a-b--31m.campaign"),
    ] {
        let dir = TempDir::new().unwrap();
        let here = dir.path().join("one/two/three");
        fs::create_dir_all(&here).unwrap();
        let file = changed(dir.path(), |capsule| name.clone_into(&mut capsule.name));
        let output = beamline(&["campaign", path(&file), "--runs", "5"]).current_dir(&here).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(entries(&here), [expected], "{name:?}");
        assert_eq!(entries(dir.path()), ["changed.capsule", "one"], "{name:?}");
    }
    let dir = TempDir::new().unwrap();
    let file = changed(dir.path(), |capsule| capsule.name = "x".repeat(300));
    let output = beamline(&["campaign", path(&file), "--runs", "5"]).current_dir(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(entries(dir.path()).len(), 2);
    let kept = dir.path().join("kept");
    let file = changed(dir.path(), |capsule| capsule.name = "../../x".to_owned());
    let output = run(&["fit", path(&file), "--runs", "20", "--out", path(&kept)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(entries(&kept).iter().all(|name| name.starts_with("x-")), "{:?}", entries(&kept));
    assert!(stdout(&output).contains("../../x"));
}
