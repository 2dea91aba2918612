//! Recording the GPU work of this process as a capsule.
//!
//! Nothing of this run's circumstances gets into it, so that the same application with the same arguments gives the
//! same capsule: no host addresses, no process ids, no times, and of the application's path only the file name.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, ThreadId};
use std::{env, fs};

use capsule::{
    Binary, BlobId, Capsule, Digest, Event, ModuleId, PlacedSymbol, RecordedApplication, RecordedModule, SourceFile,
};

use super::caller::CallerLines;
use super::sources::{self, DeviceCode};
use crate::report::say;
use crate::runner::{RECORD, RECORDER};

/// The process that records; 0 if none does.
static RECORDING: AtomicU32 = AtomicU32::new(0);

/// Whether this very process records: a child that it forks does not.
pub(crate) fn is_recording() -> bool {
    RECORDING.load(Ordering::Relaxed) == process::id()
}

/// A recording in progress.
#[derive(Debug)]
pub(crate) struct Recorder {
    capsule: Capsule,
    path: PathBuf,
    /// The process that records: a child that it forks does not.
    process: u32,
    /// How many events had been written.
    written: Option<usize>,
    /// Why the recording would not repeat the application's work.
    spoiled: Option<String>,
    seen: BTreeSet<String>,
    /// The threads of the host that launched kernels.
    threads: HashSet<ThreadId>,
    /// Whether a child has said that it is left out.
    is_left_out: bool,
    /// How many copies to the host there are.
    copies: u32,
    callers: CallerLines,
}

/// What a process says that belongs to the application and is not the one that is recorded.
const LEFT_OUT: &str =
    "what this process gives to the GPU is left out of the recording, which is of the process that was started first";

impl Recorder {
    /// The recorder that the environment asks for.
    pub(crate) fn from_environment() -> Option<Self> {
        let path = env::var_os(RECORD).filter(|path| !path.is_empty())?;
        // A program that the recorded one starts has the same environment.
        if env::var(RECORDER).is_ok_and(|parent| parent != parent_id().to_string()) {
            say(LEFT_OUT);
            return None;
        }
        let mut arguments = env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let program = arguments.next().unwrap_or_default();
        let command = [file_name(&program)].into_iter().chain(arguments).collect();
        RECORDING.store(process::id(), Ordering::Relaxed);
        let mut recorder = Self::new(PathBuf::from(path), command);
        recorder.capsule.provenance.application = application();
        Some(recorder)
    }

    fn new(path: PathBuf, command: Vec<String>) -> Self {
        let program = Path::new(command.first().map_or("", String::as_str));
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        let mut capsule = Capsule::new(name);
        capsule.provenance.command = command;
        capsule.provenance.tool = format!("beamline {}", env!("CARGO_PKG_VERSION"));
        Self {
            capsule,
            path,
            process: process::id(),
            written: None,
            spoiled: None,
            seen: BTreeSet::new(),
            threads: HashSet::new(),
            is_left_out: false,
            copies: 0,
            callers: CallerLines::default(),
        }
    }

    /// The next thing that the GPU did.
    pub(crate) fn push(&mut self, event: Event) {
        if matches!(event, Event::Launch(_)) {
            if self.process != process::id() && !self.is_left_out {
                self.is_left_out = true;
                say(LEFT_OUT);
            }
            self.threads.insert(thread::current().id());
        }
        if matches!(event, Event::CopyOut { .. }) {
            if let Some(line) = self.callers.current() {
                self.capsule.provenance.copied_at(self.copies, line);
            }
            self.copies += 1;
        }
        let again = event == Event::Synchronize && self.capsule.events.last() == Some(&event);
        if !again {
            self.capsule.events.push(event);
        }
    }

    /// Keeps a content.
    pub(crate) fn blob(&mut self, bytes: &[u8]) -> BlobId {
        self.capsule.blobs.add(bytes)
    }

