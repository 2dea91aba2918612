//! Mistakes that people make: the exit code that is documented, and a message that says what to do.

use crate::{path, run, stderr, stdout};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A failing command: its exit code, and words that its message must hold.
fn fails(args: &[&str], code: i32, words: &[&str]) {
    let output = run(args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert!(output.stdout.is_empty(), "{args:?} printed to standard output");
    for word in words {
        assert!(said.contains(word), "{args:?}: no `{word}` in\n{said}");
    }
}

fn capsule_file(dir: &TempDir) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/gemm/gemm.capsule");
    let file = dir.path().join("gemm.capsule");
    fs::copy(source, &file).unwrap();
    file
}

#[test]
fn a_capsule_that_does_not_exist() {
    fails(&["info", "nosuch"], 5, &["nosuch", "pathfinder", "help: "]);
}

#[test]
fn a_truncated_and_a_foreign_capsule() {
    let dir = TempDir::new().unwrap();
    let file = capsule_file(&dir);
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    fails(&["campaign", path(&file)], 5, &["gemm.capsule", "help: "]);
    fs::write(&file, "hello").unwrap();
    fails(&["info", path(&file)], 5, &["gemm.capsule"]);
    fails(&["info", env!("CARGO_BIN_EXE_beamline")], 5, &["help: "]);
    fails(&["info", path(dir.path())], 5, &["directory"]);
}

#[test]
fn a_capsule_with_an_unknown_instruction() {
    let dir = TempDir::new().unwrap();
    let mut capsule = capsule::Capsule::open(capsule_file(&dir)).unwrap();
    let ptx = capsule.blobs.get(capsule.modules[0].ptx.unwrap()).unwrap();
    let text = String::from_utf8(ptx.to_vec()).unwrap().replace("fma.rn.f32", "frobnicate.rn.f32");
    capsule.modules[0].ptx = Some(capsule.blobs.add(text.as_bytes()));
    let file = dir.path().join("changed.capsule");
    capsule.write(&file).unwrap();
    fails(&["campaign", path(&file)], 5, &["frobnicate.rn.f32", "^^^", "help: "]);
}

#[test]
fn a_capsule_that_does_not_reproduce_its_recording() {
    let dir = TempDir::new().unwrap();
    let mut capsule = capsule::Capsule::open(capsule_file(&dir)).unwrap();
    for event in &mut capsule.events {
        if let capsule::Event::CopyOut { digest, data, .. } = event {
            (*digest, *data) = (capsule::Digest::of(b"other"), None);
        }
    }
    let file = dir.path().join("changed.capsule");
    capsule.write(&file).unwrap();
    fails(&["campaign", path(&file)], 4, &["reproduce the recording", "help: "]);
}

#[test]
fn a_fault_that_names_what_does_not_exist() {
    let id = |launch: u32, cta: u32, thread: u32| {
        format!("launch={launch},cta={cta},thread={thread},dyn=0,target=dst0,model=flip,bits=0")
    };
    fails(&["inject", "gemm", &id(9, 0, 0)], 1, &["launch 9", "the capsule has 1", "help: "]);
    fails(&["inject", "gemm", &id(0, 42, 0)], 1, &["block 42", "has 42"]);
    fails(&["inject", "gemm", &id(0, 0, 256)], 1, &["thread 256", "has 256"]);
    fails(&["inject", "gemm", "nonsense"], 1, &["key=value"]);
    let late = "launch=0,cta=1,thread=2,dyn=5000,target=dst0,model=flip,bits=0";
    let words = ["find instruction 5000", "thread 2 of block 1 executes ", "--trace launch=0,cta=1,thread=2`"];
    fails(&["inject", "gemm", late], 1, &words);
    fails(&["inject", "gemm", late, "--explain"], 1, &words);
}

#[test]
fn a_fault_of_bits_that_are_not_there() {
    let id = |target: &str, model: &str, bits: &str| {
        format!("launch=0,cta=0,thread=0,dyn=0,target={target},model={model},bits={bits}")
    };
    let cases = [
        (
            id("dst0", "flip", "99"),
            "make the fault flip with bits=99: the width of dst0 of `ld.param.u32` is 32, and bits are numbered from 0",
        ),
        (
            id("dst0", "random", "0x10000000000000000"),
            "random with bits=0x10000000000000000: the width of dst0 of `ld.param.u32` is 32",
        ),
        (id("global@0x10", "stuck1", "8"), "stuck1 with bits=8: the width of a byte of global memory is 8"),
        (id("reg0", "flip", "3+64"), "flip with bits=3+64: the width of the register %"),
    ];
    for (id, words) in cases {
        fails(&["inject", "gemm", &id], 1, &[words]);
        fails(&["inject", "gemm", &id, "--explain"], 1, &[words]);
    }
}

