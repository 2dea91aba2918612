//! Who cleans up when we cannot.
//!
//! The reaper is a process that reads from a pipe of which we alone hold the other end: a line for every group that is
//! started, written by the leader itself before it becomes the application, and one for every group that has ended.
//! When nobody holds the pipe any more, because we are done or because we are gone, in whatever way, the reaper kills
//! what is left of the groups and removes the directory of temporary files. It is a few lines for `/bin/sh`, so that
//! nothing of ours has to be found and started anew, and it leads a group of its own, so that no Ctrl-C meets it.

use std::fs::DirBuilder;
use std::io::{self, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, process};

/// Reads lines `+GROUP` and `-GROUP`; at the end kills the groups that are left, and removes the directory.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT PIPE
groups=' '
while read -r line; do
    case $line in
    +*) groups="$groups${line#+} " ;;
    -*) case $groups in
        *" ${line#-} "*) groups="${groups%% ${line#-} *} ${groups#* ${line#-} }" ;;
        esac ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
rm -rf -- "$1"
"#;

/// The directories that are tried for a name that is free.
const ATTEMPTS: u32 = 1000;

/// A directory for temporary files, and who removes it and kills what is left of the processes.
#[derive(Debug)]
pub struct Reaper {
    directory: PathBuf,
    pub(super) line: Option<PipeWriter>,
    pub(super) shell: Child,
}

impl Reaper {
    /// Makes a directory that only the user can enter, and a reaper over it.
    ///
    /// # Errors
    /// If there is no place for the directory, or no shell.
    pub fn new() -> io::Result<Self> {
        let directory = private_directory()?;
        let started = shell(&directory);
        if started.is_err() {
            // The first failure is the one to report.
            let _ = std::fs::remove_dir(&directory);
        }
        let (shell, line) = started?;
        Ok(Self { directory, line: Some(line), shell })
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The pipe, for those that announce themselves.
    pub(super) fn number(&self) -> i32 {
        self.line.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// A group has ended, and its leader will be reaped.
    pub(super) fn forget(&self, group: i32) {
        if let Some(mut line) = self.line.as_ref() {
            // A reaper that is gone cannot be told, and needs not.
            let _ = line.write_all(format!("-{group}\n").as_bytes());
        }
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        drop(self.line.take());
        // It ends as soon as it has removed the directory.
        let _ = self.shell.wait();
    }
}

fn private_directory() -> io::Result<PathBuf> {
    let place = env::temp_dir();
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..ATTEMPTS {
        let directory = place.join(format!("beamline-live-{}-{attempt}", process::id()));
        match DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => return Ok(directory),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn shell(directory: &Path) -> io::Result<(Child, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(SCRIPT).arg("beamline-guard").arg(directory);
    command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).current_dir("/");
    Ok((command.spawn()?, writer))
}
