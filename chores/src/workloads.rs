//! Builds the workloads with nvcc, records them through our own runtime, and compares with the committed capsules.
//!
//! Debug information holds the paths of sources, so everything happens in one fixed place, and what is recorded names
//! sources by their paths in the repository; a capsule keeps only the workload's own source, not the compiler's headers.

use crate::nvcc;
use crate::repo::{beamline, root, say};
use anyhow::{Context, Result, anyhow, ensure};
use capsule::{Capsule, Event, Output};
use serde::Deserialize;
use session::bundled::DeclaredOutput;
use std::fs;
use std::num::NonZeroU64;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where workloads are built; part of the device binaries that are recorded.
const PLACE: &str = "/tmp/beamline-workloads";

/// How workloads are built.
const FLAGS: &[&str] = &["-O3", "-arch=sm_80", "-lineinfo", "-cudart", "shared"];

/// How they are built for a debugger: nothing is optimised.
const DEBUG_FLAGS: &[&str] = &["-g", "-G", "-arch=sm_80", "-cudart", "shared"];

/// A `workload.toml`. The keys that are for readers only are not named here.
#[derive(Deserialize)]
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
    outputs: Vec<DeclaredOutput>,
}

/// Every workload of the repository, by name.
pub(crate) fn all() -> Result<Vec<Workload>> {
    let folder = root().join("workloads");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("read {}", folder.display()))? {
        let path = entry?.path().join("workload.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        found.push(toml::from_str::<Workload>(&text).with_context(|| format!("read {}", path.display()))?);
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Builds a workload and returns the directory with its executable of the same name.
pub(crate) fn build(nvcc: &nvcc::Nvcc, name: &str) -> Result<PathBuf> {
    build_in(&Path::new(PLACE).join(name), nvcc, name, FLAGS)
}

fn build_in(dir: &Path, nvcc: &nvcc::Nvcc, name: &str, flags: &[&str]) -> Result<PathBuf> {
    fs::create_dir_all(dir).with_context(|| format!("create {}", dir.display()))?;
    let file = format!("{name}.cu");
    // The source, and what the application reads.
    for entry in fs::read_dir(root().join("workloads").join(name)).context("list the workload")? {
        let path = entry?.path();
        let read = !path.extension().is_some_and(|it| it == "capsule" || it == "toml");
        if let Some(own) = path.file_name().filter(|_| read) {
            fs::copy(&path, dir.join(own)).with_context(|| format!("copy {}", path.display()))?;
        }
    }
    let mut args = flags.to_vec();
    args.extend(["-o", name, &file]);
    nvcc.compile(dir, &args)?;
    Ok(dir.to_owned())
}

/// The toolkit under a name that does not depend on who builds.
pub(crate) fn fixed_nvcc() -> Result<nvcc::Nvcc> {
    let installed = nvcc::install()?;
    let link = Path::new(PLACE).join("cuda");
    fs::create_dir_all(PLACE).with_context(|| format!("create {PLACE}"))?;
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&installed.root, &link).with_context(|| format!("link {}", link.display()))?;
    Ok(nvcc::Nvcc { root: link })
}

/// Of the workloads, one in this number, chosen by the seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) seed: u64,
    pub(crate) one_in: NonZeroU64,
}

/// Records workloads, several at once, and compares them with, or makes them, the committed capsules.
pub(crate) fn workloads(bless: bool, names: &[String], sample: Sample) -> Result<()> {
    let program = beamline()?;
    let nvcc = fixed_nvcc()?;
    let named: Vec<Workload> = all()?.into_iter().filter(|w| names.is_empty() || names.contains(&w.name)).collect();
    let of = named.len();
    let chosen = testkit::one_in(sample.one_in, sample.seed, named);
    let compared = testkit::in_parallel(&chosen, |workload| compare(bless, &program, &nvcc, workload));
    let mut different = Vec::new();
    for (workload, same) in chosen.iter().zip(compared) {
        let word = match (same?, bless) {
            (true, _) => "unchanged",
            (false, true) => "written",
            (false, false) => "DIFFERS",
        };
        say(&format!("{:<14} {word}", workload.name))?;
        if word == "DIFFERS" {
            different.push(workload.name.as_str());
        }
    }
    say(&format!("seed {}, {} of {of} workloads left out", sample.seed, of - chosen.len()))?;
    ensure!(
        different.is_empty(),
        "committed capsules differ from what is recorded now: {}; `cargo xtask workloads --bless` replaces them",
        different.join(", ")
    );
    Ok(())
}

/// Whether a workload is recorded as its capsule and its executable say; with `bless` both are replaced where they differ.
fn compare(bless: bool, program: &Path, nvcc: &nvcc::Nvcc, workload: &Workload) -> Result<bool> {
    let recorded = record(program, &build(nvcc, &workload.name)?, workload)?;
    let committed = root().join("workloads").join(&workload.name).join(format!("{}.capsule", workload.name));
    let application = committed.with_extension("app.zst");
    let agrees = |other: Result<Capsule>| other.is_ok_and(|other| agree(&other, &recorded).unwrap_or(false));
    let same_capsule = agrees(Capsule::open(&committed).map_err(Into::into));
    // What an executable does is compared, not its bytes: they hold when it was made.
    let has_application = has_space(&workload.name) || recorded.host_may_decide();
    let same_application = !has_application || agrees(bundled_record(program, &application, workload));
    if bless && !same_capsule {
        recorded.write(&committed)?;
    }
    if bless && !same_application {
        let built = fs::read(Path::new(PLACE).join(&workload.name).join(&workload.name))?;
        fs::write(&application, zstd::encode_all(built.as_slice(), 19)?)?;
    }
    Ok(same_capsule && same_application)
}

