//! Protection written into kernels.

use crate::{json, path, run, stderr};
use tempfile::TempDir;

#[test]
fn a_hardened_capsule_does_the_same_and_notices_faults() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("hardened.capsule");
    let words = ["harden", "pathfinder", "--scheme", "drdv", "--runs", "600", "--json", "--out", path(&out)];
    let found = json(&words);
    assert_eq!((found["format"].as_str(), found["scheme"].as_str()), (Some("beamline.hardened/1"), Some("drdv")));
    let rate = |when: &str| found[when]["sdc"]["rate"].as_f64().unwrap();
    assert!(rate("after") < rate("before") / 3.0, "{found}");
    assert!(found["after"]["detected"].as_u64() > Some(300) && found["before"]["detected"].as_u64() == Some(0));
    // A campaign on it counts what protection notices under DUE.
    let store = dir.path().join("c");
    let summary = json(&["campaign", path(&out), "--runs", "300", "--json", "--out", path(&store)]);
    assert!(summary["due"]["detected"].as_u64() > Some(100), "{}", summary["due"]);
    // What is protected is not protected again.
    let twice = run(&["harden", path(&out), "--scheme", "drdv", "--out", path(&dir.path().join("twice.capsule"))]);
    assert!(
        twice.status.code() == Some(5) && stderr(&twice).contains("protected by drdv already"),
        "{}",
        stderr(&twice)
    );
}

#[test]
fn every_scheme_lowers_the_rate_and_a_wrong_word_lists_them() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("hardened.capsule");
    for scheme in ["fastsig-drdv", "sriv", "fastsig-sriv"] {
        let words = ["harden", "pathfinder", "--scheme", scheme, "--runs", "300", "--json", "--out", path(&out)];
        let found = json(&words);
        let rate = |when: &str| found[when]["sdc"]["rate"].as_f64().unwrap();
        assert_eq!(found["scheme"].as_str(), Some(scheme));
        assert!(rate("after") < rate("before") / 3.0 && found["after"]["detected"].as_u64() > Some(100), "{found}");
    }
    let wrong = run(&["harden", "pathfinder", "--scheme", "tmr", "--out", path(&out)]);
    assert!(stderr(&wrong).contains("expected one of: drdv, fastsig-drdv, sriv, fastsig-sriv"), "{}", stderr(&wrong));
}
