//! A process that cannot outlive its purpose: with a limit of time, an end that takes its whole group, and nothing left
//! behind.
//!
//! # What is promised
//!
//! - The process leads a group of its own. When it has ended, however it has, what is left of the group is killed; when
//!   its time is over, the group gets `SIGTERM`, and `SIGKILL` after a grace. Then it is reaped: no zombie stays. A
//!   process that leaves the group by itself (`setsid`) is not followed.
//! - When the thread that started it ends, and so when ours does in whatever way, `kill -9` included, the kernel kills
//!   the process (`PR_SET_PDEATHSIG`), and the [`Reaper`] kills the rest of its group and removes the directory of all
//!   temporary files.
//! - Its outputs go to memory files, so that no pipe fills up and none of its children holds us back.
//!
//! Waiting is waiting for an event, never a sleep.

#![expect(unsafe_code, reason = "system calls of processes and their files, which Rust has no words for")]

mod dialogue;
mod reaper;
mod system;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub use dialogue::{ChildOutput, Dialogue};
pub use reaper::Reaper;

/// What a group may take to end by itself, once it is asked to.
const GRACE: Duration = Duration::from_secs(1);

/// How a process ended, and what it wrote.
#[derive(Debug)]
pub struct ProcessEnd {
    /// Its status; none if its time was over.
    pub status: Option<ExitStatus>,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

impl ProcessEnd {
    /// The code that it ended itself with.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// The signal that ended it.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }
}

/// What a process is held to.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// How long it may take.
    pub time: Duration,
    /// How large a file, or a stream of output, it may write.
    pub file_bytes: u64,
    /// Files of ours that it inherits.
    pub files: &'a [&'a File],
}

/// A file without a name in memory. It is closed in every process that is started, unless it is named in
/// [`Limits::files`].
///
/// # Errors
/// If the system has none to give.
pub fn memory_file() -> io::Result<File> {
    system::memory_file().map(File::from)
}

/// A memory file with these contents, which nobody can change any more.
///
/// # Errors
/// If the system has none to give, or no room.
pub fn sealed_file(bytes: &[u8]) -> io::Result<File> {
    let mut file = memory_file()?;
    io::Write::write_all(&mut file, bytes)?;
    system::seal(file.as_raw_fd())?;
    Ok(file)
}

/// All that a file holds.
///
/// # Errors
/// If it cannot be read.
pub fn contents(mut file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Takes the standard output of this process for its caller alone. What anything else in the process prints there from now on,
/// as the driver of a GPU does for kernels, goes nowhere.
///
/// # Errors
/// If the system cannot duplicate it.
pub fn take_standard_output() -> io::Result<File> {
    let stdout = io::stdout();
    let taken = stdout.as_fd().try_clone_to_owned()?;
    let nowhere = File::options().write(true).open("/dev/null")?;
    system::replace(stdout.as_raw_fd(), nowhere.as_raw_fd())?;
    Ok(File::from(taken))
}

/// Runs a command to its end, or to that of its time. Its standard input is empty.
///
/// # Errors
/// If the system cannot start it or tell of it.
pub fn run(mut command: Command, limits: &Limits<'_>, reaper: &Reaper) -> io::Result<ProcessEnd> {
    let stdout = memory_file()?;
    command.stdout(stdout.try_clone()?);
    let ended = run_unheard(command, limits, reaper)?;
    Ok(ProcessEnd { stdout: contents(&stdout)?, ..ended })
}

/// The same, of a command whose standard output goes where it says, and is not kept.
///
/// # Errors
/// As [`run`].
pub fn run_unheard(mut command: Command, limits: &Limits<'_>, reaper: &Reaper) -> io::Result<ProcessEnd> {
    let stderr = memory_file()?;
    command.stdin(Stdio::null()).stderr(stderr.try_clone()?);
    confine(&mut command, limits, reaper);
    #[expect(clippy::disallowed_methods, reason = "a limit of time, which ends what fuel cannot end")]
    let started = Instant::now();
    let child = command.spawn()?;
    // What is held of the outputs for the child.
    drop(command);
    let status = supervise(child, started + limits.time, reaper)?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(ProcessEnd { status, stdout: Vec::new(), stderr: contents(&stderr)?, seconds })
}

/// Has the process that the command becomes find its memory at the same addresses as every process of the same program,
/// where the system allows that. Elsewhere nothing changes.
pub fn fix_addresses(command: &mut Command) {
    // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
    unsafe { command.pre_exec(|| system::fix_addresses().or(Ok(()))) };
}

/// Has the process that the command becomes lead a group, die with us, and keep its bounds.
fn confine(command: &mut Command, limits: &Limits<'_>, reaper: &Reaper) {
    let parent = std::process::id();
    let inherited: Vec<i32> = limits.files.iter().map(|file| file.as_raw_fd()).collect();
    let (limit, line) = (limits.file_bytes, reaper.number());
    command.process_group(0);
    let prepare = move || {
        system::die_with_parent(parent)?;
        system::limit_files(limit)?;
        inherited.iter().try_for_each(|&file| system::inherit(file))?;
        system::announce(line)
    };
    // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
    unsafe { command.pre_exec(prepare) };
}

/// Waits until the leader of a group has ended, or its time is over; ends the group, and reaps the leader.
fn supervise(mut child: Child, end: Instant, reaper: &Reaper) -> io::Result<Option<ExitStatus>> {
    let group = child.id() as i32;
    let handle = system::process_handle(group).map(|number| {
        // SAFETY: it was opened for us, and nothing else uses it.
        unsafe { OwnedFd::from_raw_fd(number) }
    });
    let in_time = handle.and_then(|handle| {
        let in_time = system::wait(handle.as_raw_fd(), Some(end))?;
        if !in_time {
            system::signal_group(group, system::SIGTERM);
            #[expect(clippy::disallowed_methods, reason = "as above")]
            system::wait(handle.as_raw_fd(), Some(Instant::now() + GRACE))?;
        }
        Ok(in_time)
    });
    // The leader is not reaped yet, so its number means this group and no other.
    system::signal_group(group, system::SIGKILL);
    reaper.forget(group);
    let status = child.wait()?;
    Ok(Some(status).filter(|_| matches!(in_time, Ok(true)))).and_then(|status| in_time.map(|_| status))
}

#[cfg(test)]
mod tests;
