//! Faults written into kernels: workers, rows, agreement, with the simulator as the machine that is told nothing of them.

use super::{json, path, run, stderr, stdout};

#[test]
fn written_faults_come_to_the_same_ends_and_a_second_run_adds_to_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("rows");
    let words = ["verify", "transpose", "--faults", "40", "--jobs", "2", "--json", "--out", path(&kept)];
    let first = json(&[&words[..], &["--target", "store"]].concat());
    assert!(first["engines"].is_null(), "{first}");
    let faults = &first["faults"];
    assert_eq!((&faults["agree"]["count"], &faults["agree"]["of"]), (&40.into(), &40.into()), "{faults}");
    assert_eq!(faults["same_bytes"]["count"], faults["same_bytes"]["of"]);
    assert_eq!(faults["fault_free"]["count"], faults["fault_free"]["of"]);
    assert_eq!(faults["machines"][0]["name"], "simulator");
    let lines = || std::fs::read_to_string(kept.join("rows.jsonl")).unwrap().lines().count();
    let before = lines();
    assert_eq!(json(&[&words[..], &["--target", "store"]].concat()), first);
    assert_eq!(lines(), before, "faults that have rows are not run again");
    let both = json(&[&words[..], &["--target", "addr", "--seed", "7"]].concat());
    assert_eq!(both["faults"]["agree"]["of"], 80);
    let other = run(&["verify", "hash", "--faults", "1", "--out", path(&kept)]);
    assert_eq!(other.status.code(), Some(1));
    assert!(stderr(&other).contains("name another directory"), "{}", stderr(&other));
}

#[test]
fn what_cannot_be_written_is_counted_with_its_reason() {
    let text = stdout(&run(&["verify", "transpose", "--faults", "20", "--target", "reg"]));
    assert!(text.contains("20 were not run: failed to write the fault into the kernel: reg is no operand"), "{text}");
    assert!(text.contains("the same end: none of none"), "{text}");
}

#[test]
fn a_worker_that_is_asked_for_a_gpu_where_there_is_none_says_so() {
    let output = run(&["verify", "transpose", "--faults", "5", "--gpu"]);
    // Where there is one, the comparison is made.
    if output.status.success() {
        assert!(stdout(&output).contains("the same end"));
    } else {
        assert!(stderr(&output).contains("failed to find a GPU"), "{}", stderr(&output));
        assert_eq!(output.status.code(), Some(5));
    }
}
