//! Who ends an application that does not end with the process that runs it.
//!
//! When that process is gone, in whatever way, the application is asked to end ([`end_with_parent`](super::layout::end_with_parent)).
//! One that does not is killed by the guard after a grace: a few lines for `/bin/sh`, which read from a pipe of which we alone hold
//! the other end. The application writes its number there before it starts, so that no moment is left in which it would stay
//! behind. The guard leads a group of its own, so that no Ctrl-C meets it.

use std::io::{self, PipeWriter, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Reads which process it guards, and waits for a line, after which all is well. Without one kills the process, if it is still the
/// same, which its start tells: the 22nd field of its status, the 20th after its name.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT PIPE
began() { read -r status 2>/dev/null < "/proc/$1/stat" && set -- ${status##*) } && echo "${20}"; }
read -r process || exit
first=$(began "$process")
read -r line && exit
sleep 1
[ -n "$first" ] && [ "$(began "$process")" = "$first" ] && kill -s KILL "$process"
"#;

/// A guard over a process of ours.
pub(super) struct Guard {
    line: PipeWriter,
    shell: Child,
}

impl Guard {
    /// A guard that waits for the process that it guards. Where there is no shell for it, processes are asked to end and no
    /// more.
    pub(super) fn start() -> Option<Self> {
        let start = || -> io::Result<Self> {
            let (reader, line) = io::pipe()?;
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(SCRIPT).arg("beamline-guard");
            command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).current_dir("/");
            Ok(Self { line, shell: command.spawn()? })
        };
        start().ok()
    }

    /// The pipe on which the process to guard writes its number.
    pub(super) fn line(&self) -> RawFd {
        self.line.as_raw_fd()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Two lines, as it may still wait for the process. A guard that is gone cannot be told, and needs not.
        let _ = self.line.write_all(b"ended\nended\n");
        let _ = self.shell.wait();
    }
}
