//! Real applications, built by nvcc, executed by `beamline run` without a GPU, as a user would.

use crate::workloads::{all, build, fixed_nvcc};
use crate::{beamline, nvcc::Nvcc, root, say};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Builds and runs everything, and says what passed.
pub(crate) fn end_to_end() -> Result<()> {
    let program = beamline()?;
    let nvcc = fixed_nvcc()?;
    let mut passed = 0;
    for workload in all()? {
        let dir = build(&nvcc, &workload.name)?;
        let output = run(&program, &dir, &workload.name, &workload.arguments)?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success() && stdout.trim_end().ends_with("PASS"), "{stdout}{stderr}");
        ensure!(stderr.is_empty(), "{} printed to standard error: {stderr}", workload.name);
        say(stdout.trim_end())?;
        passed += 1;
    }
    for source in apps()? {
        passed += app(&program, &nvcc, &source)?;
    }
    passed += refusals(&program, &nvcc)?;
    say(&format!("{passed} passed, 0 failed"))
}

/// The small applications under `filetests/apps`.
fn apps() -> Result<Vec<PathBuf>> {
    let folder = root().join("filetests/apps");
    let entries = fs::read_dir(&folder).with_context(|| format!("read {}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    found.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    found.sort();
    Ok(found)
}

/// Builds an application as its first lines say, runs it, and compares what it prints with the file beside it.
fn app(program: &Path, nvcc: &Nvcc, source: &Path) -> Result<u32> {
    let name = source.file_stem().and_then(|stem| stem.to_str()).context("a name")?;
    let dir = Path::new("/tmp/beamline-apps");
    fs::create_dir_all(dir)?;
    let path = source.to_str().context("a path")?;
    nvcc.compile(dir, &["-O3", "-arch=sm_80", "-cudart", "shared", "-o", name, path])?;
    let output = run(program, dir, name, &[])?;
    let expected = fs::read_to_string(source.with_extension("expected"))
        .with_context(|| format!("read what {name} should print"))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} ended with {}: {stdout}{stderr}", output.status);
    ensure!(stdout == expected, "{name} printed\n{stdout}instead of\n{expected}");
    ensure!(stderr.is_empty(), "{name} printed to standard error: {stderr}");
    say(&format!("{name}: as expected"))?;
    Ok(1)
}

fn run(program: &Path, dir: &Path, name: &str, args: &[String]) -> Result<Output> {
    let mut command = Command::new(program);
    command.args(["run", "--"]).arg(format!("./{name}")).args(args).current_dir(dir);
    command.output().with_context(|| format!("start {}", program.display()))
}

/// Applications that cannot run are refused with the exit code for it and a line of help.
fn refusals(program: &Path, nvcc: &Nvcc) -> Result<u32> {
    let dir = Path::new("/tmp/beamline-apps");
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
