//! Our runtime says to misuse what CUDA says on a GPU: `tests/conformance/misuse.cu` prints the same, line by line,
//! whether it is linked against CUDA 12 or 13.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use cudart::runner::Application;

use crate::build::link_time_runtime;

/// What was printed with an H200, a section for each argument.
const RECORDED: [(&str, &str); 2] = [
    ("libcudart.so.12", include_str!("../conformance/h200-cuda-12.txt")),
    ("libcudart.so.13", include_str!("../conformance/h200-cuda-13.txt")),
];

#[test]
#[ignore = "needs nvcc 13, named by the variable NVCC"]
fn misuse_gets_the_answers_of_a_gpu() {
    for (runtime, recorded) in RECORDED {
        let directory = tempfile::tempdir().unwrap();
        let program = build(directory.path(), runtime);
        for section in recorded.split("# ").skip(1) {
            let (name, expect) = section.split_once('\n').unwrap();
            compare(&format!("{name} with {runtime}"), expect, &run(&program, name));
        }
    }
}

/// The program, linked against a runtime of this name.
fn build(directory: &Path, runtime: &str) -> PathBuf {
    let nvcc = env::var_os("NVCC").expect("NVCC names the compiler");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/misuse.cu");
    let program = directory.join("misuse");
    let library = link_time_runtime(directory, runtime);
    let options = ["-O1", "-arch=sm_80", "-cudart", "none", "-o"];
    let status = Command::new(nvcc).args(options).args([&program, &source, &library]).status().unwrap();
    assert!(status.success());
    program
}

fn run(program: &Path, what: &str) -> String {
    let run = Application { program: program.into(), args: vec![what.into()], record: None, explain: false };
    let output = run.command().unwrap().output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn compare(what: &str, expect: &str, printed: &str) {
    let differ = printed.lines().zip(expect.lines()).find(|(found, expect)| found != expect);
    assert_eq!(differ, None, "{what}");
    assert_eq!(printed.lines().count(), expect.lines().count(), "{what}");
}
