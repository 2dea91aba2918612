//! Real applications, built by nvcc, executed by `beamline run` without a GPU, as a user would.

use crate::repo::{beamline, say};
use crate::workloads::{self, build, fixed_nvcc};
use crate::{apps, apps::Wanted, apps::Way, live, nvcc::Nvcc};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Builds and runs everything, the small applications at the settings that are wanted, and says what passed. With `record`,
/// what they do is recorded into that folder.
pub(crate) fn end_to_end(wanted: Wanted, record: Option<&Path>) -> Result<()> {
    let record = record.map(folder).transpose()?;
    let program = beamline()?;
    let nvcc = fixed_nvcc()?;
    let mut passed = 0;
    for workload in workloads::all()? {
        let dir = build(&nvcc, &workload.name)?;
        let output = run(&program, &dir, &workload.name, &workload.arguments)?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success() && stdout.trim_end().ends_with("PASS"), "{stdout}{stderr}");
        ensure!(stderr.is_empty(), "{} printed to standard error: {stderr}", workload.name);
        say(stdout.trim_end())?;
        passed += 1;
    }
    passed += apps::apps(Way { program: &program, record: record.as_deref() }, &nvcc, wanted)?;
    passed += refusals(&program, &nvcc)?;
    live::live(live::FEW)?;
    passed += 2;
    say(&format!("{passed} passed, 0 failed"))
}

/// A folder that exists, by its absolute path.
fn folder(path: &Path) -> Result<PathBuf> {
    fs::create_dir_all(path).with_context(|| format!("create {}", path.display()))?;
    path.canonicalize().with_context(|| format!("find {}", path.display()))
}

fn run(program: &Path, dir: &Path, name: &str, args: &[String]) -> Result<Output> {
    let mut command = Command::new(program);
    command.args(["run", "--"]).arg(format!("./{name}")).args(args).current_dir(dir);
    command.output().with_context(|| format!("start {}", program.display()))
}

/// Applications that cannot run are refused with the exit code for it and a line of help.
fn refusals(program: &Path, nvcc: &Nvcc) -> Result<usize> {
    let dir = Path::new(apps::PLACE);
    fs::write(dir.join("static.cu"), "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")?;
    nvcc.compile(dir, &["-arch=sm_80", "-cudart", "static", "-o", "static", "static.cu"])?;
    refused(&run(program, dir, "static", &[])?, "-cudart shared")?;
    nvcc.compile(dir, &["-gencode", "arch=compute_80,code=sm_80", "-cudart", "shared", "-o", "no-ptx", "static.cu"])?;
    let output = run(program, dir, "no-ptx", &[])?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(stderr.contains("PTX"), "an application without PTX is explained so: {stderr}");
    refused(&run(program, dir, "does-not-exist", &[])?, "find")?;
    fs::write(dir.join("script.sh"), "#!/bin/sh\necho hello\n")?;
    refused(&run(program, dir, "script.sh", &[])?, "program")?;
    say("refusals: as expected")?;
    Ok(4)
}

fn refused(output: &Output, words: &str) -> Result<()> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(5), "exit code {:?} instead of 5: {stderr}", output.status.code());
    ensure!(stderr.contains(words) && stderr.contains("help: "), "no mention of `{words}` or no help: {stderr}");
    Ok(())
}
