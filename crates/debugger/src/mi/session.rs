//! One session: commands and their answers, and why the program stands still.

use crate::clock::now;
use crate::devices::{Debugger, Lease, VARIABLE};
use crate::mi::record::{Record, Results};
use crate::mi::stop::{Focus, Stop, address, driver_error};
use live::{GoldenApplication, RunOutputs, Workspace};
use process::{ChildOutput, Dialogue, Limits, Reaper};
use std::ffi::OsStr;
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};
use thiserror::Error;

/// What the debugger may take to answer. The longest that was seen is half a second, for the first disassembly.
const ANSWER: Duration = Duration::from_secs(30);

/// Settings, before the program is there.
const SETTINGS: [&str; 6] = [
    "-gdb-set confirm off",
    "-gdb-set pagination off",
    "-gdb-set width 0",
    "-gdb-set height 0",
    "-gdb-set print thread-events off",
    "-gdb-set breakpoint pending on",
];

/// Why a session is of no use. The text follows "failed to".
#[derive(Debug, Error)]
pub(crate) enum Trouble {
    /// It cannot be started, written to or read from.
    #[error("talk to cuda-gdb")]
    Io(#[from] io::Error),
    /// It does not do what it is told.
    #[error("have cuda-gdb do `{command}`: it says `{message}`")]
    Refused { command: String, message: String },
    /// Its answer cannot be read.
    #[error("understand what cuda-gdb answers to `{command}`: `{answer}`")]
    Unclear { command: String, answer: String },
    /// It does not answer.
    #[error("hear from cuda-gdb what came of `{command}`: it did not answer within {} seconds", ANSWER.as_secs())]
    Silent { command: String },
    /// It ended.
    #[error("keep cuda-gdb running: it ended at `{command}`{}", if said.is_empty() { String::new() } else { format!(", after `{said}`") })]
    Gone { command: String, said: String },
}

/// A debugger with a program in it.
pub(crate) struct Session<'b> {
    /// Ends before its device is given back.
    dialogue: Dialogue<'b>,
    _device: Option<Lease<'b>>,
    /// The workspace that the program runs in; none for a recorded session.
    workspace: Option<Workspace>,
    commands: u64,
    /// The last thing that it noted for itself.
    noted: String,
    started: Instant,
}

/// An answer, and what the console showed before it.
struct Answer {
    class: String,
    results: Results,
    console: String,
    stop: Option<Stop>,
}

impl<'b> Session<'b> {
    /// Starts the debugger on an application, in a workspace of its own; the application is not started yet.
    pub(crate) fn start(debugger: &'b Debugger, application: &'b GoldenApplication) -> Result<Self, Trouble> {
        let workspace = application.workspace()?;
        let (program, arguments) =
            application.words().split_first().ok_or_else(|| io::Error::other("no application"))?;
        let mut command = Command::new(debugger.program());
        command.args(["--interpreter=mi2", "-nx", "-q", "--args", program]);
        command.current_dir(workspace.directory()).env("PWD", workspace.directory());
        // The application is started by a shell, which directs its outputs; what the debugger leaves behind goes with
        // the workspace.
        command.env("SHELL", "/bin/sh").env("TMPDIR", workspace.own());
        let device = debugger.lease();
        if let Some(device) = &device {
            command.env(VARIABLE, device.device());
        }
        let mut session = Self::open(command, application.file_bytes(), application.reaper(), device)?;
        let arguments = arguments.iter().map(|argument| quoted(OsStr::new(argument)));
        let arguments: Vec<String> = arguments.collect();
        let (stdout, stderr) = (workspace.stdout(), workspace.stderr());
        session.workspace = Some(workspace);
        let (stdout, stderr) = (quoted(stdout.as_os_str()), quoted(stderr.as_os_str()));
        session.command(&format!("-exec-arguments {} </dev/null >{stdout} 2>{stderr}", arguments.join(" ")))?;
        Ok(session)
    }

    /// Starts a debugger, and settles how it speaks.
    pub(crate) fn open(
        command: Command,
        file_bytes: u64,
        reaper: &'b Reaper,
        device: Option<Lease<'b>>,
    ) -> Result<Self, Trouble> {
        let limits = Limits { time: ANSWER, file_bytes, files: &[] };
        let dialogue = Dialogue::start(command, &limits, reaper)?;
        let (noted, started) = (String::new(), now());
        let mut session = Self { dialogue, _device: device, workspace: None, commands: 0, noted, started };
        for setting in SETTINGS {
            session.command(setting)?;
        }
        Ok(session)
    }

    /// What the program left in its workspace.
    pub(crate) fn outputs(&self, application: &GoldenApplication) -> io::Result<RunOutputs> {
        self.workspace
            .as_ref()
            .map_or_else(|| Err(io::ErrorKind::NotFound.into()), |workspace| application.outputs(workspace))
    }

    /// Since when there is a session.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Does a command of the machine interface.
    pub(crate) fn command(&mut self, command: &str) -> Result<Results, Trouble> {
        self.done(command).map(|answer| answer.results)
    }