    /// Keeps a module that was loaded.
    pub(crate) fn module(&mut self, id: ModuleId, code: DeviceCode<'_>, symbols: &[PlacedSymbol]) {
        let ptx = Some(self.blob(code.ptx.as_bytes()));
        let compiler = sources::compiler(&code);
        let binaries = code.binaries.iter().map(|(arch, kind, bytes)| Binary {
            arch: *arch,
            kind: *kind,
            blob: self.capsule.blobs.add(bytes),
        });
        let binaries = binaries.collect();
        self.capsule.modules.push(RecordedModule {
            id,
            ptx,
            binaries,
            globals: symbols.to_vec(),
            hardened: Vec::new(),
        });
        if let Some(compiler) = compiler
            && !self.capsule.provenance.compiler.contains(&compiler)
        {
            self.capsule.provenance.compiler.push(compiler);
        }
        for path in sources::files(&code.ptx) {
            self.source(path);
        }
    }

    /// Keeps a source file, if it can be read and may be kept.
    fn source(&mut self, path: String) {
        if !self.seen.insert(path.clone()) {
            return;
        }
        if let Some(text) = sources::read(Path::new(&path)) {
            let blob = self.blob(&text);
            self.capsule.sources.push(SourceFile { path, blob });
        }
    }

    /// Gives up the recording: the application asked for something that we could not do, so it would not tell the
    /// truth.
    pub(crate) fn spoil(&mut self, reason: String) {
        self.spoiled.get_or_insert(reason);
    }

    /// Writes the capsule, if there is anything new in it.
    pub(crate) fn write(&mut self) {
        let events = self.capsule.events.len();
        if process::id() != self.process || self.written == Some(events) {
            return;
        }
        let before = self.written.replace(events);
        let threads = self.threads.len();
        self.capsule.provenance.launching_threads = if threads > 1 { threads as u32 } else { 0 };
        let launches = self.capsule.events.iter().any(|event| matches!(event, Event::Launch(_)));
        let result = match &self.spoiled {
            Some(reason) => Err(format!("failed to record the application: {reason}")),
            None if !launches => Err("failed to record the application: it launched no kernel".to_owned()),
            None => self.capsule.write(&self.path).map_err(|error| error.to_string()),
        };
        if result.is_ok()
            && before.is_none()
            && let Some(note) = self.capsule.provenance.order_note()
        {
            say(note);
        }
        if let Err(reason) = result {
            if before.is_some() {
                // What was written at the first end of the process is not all that it did.
                let _ = fs::remove_file(&self.path);
            }
            say(reason);
        }
    }
}

/// How this process was started, if its program can be read and all of it is text.
fn application() -> Option<RecordedApplication> {
    let program = env::current_exe().ok()?;
    let digest = Digest::of(&fs::read(&program).ok()?);
    let text = |text: std::ffi::OsString| text.into_string().ok();
    Some(RecordedApplication {
        program: text(program.into_os_string())?,
        digest,
        arguments: env::args_os().skip(1).map(text).collect::<Option<_>>()?,
        directory: text(env::current_dir().ok()?.into_os_string())?,
    })
}

fn file_name(program: &str) -> String {
    let name = Path::new(program).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder(path: &Path) -> Recorder {
        Recorder::new(path.into(), vec!["app.exe".to_owned(), "--size=3".to_owned()])
    }

    fn launch() -> Event {
        Event::Launch(capsule::Launch {
            module: ModuleId(0),
            kernel: "kernel".to_owned(),
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            params: Vec::new(),
            cooperative: false,
        })
    }

    #[test]
    fn a_capsule_is_named_after_the_application() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.capsule");
        let mut recorder = recorder(&path);
        recorder.module(ModuleId(0), DeviceCode::default(), &[]);
        recorder.push(Event::Load { module: ModuleId(0) });
        recorder.push(launch());
        recorder.push(Event::Synchronize);
        recorder.push(Event::Synchronize);
        recorder.write();
        let capsule = Capsule::open(&path).unwrap();
        assert_eq!((capsule.name.as_str(), capsule.events.len()), ("app", 3));
        assert_eq!(capsule.provenance.command, ["app.exe", "--size=3"]);
    }

    #[test]
    fn what_is_spoiled_is_not_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.capsule");
        let mut recorder = recorder(&path);
        recorder.spoil("a reason".to_owned());
        recorder.write();
        assert!(!path.exists());
    }

    #[test]
    fn what_launches_nothing_is_not_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.capsule");
        let mut recorder = recorder(&path);
        recorder.push(Event::Synchronize);
        recorder.write();
        assert!(!path.exists());
    }

    #[test]
    fn a_forked_child_writes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.capsule");
        let mut recorder = recorder(&path);
        recorder.process += 1;
        recorder.write();
        assert!(!path.exists());
    }
}
