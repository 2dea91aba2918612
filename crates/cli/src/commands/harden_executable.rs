//! Protected kernels in the executable that the capsule was recorded from.

use crate::args;
use crate::failure::{Code, Coded, Failure};
use crate::out;
use anyhow::{Context as _, anyhow};
use capsule::{Capsule, RecordedModule};
use cudart::executable::{ChangedExecutable, with_code};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// An executable with protected kernels.
#[derive(Serialize)]
pub(super) struct HardenedExecutable {
    path: String,
    /// Fat binaries with protected code, one for each file that was compiled.
    changed: usize,
    /// Those that are as they were: no work of them was recorded, or nothing of them is protected.
    left: usize,
    /// Code for newer devices than the protected PTX, which the copy does not have any more.
    dropped: Vec<String>,
}

/// An executable that is to be written.
pub(super) struct UnwrittenExecutable {
    from: PathBuf,
    to: PathBuf,
    changed: ChangedExecutable,
}

/// The executable that the options name, with the code of the hardened capsule.
pub(super) fn executable(
    args: &args::Harden,
    original: &Capsule,
    hardened: &Capsule,
) -> Result<Option<UnwrittenExecutable>, Failure> {
    let (Some(from), Some(to)) = (&args.executable, &args.executable_out) else { return Ok(None) };
    if args.scheme.is_proxy() {
        let error = anyhow!(
            "harden an executable by {}: it is a performance proxy, which protects nothing",
            args.scheme.word()
        );
        return Err(Failure::new(Code::Usage, error));
    }
    if args.scheme.doubles_blocks() {
        let error = anyhow!(
            "harden an executable by {}: blocks have twice as many threads, and the executable launches the old number",
            args.scheme.word()
        );
        return Err(Failure::new(Code::Usage, error));
    }
    let others =
        [(from.as_path(), "the executable itself"), (Path::new(&args.capsule), "the capsule"), (&args.out, "--out")];
    if let Some((_, what)) = others.into_iter().find(|(other, _)| is_same(other, to)) {
        let error = anyhow!("write {}: it is {what}; name another file for the copy", to.display());
        return Err(Failure::new(Code::Usage, error));
    }
    let read = || format!("read {}", from.display());
    let bytes = fs::read(from).with_context(read).code(Code::Refused)?;
    let text = |capsule: &Capsule, module: &RecordedModule| {
        let ptx = module.ptx.map(|blob| capsule.blobs.get(blob)).transpose().code(Code::Refused)?;
        Ok::<_, Failure>(ptx.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let mut pairs = Vec::new();
    for (one, other) in original.modules.iter().zip(&hardened.modules).filter(|(_, other)| !other.hardened.is_empty()) {
        pairs.extend(text(original, one)?.zip(text(hardened, other)?));
    }
    let code =
        |ptx: &str| pairs.iter().find(|(one, _)| one.trim_end() == ptx.trim_end()).map(|(_, other)| other.clone());
    let changed = with_code(&bytes, &code).with_context(|| format!("put the code into {}", from.display()));
    let changed = changed.code(Code::Refused)?;
    if changed.changed == 0 {
        let error = anyhow!(
            "put the code into {}: none of its PTX is that of {}; name the executable that was recorded",
            from.display(),
            args.capsule
        );
        return Err(Failure::new(Code::Refused, error));
    }
    Ok(Some(UnwrittenExecutable { from: from.clone(), to: to.clone(), changed }))
}

/// Whether two paths lead to one file, or would if it were written.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    one == other || place(one).zip(place(other)).is_some_and(|(one, other)| one == other)
}

fn place(path: &Path) -> Option<PathBuf> {
    let folder = || Path::new(".").join(path.parent()?).canonicalize().ok();
    path.canonicalize().ok().or_else(|| Some(folder()?.join(path.file_name()?)))
}

impl UnwrittenExecutable {
    /// Writes it; who may execute the original may execute it.
    pub(super) fn write(self) -> Result<HardenedExecutable, Failure> {
        out::file(&self.to, &self.changed.bytes)?;
        let path = self.to.display().to_string();
        let permitted = fs::metadata(&self.from).and_then(|it| fs::set_permissions(&self.to, it.permissions()));
        permitted.with_context(|| format!("make {path} executable")).code(Code::Usage)?;
        let ChangedExecutable { changed, left, dropped, .. } = self.changed;
        Ok(HardenedExecutable { path, changed, left, dropped })
    }
}

impl HardenedExecutable {
    /// It in a line.
    pub(super) fn text(&self) -> String {
        let Self { path, changed, left, dropped } = self;
        let mut text = format!("{path}: {changed} of {} fat binaries have protected code\n", changed + left);
        if !dropped.is_empty() {
            let _ = writeln!(
                text,
                "{} of it is left out: devices that it is for compile the protected PTX, which is for older ones",
                dropped.join(", ")
            );
        }
        text
    }
}