/// Whether a workload has a description of its inputs.
fn has_space(name: &str) -> bool {
    root().join("workloads").join(name).join("space.toml").is_file()
}

/// What the executable that is bundled does.
fn bundled_record(program: &Path, application: &Path, workload: &Workload) -> Result<Capsule> {
    let dir = Path::new(PLACE).join("bundled").join(&workload.name);
    fs::create_dir_all(&dir)?;
    let executable = dir.join(&workload.name);
    fs::write(&executable, zstd::decode_all(fs::read(application)?.as_slice())?)?;
    fs::set_permissions(&executable, fs::Permissions::from_mode(0o755))?;
    record(program, &dir, workload)
}

/// Whether two capsules hold the same work. Device binaries are left out: their line tables hold the times at which
/// the compiler's headers were installed.
fn agree(a: &Capsule, b: &Capsule) -> Result<bool> {
    let plain = |capsule: &Capsule| -> Result<capsule::Digest> {
        let mut capsule = compact(capsule)?;
        capsule.modules.iter_mut().for_each(|module| module.binaries.clear());
        Ok(compact(&capsule)?.digest())
    };
    Ok(plain(a)? == plain(b)?)
}

/// A workload built for a debugger and recorded.
pub(crate) fn debug_build(program: &Path, nvcc: &nvcc::Nvcc, name: &str) -> Result<Capsule> {
    let workload = all()?.into_iter().find(|workload| workload.name == name);
    let workload = workload.with_context(|| format!("find the workload {name}"))?;
    let built = build_in(&Path::new(PLACE).join("debug").join(name), nvcc, name, DEBUG_FLAGS)?;
    let mut capsule = record(program, &built, &workload)?;
    // They hold the moment at which they were made.
    capsule.modules.iter_mut().for_each(|module| module.binaries.clear());
    compact(&capsule)
}

/// Records a workload that was built in a directory.
fn record(program: &Path, dir: &Path, workload: &Workload) -> Result<Capsule> {
    let file = dir.join(format!("{}.capsule", workload.name));
    let output = Command::new(program)
        .args(["run", "--record"])
        .arg(&file)
        .arg("--")
        .arg(format!("./{}", workload.name))
        .args(&workload.arguments)
        .current_dir(dir)
        .output()
        .with_context(|| format!("start {}", program.display()))?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success() && !said.contains("FAIL"), "{} failed:\n{said}", workload.name);
    let mut capsule = Capsule::open(&file)?;
    capsule.sources.retain(|source| source.path.ends_with(&format!("/{0}/{0}.cu", workload.name)));
    capsule.outputs = outputs(workload, capsule.copies_out().count())?;
    compact(&relocated(&capsule)?)
}

/// The capsule with paths of sources that mean something to who has the repository, and not to who built it.
pub(crate) fn relocated(capsule: &Capsule) -> Result<Capsule> {
    let toolkit = format!("{PLACE}/cuda/");
    let named = |path: &str| {
        path.replace(&toolkit, "cuda/")
            .replace(&format!("{PLACE}/debug/"), "workloads/")
            .replace(&format!("{PLACE}/"), "workloads/")
    };
    let mut moved = capsule.clone();
    for module in &mut moved.modules {
        let Some(ptx) = module.ptx else { continue };
        let text = String::from_utf8(moved.blobs.get(ptx)?.to_vec()).context("read the PTX of a module")?;
        let named: String =
            text.split_inclusive('\n').map(|line| if is_file(line) { named(line) } else { line.to_owned() }).collect();
        module.ptx = Some(moved.blobs.add(named));
    }
    moved.sources.iter_mut().for_each(|source| source.path = named(&source.path));
    Ok(moved)
}

/// Whether a line of PTX names a source file.
fn is_file(line: &str) -> bool {
    line.trim_start().starts_with(".file")
}

/// The declared outputs, a negative copy counted from the end.
fn outputs(workload: &Workload, copies: usize) -> Result<Vec<Output>> {
    let output = |it: &DeclaredOutput| it.of(copies).map_err(|why| anyhow!("{}: failed to {why}", workload.name));
    workload.outputs.iter().map(output).collect()
}

/// The capsule with only the blobs that it mentions, in the order in which it does.
fn compact(capsule: &Capsule) -> Result<Capsule> {
    let mut small = Capsule::new(capsule.name.clone());
    small.provenance = capsule.provenance.clone();
    small.modules = capsule.modules.clone();
    small.events = capsule.events.clone();
    small.outputs = capsule.outputs.clone();
    small.sources = capsule.sources.clone();
    let mut keep = |id: &mut capsule::BlobId| -> Result<()> {
        *id = small.blobs.add(capsule.blobs.get(*id)?);
        Ok(())
    };
    for module in &mut small.modules {
        module.ptx.as_mut().map_or(Ok(()), &mut keep)?;
        module.binaries.iter_mut().try_for_each(|binary| keep(&mut binary.blob))?;
    }
    for event in &mut small.events {
        if let Event::CopyIn { data, .. } | Event::CopyOut { data: Some(data), .. } = event {
            keep(data)?;
        }
    }
    small.sources.iter_mut().try_for_each(|source| keep(&mut source.blob))?;
    Ok(small)
}