    /// Does a command of the console, and gives what it shows.
    pub(crate) fn console(&mut self, text: &str) -> Result<String, Trouble> {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        self.done(&format!("-interpreter-exec console \"{escaped}\"")).map(|answer| answer.console)
    }

    fn done(&mut self, command: &str) -> Result<Answer, Trouble> {
        let answer = self.ask(command)?;
        match answer.class.as_str() {
            "error" => {
                let message = answer.results.text("msg").unwrap_or_default().to_owned();
                Err(Trouble::Refused { command: command.to_owned(), message })
            }
            _ => Ok(answer),
        }
    }

    fn ask(&mut self, command: &str) -> Result<Answer, Trouble> {
        self.commands += 1;
        let number = self.commands;
        if self.dialogue.say(&format!("{number}{command}")).is_err() {
            return Err(self.gone(command));
        }
        let until = now() + ANSWER;
        let (mut console, mut stop) = (String::new(), None);
        loop {
            match self.dialogue.hear(until)? {
                ChildOutput::Late => return Err(Trouble::Silent { command: command.to_owned() }),
                ChildOutput::Closed => return Err(self.gone(command)),
                ChildOutput::Line(line) => match Record::parse(&line) {
                    Record::Answer { token, class, results } if token == Some(number) => {
                        return Ok(Answer { class, results, console, stop });
                    }
                    Record::Console(text) => console.push_str(&text),
                    Record::Log(text) => self.note(&text),
                    Record::Notice { class, results } if class == "stopped" => stop = Some(Stop::of(&results)),
                    _ => {}
                },
            }
        }
    }

    /// Has the program run, and waits until it stands still or its time is over.
    pub(crate) fn resume(&mut self, command: &str, time: Duration) -> Result<Stop, Trouble> {
        let until = now() + time;
        let answer = match self.done(command) {
            Err(Trouble::Gone { said, .. }) => return Ok(Stop::Gone { said }),
            answer => answer?,
        };
        if let Some(stop) = answer.stop {
            return Ok(stop);
        }
        loop {
            match self.dialogue.hear(until)? {
                ChildOutput::Late => return Ok(Stop::Late),
                ChildOutput::Closed => return Ok(Stop::Gone { said: self.noted.clone() }),
                ChildOutput::Line(line) => match Record::parse(&line) {
                    Record::Notice { class, results } if class == "stopped" => return Ok(Stop::of(&results)),
                    Record::Console(text) => {
                        if let Some(stop) = driver_error(&text) {
                            return Ok(stop);
                        }
                    }
                    Record::Log(text) => self.note(&text),
                    _ => {}
                },
            }
        }
    }

    /// The value of a register of the thread in focus.
    pub(crate) fn register(&mut self, name: &str) -> Result<u32, Trouble> {
        let command = format!("print/x ${name}");
        let shown = self.console(&command)?;
        let value = shown.rsplit_once("= 0x").and_then(|(_, digits)| u32::from_str_radix(digits.trim(), 16).ok());
        value.ok_or(Trouble::Unclear { command, answer: shown.trim().to_owned() })
    }

    /// Where the thread in focus stands.
    pub(crate) fn program_counter(&mut self) -> Result<u64, Trouble> {
        let command = "print/x $pc";
        let shown = self.console(command)?;
        let value = shown.rsplit_once("= ").and_then(|(_, value)| address(value.trim()));
        value.ok_or(Trouble::Unclear { command: command.to_owned(), answer: shown.trim().to_owned() })
    }

    /// Writes a register of the thread in focus.
    pub(crate) fn set_register(&mut self, name: &str, value: u32) -> Result<(), Trouble> {
        self.console(&format!("set var ${name} = {value:#x}")).map(drop)
    }

    /// Sets the one breakpoint, for those threads for which a condition holds.
    pub(crate) fn break_at(&mut self, pc: u64, condition: &str) -> Result<(), Trouble> {
        self.console(&format!("break *{pc:#x} if {condition}")).map(drop)
    }

    /// Removes all breakpoints.
    pub(crate) fn delete(&mut self) -> Result<(), Trouble> {
        self.console("delete").map(drop)
    }

    /// Looks at a thread; whether it is there.
    pub(crate) fn focus(&mut self, focus: &Focus) -> Result<bool, Trouble> {
        let [x, y, z] = focus.block;
        let [i, j, k] = focus.thread;
        match self.console(&format!("cuda block ({x},{y},{z}) thread ({i},{j},{k})")) {
            Err(Trouble::Refused { .. }) => Ok(false),
            other => other.map(|_| true),
        }
    }

    fn note(&mut self, text: &str) {
        let text = text.lines().next().unwrap_or_default().trim();
        // What follows an internal error says nothing about it.
        if !text.is_empty() && !self.noted.contains("internal-error") {
            self.noted = text.chars().take(300).collect();
        }
    }

    fn gone(&self, command: &str) -> Trouble {
        Trouble::Gone { command: command.to_owned(), said: self.noted.clone() }
    }
}

/// A word for a shell.
fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))
}
