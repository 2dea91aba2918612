//! NVIDIA's compiler from PyPI, in a cache of our own: nothing of it is needed to use Beamline, only to build the
//! workloads and to test real applications.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The packages, and the directory name that stands for all of them.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
];
const VERSION: &str = "nvcc-13.0.88";

/// An installed toolkit.
pub(crate) struct Nvcc {
    /// The directory with `bin`, `include` and `lib`.
    pub(crate) root: PathBuf,
}

impl Nvcc {
    /// Runs the compiler in a directory.
    pub(crate) fn compile(&self, dir: &Path, args: &[&str]) -> Result<()> {
        let nvcc = self.root.join("bin/nvcc");
        let output = Command::new(&nvcc).args(args).current_dir(dir).output();
        let output = output.with_context(|| format!("start {}", nvcc.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "nvcc {}\n{said}", args.join(" "));
        Ok(())
    }
}

/// Installs the toolkit unless it is there.
pub(crate) fn install() -> Result<Nvcc> {
    let venv = environment(VERSION, &PACKAGES)?;
    let done = venv.join(COMPLETE);
    let root = inside(&venv, "bin/nvcc")?;
    if !done.exists() {
        link("libcudart.so.13", &root.join("lib/libcudart.so"))?;
        link("lib", &root.join("lib64"))?;
        fs::write(&done, "").with_context(|| format!("write {}", done.display()))?;
    }
    Ok(Nvcc { root })
}

/// Installs the disassembler unless it is there, and says where it is.
pub(crate) fn disassembler() -> Result<PathBuf> {
    let venv = environment("nvdisasm-13.2.51", &["nvidia-cuda-nvdisasm==13.2.51"])?;
    let done = venv.join(COMPLETE);
    let program = inside(&venv, "bin/nvdisasm")?.join("bin/nvdisasm");
    if !done.exists() {
        fs::write(&done, "").with_context(|| format!("write {}", done.display()))?;
    }
    Ok(program)
}

/// The file that says that an environment has all that belongs into it.
const COMPLETE: &str = "complete";

/// An environment with some packages in the cache; installed unless it is complete.
fn environment(name: &str, packages: &[&str]) -> Result<PathBuf> {
    let cache = env::var_os("BEAMLINE_NVCC_CACHE").map(PathBuf::from);
    let home = || {
        env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))
    };
    let cache = cache.or_else(|| Some(home()?.join("beamline"))).context("find a cache directory: HOME is not set")?;
    let venv = cache.join(name);
    if !venv.join(COMPLETE).exists() {
        fs::create_dir_all(&cache).with_context(|| format!("create {}", cache.display()))?;
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
        run(Command::new(venv.join("bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check"])
            .args(packages))?;
    }
    Ok(venv)
}

/// `lib/python3.x/site-packages/nvidia/cu13` inside the environment, which has a file.
fn inside(venv: &Path, file: &str) -> Result<PathBuf> {
    let lib = venv.join("lib");
    let entries = fs::read_dir(&lib).with_context(|| format!("read {}", lib.display()))?;
    let roots = entries.filter_map(|entry| Some(entry.ok()?.path().join("site-packages/nvidia/cu13")));
    let found = roots.into_iter().find(|root| root.join(file).exists());
    found.with_context(|| format!("find {file} in what pip installed"))
}

fn link(to: &str, at: &Path) -> Result<()> {
    if at.exists() {
        return Ok(());
    }
    std::os::unix::fs::symlink(to, at).with_context(|| format!("link {}", at.display()))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("start {command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
