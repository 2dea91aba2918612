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
    let cache = env::var_os("BEAMLINE_NVCC_CACHE").map(PathBuf::from);
    let home = || {
        env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))
    };
    let cache = cache.or_else(|| Some(home()?.join("beamline"))).context("find a cache directory: HOME is not set")?;
    let venv = cache.join(VERSION);
    let done = venv.join("complete");
    if !done.exists() {
        fs::create_dir_all(&cache).with_context(|| format!("create {}", cache.display()))?;
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
        run(Command::new(venv.join("bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check"])
            .args(PACKAGES))?;
    }
    let root = toolkit(&venv)?;
    if !done.exists() {
        link("libcudart.so.13", &root.join("lib/libcudart.so"))?;
        link("lib", &root.join("lib64"))?;
        fs::write(&done, "").with_context(|| format!("write {}", done.display()))?;
    }
    Ok(Nvcc { root })
}

/// `lib/python3.x/site-packages/nvidia/cu13` inside the environment.
fn toolkit(venv: &Path) -> Result<PathBuf> {
    let lib = venv.join("lib");
    let entries = fs::read_dir(&lib).with_context(|| format!("read {}", lib.display()))?;
    let roots = entries.filter_map(|entry| Some(entry.ok()?.path().join("site-packages/nvidia/cu13")));
    roots.into_iter().find(|root| root.join("bin/nvcc").exists()).context("find bin/nvcc in what pip installed")
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
