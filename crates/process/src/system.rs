//! The system calls that Rust has no words for.
//!
//! Reference: the manual pages of Linux, `prctl(2)`, `pidfd_open(2)`, `memfd_create(2)`, `fcntl(2)`, `setrlimit(2)`,
//! `personality(2)`.

use std::ffi::{c_char, c_int, c_long, c_uint, c_ulong};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::time::Instant;

pub(super) const SIGKILL: c_int = 9;
pub(super) const SIGTERM: c_int = 15;
const PR_SET_PDEATHSIG: c_int = 1;
const F_SETFD: c_int = 2;
const F_ADD_SEALS: c_int = 1033;
/// No more seals, nothing shorter, longer or other.
const ALL_SEALS: c_int = 1 | 2 | 4 | 8;
const MFD_CLOEXEC: c_uint = 1;
const MFD_ALLOW_SEALING: c_uint = 2;
const RLIMIT_FSIZE: c_int = 1;
const RLIMIT_CORE: c_int = 4;
const POLLIN: i16 = 1;
const PERSONALITY_ASKED: c_ulong = 0xffff_ffff;
const ADDR_NO_RANDOMIZE: c_ulong = 0x0004_0000;
const SYS_PIDFD_OPEN: c_long = 434;

#[repr(C)]
struct Poll {
    file: c_int,
    events: i16,
    happened: i16,
}

#[repr(C)]
struct Limit {
    soft: c_ulong,
    hard: c_ulong,
}

// As glibc and musl declare them on x86-64.
unsafe extern "C" {
    fn prctl(what: c_int, ...) -> c_int;
    fn getppid() -> c_int;
    fn getpid() -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn fcntl(file: c_int, command: c_int, ...) -> c_int;
    fn dup2(file: c_int, number: c_int) -> c_int;
    fn memfd_create(name: *const c_char, flags: c_uint) -> c_int;
    fn setrlimit(what: c_int, limit: *const Limit) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn poll(files: *mut Poll, count: c_ulong, milliseconds: c_int) -> c_int;
    fn personality(what: c_ulong) -> c_int;
    fn write(file: c_int, bytes: *const u8, count: usize) -> isize;
}

fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Has a number of this process mean another file.
pub(super) fn replace(number: c_int, file: c_int) -> io::Result<()> {
    // SAFETY: a system call without pointers.
    checked(unsafe { dup2(file, number) }).map(|_| ())
}

/// A file without a name, in memory.
pub(super) fn memory_file() -> io::Result<OwnedFd> {
    // SAFETY: the name is a C string.
    let file = checked(unsafe { memfd_create(c"beamline".as_ptr(), MFD_CLOEXEC | MFD_ALLOW_SEALING) })?;
    // SAFETY: it was made a moment ago, for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Forbids every change of a memory file.
pub(super) fn seal(file: c_int) -> io::Result<()> {
    // SAFETY: a system call without pointers.
    checked(unsafe { fcntl(file, F_ADD_SEALS, ALL_SEALS) }).map(drop)
}

/// Has the kernel kill this process when the thread that started it ends; between fork and exec.
pub(super) fn die_with_parent(parent: u32) -> io::Result<()> {
    // SAFETY: system calls without pointers.
    checked(unsafe { prctl(PR_SET_PDEATHSIG, SIGKILL as c_ulong) })?;
    // It may have ended before we asked.
    // SAFETY: as above.
    if unsafe { getppid() } as u32 == parent { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
}

/// Bounds the files that this process may write, and forbids memory dumps; between fork and exec.
pub(super) fn limit_files(bytes: u64) -> io::Result<()> {
    for (what, most) in [(RLIMIT_FSIZE, bytes), (RLIMIT_CORE, 0)] {
        let limit = Limit { soft: most, hard: most };
        // SAFETY: the limit lives longer than the call.
        checked(unsafe { setrlimit(what, &raw const limit) })?;
    }
    Ok(())
}

/// Has the program that this process becomes find its memory where every such program does; between fork and exec.
pub(super) fn fix_addresses() -> io::Result<()> {
    // SAFETY: system calls without pointers.
    let now = checked(unsafe { personality(PERSONALITY_ASKED) })?;
    // SAFETY: as above.
    checked(unsafe { personality(now as c_ulong | ADDR_NO_RANDOMIZE) }).map(drop)
}

/// Leaves a file open for the program that this process becomes; between fork and exec.
pub(super) fn inherit(file: c_int) -> io::Result<()> {
    // SAFETY: a system call without pointers.
    checked(unsafe { fcntl(file, F_SETFD, 0) }).map(drop)
}

/// Writes `+<number of this process>` as a line; between fork and exec.
pub(super) fn announce(file: c_int) -> io::Result<()> {
    // SAFETY: a system call without pointers.
    let mut rest = unsafe { getpid() } as u32;
    let mut line = [0; 12];
    let mut at = line.len() - 1;
    line[at] = b'\n';
    while rest > 0 {
        at -= 1;
        line[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    at -= 1;
    line[at] = b'+';
    // SAFETY: so many bytes are there. A line is short enough to be written whole or not at all.
    let written = unsafe { write(file, line[at..].as_ptr(), line.len() - at) };
    if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A file that becomes readable when a process has ended. It must not be reaped yet.
pub(super) fn process_handle(process: c_int) -> io::Result<c_int> {
    // SAFETY: a system call without pointers.
    let file = unsafe { syscall(SYS_PIDFD_OPEN, c_long::from(process), 0 as c_long) };
    checked(file as c_int)
}

/// Waits until a file is readable, or until a time if one is given; whether it is.
pub(super) fn wait(file: c_int, until: Option<Instant>) -> io::Result<bool> {
    loop {
        #[expect(clippy::disallowed_methods, reason = "how long there is to wait")]
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        // Rounded up, so that the time is over when the call returns.
        let milliseconds = left.map_or(-1, |left| left.as_millis().saturating_add(1).min(1 << 30) as c_int);
        let mut asked = Poll { file, events: POLLIN, happened: 0 };
        // SAFETY: one entry, which lives longer than the call.
        match checked(unsafe { poll(&raw mut asked, 1, milliseconds) }) {
            Ok(0) if left.is_some_and(|left| left.is_zero()) => return Ok(false),
            Ok(0) => {}
            Ok(_) => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Sends a signal to every process of a group. One that is gone needs none.
pub(super) fn signal_group(group: c_int, signal: c_int) {
    // SAFETY: a system call without pointers. The group is never 0 or 1: it is led by a process that we started.
    let _ = unsafe { kill(-group, signal) };
}
