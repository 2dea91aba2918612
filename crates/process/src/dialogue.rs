//! A process that is talked to: lines in, lines out, and the same end as that of any other.

use super::{Limits, Reaper, confine, system};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

/// The longest line that is taken.
const LONGEST: usize = 16 << 20;

/// A process that answers. When it is dropped, its group ends and its leader is reaped.
#[derive(Debug)]
pub struct Dialogue<'g> {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// What was read and not yet taken.
    read: Vec<u8>,
    /// How much of it holds no end of a line.
    searched: usize,
    reaper: &'g Reaper,
}

/// What came of waiting for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildOutput {
    /// A line, without its end.
    Line(String),
    /// Nothing more in time.
    Late,
    /// Nothing more ever.
    Closed,
}

impl<'g> Dialogue<'g> {
    /// Starts a process whose input and outputs are ours. The bound of time is not kept: who reads says how long.
    ///
    /// # Errors
    /// If the system cannot start it.
    pub fn start(mut command: Command, limits: &Limits<'_>, reaper: &'g Reaper) -> io::Result<Self> {
        let (output, error) = (Stdio::piped(), Stdio::null());
        command.stdin(Stdio::piped()).stdout(output).stderr(error);
        confine(&mut command, limits, reaper);
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let piped = || io::Error::other("its pipes are not there");
        let (input, output) = (input.ok_or_else(piped)?, output.ok_or_else(piped)?);
        Ok(Self { child, input, output, read: Vec::new(), searched: 0, reaper })
    }

    /// Says a line.
    ///
    /// # Errors
    /// If the process does not listen any more.
    pub fn say(&mut self, line: &str) -> io::Result<()> {
        self.input.write_all(format!("{line}\n").as_bytes())
    }

    /// Waits for a line, not longer than up to a time.
    ///
    /// # Errors
    /// If the system cannot read, or the line has no end.
    pub fn hear(&mut self, until: Instant) -> io::Result<ChildOutput> {
        loop {
            if let Some(at) = self.read[self.searched..].iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=self.searched + at).collect();
                self.searched = 0;
                return Ok(ChildOutput::Line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned()));
            }
            self.searched = self.read.len();
            if self.searched > LONGEST {
                return Err(io::Error::other("a line is longer than 16 MiB"));
            }
            if !system::wait(self.output.as_raw_fd(), Some(until))? {
                return Ok(ChildOutput::Late);
            }
            let mut more = [0; 1 << 14];
            match self.output.read(&mut more) {
                Ok(0) => return Ok(ChildOutput::Closed),
                Ok(count) => self.read.extend_from_slice(&more[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Dialogue<'_> {
    fn drop(&mut self) {
        let group = self.child.id() as i32;
        // The leader is not reaped yet, so its number means this group and no other.
        system::signal_group(group, system::SIGKILL);
        self.reaper.forget(group);
        // Nothing is left to be done if it cannot be reaped.
        let _ = self.child.wait();
    }
}
