//! The kernel tests.

use crate::report;
use testkit::kernels::{Script, check, read};

/// Every test of the folder.
fn scripts() -> Vec<Script> {
    let paths = testkit::files(&testkit::filetests("kernels"), "ptx").unwrap();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        read(path, &text).unwrap_or_else(|error| panic!("{error}"))
    };
    paths.iter().map(read).collect()
}

#[test]
fn every_kernel_test_does_what_its_head_says() {
    let bless = std::env::var_os("BEAMLINE_BLESS").is_some_and(|value| value == "1");
    // One in six, by the seed, unless what they do is written down anew: each of them on one of six days.
    let chosen = if bless { scripts() } else { crate::sixth(scripts()) };
    let failures = testkit::in_parallel(&chosen, |script| check(script, bless));
    report("failures in filetests/kernels", &failures.concat());
    assert!(chosen.len() > 15, "{} kernel tests", chosen.len());
}

#[test]
fn every_file_beside_the_kernel_tests_belongs_to_one() {
    let refused: Vec<_> = scripts().into_iter().filter(|script| script.refused().is_some()).collect();
    for path in testkit::files(&testkit::filetests("kernels"), "expected").unwrap() {
        assert!(refused.iter().any(|script| script.expected == path), "{} belongs to no test", path.display());
    }
}

#[test]
fn accesses_in_which_no_races_are_looked_for_are_named() {
    let unsearched = |name: &str| {
        let path = testkit::filetests("kernels").join(format!("{name}.ptx"));
        let script = read(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
        inject::Golden::run(testkit::kernels::capsule_of(&script).unwrap()).unwrap().unsearched()
    };
    let said = unsearched("wmma").unwrap();
    assert!(said.starts_with("not looked for in accesses of ") && said.contains("tiles of matrices"), "{said}");
    assert_eq!(unsearched("inject_host"), None);
}