#[test]
fn a_fault_that_hits_nothing_is_told_what_is_not_there() {
    let said = |target: &str| {
        let output =
            run(&["inject", "gemm", &format!("launch=0,cta=0,thread=0,dyn=0,target={target},model=flip,bits=0")]);
        assert!(output.status.success(), "{target}: {}", stderr(&output));
        stdout(&output)
    };
    let cases = [
        ("dst7", "the thread does not execute such an instruction with this destination"),
        ("addr7", "the instruction makes no access by such an address"),
        ("store7", "the instruction stores no such value"),
        ("src7", "the instruction reads no such source"),
        ("reg4000", "the function that the thread is in has no such register"),
        ("global@0x10", "the thread reaches no such byte of global memory at that time"),
        ("shared@0x7fffff", "the thread reaches no such byte of shared memory at that time"),
    ];
    for (target, words) in cases {
        let text = said(target);
        assert!(text.contains(&format!("  did not land: {words}\n")), "{target}: {text}");
    }
}

#[test]
fn choices_that_make_no_sense() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("o");
    let campaign = |extra: &[&str], words: &[&str]| {
        let args = [&["campaign", "gemm", "--out", path(&out)], extra].concat();
        fails(&args, 1, words);
        assert!(!out.exists(), "{extra:?} left a directory behind");
    };
    campaign(&["--runs", "0"], &["runs"]);
    campaign(&["--runs", "ten"], &["ten"]);
    campaign(&["--exhaustive", "--runs", "10"], &["both `exhaustive` and `runs`"]);
    campaign(&["--exhaustive", "--margin", "0.1"], &["both `exhaustive` and `margin`"]);
    campaign(&["--exhaustive", "--model", "twist"], &["twist", "flip"]);
    campaign(&["--group", "fp33"], &["fp33", "fp32_add"]);
    campaign(&["--kernel", "nosuch"], &["find the kernel `nosuch`: there are "]);
    campaign(&["--kernel", "gemm,nosuch"], &["find the kernel `nosuch`: there are gemm"]);
    campaign(&["--kernel", "gemm#7"], &["find the kernel `gemm#7`: `gemm` is launched once"]);
    campaign(&["--threads", "99999"], &["no executed instruction matches", "there are some without threads 99999;"]);
    campaign(&["--model", "twist"], &["twist"]);
    campaign(&["--confidence", "95"], &["confidence"]);
    campaign(&["--shard", "3/2"], &["3/2"]);
    campaign(&["--engine", "warp"], &["warp", "auto, full, delta, lanes, cuda-gdb"]);
    campaign(&["--engine", "cuda-gdb"], &["`delta` (executes what the fault could change)", "see `beamline live`"]);
    fails(&["live", "--engine", "delta", "--", "true"], 1, &["`delta`", "`auto` (replays"]);
    fails(&["campaign"], 1, &["capsule"]);
    fails(&["campain", "gemm"], 1, &["campaign"]);
    fails(&[], 1, &["Usage"]);
}

#[test]
fn a_configuration_with_an_unknown_key() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("c.toml");
    fs::write(&file, "capsule = \"gemm\"\nrnus = 10\n").unwrap();
    fails(&["campaign", "--config", path(&file)], 1, &["rnus", "runs"]);
}

#[test]
fn a_directory_that_cannot_be_written_or_is_taken() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    fails(&["campaign", "gemm", "--runs", "5", "--out", path(&file.join("o"))], 1, &["file"]);
    let out = dir.path().join("o");
    assert!(run(&["campaign", "gemm", "--runs", "5", "--out", path(&out)]).status.success());
    fails(&["campaign", "gemm", "--runs", "5", "--out", path(&out)], 1, &["resume"]);
}

#[test]
fn a_full_disk_stops_the_campaign_and_it_can_go_on() {
    // A limit on file sizes stands for a full disk: 40 blocks of 1 KiB hold the plan and not all rows.
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("o");
    let program = env!("CARGO_BIN_EXE_beamline");
    let script = format!(
        "ulimit -f 400; trap '' XFSZ; exec {program} campaign gemm --runs 2000 --seed 1 --out {}",
        out.display()
    );
    let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    let said = stderr(&output);
    assert!(matches!(output.status.code(), Some(1 | 3)), "{:?}: {said}", output.status);
    assert!(said.contains("error: ") && said.contains(path(&out)), "{said}");
}

#[test]
fn results_that_are_not_there() {
    let dir = TempDir::new().unwrap();
    fails(&["report", path(dir.path())], 5, &["campaign"]);
    fails(&["resume", path(dir.path())], 5, &["campaign"]);
    fails(&["merge", path(dir.path()), "--out", path(&dir.path().join("m"))], 5, &["campaign"]);
}

#[test]
fn applications_that_cannot_run() {
    let dir = TempDir::new().unwrap();
    let script = dir.path().join("app.sh");
    fs::write(&script, "#!/bin/sh\n").unwrap();
    fails(&["run", "--", path(&script)], 5, &["app.sh", "help: "]);
    fails(&["run", "--", "./nosuch"], 5, &["nosuch", "help: "]);
    fails(&["run", "--", "/bin/sh"], 5, &["CUDA", "help: "]);
}
