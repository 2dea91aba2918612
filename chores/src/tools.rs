//! NVIDIA's assembler and disassembler.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where they are, and what is assembled for.
pub(crate) struct Tools {
    pub(crate) assembler: PathBuf,
    pub(crate) disassembler: PathBuf,
    pub(crate) arch: String,
    pub(crate) level: u8,
}

impl Tools {
    /// The machine code of a module.
    pub(crate) fn listing(&self, text: &str, options: &[&str]) -> Result<String> {
        let folder = tempfile::tempdir().context("make a directory for a module")?;
        let (from, to) = (folder.path().join("module.ptx"), folder.path().join("module.cubin"));
        fs::write(&from, text).with_context(|| format!("write {}", from.display()))?;
        let mut assemble = Command::new(&self.assembler);
        assemble.arg(format!("-arch={}", self.arch)).arg(format!("-O{}", self.level)).args(options);
        output(assemble.arg("-o").arg(&to).arg(&from))?;
        output(Command::new(&self.disassembler).arg("-c").arg(&to))
    }
}

fn output(command: &mut Command) -> Result<String> {
    let done = command.output().with_context(|| format!("start {}", Path::new(command.get_program()).display()))?;
    ensure!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
