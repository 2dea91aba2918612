//! The commands that look and do not inject.

use crate::{json, path, run, stderr, stdout};
use tempfile::TempDir;

/// The folders of `workloads/`.
fn bundled() -> Vec<String> {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads")).unwrap();
    let mut names: Vec<String> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_bundled_workloads_are_listed() {
    let list = json(&["list", "--json"]);
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, bundled());
    assert!(stdout(&run(&["list"])).contains("stands for"));
}

#[test]
fn info_tells_what_a_capsule_holds() {
    for name in bundled() {
        let info = json(&["info", &name, "--json"]);
        assert_eq!(info["name"], name);
        assert!(info["launches"].as_u64().unwrap() > 0);
        assert!(info["kernels"][0]["instructions"].as_u64().unwrap() > 10);
        assert!(!info["outputs"].as_array().unwrap().is_empty());
        assert!(info["sources"][0].as_str().unwrap().ends_with(&format!("{name}.cu")));
    }
    assert!(stdout(&run(&["info", "gemm"])).contains("static instructions"));
}

/// Counted on a GPU by adding a counter to every basic block of the same PTX.
#[test]
fn workloads_execute_as_many_instructions_as_on_a_gpu() {
    let counted = [
        ("bfs", 3_987_142),
        ("blackscholes", 1_484_240),
        ("gemm", 4_351_032),
        ("hotspot", 10_203_200),
        ("pathfinder", 3_085_840),
        ("reduce", 2_301_900),
    ];
    for (name, instructions) in counted {
        let profile = json(&["profile", name, "--json"]);
        assert_eq!(profile["thread_instructions"].as_u64(), Some(instructions), "{name}");
    }
}

#[test]
fn a_profile_adds_up() {
    let profile = json(&["profile", "reduce", "--json"]);
    let total = profile["thread_instructions"].as_u64().unwrap();
    let sum = |part: &str, key: &str| {
        profile[part].as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(sum("groups", "executed"), total);
    assert_eq!(sum("opcodes", "executed"), total);
    assert_eq!(sum("kernels", "thread_instructions"), total);
    assert_eq!(sum("kernels", "threads"), profile["threads"].as_u64().unwrap());
    assert_eq!(total + sum("groups", "guarded_off"), profile["with_guarded_off"].as_u64().unwrap());
}

#[test]
fn inject_tells_what_happened() {
    let output = run(&["inject", "gemm", "launch=0,cta=3,thread=17,dyn=10,target=dst0,model=flip,bits=0"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("became") && text.contains("outcome: "), "{text}");
}

#[test]
fn completions_and_man_pages_come_from_the_same_definitions() {
    assert!(stdout(&run(&["completions", "bash"])).contains("--margin"));
    assert!(stdout(&run(&["man", "campaign"])).contains("margin"));
    assert!(run(&["--version"]).status.success());
}

#[test]
fn a_reader_that_closes_the_pipe_ends_the_output_quietly() {
    let dir = TempDir::new().unwrap();
    let script =
        format!("{} profile bfs | head -n 1 > {}", env!("CARGO_BIN_EXE_beamline"), path(&dir.path().join("o")));
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(stderr(&output), "");
}

/// Where there is a GPU it is compared too; here there may be none, which is told and no failure.
#[test]
fn verify_runs_faults_by_every_engine() {
    let verified = json(&["verify", "pathfinder", "--runs", "100", "--json"]);
    assert_eq!(verified["format"], "beamline.verify/1");
    assert_eq!(verified["engines"]["faults"], 100);
    assert_eq!(verified["engines"]["differing"].as_array().unwrap().len(), 0);
    let text = stdout(&run(&["verify", "gemm", "--runs", "20"]));
    assert!(
        text.contains(
            "20 faults by full re-execution, by delta and in lanes: 0 differ in what is observed or in final memory"
        ),
        "{text}"
    );
    assert!(text.contains("GPU"), "{text}");
}
